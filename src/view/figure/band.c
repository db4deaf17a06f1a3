/* The frame around the panel: a bar for what each camera covers, darker where two overlap, and the
 * camera's name. The reader sees which camera fed which part without a mark on the data. */
#include "src/view/figure/figure_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 4, BAR_GAP = 2, NAME_GAP = 8 };

/* Positions on the panel's edge, clockwise from the top left corner, in pixels. */
static double perimeter(Box box) {
    return 2 * (box.w + box.h);
}

static double position_of(Box box, double px, double py) {
    if (py <= box.y + 1e-6)
        return px - box.x;
    if (px >= box.x + box.w - 1e-6)
        return box.w + py - box.y;
    if (py >= box.y + box.h - 1e-6)
        return box.w + box.h + box.x + box.w - px;
    return 2 * box.w + box.h + box.y + box.h - py;
}

/* Where the line from p along d leaves the range lo..hi, and where it enters it. */
static void slab(double p, double d, double lo, double hi, double *enter, double *leave) {
    if (d == 0) {
        *enter = p > lo && p < hi ? -INFINITY : INFINITY;
        *leave = INFINITY;
        return;
    }
    double a = (lo - p) / d, b = (hi - p) / d;
    *enter = fmin(a, b);
    *leave = fmax(a, b);
}

/* Where the view along an image column leaves the panel; false when it misses the panel. */
static bool exit_position(const Figure *figure, const Panel *panel, int camera, double u_px,
                          double *position) {
    const Rig *rig = figure->spec->rig;
    double origin[3], ray[3], px, py, qx, qy, enter_x, leave_x, enter_y, leave_y;
    camera_ray(&rig->cameras[camera], &rig->frustum, u_px, rig->frustum.input_h / 2.0, origin, ray);
    double length = hypot(ray[0], ray[1]);
    if (!(length > 1e-6))
        return false; /* looks straight up or down */
    Box box = panel->box;
    panel_point(figure, panel, origin[0], origin[1], &px, &py);
    panel_point(figure, panel, origin[0] + ray[0] / length, origin[1] + ray[1] / length, &qx, &qy);
    slab(px, qx - px, box.x, box.x + box.w, &enter_x, &leave_x);
    slab(py, qy - py, box.y, box.y + box.h, &enter_y, &leave_y);
    double leave = fmin(leave_x, leave_y);
    if (leave <= 0 || leave <= fmax(enter_x, enter_y))
        return false;
    *position = position_of(box, px + leave * (qx - px), py + leave * (qy - py));
    return true;
}

/* The side (0 top, 1 right, 2 bottom, 3 left) that a position lies on, and how far along it. */
static int side_of(Box box, double position, double *along) {
    double lengths[4] = {box.w, box.h, box.w, box.h};
    double rest = fmod(position + perimeter(box), perimeter(box));
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

/* The piece of the bar on one side, from `from` to `to` along it (clockwise). */
static void bar_piece(Pen *pen, Box box, int side, double from, double to) {
    double inner = BAR_GAP, w = box.w, h = box.h;
    Box pieces[4] = {
        {box.x + from, box.y - inner - BAR, to - from, BAR},
        {box.x + w + inner, box.y + from, BAR, to - from},
        {box.x + w - to, box.y + h + inner, to - from, BAR},
        {box.x - inner - BAR, box.y + h - to, BAR, to - from},
    };
    pen_fill(pen, pieces[side], pen->theme->accent, 0.5);
}

static void bar(Pen *pen, Box box, double from, double to) {
    double lengths[4] = {box.w, box.h, box.w, box.h}, along;
    double left = fmod(to - from + perimeter(box), perimeter(box));
    int side = side_of(box, from, &along);
    for (int piece = 0; piece < 5 && left > 0; piece++, side = (side + 1) % 4, along = 0) {
        double length = fmin(left, lengths[side] - along);
        bar_piece(pen, box, side, along, along + length);
        left -= length;
    }
}

/* "front-left" becomes "FL": for names that have no room. */
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

/* A name centred at `along` on a side; kept off the corners. False when the place is taken. */
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

/* A tinted border between two rules; the ticks stand on the outer one. */
static void border(Pen *pen, Box inner, double width) {
    Box outer = {inner.x - width, inner.y - width, inner.w + 2 * width, inner.h + 2 * width};
    pen_fill(pen, (Box){outer.x, outer.y, outer.w, width}, pen->theme->tint, 1);
    pen_fill(pen, (Box){outer.x, inner.y + inner.h, outer.w, width}, pen->theme->tint, 1);
    pen_fill(pen, (Box){outer.x, inner.y, width, inner.h}, pen->theme->tint, 1);
    pen_fill(pen, (Box){inner.x + inner.w, inner.y, width, inner.h}, pen->theme->tint, 1);
    pen_frame(pen, outer, pen->theme->muted, 1, 1);
}

void band_draw(Pen *pen, const Figure *figure, const Panel *panel) {
    if (!figure->band || pen->measuring)
        return;
    border(pen, panel->box, figure->band);
    const Rig *rig = figure->spec->rig;
    Taken taken = {.count = 0};
    for (int c = 0; c < rig->camera_count; c++) {
        double last = rig->frustum.input_w - 1, from, to, middle, along;
        if (!exit_position(figure, panel, c, last / 2, &middle))
            continue;
        if (exit_position(figure, panel, c, 0, &from) && exit_position(figure, panel, c, last, &to))
            bar(pen, panel->box, from, to);
        int side = side_of(panel->box, middle, &along);
        char initials[8];
        short_name(rig->cameras[c].name, initials, sizeof initials);
        if (!place_name(pen, panel->box, side, along, rig->cameras[c].name, &taken))
            place_name(pen, panel->box, side, along, initials, &taken);
    }
}
