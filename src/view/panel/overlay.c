/* SPDX-License-Identifier: MIT */
/* What floats over the panels: the command palette and the help. */
#include "src/view/panel/panel.h"

/* Returns a place of w x h in the room that hides the least of the picture. The place is under the
 * picture, or beside it where `least_w` columns have room. Otherwise it is the room's lower end. */
static Area place_overlay(Area room, Area picture, int w, int h, int least_w) {
    enum { GAP = 1 };
    const int left = picture.x - GAP - room.x;
    const int right = room.x + room.w - picture.x - picture.w - GAP;
    const int under = room.y + room.h - picture.y - picture.h, beside = left > right ? left : right;
    const bool stands_beside = picture.w && under < h && beside >= least_w;
    const int room_w = stands_beside && beside < room.w ? beside : room.w;
    w = w < room_w ? w : room_w;
    h = h < room.h ? h : room.h;
    return (Area){picture.w && left > right ? room.x : room.x + room.w - w, room.y + room.h - h, w,
                  h};
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
