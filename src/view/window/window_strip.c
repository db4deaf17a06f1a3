/* What the cameras see, and which of their pixels fell into the cell looked at. */
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

static void camera_name(const WindowView *view, int camera) {
    const Box *box = &view->layout.cameras[camera];
    bool chosen = camera == view->state->camera;
    char text[192], faults[96];
    TextStyle style = style_muted(view->pen);
    style.bold = chosen;
    if (chosen)
        style.color = view->pen->theme->text;
    /* Its own picture does not show it, only the BEV does. */
    if (camera_faults(&view->live->job, camera, faults, sizeof faults))
        style.color = window_fault;
    snprintf(text, sizeof text, "%s%s", view->live->frame.rig->cameras[camera].name, faults);
    pen_text(view->pen, box->x, box->y + box->h + 12, box->w, &style, text);
}

static void draw_camera(const WindowView *view, int camera) {
    Box box = view->layout.cameras[camera];
    const WindowPicture *picture = view->picture;
    Pen *pen = view->pen;
    pen_fill(pen, box, pen->theme->tint, 1);
    if (picture && camera < picture->camera_count) {
        const Image *image = &picture->cameras[camera];
        window_raster(pen, box, image, 0, 0, box.w / image->w, box.h / image->h);
    }
    if (!(view->live->job.camera_mask >> camera & 1)) { /* mud on the lens */
        pen_fill(pen, box, (Rgb){60, 48, 36}, 0.8);
        pen_line(pen, box.x, box.y, box.x + box.w, box.y + box.h, pen->theme->muted, 1, 1);
        pen_line(pen, box.x, box.y + box.h, box.x + box.w, box.y, pen->theme->muted, 1, 1);
    }
    if (camera == view->state->camera)
        pen_frame(pen, box, pen->theme->accent, 1, 2);
    camera_name(view, camera);
}

/* Feature pixels sit at linspace(0, input - 1, feat) of the input that the picture covers. */
static void mark_pixel(const WindowView *view, const LiveContribution *one, double share) {
    const Frustum *frustum = &view->live->frame.rig->frustum;
    const Box *box = &view->layout.cameras[one->camera];
    double x = box->x + (frustum_u_px(frustum, one->w) + 0.5) / frustum->input_w * box->w;
    double y = box->y + (frustum_v_px(frustum, one->h) + 0.5) / frustum->input_h * box->h;
    cairo_t *cr = view->pen->cr;
    cairo_save(cr);
    cairo_rectangle(cr, box->x, box->y, box->w, box->h);
    cairo_clip(cr);
    cairo_arc(cr, x, y, 2.5 + 2.5 * share, 0, 2 * M_PI);
    pen_color(view->pen, window_mark, 0.2 + 0.8 * share);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
    cairo_restore(cr);
}

void window_draw_strip(const WindowView *view) {
    const LiveProbe *probe = &view->live->probe;
    for (int i = 0; i < view->layout.camera_count; i++)
        draw_camera(view, i);
    if (!view->state->pinned || !view->layout.camera_count || !probe->contribution_count)
        return;
    const LiveContribution *list = probe->contributions;
    double heaviest = fmax(list[0].depth * list[0].weight, 1e-30);
    for (int i = probe->contribution_count - 1; i >= 0; i--)
        if (list[i].camera < view->layout.camera_count)
            mark_pixel(view, &list[i], sqrt(list[i].depth * list[i].weight / heaviest));
}
