/* What V4's prepare decides by, in CUDA and plain C: the kernel and its simulation
 * (kernels/tiles.c) must come to the same map. */
#pragma once

#include "kernels/bevpool.h"

#include <math.h>

#ifdef __cplusplus
#define V4_CONST(name, value) constexpr int name = value
#else
#define V4_CONST(name, value) enum { name = value }
#endif
#ifdef __CUDACC__
#define V4_BOTH __host__ __device__ constexpr
#else
#define V4_BOTH static inline
#endif

V4_CONST(TILE_CELLS, 16);          /* cells of a tile */
V4_CONST(TILE_WORK_WORDS, 4);      /* of what a warp reads about its tile */
V4_CONST(SLAB, 16);                /* image rows multiplied at once: a slab of a feature column */
V4_CONST(TILE_WARPS, 8);           /* warps a block; a tile has 1, 2, 4 or 8, or two blocks */
V4_CONST(TILE_LARGEST, 3);         /* the largest class that one block holds: 2^3 warps a tile */
V4_CONST(PAIR_CLASS, 4);           /* the class of tiles with two blocks: 2^4 warps */
V4_CONST(PAIRS, 128);              /* at most so many tiles have two blocks */
V4_CONST(TILE_BLOCKS, 2);          /* blocks that a multiprocessor holds */
V4_CONST(PORTIONS, 3);             /* a warp should get at most 2, 4 or 8 steps: three choices */
V4_CONST(WAVE_STEPS, 3);           /* what a wave of blocks costs beside its steps, in steps */
V4_CONST(POINTS_A_STEP, 32);       /* fewer: a step costs more than its points one by one */
V4_CONST(STRIP, 4);                /* feature columns side by side, by which cells are sorted */
V4_CONST(LONGEST_SORTED, 4096);    /* points of a cell that a block sorts */
V4_CONST(GATHERED_POINTS, 5000);   /* a multiprocessor gathers so many depths one by one in the time
                                      of the kernel that transposes the depth */
V4_CONST(TRANSPOSE_BINS, 8);       /* depth bins of 32 columns that a block transposes */
V4_CONST(PIECE_THREADS, 512);      /* of a block, at most */
V4_CONST(PIECE_POINTS, 8);         /* points that a worker should get */

/* At least 2: so every worker of a tile has a step. */
V4_BOTH int portion_of(int config) {
    return 2 << config;
}

/* Class of an owner with `size` units of work when a worker should get `portion` of them. */
V4_BOTH int class_of(int size, int portion, int largest) {
    int k = 0;
    while (k < largest && (portion << k) < size)
        k++;
    return k;
}

/* The largest class of a map's tiles if `longest` of them have more steps than eight portions. If
 * these are few, all else would wait for them, so each gets two blocks. Their sums meet in the
 * workspace, which the kernel that transposes the depth makes ready. */
V4_BOTH int v4_largest_class(bool transposes, int64_t longest) {
    return transposes && longest <= PAIRS ? PAIR_CLASS : TILE_LARGEST;
}

/* At which of 16 places an image row of a slab stands, and which row stands at a place: the same.
 * Lane q multiplies places 4q to 4q + 3, which are rows q, q + 4, q + 8 and q + 12. Its load number
 * i is of row 4i + q, so that four lanes load four neighbouring rows at once. */
V4_BOTH int v4_place(int row) {
    return row % 4 * 4 + row / 4;
}

/* Strip of a cell whose first entry is in slab column `first`. */
V4_BOTH int v4_strip(int first, int slabs) {
    return first / slabs / STRIP;
}

/* The order of cells within a strip, with which neighbours see nearly the same columns: by last
 * slab column, ascending in even strips and descending in odd ones; of the same last column by
 * first column, ascending and descending in turns; then by number of entries. Who sorts takes the
 * strips one after the other, and equal cells by interval. `columns`: of all slabs. */
V4_BOTH uint32_t v4_cell_key(int first, int last, int entries, int slabs, int columns) {
    int along = v4_strip(first, slabs) % 2 ? columns - 1 - last : last;
    int across = first / slabs % STRIP;
    if (last / slabs % 2)
        across = STRIP - 1 - across;
    return (uint32_t)(along * STRIP + across) << 6 | (uint32_t)(entries < 63 ? entries : 63);
}

/* Channels that a lane takes of a group of channels, which is 8 lanes wide: 16 bytes in FP32 and in
 * the 16-bit formats. */
V4_BOTH int v4_lane_channels(BevDtype dtype) {
    return dtype == BEV_FP32 ? 4 : 8;
}

/* Channels that a block takes, in FP32 half as many; 0: their number needs pieces. */
static inline int v4_tile_channels(const BevProblem *problem) {
    int64_t channels = problem->shape.channels;
    int group = 8 * v4_lane_channels(problem->dtype);
    if (channels == 80)
        return group + group / 4;
    bool pairs = channels % 128 == 0 && !problem->map.weights;
    return pairs ? 2 * group : channels % 64 == 0 ? group : 0;
}

/* The place at which a block of tiles starts in its pass. `block`: its number when the blocks are
 * sorted, the largest tiles first. Also the other way round, as turning twice changes nothing.
 * `blocks` of them have tiles. They go round the multiprocessors: each gets one, then each another,
 * and so on. The first round is turned, so that the multiprocessor with the largest block gets the
 * smallest block of the second round, or none. */
V4_BOTH int v4_turn(int block, int blocks, int round) {
    return block < round && round < blocks ? round - 1 - block : block;
}

/* Slabs of a feature column. */
static inline int64_t v4_slabs(const BevShape *shape) {
    return (shape->feat_h + SLAB - 1) / SLAB;
}

/* Whether tiles can be tried: channels in whole groups, numbers that fit their fields. */
static inline bool v4_tiles_possible(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    double columns = (double)s->cameras * (double)s->feat_w * (double)v4_slabs(s);
    double places = columns * (double)s->depth_bins * SLAB;
    return problem->map.points > 0 && columns < 1 << 24 && places < 2147483648.0 &&
           s->depth_bins < 65536 && v4_tile_channels(problem) > 0;
}

/* Whether to transpose the depth by a kernel of its own first. Weighted maps read each depth about
 * four times. */
static inline bool v4_transposes(const BevMap *map, int multiprocessors) {
    return map->weights || map->points > (int64_t)GATHERED_POINTS * multiprocessors;
}

/* How long tiles take, in steps, when their warps get `portion` steps each. At least a warp's
 * portion and its start, which counts a step less than a wave of blocks does. */
static inline double v4_tiles_time(int portion, int64_t workers, int64_t steps, int64_t passes,
                                   int multiprocessors) {
    double resident = (double)TILE_BLOCKS * multiprocessors; /* blocks at once */
    double work = (double)(steps * passes) / (resident * TILE_WARPS);
    double blocks = (double)((workers + TILE_WARPS - 1) / TILE_WARPS) * (double)passes;
    return fmax(WAVE_STEPS - 1 + portion, WAVE_STEPS * ceil(blocks / resident) + work);
}
