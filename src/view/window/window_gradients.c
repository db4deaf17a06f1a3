/* Backward: the feature pixel under the mouse, or the one that feeds the loss most, marked in its
 * camera view, and how the loss follows each of its bins of depth. */
#include "src/view/bev/gradient_strip.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BINS = 8, DEPTH_W = 56, VALUE_W = 64, BIN_GAP = 8 };

int64_t window_pixel_at(const WindowLayout *layout, const LiveFrame *frame, double px, double py) {
    if (!frame->rig || !frame->gradients.grad_feat)
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

/* The pixel that is looked at; -1: there is none. */
static int64_t pixel_shown(const WindowView *view) {
    const LiveFrame *frame = &view->live->frame;
    Err ignored; /* then no pixel is marked */
    if (!frame->gradients.grad_feat)
        return -1;
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

/* ---- its bins -------------------------------------------------------------------------------- */

static void draw_bin(const WindowView *view, Box at, int64_t bin, double value, double largest) {
    const Frustum *frustum = &view->live->frame.rig->frustum;
    const Theme *theme = view->pen->theme;
    char text[32];
    snprintf(text, sizeof text, "%.1f m", frustum_depth_m(frustum, bin));
    window_line(view, (Box){at.x, at.y, DEPTH_W, at.h}, text);
    snprintf(text, sizeof text, "%+.3g", value);
    window_line(view, (Box){at.x + DEPTH_W, at.y, VALUE_W, at.h}, text);
    double left = DEPTH_W + VALUE_W + BIN_GAP, room = at.w - left;
    if (room > 0)
        pen_fill(view->pen,
                 (Box){at.x + left, at.y + 3, room * fabs(value) / largest, WINDOW_ROW - 6},
                 value < 0 ? window_fault : theme->accent, 1);
}

double window_draw_bins(const WindowView *view, Box at) {
    const LiveFrame *frame = &view->live->frame;
    const BevShape *shape = &frame->shape;
    int64_t pixel = frame->rig ? pixel_shown(view) : -1, plane = shape->feat_h * shape->feat_w;
    int most = (int)fmin((at.h - 2 * WINDOW_ROW) / WINDOW_ROW, MOST_BINS);
    if (pixel < 0 || most < 2)
        return 0;
    const float *grads =
        frame->gradients.grad_depth + pixel / plane * shape->depth_bins * plane + pixel % plane;
    double least = gradient_threshold(grads, shape->depth_bins, plane, most), largest = 0, y = at.y;
    char text[160];
    snprintf(text, sizeof text, "grad_depth of %s %lld, %lld",
             frame->rig->cameras[pixel / plane].name, (long long)(pixel % shape->feat_w),
             (long long)(pixel % plane / shape->feat_w));
    y += window_heading(view, at, text);
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        largest = fmax(largest, fabsf(grads[bin * plane]));
    if (!(largest > 0))
        y += window_line(view, (Box){at.x, y, at.w, WINDOW_ROW}, "0 at every depth");
    for (int64_t bin = 0; bin < shape->depth_bins && largest > 0; bin++) {
        if (!(fabsf(grads[bin * plane]) > least))
            continue;
        draw_bin(view, (Box){at.x, y, at.w, WINDOW_ROW}, bin, grads[bin * plane], largest);
        y += WINDOW_ROW;
    }
    return y - at.y;
}
