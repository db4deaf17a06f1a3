/* SPDX-License-Identifier: MIT */
#include "src/view/bev/picture.h"

#include "src/base/ref.h"
#include "src/scene/slice.h"
#include "src/view/bev/strip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the BEV --------------------------------------------------------------------------------- */

void bev_picture_menus(StateMenu *menu) {
    enum { MAX_MAPS = 16 };
    static const char *view_names[VIEW_COUNT], *ideas[VIEW_COUNT];
    static const char *map_names[MAX_MAPS + 1] = {"auto"};
    for (int i = 0; i < VIEW_COUNT; i++) {
        view_names[i] = views[i].name;
        ideas[i] = views[i].idea;
        menu->world_views |= (unsigned)(views[i].needs & NEEDS_EMBEDDING ? 1 : 0) << i;
    }
    menu->view_ideas = ideas;
    int maps = colormap_count < MAX_MAPS ? colormap_count : MAX_MAPS;
    for (int i = 0; i < maps; i++)
        map_names[i + 1] = colormaps[i].name;
    menu->views = (Menu){view_names, VIEW_COUNT};
    menu->colormaps = (Menu){map_names, maps + 1};
    menu->error_view = VIEW_ERROR;
    menu->channel_view = VIEW_CHANNEL;
    menu->rgb_view = VIEW_RGB;
    menu->plain_view = VIEW_NORM;
}

void bev_picture_free(BevPicture *picture) {
    if (!picture)
        return;
    image_free(&picture->image);
    image_free(&picture->baseline);
    cell_field_free(&picture->field);
    cell_field_free(&picture->other);
    *picture = (BevPicture){0};
}

/* Returns the content to decode. */
static BevContent content_of(const State *state, const LiveFrame *frame, bool of_baseline) {
    return (BevContent){.nx = frame->nx,
                        .ny = frame->ny,
                        .channels = frame->channels,
                        .rows = (size_t)(frame->nx * frame->ny),
                        .pooled = of_baseline ? frame->baseline : frame->pooled,
                        .fp64_original = of_baseline ? frame->baseline_fp64 : frame->fp64_original,
                        .map = of_baseline ? frame->baseline_map : frame->map,
                        .embedding = frame->embedding,
                        .channel = state->channel < frame->channels ? state->channel : 0,
                        .rgb = state->rgb,
                        .depth = of_baseline       ? frame->baseline_depth
                                 : frame->features ? frame->features->depth
                                                   : NULL,
                        .light = frame->photo_features};
}

/* Returns the reason why there is no picture; NULL: there is one. */
static const char *missing(const BevContent *content, const State *state, const LiveFrame *frame) {
    if (!frame->nx || !frame->pooled)
        return "no picture yet";
    if (state->compare != COMPARE_OFF && !frame->baseline)
        return "the baseline is being pooled";
    if (state->compare == COMPARE_DIFFERENCE)
        return NULL;
    if (state->compare == COMPARE_WIPE && views[state->view].needs & NEEDS_FP64 &&
        frame->fp64_original && !frame->baseline_fp64)
        return "no error for two rigs or files: FP64 is that of the selection's";
    return view_missing((ViewKind)state->view, content);
}

/* Whether decoding the baseline would repeat `last`. The baseline's vectors alone decide that,
 * except in the views pca and rgb, whose components and ranges are those of the selection. */
static bool same_other(const BevPicture *next, const BevPicture *last) {
    return last && last->other.nx && last->view == next->view && last->slice == next->slice &&
           (next->slice >= 0 || !next->chosen) && next->view != VIEW_PCA &&
           next->view != VIEW_RGB && last->other_content == next->other_content &&
           last->other_channel == next->other_channel &&
           (isnan(next->field.full_mass) || last->other.full_mass == next->field.full_mass) &&
           !(views[next->view].needs & (NEEDS_MAP | NEEDS_FP64));
}

static bool decode_wipe(BevPicture *next, const BevPicture *last, BevContent *content,
                        BevContent *baseline, const LiveFrame *frame, const GiveUp *give_up,
                        Err *err) {
    Pca pca = {0};
    bool ok = next->view != VIEW_PCA || decode_fit_pca(content, &pca, err);
    if (pca.axes)
        content->pca = baseline->pca = &pca; /* both sides have the same colours */
    ok = ok && decode_view(next->view, content, &next->field, err) && !given_up(give_up);
    if (ok && next->view == VIEW_RGB)
        baseline->rgb = next->field.rgb;
    if (ok && isfinite(next->field.full_mass))
        baseline->full_mass = next->field.full_mass;
    next->other_content = frame->baseline_content;
    next->other_channel = baseline->channel;
    if (ok && same_other(next, last))
        next->other = cell_field_keep(&last->other);
    else
        ok = ok && decode_view(next->view, baseline, &next->other, err);
    pca_free(&pca);
    return ok;
}

/* Turns `content`, of a whole grid, into that of the picture: nx and ny become the picture's, and
 * `shown` names each cell's cell of the grid. The caller frees content->shown. A content that has a
 * `shown` already keeps it: both sides of a comparison show the same cells. False: no memory. */
static bool slice_content(const Slice *slice, BevContent *content, Err *err) {
    if (slice->slices <= 1)
        return true;
    content->nx = slice->nx;
    content->ny = slice->ny;
    if (content->shown)
        return true;
    int32_t *shown = malloc((size_t)(slice->nx * slice->ny) * sizeof *shown);
    if (shown && slice_choose(slice, content->map, content->channels, content->pooled, shown)) {
        content->shown = shown;
        return true;
    }
    free(shown);
    return err_no_memory(err, "slice", "choose a smaller grid");
}

static bool decode_all(BevPicture *next, const BevPicture *last, const State *state,
                       const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    BevContent content = content_of(state, frame, false);
    BevContent baseline = content_of(state, frame, true);
    Slice slice = slice_of(&frame->shape, state->job.slice);
    bool ok = slice_content(&slice, &content, err);
    baseline.shown = content.shown;
    ok = ok && slice_content(&slice, &baseline, err);
    if (ok && state->compare == COMPARE_DIFFERENCE)
        ok = decode_difference(next->view, &content, &baseline, &next->field, err);
    else if (ok && state->compare == COMPARE_WIPE)
        ok = decode_wipe(next, last, &content, &baseline, frame, give_up, err);
    else if (ok)
        ok = decode_view(next->view, &content, &next->field, err);
    free(content.shown);
    return ok;
}

/* Chooses the range of the colours. In a wipe against a pinned baseline it is the baseline's,
 * whatever changes. */
static bool choose_range(BevPicture *next, const BevPicture *last, const State *state, Err *err) {
    const CellField *fields[] = {&next->field, &next->other};
    int count = next->other.nx ? 2 : 1;
    bool same =
        last && last->ready && last->view == next->view && last->difference == next->difference;
    next->locked = state->range_locked && same && last->colormap;
    next->of_baseline = !next->locked && state->job.baseline_pinned && count == 2;
    if (!next->locked &&
        !range_auto(fields + next->of_baseline, count - next->of_baseline, &next->range, err))
        return false;
    if (next->locked || next->of_baseline)
        next->range = range_locked(fields, count, next->locked ? last->range : next->range);
    return true;
}

static const Colormap *choose_map(const BevPicture *next, const State *state) {
    if (next->difference)
        return colormap_find("signed");
    if (!views[next->view].unit)
        return NULL;
    return state->colormap > 0 ? &colormaps[state->colormap - 1]
                               : colormap_find(views[next->view].colormap);
}

bool bev_picture_alike(const BevPicture *picture) {
    return picture->difference && !(picture->range.hi > 0);
}

/* Whether empty cells are filled: not while single cells are looked at, in a zoom, a pinned cell or
 * a lesson. */
static bool fills_empty_cells(const State *state) {
    return state->fill && state->viewport.zoom <= 1 && !state->pinned && !state->lesson.open;
}

Rgb bev_picture_pixel(const BevPicture *picture, const State *state, int x, int y) {
    bool left = picture->baseline.w && x < lround(state->wipe * picture->image.w);
    return image_get(left ? &picture->baseline : &picture->image, x, y);
}

Rgb bev_picture_over(const State *state, Rgb color, double x, double y, double pixel_m) {
    static const double rings_m[] = {20, 40};
    const Grid *grid = &state->scene.grid;
    if (!state->scene.has_rig || state_slice(state).slice == SLICE_SIDE)
        return color;
    double ahead = grid->x_min_m + x * (grid->x_max_m - grid->x_min_m) / grid->nx;
    double left = grid->y_min_m + y * (grid->y_max_m - grid->y_min_m) / grid->ny;
    double reach = pixel_m > EGO_HALF_WIDTH_M ? pixel_m / 2 : EGO_HALF_WIDTH_M;
    double away = hypot(ahead, left);
    if (ahead < EGO_FRONT_M && ahead > EGO_REAR_M && left > -reach && left <= reach)
        return panel_theme.line;
    for (int i = 0; i < 2; i++)
        if (fabs(away - rings_m[i]) < pixel_m / 2)
            return rgb_mix(color, panel_theme.line, 0.2);
    return color;
}

static bool render_cells(BevPicture *next, const BevPicture *last, const State *state,
                         const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    if (!decode_all(next, last, state, frame, give_up, err) || given_up(give_up))
        return false;
    next->colormap = choose_map(next, state);
    if (next->colormap && !choose_range(next, last, state, err))
        return false;
    const RasterStyle style = {next->colormap, next->range, next->filled, next->light};
    return !given_up(give_up) && raster_render(&next->field, &style, &next->image, err) &&
           (!next->other.nx || raster_render(&next->other, &style, &next->baseline, err));
}

bool bev_picture_render(BevPicture *picture, const BevPicture *previous, const State *state,
                        const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    BevPicture next = {.view = (ViewKind)state->view,
                       .slice = state->job.slice,
                       .chosen = frame->shape.nz > 1,
                       .light = previous && previous->light,
                       .difference = state->compare == COMPARE_DIFFERENCE,
                       .filled = fills_empty_cells(state)};
    BevContent content = content_of(state, frame, false);
    const char *reason = missing(&content, state, frame);
    if (reason)
        snprintf(next.reason, sizeof next.reason, "%s", reason);
    else if (!render_cells(&next, previous, state, frame, give_up, err)) {
        bev_picture_free(&next);
        return false;
    } else
        next.ready = true;
    *picture = next;
    return true;
}

/* ---- the strip of cameras -------------------------------------------------------------------- */

enum { MOST_W = 360, WHOLE_W = INT16_MAX }; /* columns of a photograph in the strip */

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

static bool decode_strip(const LiveFrame *frame, const Picture *previous, int64_t most_w,
                         Picture *picture, Err *err) {
    bool ok = true, of_values = picture->strip != STRIP_IMAGE;
    bool world_sweep = frame->world && !frame->photos->sweep_count;
    if (!frame->rig && (of_values || picture->lidar))
        return true;
    if (previous && previous->camera_count && previous->strip == picture->strip &&
        previous->strip_content == picture->strip_content && previous->lidar == picture->lidar &&
        ((!picture->lidar && picture->strip != STRIP_DROPPED) ||
         previous->content == picture->content)) { /* points follow the rig, too */
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
                          grad_feat ? WHOLE_W : most_w, &picture->cameras[i], err);
    free(values);
    return ok;
}

static bool is_same(const Picture *previous, const Picture *want) {
    return previous && previous->content == want->content && previous->bev.view == want->bev.view &&
           previous->colormap == want->colormap && previous->channel == want->channel &&
           !memcmp(&previous->rgb, &want->rgb, sizeof want->rgb) && previous->lock == want->lock &&
           previous->compare == want->compare && previous->strip == want->strip &&
           previous->lidar == want->lidar && previous->bev.slice == want->bev.slice &&
           previous->bev.filled == want->bev.filled;
}

static void destroy(void *contents) {
    Picture *picture = contents;
    bev_picture_free(&picture->bev);
    for (int i = 0; i < picture->camera_count; i++)
        image_free(&picture->cameras[i]);
    ref_drop(picture->sweep);
}

/* `most_w`: columns of a photograph in the strip; 0: no strip. */
static Picture *make_picture(const State *state, const LiveData *live, Picture *previous,
                             const BevPicture *last, int64_t most_w, const GiveUp *give_up,
                             Err *err) {
    const LiveFrame *frame = &live->frame;
    Picture want = {.content = frame->content,
                    .bev.view = (ViewKind)state->view,
                    .bev.slice = state->job.slice,
                    .colormap = state->colormap,
                    .channel = state->channel,
                    .rgb = state->rgb,
                    .lock = state->range_locked,
                    .bev.filled = fills_empty_cells(state),
                    .compare = state->compare,
                    .strip = state->strip,
                    .lidar = state->lidar,
                    .strip_content = frame->seen_content};
    if (want.strip == STRIP_IMAGE && !frame->cameras && frame->rig)
        want.strip = STRIP_NORM; /* the scene has tensors but no images */
    if (is_same(previous, &want))
        return ref_keep(previous);
    Picture *picture = ref_new(sizeof *picture, destroy);
    if (!picture) {
        err_no_memory(err, "picture", "");
        return NULL;
    }
    *picture = want;
    if (bev_picture_render(&picture->bev, last, state, frame, give_up, err) && !given_up(give_up) &&
        (!most_w || decode_strip(frame, previous, most_w, picture, err)))
        return picture;
    ref_drop(picture);
    return NULL;
}

Picture *picture_make(const State *state, const LiveData *live, Picture *previous,
                      const GiveUp *give_up, Err *err) {
    const BevPicture *last = previous ? &previous->bev : NULL;
    return make_picture(state, live, previous, last, MOST_W, give_up, err);
}

Picture *picture_of_figure(const State *state, const LiveData *live, bool strip, Err *err) {
    const BevPicture page = {.light = state->light};
    Picture *picture = make_picture(state, live, NULL, &page, strip ? WHOLE_W : 0, NULL, err);
    if (!picture || picture->bev.ready)
        return picture;
    err_set(err, ERR_USAGE, views[state->view].name, "choose another view", "%s",
            picture->bev.reason);
    ref_drop(picture);
    return NULL;
}
