/* V4's tiles as its prepare drafts them on the device (kernels/cuda/v4/prepare.cuh), drafted on the
 * host: which cells a tile has, and which steps. The formula of V4's bytes counts them, and
 * src/cachesim lays out their map. */
#pragma once

#include "kernels/cuda/v4/choices.h"

/* A bin of a column slab that falls into a cell. */
typedef struct {
    int32_t column; /* (camera * w + column) * slabs + slab */
    uint32_t code;  /* bin << 16 | image rows of the slab; the kernel's has their places */
} TileEntry;

typedef struct {
    const BevProblem *problem;
    bool serves;     /* false: pieces are faster, and the rest may be unfinished */
    bool transposed; /* a kernel of its own transposes the depth first */
    int64_t tiles, steps;
    V4Schedule schedule;
    TileEntry *entries;    /* by interval */
    int32_t *entry_starts; /* [intervals + 1] */
    int32_t *order;        /* [intervals] those that see the same columns are neighbours */
    int32_t *step_counts;  /* [tiles] of that order */
} TileDraft;

/* Drafts the tiles for a GPU of so many multiprocessors. Reads the problem's map on the host, whose
 * ranks are in range. False: no memory. Free the draft with tile_draft_free in both cases. */
bool tile_draft_make(const BevProblem *problem, int multiprocessors, TileDraft *draft);
void tile_draft_free(TileDraft *draft);

/* Bytes of the depth by columns, whole slabs: (camera, w, slab, bin, place). */
size_t tile_transposed_bytes(const BevProblem *problem);

/* A cursor over the columns of a tile. A step takes the smallest column that any cell still has; a
 * cell with two bins in a column takes two steps. */
typedef struct {
    int32_t interval[TILE_CELLS], next[TILE_CELLS], end[TILE_CELLS];
    int32_t mine[TILE_CELLS]; /* entries of the step, or -1 */
    int32_t column;
} TileCursor;

TileCursor tile_cursor(const TileDraft *draft, int64_t tile);

/* Goes on to the next step. False: there is none. */
bool tile_cursor_step(const TileDraft *draft, TileCursor *cursor);
