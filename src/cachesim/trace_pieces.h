/* V4's map of pieces on the host, as kernels/cuda/v4/build.cuh deals them out: cells by class, 2^k
 * workers for a cell of class k, the largest first; each worker takes every 2^k-th point. */
#ifndef BEV_TRACE_PIECES_H
#define BEV_TRACE_PIECES_H

#include "kernels/bevpool.h"

typedef struct {
    int32_t cell, owner; /* owner: place of the cell in that order */
    int32_t part, parts;
} Piece;

typedef struct {
    Piece *workers;
    int64_t count;
} Pieces;

/* `rows` workers a block, a power of two: as many as a cell gets at most. `interval_of` says for
 * each cell which interval is its own, or -1. */
bool pieces_deal(const BevProblem *problem, const int32_t *interval_of, int rows, Pieces *pieces,
                 Err *err);
void pieces_free(Pieces *pieces);

#endif
