/* SPDX-License-Identifier: MIT */
#include "src/view/bev/dropped.h"

#include "src/scene/splat.h"

#include <math.h>
#include <stdio.h>

/* ---- points ---------------------------------------------------------------------------------- */

PointFate point_fate(const Grid *grid, const double ego_m[3]) {
    const SplatGrid cells = splat_grid(grid, BEV_NEAREST);
    return !splat_above(&cells, 2, ego_m[2])   ? FATE_BELOW
           : !(ego_m[2] < grid->z_max_m)       ? FATE_ABOVE
           : !splat_above(&cells, 0, ego_m[0]) ? FATE_BEHIND
           : !(ego_m[0] < grid->x_max_m)       ? FATE_AHEAD
           : !splat_above(&cells, 1, ego_m[1]) ? FATE_RIGHT
           : !(ego_m[1] < grid->y_max_m)       ? FATE_LEFT
                                               : FATE_INSIDE;
}

PixelFates pixel_fates(const Rig *rig, const float *depth, int64_t pixel) {
    const Frustum *frustum = &rig->frustum;
    int64_t plane = (int64_t)frustum->feat_h * frustum->feat_w, place = pixel % plane;
    int64_t camera = pixel / plane;
    PixelFates fates = {.points = frustum_depth_bins(frustum)};
    double origin_m[3], direction[3], mass = 0, lost = 0;
    camera_ray(&rig->cameras[camera], frustum_u_px(frustum, (double)(place % frustum->feat_w)),
               frustum_v_px(frustum, (double)(place / frustum->feat_w)), origin_m, direction);
    for (int i = 0; i < FATE_COUNT; i++)
        fates.first_m[i] = NAN;
    for (int64_t bin = 0; bin < fates.points; bin++) {
        double depth_m = frustum_depth_m(frustum, (double)bin), ego_m[3];
        point_on_ray(origin_m, direction, depth_m, ego_m);
        PointFate fate = point_fate(&rig->grid, ego_m);
        double p = depth[(camera * fates.points + bin) * plane + place];
        if (!fates.of[fate]++)
            fates.first_m[fate] = depth_m;
        mass += p;
        lost += fate == FATE_INSIDE ? 0 : p;
    }
    fates.dropped = fates.points - fates.of[FATE_INSIDE];
    fates.lost = mass > 0 ? lost / mass : NAN;
    return fates;
}

/* ---- what screens say ------------------------------------------------------------------------ */

void dropped_text(const Rig *rig, const float *depth, int64_t pixel, char *text, size_t size) {
    static const char *const words[FATE_COUNT] = {"in",     "above",   "below",   "ahead of",
                                                  "behind", "left of", "right of"};
    const PixelFates fates = pixel_fates(rig, depth, pixel);
    int64_t plane = (int64_t)rig->frustum.feat_h * rig->frustum.feat_w;
    int n = snprintf(text, size, "%s %lld, %lld: ", rig->cameras[pixel / plane].name,
                     (long long)(pixel % plane % rig->frustum.feat_w),
                     (long long)(pixel % plane / rig->frustum.feat_w));
    if (!fates.dropped) {
        snprintf(text + n, size - (size_t)n, "all %lld points in the grid",
                 (long long)fates.points);
        return;
    }
    n += snprintf(text + n, size - (size_t)n, "%lld of %lld points dropped",
                  (long long)fates.dropped, (long long)fates.points);
    for (int i = FATE_INSIDE + 1; i < FATE_COUNT; i++)
        if (fates.of[i] && (size_t)n < size)
            n += snprintf(text + n, size - (size_t)n, ", %s the grid from %.1f m", words[i],
                          fates.first_m[i]);
    if ((size_t)n < size && !isnan(fates.lost))
        snprintf(text + n, size - (size_t)n, "; %.0f %% of its depth lost", 100 * fates.lost);
}

static int64_t worst_pixel(const Rig *rig, const float *depth, int camera) {
    int64_t plane = (int64_t)rig->frustum.feat_h * rig->frustum.feat_w, worst = -1;
    double most = -1;
    for (int64_t pixel = camera * plane; pixel < (camera + 1) * plane; pixel++) {
        double lost = pixel_fates(rig, depth, pixel).lost;
        if (lost > most) {
            most = lost;
            worst = pixel;
        }
    }
    return worst;
}

int64_t dropped_pixel(const State *state, const LiveData *live) {
    const LiveFrame *frame = &live->frame;
    const Rig *rig = frame->rig;
    if (state->strip != STRIP_DROPPED || !rig || !frame->features)
        return -1;
    int64_t plane = (int64_t)rig->frustum.feat_h * rig->frustum.feat_w;
    if (state->pixel >= 0 && state->pixel < rig->camera_count * plane)
        return state->pixel;
    const LiveContribution *one = live->probe.contributions;
    if (state->pinned && live->probe.contribution_count && one->camera < rig->camera_count)
        return one->camera * plane + (int64_t)one->h * rig->frustum.feat_w + one->w;
    return state->camera < rig->camera_count
               ? worst_pixel(rig, frame->features->depth, state->camera)
               : -1;
}
