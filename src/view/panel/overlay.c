/* SPDX-License-Identifier: MIT */
/* What floats over the panels: the command palette and the help. */
#include "src/view/panel/panel.h"

#include <math.h>

Box overlay_place(Box room, Box picture, double w, double h, double least_w) {
    double left = picture.x - room.x, right = room.x + room.w - picture.x - picture.w;
    double under = room.y + room.h - picture.y - picture.h, beside = fmax(left, right);
    Box at = {.w = fmin(w, room.w), .h = fmin(h, room.h)};
    if (picture.w > 0 && under < h && beside >= least_w)
        at.w = fmin(at.w, beside);
    at.x = picture.w > 0 && left > right ? room.x : room.x + room.w - at.w;
    at.y = room.y + room.h - at.h;
    return at;
}

static Area place_overlay(Area room, Area picture, int w, int h, int least_w) {
    enum { GAP = 1 };
    const Box of = {picture.x - GAP, picture.y, picture.w + 2 * GAP, picture.h};
    Box at = overlay_place((Box){room.x, room.y, room.w, room.h}, picture.w ? of : (Box){.w = 0}, w,
                           h, least_w);
    return (Area){(int)at.x, (int)at.y, (int)at.w, (int)at.h};
}

/* Draws the palette. The typed text keeps its place, while rows come and go under it. */
void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 110, LEAST_W = 28, LOW = 9, HIGH_FROM = 26 };
    int edges = sheet->pixels ? 2 : 1, most = room.h < HIGH_FROM ? LOW : PALETTE_HIGH;
    int rows = panel_want(sheet, &palette_panel, data, room.w);
    Area at = place_overlay(room, picture, MOST_W, most + edges, LEAST_W);
    at.h = rows + edges < at.h ? rows + edges : at.h;
    panel_draw(sheet, sheet_float(sheet, at), &palette_panel, data);
}

void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 82, LEAST_W = 70 };
    int w = data->state->glossary ? LEAST_W : MOST_W, edges = sheet->pixels ? 4 : 2;
    int rows = help_rows(sheet, (w < room.w ? w : room.w) - 4, data->state);
    Area at = place_overlay(room, picture, w, rows + edges, LEAST_W);
    help_draw(sheet, sheet_float(sheet, at), data);
}
