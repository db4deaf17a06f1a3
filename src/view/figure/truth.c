/* SPDX-License-Identifier: MIT */
/* Draws the truth over the cells: outlines of the objects' boxes with a mark at their front, and
 * the dots of a LiDAR sweep. */
#include "src/view/figure/figure_internal.h"

const Rgb truth_lidar = {0xff, 0x8f, 0xa3};

static void move_pen_to(Pen *pen, const Figure *figure, const FigurePanel *panel, double x_m,
                        double y_m, bool line) {
    double px, py;
    panel_point(figure, panel, x_m, y_m, &px, &py);
    (line ? cairo_line_to : cairo_move_to)(pen->cr, px, py);
}

/* Draws the outline, and a line from the centre to the middle of the front. */
static void draw_box(Pen *pen, const Figure *figure, const FigurePanel *panel, const TrueBox *box) {
    double corners[4][2];
    const double *center = box->center_m;
    photos_box_corners(box, corners);
    for (int i = 0; i < 4; i++)
        move_pen_to(pen, figure, panel, corners[i][0], corners[i][1], i > 0);
    cairo_close_path(pen->cr);
    move_pen_to(pen, figure, panel, center[0], center[1], false);
    move_pen_to(pen, figure, panel, (corners[0][0] + corners[3][0]) / 2,
                (corners[0][1] + corners[3][1]) / 2, true);
    pen_stroke(pen, figure->over->line, 0.75, 1);
}

/* Draws the dots as squares of whole pixels, which are fast in cairo. */
static void draw_sweep(Pen *pen, const Figure *figure, const FigurePanel *panel,
                       const Photos *photos) {
    const double side = 1.2;
    pen_color(pen, truth_lidar, 0.6);
    for (int64_t i = 0; i < photos->sweep_count; i++) {
        const float *p = photos->sweep_m + 3 * i;
        double px, py;
        panel_point(figure, panel, p[0], p[1], &px, &py);
        if (px < panel->box.x || px >= panel->box.x + panel->box.w || py < panel->box.y ||
            py >= panel->box.y + panel->box.h)
            continue;
        cairo_rectangle(pen->cr, px - side / 2, py - side / 2, side, side);
        cairo_fill(pen->cr);
    }
}

void truth_draw(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const Photos *photos = figure->frame->photos;
    if (!photos)
        return;
    if (figure->spec->state->truth & TRUTH_LIDAR)
        draw_sweep(pen, figure, panel, photos);
    cairo_save(pen->cr);
    cairo_set_line_join(pen->cr, CAIRO_LINE_JOIN_MITER);
    for (int64_t i = 0; figure->spec->state->truth & TRUTH_BOXES && i < photos->box_count; i++)
        draw_box(pen, figure, panel, &photos->boxes[i]);
    cairo_restore(pen->cr);
}
