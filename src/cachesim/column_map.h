/* The map of grad_v4 on the host, as kernels/cuda/grad_v4/prepare.cuh builds it on the device:
 * image columns of 32 pixels, cut into chunks of depth bins. */
#pragma once

#include "src/cachesim/trace_internal.h"

enum { CHUNK_CELLS = 16, CHUNK_BINS = 16, WEIGHTED_LAYERS = 4 };

typedef struct {
    int first_bin, bins, cells; /* bins 0: the chunk does not exist */
    int32_t cell[CHUNK_CELLS];
} ColumnChunk;

typedef struct {
    bool serves;    /* false: grad_owner's warps are faster, and the rest is empty */
    int rows, cols; /* of a column: rows * cols = 32 */
    int slabs, strips;
    int layers; /* slots for each bin and pixel: 1, or with weights 4 */
    int64_t columns, column_chunks;
    ColumnChunk *chunks; /* [columns * column_chunks] */
} ColumnMap;

/* A block of an H200: columns, warps of each, channels, and how many blocks a multiprocessor holds.
 */
typedef struct {
    int columns, warps, channels, resident;
} ColumnBlock;

/* Free the map with column_map_free, which accepts an empty one. */
bool column_map_build(const BevProblem *problem, ColumnMap *map, ColumnBlock *block, Err *err);
void column_map_free(ColumnMap *map);
