/* SPDX-License-Identifier: MIT */
/* The rules by which V4's prepare decides, in CUDA and plain C: the kernel and its simulation
 * (kernels/tiles.c) must make the same map. */
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
V4_CONST(TILE_WORK_WORDS, 4);      /* words that a warp reads about its tile */
V4_CONST(SLAB, 16);                /* image rows of a slab, which are multiplied at once */
V4_CONST(TILE_WARPS, 8);           /* warps of a block; a tile has 1, 2, 4 or 8, or two blocks */
V4_CONST(TILE_LARGEST, 3);         /* the largest class that one block holds: 2^3 warps a tile */
V4_CONST(PAIR_CLASS, 4);           /* the class of tiles with two blocks: 2^4 warps */
V4_CONST(PAIRS, 128);              /* the most tiles that have two blocks */
V4_CONST(TILE_BLOCKS, 2);          /* blocks that a multiprocessor holds */
V4_CONST(PORTIONS, 5);             /* choices of portion_of() */
V4_CONST(MANY_STEPS, 256);         /* tiles of 256 steps and more are counted together */
V4_CONST(POINTS_A_STEP, 32);       /* with fewer points a step costs more than single points */
V4_CONST(STRIP, 4);                /* neighbouring feature columns: cells are sorted by strips */
V4_CONST(LONGEST_SORTED, 4096);    /* points of a cell that a block sorts */
V4_CONST(GATHERED_POINTS, 5000);   /* with more depths a multiprocessor, transposing is faster */
V4_CONST(TRANSPOSE_BINS, 4);       /* depth bins of 32 columns that a block transposes */
V4_CONST(TRANSPOSE_ACROSS, 4);     /* columns that a lane of the transposing kernel loads at once */
V4_CONST(ROW_GROUPS, 4);           /* groups of slab rows: g, g + 4, g + 8 and g + 12 (v4_place) */
V4_CONST(PIECE_THREADS, 512);      /* most threads of a block */
V4_CONST(PIECE_POINTS, 8);         /* points that a worker should get */
V4_CONST(MANY_POINTS, 1 << 20);    /* from this points x channels / 8 on, twice as many */

/* Returns the most steps of a warp. At least 2, so that every worker of a tile has a step. */
V4_BOTH int portion_of(int config) {
    const int portions[PORTIONS] = {3, 4, 6, 8, 12};
    return portions[config];
}

/* Returns the class k of an owner with `size` units of work. The owner gets 2^k workers. Each
 * worker has at most `portion` units, unless the owner is of class `largest`. */
V4_BOTH int class_of(int size, int portion, int largest) {
    int k = 0;
    while (k < largest && (portion << k) < size)
        k++;
    return k;
}

/* Returns the points that a worker of pieces should get. With few points a worker cells end sooner.
 * With many points the worker's own cost, the time of seven points, counts less. */
V4_BOTH int piece_points(int64_t points, int64_t channels) {
    return points * ((channels + 7) / 8) < MANY_POINTS ? PIECE_POINTS : 2 * PIECE_POINTS;
}

/* Returns the place (0 to 15) of an image row in its slab; also the row of a place. Lane q
 * multiplies places 4q to 4q + 3, which are rows q, q + 4, q + 8 and q + 12. Its load number i
 * reads row 4i + q, so that four lanes load four neighbouring rows at once. */
V4_BOTH int v4_place(int row) {
    return row % 4 * 4 + row / 4;
}

/* Returns the strip of a cell whose first entry is in slab column `first`. */
V4_BOTH int v4_strip(int first, int slabs) {
    return first / slabs / STRIP;
}

/* Returns the sort key of a cell within its strip. Neighbours in this order see nearly the same
 * columns. The key orders by last slab column, ascending in even strips and descending in odd
 * strips. Then it orders by first column, in alternating directions, then by number of entries.
 * Callers sort by strip, key and interval. `columns`: the slab columns of all slabs. */
V4_BOTH uint32_t v4_cell_key(int first, int last, int entries, int slabs, int columns) {
    int along = v4_strip(first, slabs) % 2 ? columns - 1 - last : last;
    int across = first / slabs % STRIP;
    if (last / slabs % 2)
        across = STRIP - 1 - across;
    return (uint32_t)(along * STRIP + across) << 6 | (uint32_t)(entries < 63 ? entries : 63);
}

/* Returns the channels of an image row that a lane loads at once: 16 bytes, in NVFP4 8. Four lanes
 * load side by side. */
V4_BOTH int v4_lane_channels(BevDtype dtype) {
    return dtype == BEV_FP32                        ? 4
           : dtype == BEV_FP16 || dtype == BEV_BF16 ? 8
                                                    : 16;
}

/* Returns the channels of a group. A block takes one group, two, or one and a quarter. */
V4_BOTH int v4_group(BevDtype dtype) {
    return dtype == BEV_FP32 ? 32 : 64;
}

/* Returns whether blocks of tiles can take the channels: whole groups, or 80. Other numbers of
 * channels are for pieces. */
static inline bool v4_channels_fit(const BevProblem *problem) {
    return problem->shape.channels == 80 || problem->shape.channels % 64 == 0;
}

/* Returns the channels of a block of `groups` groups; of 80 channels a group and a quarter. */
static inline int v4_block_channels(const BevProblem *problem, int groups) {
    int group = v4_group(problem->dtype);
    return problem->shape.channels == 80 ? group + group / 4 : groups * group;
}

/* Returns the place of a block of tiles in the order in which the blocks of a pass start; also the
 * block at a place. Blocks are numbered by size, the largest first. They go to the `round`
 * multiprocessors in rounds. The first round is reversed, so that the multiprocessor with the
 * largest block gets the smallest block of the second round, or none. */
V4_BOTH int v4_start_order(int block, int blocks, int round) {
    return block < round && round < blocks ? round - 1 - block : block;
}

/* Returns the number of slabs of an image column: the image height in units of 16 rows. */
static inline int64_t v4_slabs(const BevShape *shape) {
    return (shape->feat_h + SLAB - 1) / SLAB;
}

/* Returns whether tiles are possible: channels fit whole groups, and numbers fit their fields. */
static inline bool v4_tiles_possible(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    double columns = (double)s->cameras * (double)s->feat_w * (double)v4_slabs(s);
    double places = columns * (double)s->depth_bins * SLAB;
    return problem->map.points > 0 && columns < 1 << 24 && places < 2147483648.0 &&
           s->depth_bins < 65536 && v4_channels_fit(problem);
}

/* Returns whether a kernel of its own transposes the depth first. Weighted maps read each depth
 * about four times. A view transform has a first kernel anyway, which transposes as well. */
static inline bool v4_transposes(const BevProblem *problem, int multiprocessors) {
    const BevMap *map = &problem->map;
    return problem->stage == BEV_VIEW || map->weights ||
           map->points > (int64_t)GATHERED_POINTS * multiprocessors;
}

/* Returns how many neighbouring columns a lane of the transposing kernel loads at once. */
V4_BOTH int v4_across(int64_t width) {
    return width % TRANSPOSE_ACROSS ? 1 : TRANSPOSE_ACROSS;
}

/* Returns which of a block's 32 columns is in `slot` of the transposing kernel's shared memory. */
V4_BOTH int v4_column_of(int slot, int across) {
    return slot % (32 / across) * across + slot / (32 / across);
}

/* The facts that decide how tiles are scheduled. */
typedef struct {
    const BevProblem *problem;
    int64_t steps; /* of all tiles, in one pass over the channels */
    bool transposes;
    int multiprocessors;
} V4Load;

/* How tiles are scheduled: a tile of class k has 2^k warps. */
typedef struct {
    int portion, largest;       /* steps that a warp should get; the largest class */
    int groups;                 /* groups of channels of a block: 1 or 2 */
    int64_t passes;             /* over the channels */
    int counts[PAIR_CLASS + 1]; /* number of tiles by class */
    int workers;                /* warps of all tiles, in one pass */
} V4Schedule;

/* Schedules tiles for at most `portion` steps a warp. tile_steps[n], n in [0, MANY_STEPS], is the
 * number of tiles with n steps. If only few tiles have more steps than eight portions, each of
 * these gets two blocks, as all others would wait for it. The sums of both blocks meet in the
 * workspace, which the kernel that transposes the depth prepares. */
static inline V4Schedule v4_schedule(const int *tile_steps, const V4Load *load, int portion,
                                     int groups) {
    int64_t passes = load->problem->shape.channels / v4_block_channels(load->problem, groups);
    V4Schedule schedule = {portion, TILE_LARGEST, groups, passes, {0}, 0};
    int longest = 0;
    for (int steps = portion * TILE_WARPS + 1; steps <= MANY_STEPS; steps++)
        longest += tile_steps[steps];
    if (load->transposes && longest <= PAIRS)
        schedule.largest = PAIR_CLASS;
    for (int steps = 0; steps <= MANY_STEPS; steps++)
        schedule.counts[class_of(steps, portion, schedule.largest)] += tile_steps[steps];
    for (int k = 0; k <= PAIR_CLASS; k++)
        schedule.workers += schedule.counts[k] << k;
    return schedule;
}

/* Returns the time of the tile that takes longest, in steps: its steps in sequence and its joins.
 * The joins take an eighth of a step for two warps, half a step for four, one step for eight, and
 * two steps for two blocks. */
static inline double v4_longest_tile(const int *tile_steps, const V4Schedule *schedule) {
    double longest = 0;
    for (int steps = 1; steps <= MANY_STEPS; steps++) {
        int k = class_of(steps, schedule->portion, schedule->largest), warps = 1 << k;
        if (tile_steps[steps])
            longest = fmax(longest, (steps + warps - 1) / warps + k * k / 8.0);
    }
    return longest;
}

/* Returns the time of a step; 1 is an FP16 step without weights, of one group or 80 channels. */
static inline double v4_step_time(const BevProblem *problem) {
    BevDtype dtype = problem->dtype;
    return dtype == BEV_FP32 || problem->map.weights ? 2.5 : dtype == BEV_NVFP4 ? 1.5 : 1;
}

/* Returns the time of all tiles, in steps of FP16: the larger of two times. The first is the time
 * of the longest tile, whose start takes three steps. The second is the time of all blocks and
 * steps in parallel. `twice`: a step of two groups counts twice in the first time and 2.7 times in
 * the second. FP32 always takes two groups if it can, which v4_step_time includes. `blocks` and
 * `steps`: of all passes; `resident`: blocks that the GPU holds at once. The numbers are fitted to
 * the times of all portions on an H200 (samples/experiments/v4.md). */
V4_BOTH double v4_time(double longest, double blocks, double steps, double resident, double step,
                       bool twice) {
    double latency = 3 + step * (twice ? 2 : 1) * longest;
    double all = 5.5 * blocks / resident +
                 1.5 * step * (twice ? 2.7 : 1) * (steps / (resident * TILE_WARPS));
    return latency > all ? latency : all;
}

static inline double v4_tiles_time(const int *tile_steps, const V4Schedule *schedule,
                                   const V4Load *load) {
    double blocks =
        (double)((schedule->workers + TILE_WARPS - 1) / TILE_WARPS) * (double)schedule->passes;
    return v4_time(v4_longest_tile(tile_steps, schedule), blocks,
                   (double)(load->steps * schedule->passes),
                   (double)TILE_BLOCKS * load->multiprocessors, v4_step_time(load->problem),
                   schedule->groups > 1 && load->problem->dtype != BEV_FP32);
}

/* Returns whether a block may take this number of groups, 1 or 2. Two groups need a multiple of 128
 * channels and a map without weights. Where two are allowed, FP32 always takes two. */
static inline bool v4_groups_allowed(const BevProblem *problem, int groups) {
    bool two = problem->shape.channels % 128 == 0 && !problem->map.weights;
    return groups == 2 ? two : !two || problem->dtype != BEV_FP32;
}

/* Returns the schedule with the shortest time over all portions and groups; of equals the first. */
static inline V4Schedule v4_best_schedule(const int *tile_steps, const V4Load *load) {
    V4Schedule best = {0};
    double least = INFINITY;
    for (int groups = 1; groups <= 2; groups++) {
        if (!v4_groups_allowed(load->problem, groups))
            continue;
        for (int i = 0; i < PORTIONS; i++) {
            V4Schedule schedule = v4_schedule(tile_steps, load, portion_of(i), groups);
            double time = v4_tiles_time(tile_steps, &schedule, load);
            if (time < least) {
                least = time;
                best = schedule;
            }
        }
    }
    return best;
}
