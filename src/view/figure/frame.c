/* SPDX-License-Identifier: MIT */
/* Draws the surroundings of a panel: axes with ticks on all four sides, and the band that names the
 * cameras. */
#include "src/view/draw/ticks.h"
#include "src/view/figure/figure_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- axes: numbers to the left and below, titles that name the direction -------------------- */

enum { TICK = 5, LABEL_GAP = 5, LABEL_SPACE = 34, TITLE_SPACE = 24, PX_PER_TICK = 80 };

double axes_left(const Figure *figure, bool labelled) {
    return figure->band + TICK + (labelled ? LABEL_GAP + LABEL_SPACE + TITLE_SPACE : 0);
}

double axes_bottom(const Figure *figure) {
    return figure->band + TICK + LABEL_GAP + SIZE_SMALL + 6 + SIZE_SMALL + 6;
}

static int tick_target(double pixels) {
    int target = (int)(pixels / PX_PER_TICK);
    return target < 1 ? 1 : target > 12 ? 12 : target;
}

static void ticks_x(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labelled) {
    const Grid *grid = &figure->grid;
    double left = panel->box.x - figure->band, right = panel->box.x + panel->box.w + figure->band;
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
    double top = panel->box.y - figure->band, bottom = panel->box.y + panel->box.h + figure->band;
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
    double bottom = panel->box.y + panel->box.h + axes_bottom(figure) - 0.3 * SIZE_SMALL;
    pen_text(pen, panel->box.x + panel->box.w / 2, bottom, fmax(panel->box.w, 110), &style,
             to_left);
    if (!labelled)
        return;
    style.turn = TURN_UP;
    pen_text(pen, panel->box.x - axes_left(figure, true) + SIZE_SMALL,
             panel->box.y + panel->box.h / 2, fmax(panel->box.h, 110), &style, side ? up : to_top);
}

/* ---- band: each camera's coverage as a bar, darker where two overlap, and its name ---------- */

enum { BAR = 4, BAR_GAP = 2, NAME_GAP = 8 };

/* Returns the length of the panel's edge. Positions count clockwise from the top left. */
static double edge_length(Box box) {
    return 2 * (box.w + box.h);
}

static double edge_position(Box box, double px, double py) {
    if (py <= box.y + 1e-6)
        return px - box.x;
    if (px >= box.x + box.w - 1e-6)
        return box.w + py - box.y;
    if (py >= box.y + box.h - 1e-6)
        return box.w + box.h + box.x + box.w - px;
    return 2 * box.w + box.h + box.y + box.h - py;
}

/* Finds where the line from p in direction d enters and leaves the range lo..hi. */
static void clip_line(double p, double d, double lo, double hi, double *enter, double *leave) {
    if (d == 0) {
        *enter = p > lo && p < hi ? -INFINITY : INFINITY;
        *leave = INFINITY;
        return;
    }
    double a = (lo - p) / d, b = (hi - p) / d;
    *enter = fmin(a, b);
    *leave = fmax(a, b);
}

/* Finds where the direction of an image column leaves the panel. False: it misses the panel. */
static bool exit_position(const Figure *figure, const FigurePanel *panel, int camera, double u_px,
                          double *position) {
    double from[2], toward[2], px, py, qx, qy, enter_x, leave_x, enter_y, leave_y;
    if (!overlay_column(figure, camera, u_px, from, toward))
        return false;
    Box box = panel->box;
    panel_point(figure, panel, from[0], from[1], &px, &py);
    panel_point(figure, panel, from[0] + toward[0], from[1] + toward[1], &qx, &qy);
    clip_line(px, qx - px, box.x, box.x + box.w, &enter_x, &leave_x);
    clip_line(py, qy - py, box.y, box.y + box.h, &enter_y, &leave_y);
    double leave = fmin(leave_x, leave_y);
    if (leave <= 0 || leave <= fmax(enter_x, enter_y))
        return false;
    *position = edge_position(box, px + leave * (qx - px), py + leave * (qy - py));
    return true;
}

/* Returns the side (0 top, 1 right, 2 bottom, 3 left) of a position, and the distance along it. */
static int edge_side(Box box, double position, double *along) {
    double lengths[4] = {box.w, box.h, box.w, box.h};
    double rest = fmod(position + edge_length(box), edge_length(box));
    for (int side = 0; side < 3; side++) {
        if (rest < lengths[side]) {
            *along = rest;
            return side;
        }
        rest -= lengths[side];
    }
    *along = rest;
    return 3;
}

/* Draws the part of the bar on one side, from `from` to `to` along it (clockwise). */
static void draw_bar_piece(Pen *pen, Box box, int side, double from, double to) {
    double inner = BAR_GAP, w = box.w, h = box.h;
    Box pieces[4] = {
        {box.x + from, box.y - inner - BAR, to - from, BAR},
        {box.x + w + inner, box.y + from, BAR, to - from},
        {box.x + w - to, box.y + h + inner, to - from, BAR},
        {box.x - inner - BAR, box.y + h - to, BAR, to - from},
    };
    pen_fill(pen, pieces[side], pen->theme->accent, 0.5);
}

static void draw_bar(Pen *pen, Box box, double from, double to) {
    double lengths[4] = {box.w, box.h, box.w, box.h}, along;
    double left = fmod(to - from + edge_length(box), edge_length(box));
    int side = edge_side(box, from, &along);
    for (int piece = 0; piece < 5 && left > 0; piece++, side = (side + 1) % 4, along = 0) {
        double length = fmin(left, lengths[side] - along);
        draw_bar_piece(pen, box, side, along, along + length);
        left -= length;
    }
}

/* Shortens a name that has no room: "front-left" becomes "FL". */
static void short_name(const char *name, char *text, size_t size) {
    size_t used = 0;
    for (const char *p = name; *p && used + 1 < size; p++)
        if (isalnum((unsigned char)*p) && (p == name || !isalnum((unsigned char)p[-1])))
            text[used++] = (char)toupper((unsigned char)*p);
    text[used] = '\0';
}

typedef struct {
    Box boxes[RIG_MAX_CAMERAS];
    int count;
} Taken;

static bool is_free(const Taken *taken, Box box) {
    Box wide = {box.x - NAME_GAP, box.y - NAME_GAP, box.w + 2 * NAME_GAP, box.h + 2 * NAME_GAP};
    for (int i = 0; i < taken->count; i++)
        if (boxes_overlap(taken->boxes[i], wide))
            return false;
    return true;
}

/* Writes a name centred at `along` on a side, away from the corners. False: a name is there. */
static bool place_name(Pen *pen, Box box, int side, double along, const char *name, Taken *taken) {
    double length = side % 2 ? box.h : box.w;
    TextStyle style = {.size = SIZE_SMALL, .color = pen->theme->accent, .align = ALIGN_CENTER};
    double half = pen_text_width(pen, &style, name) / 2;
    if (2 * half > length)
        return false;
    double at = fmin(fmax(along, half), length - half), off = BAR_GAP + BAR + 4;
    double x, y;
    if (side == 0 || side == 2) {
        x = side == 0 ? box.x + at : box.x + box.w - at;
        y = side == 0 ? box.y - off : box.y + box.h + off + 0.76 * SIZE_SMALL;
    } else {
        style.turn = side == 1 ? TURN_DOWN : TURN_UP;
        x = side == 1 ? box.x + box.w + off + 0.24 * SIZE_SMALL : box.x - off - 0.24 * SIZE_SMALL;
        y = side == 1 ? box.y + at : box.y + box.h - at;
    }
    Box place = pen_text_box(pen, x, y, length, &style, name);
    if (!is_free(taken, place))
        return false;
    pen_text(pen, x, y, length, &style, name);
    taken->boxes[taken->count++] = place;
    return true;
}

/* Draws a tinted border between two lines. The ticks stand on the outer line. */
static void draw_border(Pen *pen, Box inner, double width) {
    Box outer = {inner.x - width, inner.y - width, inner.w + 2 * width, inner.h + 2 * width};
    pen_fill(pen, (Box){outer.x, outer.y, outer.w, width}, pen->theme->tint, 1);
    pen_fill(pen, (Box){outer.x, inner.y + inner.h, outer.w, width}, pen->theme->tint, 1);
    pen_fill(pen, (Box){outer.x, inner.y, width, inner.h}, pen->theme->tint, 1);
    pen_fill(pen, (Box){inner.x + inner.w, inner.y, width, inner.h}, pen->theme->tint, 1);
    pen_frame(pen, outer, pen->theme->muted, 1, 1);
}

void band_draw(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    if (!figure->band || pen->measuring)
        return;
    draw_border(pen, panel->box, figure->band);
    const Rig *rig = figure->frame->rig;
    Taken taken = {.count = 0};
    for (int c = 0; c < rig->camera_count; c++) {
        double last = rig->frustum.input_w - 1, from, to, middle, along;
        if (!exit_position(figure, panel, c, last / 2, &middle))
            continue;
        if (exit_position(figure, panel, c, 0, &from) && exit_position(figure, panel, c, last, &to))
            draw_bar(pen, panel->box, from, to);
        int side = edge_side(panel->box, middle, &along);
        char initials[8];
        short_name(rig->cameras[c].name, initials, sizeof initials);
        if (!place_name(pen, panel->box, side, along, rig->cameras[c].name, &taken))
            place_name(pen, panel->box, side, along, initials, &taken);
    }
}
