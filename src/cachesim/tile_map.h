/* V4's map of tiles on the host: what kernels/cuda/v4/prepare.cuh builds on the device, in its
 * order, for the model of V4's stream. Addresses only, no weights. */
#ifndef BEV_TILE_MAP_H
#define BEV_TILE_MAP_H

#include "kernels/bevpool.h"

enum { TILE_CELLS = 16, TILE_SLAB = 16, TILE_CLASSES = 4, TILE_WARPS = 8, TILE_BLOCKS = 2 };

/* Tiles in the order of the launch. Those of class k have 2^k warps each; the largest come first.
 * A step is one slab (16 image rows of a feature column) with an entry for each cell of the tile:
 * bin << 16 | rows, 0 for none. */
typedef struct {
    bool serves;     /* false: pieces are the better way, and the rest is empty */
    bool transposed; /* depth is turned by a kernel of its own */
    int64_t tiles, steps, empties, entry_count;
    int64_t first_worker[TILE_CLASSES], first_tile[TILE_CLASSES], workers;
    int32_t *starts;   /* [tiles + 1] first step */
    int32_t *cells;    /* [tiles][TILE_CELLS] cell, or -1 */
    int32_t *columns;  /* [steps] (camera * w + column) * slabs + slab */
    uint32_t *entries; /* [steps][TILE_CELLS] */
    int32_t
        *weight_rows; /* [steps][TILE_CELLS] number of the entry, of which each has 16 weights */
    int32_t *empty;   /* [empties] cells without a point */
} TileMap;

/* Channels that a block takes; 0: the format or the number of channels needs pieces. */
int tile_channels(const BevProblem *problem);

/* Whether depth is turned by a kernel of its own on a GPU of so many multiprocessors: for weights,
 * and for more than TILE_GATHERED points a multiprocessor. */
enum { TILE_GATHERED = 8000 };
bool tile_transposes(const BevMap *map, int multiprocessors);

/* Slabs of a feature column. */
int64_t tile_slabs(const BevShape *shape);

/* For a GPU of so many multiprocessors. Free with tile_map_free. */
bool tile_map_build(const BevProblem *problem, int multiprocessors, TileMap *map, Err *err);
void tile_map_free(TileMap *map);

#endif
