/* SPDX-License-Identifier: MIT */
/* IDEA    V3 for GPUs whose L2 holds the problem: bytes are cheap there, instructions and waiting
 *         are not. Keep V2+DO's launch shape with many threads in flight, then take instructions
 *         out: no division, indices of two points in one load, wide feature loads, and entry points
 *         compiled for the usual channel counts.
 * WHO     A thread owns 8 channels of a cell (in NVFP4 a block of 16, which share a scale); a block
 *         of 256 threads holds 256 / ceil(channels / 8) cells.
 *
 *             threadIdx.x     0        1       ...    9            (C = 80)
 *             channels      0..7     8..15          72..79
 *             each goes through all points of its cell: t, t+1 | t+2, t+3 | ...: pairs, t even, of
 *             which four are under way, in FP8 eight, in FP32 and NVFP4 two
 *
 * MEMORY  ranks_depth and ranks_feat of two points in one 8-byte load each: possible because they
 *         are separate arrays; records of 12 bytes would fit no load. Features 16 bytes a load in
 *         FP16 (8 in FP8). Each output element is written once; empty cells as zeros, no clear.
 * COST    Per point: 8 index bytes in half as many instructions, one depth, channels features;
 *         channels conversions and FP32 multiply-adds (NVFP4: channels / 2 half2 ones).
 * LIMITS  Ten threads (C = 80) share an interval, eight points a step (FP8 16): on a real rig the
 *         longest interval still decides. What is left of it goes pair by pair, and so does all of
 *         a shorter one. NVFP4 saves bytes that an L2-resident problem does not miss and pays for
 *         it in decoding; it sums in halves, folded into FP32 every 8 points.
 * TRY     Set PAIRS to 1 and to 8 for all formats, then BLOCKS to 5, and look at `info --kernels`:
 *         registers, local bytes, occupancy. Why are 24 warps with 80 registers faster than 40 with
 *         48? The published kernel lost by unrolling; where does this one begin? */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/v3.cuh"

namespace {

constexpr int THREADS = 256;

// Pairs of points whose loads are in flight together. FP8 codes take half the registers of halves.
template <BevDtype D> constexpr int PAIRS = D == BEV_FP8 ? 8 : 4;

// Channels that a thread owns.
template <BevDtype D> constexpr int TILE_OF = D == BEV_NVFP4 ? 16 : 8;

// Blocks that must fit a multiprocessor. 3 blocks leave a thread 80 registers, enough for the loads
// of eight points; unaligned rows need more. With 5 blocks (48 registers) some loads wait for
// others.
template <bool A> constexpr int BLOCKS = A ? 3 : 2;

// Adds d * features (row, c .. c + 7) in FP32.
template <BevDtype D, bool A>
__device__ void add_floats(const Pool &pool, int row, int c, float d, float sums[8]) {
    float f[8];
    feat8<D, A>(pool, row, c, f);
#pragma unroll
    for (int j = 0; j < 8; j++)
        sums[j] += d * f[j];
}

// Adds FP8 features on GPUs without an instruction that converts FP8. The features decode to 2^-8
// times their values. A NaN is only noted in `marks`, which all points share.
[[maybe_unused]] __device__ void add_small(const Pool &pool, int row, int c, float d, float sums[8],
                                           uint32_t *marks) {
    uint2 codes = load_codes<uint2, uint8_t>(pool, row, c);
    float f[8];
    *marks |= nan_marks(codes.x);
    *marks |= nan_marks(codes.y);
    small4_from_e4m3(codes.x, f), small4_from_e4m3(codes.y, f + 4);
#pragma unroll
    for (int j = 0; j < 8; j++)
        sums[j] += 256.0f * d * f[j];
}

template <BevDtype D, bool W> __device__ float depth_of(const Pool &pool, int rank, int t) {
    float d = Codec<DEPTH_OF<D>>::decode(((const DepthCode<D> *)pool.depth)[rank]);
    return W ? d * pool.weights[t] : d;
}

// Calls add(row, depth) for the points [t, end), two a step from an even t on.
template <BevDtype D, bool W, typename Add>
__device__ void for_each_point(const Pool &pool, int t, int end, Add add) {
    if (t < end && t % 2) {
        add(pool.ranks_feat[t], depth_of<D, W>(pool, pool.ranks_depth[t], t));
        t++;
    }
    int pairs = (end - t) / 2; // known ahead, so that no exit stands between the loads
#pragma unroll PAIRS<D>
    for (int i = 0; i < pairs; i++, t += 2) {
        int2 depths = __ldg((const int2 *)(pool.ranks_depth + t));
        int2 feats = __ldg((const int2 *)(pool.ranks_feat + t));
        add(feats.x, depth_of<D, W>(pool, depths.x, t));
        add(feats.y, depth_of<D, W>(pool, depths.y, t + 1));
    }
    if (t < end)
        add(pool.ranks_feat[t], depth_of<D, W>(pool, pool.ranks_depth[t], t));
}

// Sums the points [t, end) of an FP8 cell. If a NaN was marked, sums the points again, one by one.
template <bool W>
__device__ void sum_fp8_cell(const Pool &pool, int t, int end, int c, float sums[8]) {
    uint32_t marks = 0;
    for_each_point<BEV_FP8, W>(pool, t, end,
                               [&](int row, float d) { add_small(pool, row, c, d, sums, &marks); });
    if (!(marks & NAN_MARKS))
        return;
#pragma unroll
    for (int j = 0; j < 8; j++)
        sums[j] = 0;
#pragma unroll 1
    for (; t < end; t++)
        add_floats<BEV_FP8, true>(pool, pool.ranks_feat[t], c,
                                  depth_of<BEV_FP8, W>(pool, pool.ranks_depth[t], t), sums);
}

template <BevDtype D, bool W, bool A, int C>
__global__ void __launch_bounds__(THREADS, BLOCKS<A>)
    v3_large_l2_kernel(Pool pool, const int *interval_of) {
    constexpr int TILE = TILE_OF<D>;
    if constexpr (C > 0)
        pool.channels = C;                                         // a constant from here on
    int64_t cell = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; // [0, cells)
    int c = (int)threadIdx.x * TILE;                               // [0, channels)
    if (cell >= pool.cells)
        return;
    int i = interval_of[cell];
    int t = i == NO_INTERVAL ? 0 : pool.starts[i];
    int end = i == NO_INTERVAL ? 0 : t + pool.lengths[i];
    float sums[TILE] = {};
    if constexpr (D == BEV_NVFP4) {
        while (t < end) {
            int stop = t + min(CHUNK - t % CHUNK, end - t); // chunks end where pairs do
            HalfSums<D, A> halves;
            halves.clear();
            for_each_point<D, W>(pool, t, stop,
                                 [&](int row, float d) { halves.add(pool, row, c, d); });
            halves.fold(sums);
            t = stop;
        }
    } else if constexpr (WHOLE<D> && A && !W) {
        WholeSums<1> whole;
        whole.add_points<2>(pool, t, end, c);
        whole.copy_to(sums);
    } else if constexpr (D == BEV_FP8 && A && !BEV_HARDWARE_FP8) {
        sum_fp8_cell<W>(pool, t, end, c, sums);
    } else {
        for_each_point<D, W>(pool, t, end,
                             [&](int row, float d) { add_floats<D, A>(pool, row, c, d, sums); });
    }
    out8<D, A>(pool, cell, c, sums);
    if (TILE > 8 && c + 8 < pool.channels)
        out8<D, A>(pool, cell, c + 8, sums + (TILE - 8));
}

template <BevDtype D, bool W, bool A, int C>
void enqueue_v3(Pool pool, const int *interval_of, cudaStream_t stream) {
    unsigned tiles = blocks_for(pool.channels, TILE_OF<D>);
    dim3 threads(tiles, THREADS / tiles);
    if (D == BEV_NVFP4)
        pool.scale /= SHRINK<D>;
    v3_large_l2_kernel<D, W, A, C>
        <<<blocks_for(pool.cells, threads.y), threads, 0, stream>>>(pool, interval_of);
}

bool v3_large_l2_launch(const BevProblem *problem, const BevPlan *plan, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const int *interval_of;
    if (!v3_intervals(problem, plan, stream, &interval_of, err))
        return false;
    Pool pool = pool_of(problem);
    with_dtype_or_fp4(problem->dtype, [&]<BevDtype D>() {
        with_flag(pool.weights, [&]<bool W>() {
            if (pool.channels == 80)
                enqueue_v3<D, W, true, 80>(pool, interval_of, stream);
            else if (pool.channels == 128)
                enqueue_v3<D, W, true, 128>(pool, interval_of, stream);
            else if (pool.channels == 256)
                enqueue_v3<D, W, true, 256>(pool, interval_of, stream);
            else if (rows_aligned(problem))
                enqueue_v3<D, W, true, 0>(pool, interval_of, stream);
            else
                enqueue_v3<D, W, false, 0>(pool, interval_of, stream);
        });
    });
    return cuda_ok(cudaGetLastError(), "v3_large_l2", err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v3_large_l2) = {
    .name = "v3_large_l2", .title = "V3 large-L2",
    .idea = "Five arrays, two points' indices a load, an entry point per channel count.",
    .where = BEV_CUDA, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .accumulate = {BEV_FP32, BEV_FP32, BEV_FP32, BEV_FP32, BEV_FP16}, .deterministic = true,
    .plan_optional = true,
    .access = {.owner = BEV_OWNS_CELL, .tile = 8, .widens = true, .block = 256, .whole = true,
               .resident = 24, .load = 8, .store = 8, .ranks = 2, .owner_bytes = BEV_CELL_BYTES,
               .indices_ahead = 8, .indices_ahead_of = {0, 0, 0, 16}, .in_flight = 8,
               .in_flight_of = {4, 0, 0, 32, 4}, .point_instructions = 10},
    .prepare = ON_CUDA(make_plan<V3Plan, v3_build>),
    .release = ON_CUDA(release_plan<V3Plan>), .workspace_bytes = ON_CUDA(v3_workspace_bytes),
    .launch = ON_CUDA(v3_large_l2_launch),
};
/* clang-format on */
