/* SPDX-License-Identifier: MIT */
/* Marks a feature pixel in its camera view: the pixel under the mouse. Without one, backward marks
 * the pixel with the strongest gradient, and dropped points mark the explained pixel. */
#include "src/view/bev/dropped.h"
#include "src/view/window/window_internal.h"


int64_t window_pixel_at(const WindowLayout *layout, const State *state, const LiveFrame *frame,
                        double px, double py) {
    if (!frame->rig || !(frame->gradients.grad_feat || state->strip == STRIP_DROPPED))
        return -1;
    const Frustum *frustum = &frame->rig->frustum;
    for (int i = 0; i < layout->camera_count; i++) {
        const Box *box = &layout->cameras[i];
        double x = px - box->x, y = py - box->y;
        if (x < 0 || y < 0 || x >= box->w || y >= box->h)
            continue;
        int64_t w = frustum->input_w, h = frustum->input_h;
        return i * (int64_t)frustum->feat_w * frustum->feat_h +
               gradient_pixel(frustum, w, h, (int64_t)(x / box->w * (double)w),
                              (int64_t)(y / box->h * (double)h));
    }
    return -1;
}

void window_mark_gradient_pixel(const WindowView *view) {
    const LiveFrame *frame = &view->live->frame;
    int64_t plane = frame->shape.feat_h * frame->shape.feat_w;
    int64_t pixel = frame->gradients.grad_feat ? frame_gradient_pixel(frame, view->state->pixel)
                                               : dropped_pixel(view->state, view->live);
    if (pixel >= 0 && pixel / plane < view->layout.camera_count)
        pixel_draw(view->pen, frame, pixel, view->layout.cameras[pixel / plane]);
}
