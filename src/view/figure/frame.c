/* SPDX-License-Identifier: MIT */
/* Draws the surroundings of a panel: axes with ticks on all four sides. */
#include "src/view/draw/ticks.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

/* ---- axes: numbers to the left and below, titles that name the direction -------------------- */

enum { TICK = 5, LABEL_GAP = 5, LABEL_SPACE = 34, TITLE_SPACE = 24, PX_PER_TICK = 80 };
enum { TITLE_H = 110 }; /* a panel as high as this has a title at its side */

double axes_left(bool labelled) {
    return TICK + (labelled ? LABEL_GAP + LABEL_SPACE + TITLE_SPACE : 0);
}

double axes_bottom(void) {
    return TICK + LABEL_GAP + SIZE_SMALL + 6 + SIZE_SMALL + 6;
}

static int tick_target(double pixels) {
    int target = (int)(pixels / PX_PER_TICK);
    return target < 1 ? 1 : target > 12 ? 12 : target;
}

static void ticks_x(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labelled) {
    const Grid *grid = &figure->grid;
    double left = panel->box.x, right = panel->box.x + panel->box.w;
    Ticks ticks = ticks_linear(grid->x_min_m, grid->x_max_m, tick_target(panel->box.h));
    TextStyle style = aligned(style_muted(pen), ALIGN_RIGHT);
    for (int i = 0; i < ticks.count; i++) {
        double px, py;
        panel_point(figure, panel, ticks.at[i], 0, &px, &py);
        pen_line(pen, left - TICK, py, left, py, pen->theme->muted, 1, 1);
        pen_line(pen, right, py, right + TICK, py, pen->theme->muted, 1, 1);
        if (labelled)
            pen_text(pen, left - TICK - LABEL_GAP, py + 0.35 * SIZE_SMALL, LABEL_SPACE, &style,
                     ticks.label[i]);
    }
}

static void ticks_y(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const Grid *grid = &figure->grid;
    double top = panel->box.y, bottom = panel->box.y + panel->box.h;
    Ticks ticks = ticks_linear(grid->y_min_m, grid->y_max_m, tick_target(panel->box.w));
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    for (int i = 0; i < ticks.count; i++) {
        double px, py;
        panel_point(figure, panel, 0, ticks.at[i], &px, &py);
        pen_line(pen, px, top - TICK, px, top, pen->theme->muted, 1, 1);
        pen_line(pen, px, bottom, px, bottom + TICK, pen->theme->muted, 1, 1);
        pen_text(pen, px, bottom + TICK + LABEL_GAP + 0.8 * SIZE_SMALL, PX_PER_TICK, &style,
                 ticks.label[i]);
    }
}

/* Whether x is known to go forward. A LiDAR stands above its cameras, and its x may go anywhere. */
static bool is_ego_frame(const Rig *rig) {
    bool above = true;
    for (int i = 0; i < rig->camera_count; i++)
        above = above && rig->cameras[i].position_m[2] >= 0;
    return above;
}

/* The names of the axes: in cells, in metres, and in metres of the car's own frame. */
static const char *const axis_x[] = {"x (cells)", "x (m)", "x forward (m)"}, *const axis_y[] = {
                                                                                 "y (cells)",
                                                                                 "y (m)",
                                                                                 "y left (m)"};

void axes_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labelled) {
    const Rig *rig = figure->frame->rig;
    const bool side = figure->slice.slice == SLICE_SIDE;
    const int metres = rig ? 1 + is_ego_frame(rig) : 0;
    char up[48], to_left[48], to_top[48];
    snprintf(to_left, sizeof to_left, "\u2190 %s", side ? axis_x[metres] : axis_y[metres]);
    snprintf(to_top, sizeof to_top, "%s \u2192", axis_x[metres]);
    snprintf(up, sizeof up, metres ? "z up (m%s%.0d)" : "z (cells)",
             figure->stretch > 1 ? ", times " : "", figure->stretch > 1 ? figure->stretch : 0);
    ticks_x(pen, figure, panel, labelled);
    ticks_y(pen, figure, panel);
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    style.color = pen->theme->text;
    double bottom = panel->box.y + panel->box.h + axes_bottom() - 0.3 * SIZE_SMALL;
    pen_text(pen, panel->box.x + panel->box.w / 2, bottom, fmax(panel->box.w, 110), &style,
             to_left);
    if (!labelled || panel->box.h < TITLE_H)
        return;
    style.turn = TURN_UP;
    pen_text(pen, panel->box.x - axes_left(true) + SIZE_SMALL, panel->box.y + panel->box.h / 2,
             panel->box.h, &style, side ? up : to_top);
}
