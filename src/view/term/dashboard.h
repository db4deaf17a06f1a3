/* SPDX-License-Identifier: MIT */
/* The dashboard: draws State and LiveData as Cells. Pure: the same input gives the same cells.
 * Panels without room are left out, the least important ones first (src/view/panel/panels.inc). */
#pragma once

#include "src/view/panel/panel.h"
#include "src/view/term/cells.h"

/* Draws a whole screen of the size of `cells`; cells->ascii, color and light choose the look. Pages
 * with a BEV draw `picture`; NULL: no picture is made yet. `spots` receives the places for the
 * mouse; may be NULL. */
void dashboard_draw(Cells *cells, const State *state, const LiveData *live, const Picture *picture,
                    Spots *spots);

/* Returns as ASCII text the panel that lessons call `point`. free() it. NULL: no panel of the body
 * has that name, or no memory. */
enum { PANEL_TEXT_WIDTH = 78 };
char *dashboard_panel_text(LessonPanel point, const State *state, const LiveData *live,
                           const Picture *picture);

/* Returns the selection's figures as one plain line, for output that is not a screen. free() it.
 * NULL: no memory. */
char *dashboard_plain(const State *state, const LiveData *live);

/* ---- the back end of panels for cells, also without colour and in ASCII ---------------------- */

Sheet cells_sheet(Cells *cells);

/* Returns the cells of a spot's box on the dashboard. */
static inline Area area_of_box(Box box) {
    return (Area){(int)box.x, (int)box.y, (int)box.w, (int)box.h};
}

extern const Panel bev_panel;

/* Draws the part of the picture that the viewport shows, with vehicle, cursor and pinned cell. The
 * picture is as large as `area` allows, with square grid cells. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);
