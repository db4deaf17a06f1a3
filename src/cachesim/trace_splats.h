/* The points of a weighted map gathered again by frustum point, as BEV Align's prepare does it. */
#ifndef BEV_TRACE_SPLATS_H
#define BEV_TRACE_SPLATS_H

#include "kernels/bevpool.h"

enum { SPLAT_CELLS = 4, SPLAT_RANKS = 2 + SPLAT_CELLS, SPLAT_WORDS = SPLAT_RANKS + SPLAT_CELLS };

/* On the device a record of ten words: depth, feature row, four cells, four weights. */
typedef struct {
    int32_t depth, feat, cells;
    int32_t cell[SPLAT_CELLS];
} Splat;

typedef struct {
    Splat *splats;
    int64_t count;
} Splats;

bool splats_gather(const BevProblem *problem, Splats *splats, Err *err);
void splats_free(Splats *splats);

#endif
