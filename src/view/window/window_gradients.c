/* The feature pixel under the mouse, marked in its camera view; without one: backward the pixel
 * that feeds the loss most, or the one whose dropped points are explained. */
#include "src/view/bev/dropped.h"
#include "src/view/window/window_internal.h"

#include <stdlib.h>

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

/* The pixel to look at; -1: none. */
static int64_t pixel_shown(const WindowView *view) {
    const LiveFrame *frame = &view->live->frame;
    Err ignored; /* then no pixel is marked */
    if (!frame->gradients.grad_feat)
        return dropped_pixel(view->state, view->live);
    float *strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, &ignored);
    int64_t pixel = strength ? gradient_shown(&frame->shape, strength, view->state->pixel) : -1;
    free(strength);
    return pixel;
}

void window_mark_gradient_pixel(const WindowView *view) {
    const LiveFrame *frame = &view->live->frame;
    int64_t pixel = pixel_shown(view), plane = frame->shape.feat_h * frame->shape.feat_w;
    if (pixel < 0 || pixel / plane >= view->layout.camera_count)
        return;
    const Frustum *frustum = &frame->rig->frustum;
    const Box *camera = &view->layout.cameras[pixel / plane];
    double w = camera->w / frustum->feat_w, h = camera->h / frustum->feat_h;
    double u = frustum_u_px(frustum, (int)(pixel % frustum->feat_w)) + 0.5;
    double v = frustum_v_px(frustum, (int)(pixel % plane / frustum->feat_w)) + 0.5;
    Box box = {camera->x + u / frustum->input_w * camera->w - w / 2,
               camera->y + v / frustum->input_h * camera->h - h / 2, w, h};
    pen_clip(view->pen, *camera);
    pen_frame(view->pen, box, (Rgb){0, 0, 0}, 1, 4);
    pen_frame(view->pen, box, (Rgb){255, 255, 255}, 1, 2);
    cairo_restore(view->pen->cr);
}
