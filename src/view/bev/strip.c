/* SPDX-License-Identifier: MIT */
#include "src/view/bev/strip.h"

#include "kernels/threads.h"
#include "src/base/ref.h"
#include "src/scene/splat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const Rgb gradient_light = {0xff, 0xd3, 0x19};

/* ---- strengths of gradients ------------------------------------------------------------------ */

static int64_t pixels_of(const BevShape *shape) {
    return shape->cameras * shape->feat_h * shape->feat_w;
}

float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err) {
    int64_t pixels = pixels_of(shape), finite = 0;
    float *strength = malloc((size_t)pixels * sizeof *strength), largest = 0;
    if (!strength) {
        err_no_memory(err, "gradient", "");
        return NULL;
    }
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        double norm = vector_norm(grad_feat + pixel * shape->channels, shape->channels);
        strength[pixel] = isfinite(norm) ? (float)norm : NAN;
        finite += isfinite(norm);
        largest = fmaxf(largest, strength[pixel]); /* NaN does not count */
    }
    for (int64_t pixel = 0; pixel < pixels && largest > 0; pixel++)
        strength[pixel] /= largest;
    if (finite)
        return strength;
    free(strength);
    err_set(err, ERR_FAILED, "gradient", "look for NaN or Inf in the scene's tensors",
            "no pixel has a finite gradient");
    return NULL;
}

int64_t gradient_count(const BevShape *shape, const float *grad_feat) {
    int64_t count = 0;
    for (int64_t pixel = 0; pixel < pixels_of(shape); pixel++) {
        int64_t c = 0;
        while (c < shape->channels && grad_feat[pixel * shape->channels + c] == 0)
            c++;
        count += c < shape->channels;
    }
    return count;
}

int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen) {
    int64_t strongest = -1;
    float largest = 0;
    if (chosen >= 0 && chosen < pixels_of(shape))
        return chosen;
    for (int64_t pixel = 0; pixel < pixels_of(shape); pixel++)
        if (strength[pixel] > largest) {
            largest = strength[pixel];
            strongest = pixel;
        }
    return strongest;
}

double gradient_threshold(const float *grads, int64_t bins, int64_t stride, int most) {
    double least = 0;
    for (int64_t a = 0; a < bins; a++) {
        int larger = 0;
        for (int64_t b = 0; b < bins; b++)
            larger += fabsf(grads[b * stride]) > fabsf(grads[a * stride]);
        if (larger >= most)
            least = fmax(least, fabsf(grads[a * stride]));
    }
    return least;
}

/* ---- pictures of gradients ------------------------------------------------------------------- */

Rgb gradient_grey(Rgb picture, double share) {
    /* The weights of red, green and blue in the brightness of video (BT.709). */
    double grey = 0.2126 * picture.r + 0.7152 * picture.g + 0.0722 * picture.b;
    uint8_t level = (uint8_t)lround(share * grey);
    return (Rgb){level, level, level};
}

Rgb gradient_lit(Rgb picture, float strength) {
    if (isnan(strength))
        return panel_theme.bad;
    return rgb_mix(gradient_grey(picture, GRADIENT_DIMMED), gradient_light, sqrt(strength));
}

/* Returns the element of linspace(0, input - 1, count) that is nearest to the centre of pixel `at`
 * of a picture. The picture shows all `input` pixels in `size` pixels. */
static int64_t nearest_feature(int64_t at, int64_t size, int input, int count) {
    if (count == 1 || input == 1)
        return 0;
    double pixel = ((double)at + 0.5) * input / (double)size - 0.5;
    double element = floor(pixel * (count - 1) / (input - 1) + 0.5);
    return (int64_t)fmin(fmax(element, 0), count - 1);
}

int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y) {
    return nearest_feature(y, h, frustum->input_h, frustum->feat_h) * frustum->feat_w +
           nearest_feature(x, w, frustum->input_w, frustum->feat_w);
}

/* ---- dropped points -------------------------------------------------------------------------- */

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
        const double weight = depth[(camera * fates.points + bin) * plane + place];
        fates.of[fate]++;
        fates.first_m[fate] = fmin(fates.first_m[fate], depth_m); /* the first replaces NaN */
        mass += weight;
        lost += fate == FATE_INSIDE ? 0 : weight;
    }
    fates.dropped = fates.points - fates.of[FATE_INSIDE];
    fates.lost = mass > 0 ? lost / mass : NAN;
    return fates;
}

void dropped_text(const Rig *rig, const float *depth, int64_t pixel, char *text, size_t size) {
    static const char *const words[FATE_COUNT] = {"in",     "above",   "below",   "ahead of",
                                                  "behind", "left of", "right of"};
    const PixelFates fates = pixel_fates(rig, depth, pixel);
    int64_t plane = (int64_t)rig->frustum.feat_h * rig->frustum.feat_w;
    snprintf(text, size, "%s %lld, %lld: ", rig->cameras[pixel / plane].name,
             (long long)(pixel % plane % rig->frustum.feat_w),
             (long long)(pixel % plane / rig->frustum.feat_w));
    if (!fates.dropped) {
        text_add(text, size, "all %lld points in the grid", (long long)fates.points);
        return;
    }
    text_add(text, size, "%lld of %lld points dropped", (long long)fates.dropped,
             (long long)fates.points);
    for (int i = FATE_INSIDE + 1; i < FATE_COUNT; i++)
        if (fates.of[i])
            text_add(text, size, ", %s the grid from %.1f m", words[i], fates.first_m[i]);
    if (!isnan(fates.lost))
        text_add(text, size, "; %.0f %% of its depth lost", 100 * fates.lost);
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
    const LiveContribution *heaviest = live->probe.contributions;
    if (state->pinned && live->probe.contribution_count && heaviest->camera < rig->camera_count)
        return heaviest->camera * plane + (int64_t)heaviest->h * rig->frustum.feat_w + heaviest->w;
    if (state->camera >= rig->camera_count)
        return -1;
    return worst_pixel(rig, frame->features->depth, state->camera);
}

/* ---- values of feature pixels ---------------------------------------------------------------- */

/* Returns the value of a feature pixel (camera, h, w). The value is the L2 norm of the features,
 * the mean of the depth distribution in metres, or the distribution's share outside of the grid. */
static double pixel_value(const StripInput *input, Strip strip, int64_t pixel) {
    const Frustum *size = &input->rig->frustum;
    int64_t plane = (int64_t)size->feat_h * size->feat_w, bins = frustum_depth_bins(size);
    double sum = 0, mass = 0;
    if (strip == STRIP_DROPPED)
        return pixel_fates(input->rig, input->features->depth, pixel).lost;
    if (strip == STRIP_NORM)
        return vector_norm(input->features->feat + pixel * input->channels, input->channels);
    for (int64_t d = 0; d < bins; d++) {
        double p = input->features->depth[(pixel / plane * bins + d) * plane + pixel % plane];
        sum += p * frustum_depth_m(size, (double)d);
        mass += p;
    }
    return mass > 0 ? sum / mass : NAN;
}

float *strip_values(const StripInput *input, Strip strip, ValueRange *range, Err *err) {
    const Frustum *size = &input->rig->frustum;
    int64_t total = (int64_t)size->feat_w * size->feat_h * input->rig->camera_count;
    float *values = malloc((size_t)total * sizeof *values);
    *range = (ValueRange){.hi = 0};
    if (!values) {
        err_no_memory(err, "camera views", "");
        return NULL;
    }
    for (int64_t pixel = 0; pixel < total; pixel++) {
        double value = pixel_value(input, strip, pixel);
        values[pixel] = (float)value;
        if (isfinite(value))
            range->hi = fmax(range->hi, value);
    }
    if (strip == STRIP_DEPTH)
        range->hi = size->depth_stop_m;
    else if (strip == STRIP_DROPPED)
        range->hi = 1;
    return values;
}

const Colormap *strip_colormap(Strip strip) {
    static const char *const names[STRIP_COUNT] = {"viridis", "viridis", "turbo", "cividis"};
    return colormap_find(names[strip]);
}

static Rgb value_color(Strip strip, float value, const ValueRange *range) {
    double t = isfinite(value) ? range_position(range, value) : NAN;
    return isnan(t) ? panel_theme.bad : colormap_at(strip_colormap(strip), t);
}

Rgb strip_over(Rgb seen, Strip strip, float value, const ValueRange *range) {
    const bool dropped = strip == STRIP_DROPPED && isfinite(value);
    const double share = dropped ? 0.9 * sqrt(value) : 0.6; /* the value's part of the mix */
    return rgb_mix(gradient_grey(seen, dropped ? GRADIENT_DIMMED : 1),
                   value_color(strip, value, range), share);
}

/* Returns the mean colour of a square of `side` pixels of a camera, which the picture's edges may
 * cut. Pixels that are not finite are marked. */
static Rgb mean_of(const CameraViews *seen, int64_t camera, int64_t y, int64_t x, int64_t side) {
    const int64_t bottom = y + side < seen->h ? y + side : seen->h;
    const int64_t right = x + side < seen->w ? x + side : seen->w, first = camera * seen->h;
    int64_t count = (bottom - y) * (right - x), sum[3] = {0};
    const float *p = seen->color + 3 * ((first + y) * seen->w + x);
    if (!seen->srgb)
        return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])
                   ? rgb_from_linear(p[0], p[1], p[2])
                   : panel_theme.bad;
    for (int64_t row = y; row < bottom; row++)
        for (int64_t column = x; column < right; column++)
            for (int i = 0; i < 3; i++)
                sum[i] += seen->srgb[3 * ((first + row) * seen->w + column) + i];
    return (Rgb){(uint8_t)(sum[0] / count), (uint8_t)(sum[1] / count), (uint8_t)(sum[2] / count)};
}

/* Draws the view that a camera's features were made from. A photograph becomes at most `most_w`
 * wide. */
static bool draw_seen(const CameraViews *seen, int64_t camera, int64_t most_w, Image *image,
                      Err *err) {
    const int64_t side = seen->srgb ? (seen->w + most_w - 1) / most_w : 1;
    if (!image_init(image, (seen->w + side - 1) / side, (seen->h + side - 1) / side, err))
        return false;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            image_set(image, x, y, mean_of(seen, camera, y * side, x * side, side));
    return true;
}

/* Lays the colours of a camera's values over its picture; STRIP_IMAGE: those of gradients. */
static void lay_over(const Frustum *frustum, Strip strip, const float *values,
                     const ValueRange *range, Image *image) {
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            float value = values[gradient_pixel(frustum, image->w, image->h, x, y)];
            Rgb seen = image_get(image, x, y);
            image_set(image, x, y,
                      strip == STRIP_IMAGE ? gradient_lit(seen, value)
                                           : strip_over(seen, strip, value, range));
        }
}

void strip_lidar(const Rig *rig, int64_t camera, const Photos *photos, int w, int h, int side,
                 float *depth_m) {
    const Frustum *frustum = &rig->frustum;
    for (int64_t i = 0; i < (int64_t)w * h; i++)
        depth_m[i] = NAN;
    for (int64_t i = 0; i < photos->sweep_count; i++) {
        const float *p = photos->sweep_m + 3 * i;
        double u, v, depth;
        if (!camera_project(&rig->cameras[camera], (const double[]){p[0], p[1], p[2]}, &u, &v,
                            &depth))
            continue;
        double x = (u + 0.5) * w / frustum->input_w, y = (v + 0.5) * h / frustum->input_h;
        if (!(x >= 0 && x < w && y >= 0 && y < h))
            continue;
        for (int square = 0; square < side * side; square++) {
            int column = (int)x - (side - 1) / 2 + square % side;
            int row = (int)y - (side - 1) / 2 + square / side;
            float *at = &depth_m[(int64_t)row * w + column];
            if (column >= 0 && column < w && row >= 0 && row < h && !(*at <= depth))
                *at = (float)depth;
        }
    }
}

/* Draws the LiDAR points, in a small picture after enlarging it, so that the points are seen. */
static bool add_lidar(const StripInput *input, int64_t camera, Image *image, Err *err) {
    enum { LEAST_W = 300, PIXELS_A_SIDE = 400 };
    int scale = (LEAST_W + image->w - 1) / image->w;
    Image small = *image;
    if (scale > 1) {
        bool ok =
            image_scale(&small, (int64_t)scale * small.w, (int64_t)scale * small.h, image, err);
        image_free(&small);
        if (!ok)
            return false;
    }
    float *depth_m = malloc((size_t)image->w * (size_t)image->h * sizeof *depth_m);
    if (!depth_m)
        return err_no_memory(err, "LiDAR", "");
    const ValueRange range = {.hi = input->rig->frustum.depth_stop_m}; /* the same at all moments */
    strip_lidar(input->rig, camera, input->lidar, image->w, image->h, 1 + image->w / PIXELS_A_SIDE,
                depth_m);
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            if (!isnan(depth_m[(int64_t)y * image->w + x]))
                image_set(image, x, y,
                          value_color(STRIP_DEPTH, depth_m[(int64_t)y * image->w + x], &range));
    free(depth_m);
    return true;
}

/* Draws a camera's values without a picture below, a pixel for each value. */
static bool draw_values(const Frustum *size, Strip strip, const float *values,
                        const ValueRange *range, Image *image, Err *err) {
    if (!image_init(image, size->feat_w, size->feat_h, err))
        return false;
    for (int i = 0; i < size->feat_w * size->feat_h; i++)
        image_set(image, i % size->feat_w, i / size->feat_w, value_color(strip, values[i], range));
    return true;
}

bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err) {
    const CameraViews *seen = input->seen;
    const Frustum *size = input->frustum;
    const float *own = values ? values + camera * size->feat_h * size->feat_w : NULL;
    const bool over =
        seen && seen->cameras && (seen->srgb || strip == STRIP_DROPPED || strip == STRIP_IMAGE);
    if (!(own && !over ? draw_values(size, strip, own, range, image, err)
                       : draw_seen(seen, camera, most_w, image, err)))
        return false;
    if (own && over)
        lay_over(size, strip, own, range, image);
    return !input->lidar || add_lidar(input, camera, image, err);
}

/* ---- the strip of a picture ------------------------------------------------------------------ */

static void sweep_destroy(void *contents) {
    photos_free(contents);
}

/* Takes the sweep of a world's moment, that of the picture before where the moment is the same. */
static bool take_sweep(const LiveFrame *frame, const Picture *previous, Picture *picture,
                       Err *err) {
    if (previous && previous->sweep && previous->strip_content == picture->strip_content) {
        picture->sweep = ref_keep(previous->sweep);
        return true;
    }
    picture->sweep = ref_new(sizeof *picture->sweep, sweep_destroy);
    if (!picture->sweep)
        return err_no_memory(err, "picture", "");
    return photos_world_sweep(frame->world, frame->time_s, picture->sweep, err);
}

Frustum frame_frustum(const LiveFrame *frame) {
    int w = (int)frame->shape.feat_w, h = (int)frame->shape.feat_h;
    Frustum plain = {.input_w = w, .input_h = h, .feat_w = w, .feat_h = h};
    return frame->rig ? frame->rig->frustum : plain;
}

int64_t frame_gradient_pixel(const LiveFrame *frame, int64_t chosen) {
    Err ignored; /* then no pixel is marked */
    if (!frame->gradients.grad_feat)
        return -1;
    float *strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, &ignored);
    int64_t pixel = strength ? gradient_shown(&frame->shape, strength, chosen) : -1;
    free(strength);
    return pixel;
}

/* Whether the cameras of `previous` can be shown again. LiDAR and dropped points follow the rig, so
 * that they also need the same frame. */
static bool is_same_strip(const Picture *previous, const Picture *picture) {
    const bool follows_rig = picture->lidar || picture->strip == STRIP_DROPPED;
    return previous && previous->camera_count && previous->strip == picture->strip &&
           previous->strip_content == picture->strip_content && previous->lidar == picture->lidar &&
           (!follows_rig || previous->content == picture->content);
}

bool strip_decode(const LiveFrame *frame, const Picture *previous, int64_t most_w, Picture *picture,
                  Err *err) {
    bool ok = true, of_values = picture->strip != STRIP_IMAGE;
    bool world_sweep = frame->world && !frame->photos->sweep_count;
    if (!frame->rig && (of_values || picture->lidar))
        return true;
    if (is_same_strip(previous, picture)) {
        picture->camera_count = previous->camera_count;
        picture->camera_range = previous->camera_range;
        for (int i = 0; i < picture->camera_count; i++)
            picture->cameras[i] = image_keep(&previous->cameras[i]);
        return true;
    }
    const Frustum frustum = frame_frustum(frame);
    const float *grad_feat = of_values ? NULL : frame->gradients.grad_feat;
    StripInput input = {frame->rig, frame->features, frame->channels, frame->cameras,
                        NULL,       &frustum};
    float *values = NULL;
    const int64_t cameras = frame->rig       ? frame->rig->camera_count
                            : frame->cameras ? frame->cameras->cameras
                                             : 0;
    picture->camera_count = (int)(cameras < RIG_MAX_CAMERAS ? cameras : RIG_MAX_CAMERAS);
    if (grad_feat) /* the pixels that feed the loss */
        ok = (values = gradient_strengths(&frame->shape, grad_feat, err));
    else if (of_values)
        ok = (values = strip_values(&input, picture->strip, &picture->camera_range, err));
    if (ok && picture->lidar && !grad_feat) {
        ok = !world_sweep || take_sweep(frame, previous, picture, err);
        input.lidar = world_sweep ? picture->sweep : frame->photos;
    }
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = strip_camera(&input, picture->strip, values, &picture->camera_range, i,
                          grad_feat ? STRIP_WHOLE_W : most_w, &picture->cameras[i], err);
    free(values);
    return ok;
}
