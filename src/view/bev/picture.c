#include "src/view/bev/picture.h"

#include "src/base/ref.h"
#include "src/view/bev/gradient_strip.h"
#include "src/view/bev/strip.h"

#include <stdlib.h>
#include <string.h>

/* ---- strip ---------------------------------------------------------------------------------- */

enum { MOST_W = 360 }; /* columns of a photograph in the strip */

static StripInput strip_input(const LiveFrame *frame) {
    return (StripInput){frame->rig, frame->features, frame->channels, frame->cameras};
}

static bool copy_strip(const Picture *previous, Picture *picture, Err *err) {
    picture->camera_count = previous->camera_count;
    picture->camera_range = previous->camera_range;
    for (int i = 0; i < picture->camera_count; i++)
        if (!image_copy(&previous->cameras[i], &picture->cameras[i], err))
            return false;
    return true;
}

/* The camera views, dimmed, with the pixels that feed the loss. */
static bool gradient_strip(const LiveFrame *frame, Picture *picture, Err *err) {
    float *strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, err);
    bool ok = strength != NULL;
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = gradient_camera(frame->cameras, &frame->rig->frustum, strength, i,
                             &picture->cameras[i], err);
    free(strength);
    return ok;
}

static bool decode_strip(const LiveFrame *frame, const Picture *previous,
                         Picture *picture, Err *err) {
    if (!frame->rig)
        return true;
    if (previous && previous->camera_count && previous->strip == picture->strip &&
        previous->strip_content == picture->strip_content)
        return copy_strip(previous, picture, err);
    const StripInput input = strip_input(frame);
    float *values = NULL;
    bool ok = true, of_values = picture->strip != STRIP_IMAGE;
    picture->camera_count = frame->rig->camera_count;
    if (!of_values && frame->gradients.grad_feat)
        return gradient_strip(frame, picture, err);
    if (of_values)
        ok = (values = strip_values(&input, picture->strip, &picture->camera_range, err));
    for (int i = 0; ok && i < picture->camera_count; i++)
        ok = strip_camera(&input, picture->strip, values, &picture->camera_range, i, MOST_W,
                          &picture->cameras[i], err);
    free(values);
    return ok;
}

static bool is_same(const Picture *previous, const Picture *want) {
    return previous && previous->content == want->content && previous->bev.view == want->bev.view &&
           previous->colormap == want->colormap && previous->channel == want->channel &&
           !memcmp(&previous->rgb, &want->rgb, sizeof want->rgb) &&
           previous->lock == want->lock && previous->compare == want->compare &&
           previous->strip == want->strip && previous->bev.slice == want->bev.slice &&
           previous->bev.filled == want->bev.filled;
}

static void destroy(void *contents) {
    Picture *picture = contents;
    bev_picture_free(&picture->bev);
    for (int i = 0; i < picture->camera_count; i++)
        image_free(&picture->cameras[i]);
}

Picture *picture_make(const State *state, const LiveData *live, Picture *previous,
                      const GiveUp *give_up, Err *err) {
    const LiveFrame *frame = &live->frame;
    Picture want = {.content = frame->content,
                    .bev.view = (ViewKind)state->view,
                    .bev.slice = state->job.slice,
                    .colormap = state->colormap,
                    .channel = state->channel,
                    .rgb = state->rgb,
                    .lock = state->range_locked,
                    .bev.filled = state->fill,
                    .compare = state->compare,
                    .strip = state->strip,
                    .strip_content = frame->seen_content};
    if (want.strip == STRIP_IMAGE && !frame->cameras)
        want.strip = STRIP_NORM; /* the scene has tensors but no images */
    if (is_same(previous, &want))
        return ref_keep(previous);
    Picture *picture = ref_new(sizeof *picture, destroy);
    if (!picture) {
        err_set(err, ERR_FAILED, "picture", "", "out of memory");
        return NULL;
    }
    *picture = want;
    const BevPicture *last = previous ? &previous->bev : NULL;
    if (bev_picture_render(&picture->bev, last, state, frame, give_up, err) && !given_up(give_up) &&
        decode_strip(frame, previous, picture, err))
        return picture;
    ref_drop(picture);
    return NULL;
}
