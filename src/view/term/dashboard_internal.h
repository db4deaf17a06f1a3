/* SPDX-License-Identifier: MIT */
/* The panels that only the terminal has: pictures in cells. The window draws its pictures
 * itself. */
#pragma once

#include "src/view/bev/picture.h"
#include "src/view/panel/panel.h"
#include "src/view/term/cells_sheet.h"
#include "src/view/term/dash_spots.h"

/* The Sheet that their `draw` gets. */
typedef struct {
    Sheet sheet;            /* first */
    const Picture *picture; /* may be NULL: none yet */
    DashSpots *spots;       /* receives where pictures stand; may be NULL */
} DashSheet;

extern const Panel bev_panel, camera_panel;

/* The rows of the camera strip on a screen of that width, names included; and the strip. */
int strip_cells_rows(int w);
void strip_cells_draw(DashSheet *dash, Area area, const PanelData *data);

/* Two pixels above each other; without colour a sign of their brightness. */
void cells_half_block(Cells *cells, int x, int y, Rgb upper, Rgb lower, bool is_signed);

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);
