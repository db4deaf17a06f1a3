/* SPDX-License-Identifier: MIT */
#include "src/view/bev/picture.h"

#include "src/base/ref.h"
#include "src/view/bev/gradient_strip.h"
#include "src/view/bev/strip.h"

#include <stdlib.h>
#include <string.h>

/* ---- strip ---------------------------------------------------------------------------------- */

enum { MOST_W = 360 }; /* columns of a photograph in the strip */

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

static bool copy_strip(const Picture *previous, Picture *picture, Err *err) {
    picture->camera_count = previous->camera_count;
    picture->camera_range = previous->camera_range;
    for (int i = 0; i < picture->camera_count; i++)
        if (!image_copy(&previous->cameras[i], &picture->cameras[i], err))
            return false;
    return true;
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

/* Draws the camera views, dimmed, with the pixels that feed the loss. */
static bool gradient_strip(const LiveFrame *frame, Picture *picture, Err *err) {
    float *strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, err);
    const Frustum frustum = frame_frustum(frame);
    bool ok = strength != NULL;
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = gradient_camera(frame->cameras, &frustum, strength, i, &picture->cameras[i], err);
    free(strength);
    return ok;
}

/* Returns the number of camera views. Without a rig they are photographs. */
static int count_cameras(const LiveFrame *frame) {
    int64_t count = frame->rig       ? frame->rig->camera_count
                    : frame->cameras ? frame->cameras->cameras
                                     : 0;
    return count < RIG_MAX_CAMERAS ? (int)count : RIG_MAX_CAMERAS;
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
         previous->content == picture->content)) /* points follow the rig, too */
        return copy_strip(previous, picture, err);
    StripInput input = {frame->rig, frame->features, frame->channels, frame->cameras, NULL};
    float *values = NULL;
    picture->camera_count = count_cameras(frame);
    if (!of_values && frame->gradients.grad_feat)
        return gradient_strip(frame, picture, err);
    if (picture->lidar && world_sweep && !take_sweep(frame, previous, picture, err))
        return false;
    if (picture->lidar)
        input.lidar = world_sweep ? picture->sweep : frame->photos;
    if (of_values)
        ok = (values = strip_values(&input, picture->strip, &picture->camera_range, err));
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = strip_camera(&input, picture->strip, values, &picture->camera_range, i, most_w,
                          &picture->cameras[i], err);
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
                    .bev.filled = bev_picture_fills(state),
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
    Picture *picture = make_picture(state, live, NULL, &page, strip ? INT16_MAX : 0, NULL, err);
    if (!picture || picture->bev.ready)
        return picture;
    err_set(err, ERR_USAGE, views[state->view].name, "choose another view", "%s",
            picture->bev.reason);
    ref_drop(picture);
    return NULL;
}
