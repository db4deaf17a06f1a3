/* The BEV in a terminal: two pixels a cell as half blocks, or one character a cell where there is
 * no colour. */
#ifndef BEV_BEV_CELLS_H
#define BEV_BEV_CELLS_H

#include "src/view/bev/bev_picture.h"
#include "src/view/term/cells.h"

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);

/* The grid cell shown at column x, row y of an area that bev_cells_draw returned; false outside. */
bool bev_cells_at(Area used, const State *state, int x, int y, int64_t *cell_x, int64_t *cell_y);

#endif
