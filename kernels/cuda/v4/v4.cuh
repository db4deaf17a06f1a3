/* SPDX-License-Identifier: MIT */
// The two kernels of V4 share this file: how work is scheduled to workers, and the two maps that
// `prepare` builds. A worker is a warp (tiles.cuh) or a row of threads (pieces.cuh).
#pragma once

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/v4/choices.h"

// ---- shares: 1, 2, 4 ... workers for an owner --------------------------------------------------

// Owners are sorted by class, the largest first. An owner of class k has a group of 2^k
// neighbouring workers. The groups before it are as large or larger: so a group starts at a
// multiple of its size. It never lies in two blocks if a block holds at least 2^k workers.
constexpr int CLASSES = 10;

struct Shares {
    int first_worker[CLASSES], first_owner[CLASSES]; // of class k; falling with k
    int workers, owners;                             // in all
};

struct Share {
    int owner, part, parts; // owner in [0, owners], part in [0, parts), parts a power of two
};

// Returns the share of a worker. A worker past the last one gets the owner Shares::owners, which
// does not exist. The unrolled loop makes the arrays' elements operands at fixed places.
__device__ inline Share share_of(const Shares &shares, int worker) {
    int k = 0, first_worker = shares.first_worker[0], first_owner = shares.first_owner[0];
#pragma unroll
    for (int i = 1; i < CLASSES; i++)
        if (worker < shares.first_worker[i - 1]) {
            k = i;
            first_worker = shares.first_worker[i];
            first_owner = shares.first_owner[i];
        }
    int rank = worker - first_worker;
    int owner = min(first_owner + (rank >> k), shares.owners);
    return {owner, rank & ((1 << k) - 1), 1 << k};
}

// Makes Shares from the number of owners of each class.
__host__ __device__ inline Shares shares_from(const int counts[CLASSES]) {
    Shares shares = {};
    for (int k = CLASSES - 1; k >= 0; k--) {
        shares.first_worker[k] = shares.workers;
        shares.first_owner[k] = shares.owners;
        shares.workers += counts[k] << k;
        shares.owners += counts[k];
    }
    return shares;
}

// Adds the sums of a group's parts pairwise, in an order that depends only on their number. Part 0
// ends with the total. `worker` is this worker's number in the block. `workers` is a power of two,
// at least the number of workers in the group. There are half as many slots as the block has
// workers. `put` writes this worker's sums to a slot, `add` adds a slot's sums to this worker's
// sums. `wait` waits for all workers that use the group's slots. In the first round the upper half
// of a group puts its sums where the lower half reads. In later rounds a worker puts its sums into
// the slot that it read in the first round. No other worker has used this slot since, so that one
// wait a round is enough. Example of four parts: 2 and 3 put into slots 0 and 1, and 0 and 1 add
// them. Then 1 puts into slot 1, and 0 adds it.
template <typename Wait, typename Put, typename Add>
__device__ inline void join_parts(const Share &share, int worker, int workers, Wait wait, Put put,
                                  Add add) {
    int slots = (worker - share.part) / 2; // the group's first slot
    for (int half = workers / 2; half >= 1; half /= 2) {
        bool joins = share.parts > half, first = share.parts == 2 * half;
        if (joins && share.part >= half && share.part < 2 * half)
            put(slots + share.part - (first ? half : 0));
        wait();
        if (joins && share.part < half)
            add(slots + share.part + (first ? 0 : half));
    }
}

// ---- the map as tiles, for tensor cores --------------------------------------------------------

// The steps of a worker. The first step has the worker's own number, so that it can be read before
// the tile is known. Then come steps next, next + parts and so on, up to `end`.
struct alignas(16) TileWork {
    int tile; // or NO_TILE
    int next, end;
    int share; // part << 8 | parts

    __device__ int part() const {
        return share >> 8;
    }
    __device__ int parts() const {
        return share & 0xff;
    }
};

static_assert(sizeof(TileWork) == TILE_WORK_WORDS * sizeof(int));

constexpr int NO_TILE = -1;

// A launch's own memory. The sums of a tile with two blocks meet there. Each pass over channels has
// its own sums.
struct Workspace {
    void *transposed; // depth as (camera, w, slab, bin, place), or NULL
    float4 *halves;   // [reductions * 2 * 16 * channels of a pass / 4]: sums of each block
    int *arrived;     // [reductions]: 0, or 1 + the number of the worker that came first
    int reductions;   // tiles with two blocks, which come first, times passes: tile * passes + pass
};

// How many workers and empty cells a moving map has at the moment.
struct TileCounts {
    int workers, empties;
};

// The map as tiles: the arguments of a launch. A tile is 16 cells that see the same image columns.
// A step multiplies the depths of one slab (16 image rows of one column) for these cells by the
// slab's features. An entry is bin << 16 | rows: the bin of the column that falls into the cell,
// and a mask of its 16 rows by place (v4_place). Workers are numbered as they start; numbers behind
// the last worker clear empty cells. Step w is the first step of worker w. The other steps follow,
// tile by tile. Every worker of a tile has a first step: a tile of class k > 0 has more than 2^k
// steps, as portions are at least 2. Arguments arrive in lines of 64 bytes: those that a warp needs
// first come first.
struct TileMap {
    const TileWork *work;    // [workers]
    const int2 *slabs;       // [steps]: feature row of image row 0; index of depth bin 0
    const uint32_t *entries; // [steps * 16], by cell of the tile
    int workers;             // a multiple of TILE_WARPS
    int empties;
    const int *empty;         // [empties]: cells without points
    const TileCounts *counts; // of a moving map: `workers` and `empties` are bounds; else NULL

    // These differ from launch to launch; as in Pool.
    void *out;
    const void *feat, *depth;
    const uint8_t *feat_scales;
    const float *channel_scales;
    int channels;
    float scale;

    const int *cells;       // [tiles * 16]: cell, or NO_CELL
    int feat_w, bin_stride; // pixels of an image row; elements of `depth` from a bin to the next
    int last_feat_row;      // read in place of rows past the last image, and multiplied by 0
    const int *weight_rows; // [steps * 16]: row of `weights`; weighted maps only
    const float4 *weights;  // [rows * 4]: 16 weights by place, 0 for rows not in the entry
    Workspace workspace;    // of a launch that transposes the depth
    bool fronted;           // the launch has a kernel in front that makes the depths,
    bool awaits_features;   // and that also writes the features
    bool followed;          // another kernel of the launch follows

    __device__ Pool pool() const {
        Pool pool = {};
        pool.out = out;
        pool.feat = feat;
        pool.depth = depth;
        pool.feat_scales = feat_scales;
        pool.channel_scales = channel_scales;
        pool.channels = channels;
        pool.scale = scale;
        return pool;
    }
};

constexpr int NO_CELL = -1;

// ---- the map as pieces, for anything else ------------------------------------------------------

struct PieceMap {
    Shares shares; // owners are cells
    /* [cells]: first point, points, cell, parts; cells without points come last */
    const int4 *owners;
};
