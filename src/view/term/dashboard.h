/* The dashboard: State and LiveData as Cells. Pure: the same input gives the same cells.
 *
 * Where there is no room, panels fold away in this order: idea, pipeline, intervals, accuracy (down
 * to the selected format, then altogether), working set, the memory model where a chart is asked
 * for; the kernels, the log's newest line, the header and the key bar stay longest. The large
 * figures need 100 x 34. */
#ifndef BEV_DASHBOARD_H
#define BEV_DASHBOARD_H

#include "src/view/bev/bev_picture.h"
#include "src/view/term/cells.h"

/* Draws a whole screen at the size of `cells`; its ascii, color and light say how. `picture` may be
 * NULL: it is drawn where the state's page asks for the BEV. */
void dashboard_draw(Cells *cells, const State *state, const LiveData *live,
                    const BevPicture *picture);

/* The selection's figures as one plain line, for output that is no screen: malloc'd, NULL without
 * memory. */
char *dashboard_plain(const State *state, const LiveData *live);

#endif
