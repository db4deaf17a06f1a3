#include "src/view/bev/gradient_strip.h"
#include "src/view/window/window_image.h"

#include <math.h>
#include <stdlib.h>

/* ---- strip ---------------------------------------------------------------------------------- */

/* The L2 norm of the features, or the mean of the depth distribution in metres. */
static double pixel_value(const LiveFrame *frame, Strip strip, int camera, int64_t y, int64_t x) {
    const Frustum *size = &frame->rig->frustum;
    double sum = 0, mass = 0;
    if (strip == STRIP_NORM) {
        const float *feat = frame->features->feat +
                            ((camera * size->feat_h + y) * size->feat_w + x) * frame->channels;
        for (int64_t c = 0; c < frame->channels; c++)
            sum += (double)feat[c] * feat[c];
        return sqrt(sum);
    }
    int64_t bins = frustum_depth_bins(size);
    for (int64_t d = 0; d < bins; d++) {
        double p =
            frame->features->depth[((camera * bins + d) * size->feat_h + y) * size->feat_w + x];
        sum += p * frustum_depth_m(&frame->rig->frustum, d);
        mass += p;
    }
    return mass > 0 ? sum / mass : NAN;
}

static bool value_view(const LiveFrame *frame, Strip strip, const float *values,
                       const ValueRange *range, Image *image, Err *err) {
    const Frustum *size = &frame->rig->frustum;
    const Colormap *map = colormap_find(strip == STRIP_NORM ? "viridis" : "turbo");
    if (!image_init(image, size->feat_w, size->feat_h, err))
        return false;
    for (int64_t i = 0; i < (int64_t)size->feat_w * size->feat_h; i++) {
        double t = isfinite(values[i]) ? range_position(range, values[i]) : NAN;
        image_set(image, (int)(i % size->feat_w), (int)(i / size->feat_w),
                  isnan(t) ? panel_dark.bad : colormap_at(map, t));
    }
    return true;
}

static bool value_strip(const LiveFrame *frame, WindowPicture *picture, Err *err) {
    const Frustum *size = &frame->rig->frustum;
    int64_t pixels = (int64_t)size->feat_w * size->feat_h, total = pixels * picture->camera_count;
    float *values = malloc((size_t)total * sizeof *values);
    if (!values)
        return err_set(err, ERR_FAILED, "camera views", "", "out of memory");
    ValueRange range = {.hi = 0};
    for (int64_t i = 0; i < total; i++) {
        int64_t pixel = i % pixels;
        double value = pixel_value(frame, picture->strip, (int)(i / pixels), pixel / size->feat_w,
                                   pixel % size->feat_w);
        values[i] = (float)value;
        if (isfinite(value))
            range.hi = fmax(range.hi, value);
    }
    if (picture->strip == STRIP_DEPTH)
        range.hi = size->depth_stop_m; /* fixed: a colour means the same at every moment */
    picture->camera_range = range;
    bool ok = true;
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = value_view(frame, picture->strip, values + i * pixels, &range, &picture->cameras[i],
                        err);
    free(values);
    return ok;
}

static bool copy_strip(const WindowPicture *previous, WindowPicture *picture, Err *err) {
    picture->camera_count = previous->camera_count;
    picture->camera_range = previous->camera_range;
    for (int i = 0; i < picture->camera_count; i++)
        if (!image_copy(&previous->cameras[i], &picture->cameras[i], err))
            return false;
    return true;
}

/* What the cameras see, dimmed, and in it the pixels that feed the loss. */
static bool gradient_strip(const LiveFrame *frame, WindowPicture *picture, Err *err) {
    float *strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, err);
    bool ok = strength != NULL;
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = gradient_camera(frame->cameras, &frame->rig->frustum, strength, i,
                             &picture->cameras[i], err);
    free(strength);
    return ok;
}

static bool decode_strip(const LiveFrame *frame, const WindowPicture *previous,
                         WindowPicture *picture, Err *err) {
    if (!frame->rig)
        return true;
    if (previous && previous->camera_count && previous->strip == picture->strip &&
        previous->strip_content == picture->strip_content)
        return copy_strip(previous, picture, err);
    picture->camera_count = frame->rig->camera_count;
    if (picture->strip != STRIP_IMAGE)
        return value_strip(frame, picture, err);
    if (frame->gradients.grad_feat)
        return gradient_strip(frame, picture, err);
    for (int i = 0; i < picture->camera_count; i++)
        if (!raster_camera(frame->cameras, i, &picture->cameras[i], err))
            return false;
    return true;
}

static bool is_same(const WindowPicture *previous, const WindowPicture *want) {
    return previous && previous->content == want->content && previous->bev.view == want->bev.view &&
           previous->colormap == want->colormap && previous->channel == want->channel &&
           previous->lock == want->lock && previous->compare == want->compare &&
           previous->strip == want->strip && previous->bev.slice == want->bev.slice;
}

bool window_picture(const State *state, const LiveData *live, const WindowPicture *previous,
                    const GiveUp *give_up, WindowPicture *picture, bool *same, Err *err) {
    const LiveFrame *frame = &live->frame;
    WindowPicture want = {.content = frame->content,
                          .bev.view = (ViewKind)state->view,
                          .bev.slice = state->job.slice,
                          .colormap = state->colormap,
                          .channel = state->channel,
                          .lock = state->range_locked,
                          .compare = state->compare,
                          .strip = state->strip,
                          .strip_content = frame->seen_content};
    if (want.strip == STRIP_IMAGE && !frame->cameras)
        want.strip = STRIP_NORM; /* the scene has tensors but no images */
    *same = is_same(previous, &want);
    if (*same)
        return true;
    *picture = want;
    const BevPicture *last = previous ? &previous->bev : NULL;
    if (bev_picture_render(&picture->bev, last, state, frame, give_up, err) && !given_up(give_up) &&
        decode_strip(frame, previous, picture, err))
        return true;
    window_picture_free(picture);
    return false;
}

void window_picture_free(WindowPicture *picture) {
    if (!picture)
        return;
    bev_picture_free(&picture->bev);
    for (int i = 0; i < picture->camera_count; i++)
        image_free(&picture->cameras[i]);
    *picture = (WindowPicture){.content = 0};
}
