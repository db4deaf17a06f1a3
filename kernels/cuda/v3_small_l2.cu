/* SPDX-License-Identifier: MIT */
/* IDEA    V3 for GPUs whose L2 does not hold the problem: spend fewer index bytes, and fewer
 *         instructions on a point. Five INT32 arrays instead of packed records and divisions; 16
 *         channels a thread instead of 8; sums in half2 pairs; outputs marked as streaming, a hint
 *         to keep the indices in the cache instead.
 * WHO     A thread owns 16 channels of a cell; ceil(channels / 16) threads sit side by side on one
 *         cell, a block of 256 threads holds 256 / that many cells.
 *
 *             threadIdx.x     0         1         2         3         4
 *             channels      0..15    16..31    32..47    48..63    64..79     (C = 80: 5, not 10)
 *             threadIdx.y   one cell each; empty cells are written as zeros
 *
 * MEMORY  Index, depth and weight once per point and warp (broadcast). 32 bytes of features a
 *         thread and point in FP16, as two 16-byte loads; neighbours side by side. Each output
 *         element is written exactly once, by evict-first stores; no clear.
 * COST    Per point: 8 index bytes, one depth, a feature per channel; channels / 2 half2 fused
 *         multiply-adds instead of channels FP32 ones and as many conversions.
 * LIMITS  Half sums keep 11 bits and end at 65,504. They are folded into FP32 every 8 points, so
 *         that the rounding error does not grow with the interval; FP8 and NVFP4 depths are scaled
 *         by 2^-8 first, because 448 * 448 does not fit a half. FP32 and BF16 sum in FP32 (a
 *         bfloat16 sum would keep 8 bits). Five threads (C = 80) share an interval: the longest
 *         interval decides, more than in `v2_bevdet`. A warp has seven or eight cells and goes on
 *         until the longest ends: on a real rig fewer instructions a point are no fewer in all.
 * TRY     Plain stores: STREAM to false, then `regime xlarge --counters`. Change CHUNK (v3.cuh) to
 *         1 and to 1,000; watch gate A's worst ratio and the time. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/v3.cuh"

namespace {

constexpr int TILE = 16, THREADS = 256;
constexpr bool STREAM = true; // the L2 may evict stored lines first

// Points whose indices are loaded together; their features follow one after the other.
template <bool A> constexpr int UNROLL = A ? 4 : 1;

template <BevDtype D> constexpr bool IN_HALVES = D == BEV_FP16 || D == BEV_FP8 || D == BEV_NVFP4;

// Adds d * features (row, c .. c + 15) in FP32.
template <BevDtype D, bool A>
__device__ void add_floats(const Pool &pool, int row, int c, float d, float sums[TILE]) {
#pragma unroll
    for (int part = 0; part < TILE; part += 8) {
        float f[8];
        if (part && c + part >= pool.channels)
            break;
        feat8<D, A>(pool, row, c + part, f);
#pragma unroll
        for (int j = 0; j < 8; j++)
            sums[part + j] += d * f[j];
    }
}

template <BevDtype D, bool W, bool A>
__global__ void __launch_bounds__(THREADS) v3_small_l2_kernel(Pool pool, const int *interval_of) {
    int64_t cell = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; // [0, cells)
    int c = (int)threadIdx.x * TILE;                               // [0, channels)
    if (cell >= pool.cells)
        return;
    int i = interval_of[cell];
    int t = i == NO_INTERVAL ? 0 : pool.starts[i];
    int end = i == NO_INTERVAL ? 0 : t + pool.lengths[i];
    float sums[TILE] = {};
    if constexpr (WHOLE<D> && A && !W) {
        WholeSums<2> whole;
        whole.add_points<1>(pool, t, end, c);
        whole.copy_to(sums);
        t = end;
    }
    while (t < end) {
        if constexpr (IN_HALVES<D>) {
            HalfSums<D, A> halves;
            halves.clear();
#pragma unroll UNROLL<A>
            for (int stop = t + min(CHUNK, end - t); t < stop; t++)
                halves.add(pool, pool.ranks_feat[t], c, depth_at<D, W>(pool, t));
            halves.fold(sums);
        } else {
            add_floats<D, A>(pool, pool.ranks_feat[t], c, depth_at<D, W>(pool, t), sums);
            t++;
        }
    }
    out8<D, A, STREAM>(pool, cell, c, sums);
    if (c + 8 < pool.channels)
        out8<D, A, STREAM>(pool, cell, c + 8, sums + 8);
}

bool v3_small_l2_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    const int *interval_of;
    if (!v3_intervals(problem, plan, (cudaStream_t)stream, &interval_of, err))
        return false;
    Pool pool = pool_of(problem);
    unsigned tiles = blocks_for(pool.channels, TILE);
    dim3 threads(tiles, THREADS / tiles);
    unsigned blocks = blocks_for(pool.cells, threads.y);
    with_dtype_or_fp4(problem->dtype, [&]<BevDtype D>() {
        if (IN_HALVES<D>)
            pool.scale /= SHRINK<D>;
        with_weights_and_rows(problem, [&]<bool W, bool A>() {
            v3_small_l2_kernel<D, W, A>
                <<<blocks, threads, 0, (cudaStream_t)stream>>>(pool, interval_of);
        });
    });
    return cuda_ok(cudaGetLastError(), "v3_small_l2", err);
}

} // namespace
#endif

/* The cache model replays plain stores. On an H200 streaming stores halve the DRAM bytes of xlarge
 * (samples/experiments/counters.md). `bevscope regime xlarge --stores streaming` predicts this. */
/* clang-format off */
CUDA_ROW(v3_small_l2) = {
    .name = "v3_small_l2", .title = "V3 small-L2",
    .idea = "Five arrays, 16 channels a thread, half2 sums, streaming stores.",
    .where = BEV_CUDA, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .accumulate = {BEV_FP32, BEV_FP16, BEV_FP32, BEV_FP16, BEV_FP16}, .deterministic = true,
    .plan_optional = true,
    .access = {.owner = BEV_OWNS_CELL, .tile = 16, .block = 256, .whole = true, .resident = 32,
               .load = 8, .store = 8, .ranks = 2, .owner_bytes = BEV_CELL_BYTES, .halves = true,
               .indices_ahead = 4, .indices_ahead_of = {2, 0, 1}, .in_flight = 4.0f / 3,
               .in_flight_of = {2.0f / 3, 0, 1, 2, 0, 2, 2}, .point_instructions = 19,
               .point_instructions_of = {30, 0, 33, 0, 23, 16, 16}},
    .prepare = ON_CUDA(make_plan<V3Plan, v3_build>),
    .release = ON_CUDA(release_plan<V3Plan>), .workspace_bytes = ON_CUDA(v3_workspace_bytes),
    .launch = ON_CUDA(v3_small_l2_launch),
};
/* clang-format on */
