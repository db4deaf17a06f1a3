/* SPDX-License-Identifier: MIT */
// V4 in tiles, on tensor cores: the points of a camera's column as a small dense matrix product.
#pragma once

#include "kernels/cuda/v4/overlap.cuh"
#include "kernels/cuda/v4/split.cuh"
#include "kernels/cuda/v4/transpose.cuh"

constexpr int TILE_THREADS = TILE_WARPS * WARP;
constexpr int EMPTY_CELLS = WARP; // empty cells that a warp clears

// ---- outputs -----------------------------------------------------------------------------------

template <int BYTES> __device__ inline void store_words(void *p, const uint32_t *words) {
    if constexpr (BYTES == 16)
        __stcs((uint4 *)p, make_uint4(words[0], words[1], words[2], words[3]));
    else if constexpr (BYTES == 8)
        __stcs((uint2 *)p, make_uint2(words[0], words[1]));
    else
        __stcs((uint32_t *)p, words[0]);
}

// Encodes the sums of V channels. Sums of INT8 are scaled already: `scale` is 1.
template <BevDtype D, int V>
__device__ inline void encode_sums(const float v[V], float scale, uint32_t *words) {
#pragma unroll
    for (int i = 0; i < V * (int)sizeof(OutCode<D>) / 4; i++) {
        if constexpr (D == BEV_FP32) {
            words[i] = __float_as_uint(v[i] * scale);
        } else if constexpr (sizeof(OutCode<D>) == 1) {
            words[i] = four_codes<OUT_OF<D>>(v[4 * i] * scale, v[4 * i + 1] * scale,
                                             v[4 * i + 2] * scale, v[4 * i + 3] * scale);
        } else {
            words[i] = pair_from_floats<D>(make_float2(v[2 * i] * scale, v[2 * i + 1] * scale));
        }
    }
}

// Zeroes channels [c0, c0 + CHANNELS) of up to 32 empty cells, 16 bytes a lane in each iteration.
// The loop is not unrolled: a burst of stores would delay all other loads. WAITS: the previous
// kernel may still read or write the output.
template <BevDtype D, int CHANNELS, bool WAITS>
__device__ inline void clear_empty(const Pool &pool, const TileMap &map, int empties, int c0,
                                   int first) {
    constexpr int WORDS = CHANNELS * (int)sizeof(OutCode<D>) / 16; // 16-byte words of a cell
    int lane = (int)threadIdx.x % WARP, count = min(EMPTY_CELLS, empties - first);
    int mine = lane < count ? map.empty[first + lane] : 0;
    if constexpr (WAITS)
        wait_for_previous_kernel();
#pragma unroll 1
    for (int base = 0; base < EMPTY_CELLS * WORDS; base += WARP) {
        int i = base + lane;
        int64_t cell = __shfl_sync(~0u, mine, i / WORDS);
        if (i / WORDS < count)
            __stcs((uint4 *)((OutCode<D> *)pool.out + cell * pool.channels + c0) + i % WORDS,
                   make_uint4(0, 0, 0, 0));
    }
}

// Pools a tile again, point by point, since a sum is not finite. In a product of a whole slab an
// infinite or NaN feature also reaches cells that do not see this feature: 0 x infinity is NaN. The
// tile's workers begin with `number`, the workers of its second block with `second`.
template <BevDtype D, bool T, bool W>
__device__ void pool_point_by_point(const Pool &pool, const TileMap &map, int number, int second,
                                    int parts, int c0, int channels) {
    using Depth = Codec<DEPTH_OF<D>>;
    __syncwarp(); // after the stores that this replaces
    Pool unsplit = pool;
    unsplit.scale *= SPLIT_SCALE<D, W> * FEATURE_SCALE<D>;
    TileWork work = map.work[number];
    const float *weights = (const float *)map.weights;
    const DepthCode<D> *codes = (const DepthCode<D> *)(T ? map.workspace.transposed : pool.depth);
    for (int m = 0; m < TILE_CELLS; m++) {
        int cell = map.cells[work.tile * TILE_CELLS + m];
        for (int c = c0 + (int)threadIdx.x % WARP; cell != NO_CELL && c < c0 + channels;
             c += WARP) {
            float sum = 0;
            // The first steps of the tile's workers, then the others.
            for (int i = 0; i < parts + work.end - work.next; i++) {
                int first = (i < TILE_WARPS ? number : second) + i % TILE_WARPS;
                int64_t s = i < parts ? first : work.next + i - parts;
                int2 slab = map.slabs[s];
                const int64_t slot = s * TILE_CELLS + m;
                uint32_t entry = map.entries[slot];
#pragma unroll 1
                for (int k = 0; k < SLAB; k++) {
                    if (!(entry >> k & 1))
                        continue;
                    int bin = (int)(entry >> 16);
                    int64_t at = T ? (int64_t)(slab.y + bin) * SLAB + k
                                   : slab.y + bin * map.bin_stride + v4_place(k) * map.feat_w;
                    float d = Depth::decode(codes[at]);
                    if (W)
                        d *= weights[(int64_t)map.weight_rows[slot] * SLAB + k];
                    int64_t row = slab.x + (int64_t)v4_place(k) * map.feat_w;
                    sum += d * feat_at<D>(pool, row, c);
                }
            }
            out_put<D>(unsplit, cell, c, sum);
        }
    }
}

// ---- a warp's registers: each constructor makes ready what stays the same from step to step ----

// One step of the map for lane 4 g + q: entries of cells g and g + 8 of the tile.
template <bool W> struct Step {
    const int2 *slabs;
    const uint32_t *first_entry;
    const int *first_weight_row;
    int2 slab = {};
    uint32_t entries[2] = {};
    int weight_rows[2] = {};

    __device__ Step(const TileMap &map, int g)
        : slabs(map.slabs), first_entry(keep_in_register(map.entries + g)),
          first_weight_row(W ? keep_in_register(map.weight_rows + g) : NULL) {}

    __device__ void read(int step) {
        slab = slabs[step];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int64_t at = (int64_t)step * TILE_CELLS + 8 * r;
            entries[r] = first_entry[at];
            if constexpr (W)
                weight_rows[r] = first_weight_row[at];
        }
    }
};

// The channels of a block, GROUPS groups and TAILS quarters of one: COUNT chunks of 4 V channels
// and a last chunk of 4 LAST.
template <BevDtype D, int GROUPS, int TAILS> struct Chunks {
    static constexpr int V = LANE_CHANNELS<D>, LAST = v4_group(D) / 16;
    static constexpr int COUNT = GROUPS * v4_group(D) / (4 * V);
    static constexpr int CHANNELS = 4 * (V * COUNT + LAST * TAILS);
};

// A step's features. Lane 4 k + q loads channels of two image rows of the slab: row k / 2 + k % 2 *
// 4 and the row 8 below. After the transposition lane 4 g + q has places [4q, 4q + 4).
template <BevDtype D, int GROUPS, int TAILS> struct SlabFeatures {
    using C = Chunks<D, GROUPS, TAILS>;
    LaneFeatures<D> chunk, last;
    int channels, first_row, row_distance, last_row; // rows past the image: see TileMap
    Features<D, C::V> chunks[C::COUNT];
    Features<D, C::LAST> lasts[TAILS > 0 ? TAILS : 1];

    __device__ SlabFeatures(const Pool &pool, const TileMap &map, int c0, int k, int q)
        : chunk(pool, c0 + C::V * q), last(pool, c0 + 4 * C::V * C::COUNT + C::LAST * q),
          channels(pool.channels), first_row((k / 2 + k % 2 * 4) * map.feat_w),
          row_distance(8 * map.feat_w), last_row(map.last_feat_row) {}

    __device__ void load(int slab_row) {
        int row = min(slab_row + first_row, last_row);
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int n = 0; n < C::COUNT; n++)
                chunks[n].load(i, chunk, channels, row, 4 * C::V * n);
            if constexpr (TAILS > 0)
                lasts[0].load(i, last, channels, row, 0);
            row = min(row + row_distance, last_row);
        }
    }
};

// The depths of one step. Lane q of four reads places 4q to 4q + 3 of cells g and g + 8.
// T: the depths are transposed. W: the map has weights.
template <BevDtype D, bool T, bool W> struct SlabDepths {
    const DepthBits<D> *first; // at place 4q of the first slab, bin 0
    const float4 *first_weights;
    int bin_stride, row_distance, shift;
    DepthPair pairs[2][DEPTH_PAIRS<D>];
    float4 weights[2];

    __device__ SlabDepths(const Pool &pool, const TileMap &map, int q)
        : first(keep_in_register(T ? (const DepthBits<D> *)map.workspace.transposed + 4 * q
                                   : (const DepthBits<D> *)pool.depth + q * map.feat_w)),
          first_weights(W ? keep_in_register(map.weights + q) : NULL), bin_stride(map.bin_stride),
          row_distance(4 * map.feat_w), shift(4 * q) {}

    __device__ void load(const Step<W> &step) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint32_t bin = step.entries[r] >> 16, wanted = step.entries[r] >> shift;
            uint32_t at = step.slab.y + bin * (T ? 1 : bin_stride);
            if constexpr (T)
                load_transposed<D>(first + (int64_t)at * SLAB, wanted, pairs[r]);
            else
                gather_depths<D>(first, at, row_distance, wanted, pairs[r]);
            if constexpr (W)
                weights[r] = __ldg(first_weights + (int64_t)step.weight_rows[r] * 4);
        }
    }

    // Makes the left operands, whose sum is depth x weight.
    __device__ void make_operands(uint32_t (&depth)[SPLIT<D, W>][4]) const {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if constexpr (W)
                split_depths<D, W>(pairs[r], weights[r], r, depth);
            else if constexpr (D == BEV_FP32)
                split_depths<D, W>(pairs[r], make_float4(1, 1, 1, 1), r, depth);
            else if constexpr (WHOLE<D>)
                depth[0][r] = pairs[r][0];
            else
                depth[0][r] = pairs[r][0], depth[0][r + 2] = pairs[r][1];
        }
    }
};

// The features and depths that a step multiplies.
template <BevDtype D, int GROUPS, int TAILS, bool T, bool W> struct StepData {
    SlabFeatures<D, GROUPS, TAILS> features;
    SlabDepths<D, T, W> depths;

    __device__ StepData(const Pool &pool, const TileMap &map, int c0, int g, int q)
        : features(pool, map, c0, g, q), depths(pool, map, q) {}
};

// The sums of 16 cells. v[V / 2 * n + sum_of(j)][2r + column_of(j)] is channel j of lane q in chunk
// n, cell g + 8r.
template <BevDtype D, int GROUPS, int TAILS, bool W> struct TileSums {
    using C = Chunks<D, GROUPS, TAILS>;
    using Sum = SumOf<D, W>;
    using Quad = Neighbours<Sum, 4>; // what a lane stores at once
    static constexpr int V = C::V, CHANNELS = C::CHANNELS, COUNT = CHANNELS / 8;
    Sum v[COUNT][4];

    template <bool T> __device__ void add(const StepData<D, GROUPS, TAILS, T, W> &data) {
        uint32_t depth[SPLIT<D, W>][4];
        data.depths.make_operands(depth);
#pragma unroll
        for (int n = 0; n < C::COUNT; n++)
            data.features.chunks[n].multiply(v + V / 2 * n, depth);
        if constexpr (TAILS > 0)
            data.features.lasts[0].multiply(v + V / 2 * C::COUNT, depth);
    }

    __device__ void put(Quad (*slot)[WARP], int lane) const {
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            slot[j][lane] = Quad{{v[j][0], v[j][1], v[j][2], v[j][3]}};
    }

    __device__ void add(const Quad (*slot)[WARP], int lane) {
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            Quad other = slot[j][lane];
#pragma unroll
            for (int i = 0; i < 4; i++)
                v[j][i] += other.of[i];
        }
    }

    // Writes a lane's N channels of a chunk; the first of them is c.
    template <int N>
    __device__ static void store_chunk(const Sum (*sums)[4], int r, const Pool &pool, int c,
                                       OutCode<D> *row) {
        float mine[N];
        constexpr int BYTES = N * (int)sizeof(OutCode<D>), WORDS = BYTES / 4;
        uint32_t words[WORDS];
#pragma unroll
        for (int j = 0; j < N; j++)
            mine[j] = (float)sums[sum_of<D>(j)][2 * r + column_of<D>(j)];
        if constexpr (WHOLE<D>)
#pragma unroll
            for (int j = 0; j < N; j += 4) {
                float4 scales = __ldg((const float4 *)(pool.channel_scales + c + j));
                mine[j] *= pool.scale * scales.x, mine[j + 1] *= pool.scale * scales.y;
                mine[j + 2] *= pool.scale * scales.z, mine[j + 3] *= pool.scale * scales.w;
            }
        encode_sums<D, N>(mine, WHOLE<D> ? 1.0f : pool.scale, words);
        constexpr int MOST = BYTES < 16 ? BYTES : 16; // of a store
#pragma unroll
        for (int i = 0; i < BYTES / MOST; i++)
            store_words<MOST>((char *)(row + c) + MOST * i, words + MOST / 4 * i);
    }

    // Writes cell g + 8r, if there is one. Four lanes write 64 bytes of a chunk side by side.
    __device__ void store(const Pool &pool, int cell, int c0, int q, int r) const {
        if (cell == NO_CELL)
            return;
        OutCode<D> *row = (OutCode<D> *)pool.out + (int64_t)cell * pool.channels;
#pragma unroll
        for (int n = 0; n < C::COUNT; n++)
            store_chunk<V>(v + V / 2 * n, r, pool, c0 + V * (4 * n + q), row);
        if constexpr (TAILS > 0)
            store_chunk<C::LAST>(v + V / 2 * C::COUNT, r, pool, c0 + 4 * V * C::COUNT + C::LAST * q,
                                 row);
    }

    __device__ bool finite() const {
        float probes[4] = {}; // stay 0 if all sums are finite
#pragma unroll
        for (int j = 0; j < COUNT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                probes[i] += 0 * v[j][i];
        return probes[0] + probes[1] + probes[2] + probes[3] == 0;
    }
};

// ---- the kernel --------------------------------------------------------------------------------

__device__ inline void prefetch(const void *p) {
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}

// Waits for the other warps of a tile, which begin with warp `first` of the block.
__device__ inline void wait_for_group(int first, int warps) {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + first), "r"(warps * WARP) : "memory");
}

// Adds the sums of a tile's two blocks. The first warp of each block calls this function, and no
// warp waits. A warp stores its sums and then announces itself. The first warp to announce itself
// gets -1 and is done. The second warp adds the other's sums to its own and gets the other's
// number. a + b has the bits of b + a, so that the order does not matter.
template <typename Sums>
__device__ inline int reduce_blocks(Sums &sums, const Workspace &workspace, int tile, int half,
                                    int number) {
    int lane = (int)threadIdx.x % WARP, reduction = tile * (int)gridDim.x + (int)blockIdx.x;
    using Slot = typename Sums::Quad[Sums::COUNT][WARP];
    Slot *slots = (Slot *)workspace.halves;
    sums.put(slots[2 * reduction + half], lane);
    __syncwarp();
    int before = 0;
    if (lane == 0) {
        __threadfence();
        before = atomicExch(&workspace.arrived[reduction], number + 1);
        __threadfence();
    }
    __syncwarp();
    before = __shfl_sync(~0u, before, 0);
    if (before > 0)
        sums.add(slots[2 * reduction + 1 - half], lane);
    return before - 1;
}

// The position of a thread: lane 4 g + q of worker `number`, for the channels from c0 on.
struct Worker {
    int warp, lane, g, q, number, c0;

    __device__ Worker(unsigned thread, dim3 block, int channels)
        : warp((int)thread / WARP), lane((int)thread % WARP), g(lane / 4), q(lane % 4),
          number((int)(block.z * gridDim.y + block.y) * TILE_WARPS + warp),
          c0((int)block.x * channels) {}

    // Reads the special registers again, so that no register has to keep the position.
    __device__ static Worker read_again(int channels) {
        unsigned thread;
        dim3 block;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block.x));
        asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(block.y));
        asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(block.z));
        return Worker(thread, block, channels);
    }
};

// Whether a warp loads the next step while it waits for the current step. Weights, or two groups of
// channels, leave no registers for the next step. In 16-bit formats some maps gain by this, and
// others lose more.
template <BevDtype D, int GROUPS, bool W>
constexpr bool TWO_STEPS = FEATURE_BITS<D> != 16 && GROUPS == 1 && !W;

// Adds up a worker's steps. `step` holds the first step.
template <BevDtype D, int GROUPS, int TAILS, bool T, bool W>
__device__ inline void add_steps(TileSums<D, GROUPS, TAILS, W> &sums, const Pool &pool,
                                 const TileMap &map, const Worker &me, TileWork work,
                                 Step<W> &step) {
    using Data = StepData<D, GROUPS, TAILS, T, W>;
    Data data(pool, map, me.c0, me.g, me.q);
    if (!T || map.awaits_features)
        wait_for_previous_kernel();
    bool waited = !T, more; // waited for the kernel that transposes the depth
    auto load = [&](Data &to, const Step<W> &from) {
        to.features.load(from.slab.x);
        if (!waited)
            wait_for_previous_kernel();
        waited = true;
        to.depths.load(from);
    };
    auto read_next = [&](Step<W> &to) {
        more = work.next < work.end;
        if (more)
            to.read(work.next);
        work.next += work.parts();
    };
    if constexpr (!TWO_STEPS<D, GROUPS, W>) {
        do {
            load(data, step);
            read_next(step); // while the loads of this step are in flight
            sums.add(data);
        } while (more);
    } else {
        Data other = data; // the same addresses, in the same registers
        Step<W> next = step;
        read_next(next);
        load(data, step);
        for (;;) {
            if (!more) {
                sums.add(data);
                break;
            }
            load(other, next);
            read_next(step);
            sums.add(data);
            if (!more) {
                sums.add(other);
                break;
            }
            load(data, step);
            read_next(next);
            sums.add(other);
        }
    }
}

// Joins the sums of a tile's workers and writes them to its cells. cells[r] is cell g + 8r.
template <bool T, bool W, BevDtype D, int GROUPS, int TAILS>
__device__ inline void finish_tile(TileSums<D, GROUPS, TAILS, W> &sums, const Pool &pool,
                                   const TileMap &map, const Worker &me, const TileWork &work,
                                   const int cells[2]) {
    using Sums = TileSums<D, GROUPS, TAILS, W>;
    __shared__ typename Sums::Quad partial[TILE_WARPS / 2][Sums::COUNT][WARP];
    // The share within this block.
    Share share = {work.tile, work.part() % TILE_WARPS, min(work.parts(), TILE_WARPS)};
    join_parts(
        share, me.warp, share.parts, [&] { wait_for_group(me.warp - share.part, share.parts); },
        [&](int slot) { sums.put(partial[slot], me.lane); },
        [&](int slot) { sums.add(partial[slot], me.lane); });
    if (share.part > 0)
        return;
    bool second = work.part() > 0; // whether this is the tile's second block
    int other = me.number;
    if (T && work.parts() > TILE_WARPS)
        other = reduce_blocks(sums, map.workspace, work.tile, second, me.number);
    if (other < 0)
        return;
#pragma unroll
    for (int r = 0; r < 2; r++)
        sums.store(pool, cells[r], me.c0, me.q, r);
    if constexpr (WHOLE<D>) // whole numbers are always finite
        return;
    else if (__any_sync(~0u, !sums.finite()))
        pool_point_by_point<D, T, W>(pool, map, second ? other : me.number,
                                     second ? me.number : other, work.parts(), me.c0,
                                     Sums::CHANNELS);
}

// A block has 8 warps; a tile has 1 to 8 of them, or all of two blocks. blockIdx.x counts blocks of
// CHANNELS channels: the passes of a block read the same map and depths and start side by side. T:
// the depth is transposed. W: the map has weights.
template <BevDtype D, int GROUPS, int TAILS, bool T, bool W>
__global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS)
    v4_tiles_kernel(const __grid_constant__ TileMap map) {
    using Sums = TileSums<D, GROUPS, TAILS, W>;
    if (!T || map.followed)
        let_next_kernel_start();
    Pool pool = map.pool();
    pool.scale *= 1 / FEATURE_SCALE<D>;
    if constexpr (TAILS > 0)
        pool.channels = 80; // a constant from here on
    // Two groups leave no registers for values that are needed only after the steps. Gathered
    // depths of FP32 leave none on SM100.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ / 10 == 100
    constexpr bool KEEPS = GROUPS == 1 && (D != BEV_FP32 || T || TAILS > 0);
#else
    constexpr bool KEEPS = GROUPS == 1;
#endif
    Worker me =
        KEEPS ? Worker(threadIdx.x, blockIdx, Sums::CHANNELS) : Worker::read_again(Sums::CHANNELS);
    TileCounts counts = {map.workers, map.empties};
    if (map.counts) { // what a worker reads next is on its way while the counts are read
        prefetch(map.work + me.number);
        prefetch(map.slabs + me.number);
        prefetch(map.entries + (int64_t)me.number * TILE_CELLS);
        counts = {map.counts->workers, min(map.empties, map.counts->empties)};
    }
    if (me.number >= counts.workers) {
        int first = (me.number - counts.workers) * EMPTY_CELLS;
        clear_empty<D, Sums::CHANNELS, !T>(pool, map, counts.empties, me.c0, first);
        return;
    }
    TileWork work = map.work[me.number];
    Step<W> step(map, me.g);
    step.read(me.number);
    if (work.tile == NO_TILE)
        return;
    int cells[2];
    auto read_cells = [&] {
#pragma unroll
        for (int r = 0; r < 2; r++)
            cells[r] = map.cells[work.tile * TILE_CELLS + me.g + 8 * r];
    };
    if constexpr (KEEPS)
        read_cells();
    Sums sums = {};
    add_steps<D, GROUPS, TAILS, T, W>(sums, pool, map, me, work, step);
    if constexpr (!KEEPS) {
        me = Worker::read_again(Sums::CHANNELS);
        work = map.work[me.number];
        read_cells();
    }
    finish_tile<T, W>(sums, pool, map, me, work, cells);
}

// ---- launching ---------------------------------------------------------------------------------

template <BevDtype D, int GROUPS, int TAILS, bool T, bool W>
static inline cudaError_t enqueue_tiles(TileMap map, bool overlap, cudaStream_t stream) {
    constexpr int MOST_ROWS = 65535; // largest gridDim.y
    unsigned passes = (unsigned)map.channels / TileSums<D, GROUPS, TAILS, W>::CHANNELS;
    unsigned blocks =
        blocks_for(map.workers, TILE_WARPS) + blocks_for(map.empties, EMPTY_CELLS * TILE_WARPS);
    unsigned layers = blocks_for(blocks, MOST_ROWS);
    dim3 grid(passes, blocks_for(blocks, layers), layers); // the last block may have nothing to do
    map.scale /= SPLIT_SCALE<D, W>;
    return launch_overlapped(v4_tiles_kernel<D, GROUPS, TAILS, T, W>, grid, TILE_THREADS, 0,
                             overlap, stream, map);
}

// Enqueues the kernels. `groups`: of channels, in a block. `overlap`: build and device know
// programmatic dependent launches. Tiles always use them behind another kernel of the launch: the
// transposing kernel, or the first kernel of a view (map.fronted), which transposes too.
template <BevDtype D>
static inline cudaError_t tiles_launch(const TileMap &map, int groups, const Frustums &frustums,
                                       bool overlap, cudaStream_t stream) {
    using Bits = DepthBits<D>;
    bool tail = map.channels % v4_group(D);
    cudaError_t status = cudaSuccess;
    bool early = overlap && !map.counts && gains_by_overlap(stream); // an update writes the plan
    bool transposes = map.workspace.transposed;
    if (transposes && !map.fronted)
        status = enqueue_transpose<Bits>(map.depth, frustums, map.workspace, early, stream);
    if (status != cudaSuccess)
        return status;
    if (map.weights)
        return tail ? enqueue_tiles<D, 1, 1, true, true>(map, overlap, stream)
                    : enqueue_tiles<D, 1, 0, true, true>(map, overlap, stream);
    return with_flag(transposes, [&]<bool T>() {
        bool starts = T ? overlap : early;
        return tail         ? enqueue_tiles<D, 1, 1, T, false>(map, starts, stream)
               : groups > 1 ? enqueue_tiles<D, 2, 0, T, false>(map, starts, stream)
                            : enqueue_tiles<D, 1, 0, T, false>(map, starts, stream);
    });
}
