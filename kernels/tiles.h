/* SPDX-License-Identifier: MIT */
/* V4's tiles on the host: which cells a tile has, and which steps. V4's prepare makes the same
 * tiles on the device (kernels/cuda/v4/prepare.cuh). The formula of V4's bytes counts them, and
 * src/cachesim lays out their map. */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/cuda/v4/choices.h"

/* An entry: the points of one depth bin and one column slab that fall into a cell. */
typedef struct {
    int32_t column; /* (camera * w + column) * slabs + slab */
    uint32_t code;  /* bin << 16 | bit mask of the slab's image rows (the GPU's mask is by place) */
} TileEntry;

typedef struct {
    const BevProblem *problem;
    CpuArrays arrays;
    bool serves;     /* false: pieces are faster, and the other fields may be unfinished */
    bool transposed; /* a kernel of its own transposes the depth first */
    int64_t tiles, steps;
    V4Schedule schedule;
    TileEntry *entries;    /* sorted by interval */
    int32_t *entry_starts; /* [intervals + 1] */
    int32_t *order;        /* [intervals] intervals that see the same columns are neighbours */
    int32_t *step_counts;  /* [tiles] 16 cells each, in that order */
} TileDraft;

/* Drafts the tiles for a GPU with this number of multiprocessors. Reads the problem's map on the
 * host; its ranks must be in range. False: out of memory. The caller frees the draft with
 * tile_draft_free in both cases. */
bool tile_draft_make(const BevProblem *problem, int multiprocessors, TileDraft *draft);
void tile_draft_free(TileDraft *draft);

/* Returns the bytes of the transposed depth, in whole slabs: (camera, w, slab, bin, place). */
size_t tile_transposed_bytes(const BevProblem *problem);

/* A cursor over the steps of a tile. A step takes the smallest column that any cell still has. A
 * cell with two bins in a column takes two steps. */
typedef struct {
    int32_t interval[TILE_CELLS], next[TILE_CELLS], end[TILE_CELLS];
    int32_t mine[TILE_CELLS]; /* the entry of each cell in this step, or -1 */
    int32_t column;
} TileCursor;

TileCursor tile_cursor(const TileDraft *draft, int64_t tile);

/* Goes on to the next step. Returns false if there is none. */
bool tile_cursor_step(const TileDraft *draft, TileCursor *cursor);
