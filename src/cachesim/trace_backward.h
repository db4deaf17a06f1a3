/* What the replays of the way back share: the points in the kernel's order, the arrays, and a
 * warp's instructions for rows and single elements. */
#pragma once

#include "src/cachesim/trace_internal.h"

/* grad_block: points of a warp. A lane loads four channels, so that a warp loads a row of 128 at
 * once. grad_owner: points whose rows are loaded together. */
enum { RUN_POINTS = 32, LONG_ROW = 128, QUAD = 4, OWNER_BATCH = 4 };

typedef struct {
    Memory *memory;
    const BevAccess *access;
    const BevProblem *problem;
    Place feat, depth, grad_out, cells, elements, pixels, starts, weights;
    Place depth_sums, feat_sums; /* where atomics add: the gradients, if they are FP32 */
    Place grad_depth, grad_feat;
    int64_t points, rows; /* rows: pixels */
    int channels, bytes;  /* of an element */
    /* Points sorted by pixel, then by depth element; grad_atomic: as the map has them. A pixel's
     * are [first[i], first[i + 1]). */
    int32_t *order, *first, *cell, *element, *pixel;
} Back;

/* ---- instructions ---------------------------------------------------------------------------- */

/* All lanes ask for one element. */
void back_read_one(Back *back, int sm, Place place, int64_t element, int bytes);

/* Channels [first, end) of a row, four a lane; `part` at least 0, for rows that are no multiple of
 * four: only every fourth channel from `first` + `part` on. */
void back_row_span(const Back *back, Instruction *in, int64_t row, int first, int end, int part);

/* A row by all lanes. */
void back_whole_row(Back *back, int sm, Place place, int64_t row, bool store);

/* The indices of point t, weight included, and its depth and row of grad_out. */
void back_read_indices(Back *back, int sm, int64_t t, bool pixels);
void back_read_point(Back *back, int sm, int64_t t);

/* A warp is done: counts its steps and waits if it has the most steps so far. */
void back_warp_done(Back *back, int32_t steps, TraceWaits indices, TraceWaits values);

/* ---- the kernels ----------------------------------------------------------------------------- */

/* Launches without name, blocks and resident blocks. */
extern const Launch back_points, back_runs, back_pixel_warps, back_pixels;

/* Warps of a block of grad_block: fewer where the rows in shared memory are long. */
int back_run_warps(const Back *back);
