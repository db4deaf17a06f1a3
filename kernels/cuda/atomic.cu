/* SPDX-License-Identifier: MIT */
/* IDEA    As `race`, but += becomes atomicAdd: the memory system does read, add and write as one
 *         step, so no update is lost. Right at last, and slow where many points share a cell.
 * WHO     Thread i owns point t = i / tiles and channels 8 * (i % tiles) and up, as in `race`.
 *         Nobody owns a cell; L2 serialises the additions to one address:
 *
 *             t0 --+
 *             t1 --+--> L2 atomic unit --> sum (cell, c)
 *             t2 --+
 *
 * MEMORY  Features coalesced, read once per point. Sums live in L2, where the additions happen;
 *         nothing comes back to the multiprocessor (a reduction, not a fetch).
 * COST    channels atomics per point, the largest number on the ladder. Index and depth once per
 *         point and warp: C = 80, 1.25 times. The workspace is cleared before and encoded after.
 * LIMITS  Atomics arrive in any order, and FP32 addition is not associative: two runs may differ
 *         in the last bits. Formats below FP32 add into an FP32 workspace (4 bytes a cell and
 *         channel), encoded inside the launch: native half2 atomics would round after every
 *         point.
 * TRY     Compare the canonical rig with a map of one point per cell: the same number of atomics,
 *         but no queue at any address. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/sums.cuh"

namespace {

constexpr int TILE = 8, THREADS = 256;

template <BevDtype D, bool W, bool A> __global__ void atomic_kernel(Pool pool, float *sums) {
    int tiles = (pool.channels + TILE - 1) / TILE;
    int tile; // [0, tiles)
    int64_t t = divide(thread_number(), tiles, &tile);
    if (t >= pool.points)
        return;
    int c = tile * TILE;
    float d = depth_at<D, W>(pool, t);
    float f[TILE];
    feat8<D, A>(pool, pool.ranks_feat[t], c, f);
    float *sum = sums + (int64_t)pool.ranks_bev[t] * pool.channels + c;
#pragma unroll
    for (int j = 0; j < TILE; j++)
        if (A || c + j < pool.channels)
            atomicAdd(sum + j, d * f[j]);
}

bool atomic_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    int64_t threads = problem->map.points * blocks_for(problem->shape.channels, TILE);
    auto add = [&]<BevDtype D, bool W, bool A>(const Pool &pool, float *sums, cudaStream_t stream) {
        atomic_kernel<D, W, A><<<blocks_for(threads, THREADS), THREADS, 0, stream>>>(pool, sums);
    };
    return sums_launch(problem, "atomic", stream_, err, add);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(atomic) = {
    .name = "atomic", .title = "ATOMIC",
    .idea = "The same with atomicAdd: right, but points of one cell queue up.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .access = {.owner = BEV_OWNS_POINT, .sums = BEV_SUMS_ATOMIC, .tile = 8, .block = 256,
               .resident = 64, .load = 8, .store = 1, .ranks = 3, .indices_ahead = 1,
               .in_flight = 1, .point_instructions = 24},
    .workspace_bytes = ON_CUDA(sums_bytes),
    .launch = ON_CUDA(atomic_launch),
};
/* clang-format on */
