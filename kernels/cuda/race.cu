/* SPDX-License-Identifier: MIT */
/* IDEA    The operator as it reads on paper: one thread for each point and eight channels, each
 *         adding its products to the cell with a plain +=. It is wrong, and shows why.
 * WHO     Thread i owns point t = i / tiles and channels 8 * (i % tiles) and up:
 *
 *             point      t0            t0            t1            t1
 *             channels   0..7          8..15         0..7          8..15
 *             thread     0             1             2             3        (tiles = 2)
 *                                      `-- both may add to the same cell --'
 *
 *         Nobody owns a cell: t0 and t1 may lie in the same one, and then thread 2 can read the old
 *         sum before thread 0 has written the new one. One of the two products is lost.
 * MEMORY  Neighbouring threads read neighbouring 8-channel pieces of one feature row: coalesced.
 *         The sum is read and written for every product.
 * COST    Per point and channel: one feature element, 4 + 4 bytes of sum. Index and depth once per
 *         point and warp (equal addresses there are one request): C = 80, 1.25 times. No atomics.
 * LIMITS  WRONG ON PURPOSE wherever a cell has more than one point: how many updates are lost
 *         depends on timing, so the error changes from run to run. The gates must fail it.
 *         Formats below FP32 add into an FP32 workspace, encoded at the end of the launch.
 * TRY     Verify it twice and compare the numbers of bad cells. Then look at where they are:
 *         cells with many points that count lose most. A map with one point per cell makes the
 *         kernel right. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/sums.cuh"

namespace {

constexpr int TILE = 8, THREADS = 256;

template <BevDtype D, bool W, bool A> __global__ void race_kernel(Pool pool, float *sums) {
    int tiles = (pool.channels + TILE - 1) / TILE;
    int tile; // [0, tiles)
    int64_t t = divide(thread_number(), tiles, &tile);
    if (t >= pool.points)
        return;
    int c = tile * TILE;
    float d = depth_at<D, W>(pool, t);
    float f[TILE];
    feat8<D, A>(pool, pool.ranks_feat[t], c, f);
    // volatile: the compiler may neither merge nor delay the racing accesses.
    volatile float *sum = sums + (int64_t)pool.ranks_bev[t] * pool.channels + c;
#pragma unroll
    for (int j = 0; j < TILE; j++)
        if (A || c + j < pool.channels)
            sum[j] = sum[j] + d * f[j];
}

bool race_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    int64_t threads = problem->map.points * blocks_for(problem->shape.channels, TILE);
    auto add = [&]<BevDtype D, bool W, bool A>(const Pool &pool, float *sums, cudaStream_t stream) {
        race_kernel<D, W, A><<<blocks_for(threads, THREADS), THREADS, 0, stream>>>(pool, sums);
    };
    return sums_launch(problem, "race", stream_, err, add);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(race) = {
    .name = "race", .title = "RACE",
    .idea = "One thread per point and 8 channels, plain +=: loses updates, on purpose.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .wrong_on_purpose = true,
    .access = {.owner = BEV_OWNS_POINT, .sums = BEV_SUMS_PLAIN, .tile = 8, .block = 256,
               .resident = 64, .load = 8, .store = 1, .ranks = 3, .indices_ahead = 1,
               .in_flight = 1, .point_instructions = 89},
    .workspace_bytes = ON_CUDA(sums_bytes),
    .launch = ON_CUDA(race_launch),
};
/* clang-format on */
