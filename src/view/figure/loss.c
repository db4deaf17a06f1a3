/* SPDX-License-Identifier: MIT */
/* Draws the backward parts: the cells of the loss, and the chosen feature pixel. */
#include "src/view/bev/gradient_strip.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>

/* Returns the place on the page of a cell of the picture. */
static Box cell_box(const Figure *figure, const FigurePanel *panel, int64_t place) {
    const Grid whole = figure_of(figure->spec).grid;
    double step_x = (whole.x_max_m - whole.x_min_m) / whole.nx;
    double step_y = (whole.y_max_m - whole.y_min_m) / whole.ny, x0, y0, x1, y1;
    double x_m = whole.x_min_m + (double)(place % figure->slice.nx) * step_x;
    double y_m = whole.y_min_m + (double)(place / figure->slice.nx) * step_y;
    panel_point(figure, panel, x_m + step_x, y_m + step_y, &x0, &y0);
    panel_point(figure, panel, x_m, y_m, &x1, &y1);
    return (Box){x0, y0, x1 - x0, y1 - y0};
}

static void draw_ring(Pen *pen, const Figure *figure, double x, double y, double radius) {
    for (int rim = 1; rim >= 0; rim--) {
        cairo_new_sub_path(pen->cr);
        cairo_arc(pen->cr, x, y, radius, 0, 2 * M_PI);
        pen_stroke(pen, rim ? figure->over->halo : gradient_light, rim ? 0.8 : 1, rim ? 4 : 2);
    }
}

/* Fills the cells with that colour, each larger by a margin. Returns the box around all cells. */
static Box fill_cells(Pen *pen, const Figure *figure, const FigurePanel *panel, double margin,
                      Rgb color, double alpha) {
    const uint8_t *inside = figure->frame->gradients.loss->inside;
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (int64_t cell = 0; cell < figure->frame->nx * figure->frame->ny; cell++) {
        int64_t place = inside[cell] ? slice_place(&figure->slice, cell) : -1;
        if (place < 0)
            continue;
        Box box = cell_box(figure, panel, place);
        box = (Box){box.x - margin, box.y - margin, box.w + 2 * margin, box.h + 2 * margin};
        pen_fill(pen, box, color, alpha);
        left = fmin(left, box.x);
        right = fmax(right, box.x + box.w);
        top = fmin(top, box.y);
        bottom = fmax(bottom, box.y + box.h);
    }
    return (Box){left, top, right - left, bottom - top};
}

void loss_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool strong) {
    enum { FINDER = 40, RIM = 2 };
    const GridLoss *loss = figure->frame->gradients.loss;
    if (!loss || !loss->inside || pen->measuring)
        return;
    pen_clip(pen, panel->box);
    if (strong)
        fill_cells(pen, figure, panel, RIM, figure->over->halo, 1);
    Box all = fill_cells(pen, figure, panel, 0, gradient_light, strong ? 1 : 0.55);
    if (strong && all.w > 0 && all.w < FINDER && all.h < FINDER)
        draw_ring(pen, figure, all.x + all.w / 2, all.y + all.h / 2, FINDER / 2.0);
    cairo_restore(pen->cr);
}

void pixel_draw(Pen *pen, const LiveFrame *frame, int64_t pixel, Box box) {
    const Frustum frustum = frame_frustum(frame);
    int64_t plane = frame->shape.feat_h * frame->shape.feat_w;
    double w = box.w / frustum.feat_w, h = box.h / frustum.feat_h;
    double u = frustum_u_px(&frustum, (int)(pixel % frustum.feat_w)) + 0.5;
    double v = frustum_v_px(&frustum, (int)(pixel % plane / frustum.feat_w)) + 0.5;
    Box mark = {box.x + u / frustum.input_w * box.w - w / 2,
                box.y + v / frustum.input_h * box.h - h / 2, w, h};
    if (pen->measuring)
        return;
    pen_clip(pen, box);
    pen_frame(pen, mark, (Rgb){0, 0, 0}, 1, 4);
    pen_frame(pen, mark, (Rgb){255, 255, 255}, 1, 2);
    cairo_restore(pen->cr);
}
