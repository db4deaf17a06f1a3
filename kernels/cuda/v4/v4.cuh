// What the two kernels of V4 share: how work is scheduled to workers, and the two maps that
// `prepare` builds. A worker is a warp (tiles.cuh) or a row of threads (pieces.cuh).
#pragma once

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/v4/choices.h"

// ---- shares: 1, 2, 4 ... workers for an owner --------------------------------------------------

// Owners are sorted by class, the largest first; an owner of class k has 2^k workers side by side.
// As every class before it is made of larger groups, a group starts at a multiple of its size, and
// no group lies across two blocks as long as a block holds at least 2^k workers.
constexpr int CLASSES = 10;

struct Shares {
    int first_worker[CLASSES], first_owner[CLASSES]; // of class k; falling with k
    int workers, owners;                             // in all
};

struct Share {
    int owner, part, parts; // owner in [0, owners], part in [0, parts), parts a power of two
};

// `worker` past the last one gets an owner that does not exist: Shares::owners. No loop over the
// arrays: their elements are operands at fixed places.
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

// Shares of owners counted by class.
static inline Shares shares_from(const int counts[CLASSES]) {
    Shares shares = {};
    for (int k = CLASSES - 1; k >= 0; k--) {
        shares.first_worker[k] = shares.workers;
        shares.first_owner[k] = shares.owners;
        shares.workers += counts[k] << k;
        shares.owners += counts[k];
    }
    return shares;
}

// Adds the sums of a group's parts pairwise, in an order that depends on nothing but their number:
// part 0 ends with the total. `worker`: the number in the block. `workers`: a power of two, at
// least the group's. There are half as many slots as the block has workers: `put` writes this
// worker's sums to a slot and `add` adds a slot's sums to its own. `wait` waits for all that read
// or write the group's slots. In the first round the upper half of a group puts its sums where the
// lower half reads. In every later round a worker puts them where it read in the first: nobody else
// has used that slot since, so that one wait a round is enough.
template <typename Wait, typename Put, typename Add>
__device__ inline void join_parts(const Share &share, int worker, int workers, Wait wait, Put put,
                                  Add add) {
    int slots = (worker - share.part) / 2; // where the group's begin
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

// What a worker does: the step of its own number, which it can so read before it knows its tile,
// then steps next, next + parts and so on, up to `end`.
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

// A launch's own memory. The sums of a tile that has two blocks meet there, those of each channel
// pass for themselves.
struct Workspace {
    void *transposed; // depth as (camera, w, slab, bin, place), or NULL
    float4 *halves;   // [reductions * 2 * 16 * channels of a pass / 4]: sums of each block
    int *arrived;     // [reductions]: 0, or 1 + the number of who was there first
    int reductions;   // tiles with two blocks, which come first, times passes: tile * passes + pass
};

// A tile is 16 cells that look at the same image columns. A step multiplies the depths of one slab
// (16 image rows of one column) for these cells by the slab's features. An entry says which bin of
// the column falls into the cell, and which of the 16 rows, by place (v4_place): bin << 16 | rows.
// Workers are numbered as they start; those behind the last one clear empty cells. Step w is the
// first step of worker w. Behind these follow the others, tile by tile. Who has a tile has a first
// step: a tile of class k > 0 has more than 2^k steps, as portions are at least 2.
//
// These are all arguments of a launch. They arrive by lines of 64 bytes, so what a warp needs first
// comes first.
struct TileMap {
    const TileWork *work;    // [workers]
    const int2 *slabs;       // [steps]: feature row of image row 0; where depth bin 0 begins
    const uint32_t *entries; // [steps * 16], by cell of the tile
    int workers;             // a multiple of TILE_WARPS
    int empties;
    const int *empty; // [empties]: cells without a point

    // Of a launch; as in Pool.
    void *out;
    const void *feat, *depth;
    const uint8_t *feat_scales;
    const float *channel_scales;
    int channels;
    float scale;

    const int *cells;       // [tiles * 16]: cell, or NO_CELL
    int feat_w, bin_stride; // distance of image rows and of depth bins in `depth`
    int last_feat_row;      // rows past the last image are read there, and multiplied by 0
    const int *weight_rows; // [steps * 16]: row of `weights`; weighted maps only
    const float4 *weights;  // [rows * 4]: 16 weights by place, 0 where the entry has no row
    Workspace workspace;    // of a launch that transposes the depth
    bool fronted;           // features, too, are written by the kernel in front
    bool followed;          // a kernel of the same launch comes behind

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
    Shares shares;      // owners are cells
    /* [cells]: first point, points, cell, parts; those without a point come last */
    const int4 *owners;
};
