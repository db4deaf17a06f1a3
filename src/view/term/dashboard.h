/* SPDX-License-Identifier: MIT */
/* The dashboard: draws State and LiveData as Cells. Pure: the same input gives the same cells.
 * Panels without room are left out, the least important ones first (src/view/panel/panels.inc). */
#pragma once

#include "src/view/panel/panel.h"
#include "src/view/term/cells.h"

/* Draws a whole screen at the size of `cells`; their ascii, color and light choose the look.
 * `picture` is drawn where the state's page has the BEV; it may be NULL. `spots` (may be NULL)
 * receives the places for the mouse. */
void dashboard_draw(Cells *cells, const State *state, const LiveData *live, const Picture *picture,
                    Spots *spots);

/* Returns the panel that a lesson calls `point`, alone, as ASCII text. malloc'd; NULL: no panel of
 * the body, or no memory. */
enum { PANEL_TEXT_WIDTH = 78 };
char *dashboard_panel_text(LessonPanel point, const State *state, const LiveData *live,
                           const Picture *picture);

/* Returns the selection's figures as one plain line, for output that is not a screen. malloc'd;
 * NULL: no memory. */
char *dashboard_plain(const State *state, const LiveData *live);

/* ---- the back end of panels for cells, also without colour and in ASCII ---------------------- */

Sheet cells_sheet(Cells *cells);

/* Returns the cells of a box that a spot of the dashboard has. */
static inline Area area_of_box(Box box) {
    return (Area){(int)box.x, (int)box.y, (int)box.w, (int)box.h};
}

extern const Panel bev_panel;

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);
