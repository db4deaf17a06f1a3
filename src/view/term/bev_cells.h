/* SPDX-License-Identifier: MIT */
/* The BEV in character cells: the one panel that a screen of pixels draws in its own way. */
#pragma once

#include "src/view/panel/panel.h"
#include "src/view/term/cells.h"

extern const Panel bev_panel;

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);
