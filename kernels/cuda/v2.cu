/* SPDX-License-Identifier: MIT */
/* IDEA    V2 of the article, which "iterates over channel tiles outside the scatter loop": `atomic`
 *         with the tiles of 8 channels outside the loop over points. BEVDet's V2 (`v2_bevdet`) is
 *         another kernel: each interval has an owner there, and there are no atomics.
 * WHO     A thread owns a point and 8 channels. A row of the grid is a tile, which goes through all
 *         points again:
 *
 *             for each tile of 8 channels        tile 0   tile 1   ...   tile 9   (C = 80)
 *                 for each point                    t        t              t     same t, again
 *
 * MEMORY  Atomics add to FP32 sums in L2: V3's writes "avoid atomics relative to the V2-style
 *         path". Lanes of a warp hold neighbouring points, so often 32 lanes add to one cell.
 * COST    Tiles n = ceil(channels / 8). Per point 12 x n bytes of indices and n depths, per channel
 *         a feature and an atomic. C = 80: 25.1 MB of indices where 2.51 MB would do.
 * LIMITS  The article describes its kernel and does not show it: this one follows the text and the
 *         byte counts. As with `atomic`, two runs may differ in the last bits.
 * TRY     Compare it with `atomic`, where the tiles of a point are neighbouring threads: `bench
 *         canonical -k atomic,v2`. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/sums.cuh"

namespace {

constexpr int TILE = 8, THREADS = 256;

// blockIdx.y is the tile.
template <BevDtype D, bool W, bool A> __global__ void v2_kernel(Pool pool, float *sums) {
    int64_t t = thread_number(); // [0, points)
    int c = (int)blockIdx.y * TILE;
    if (t >= pool.points)
        return;
    float d = depth_at<D, W>(pool, t), f[TILE];
    feat8<D, A>(pool, pool.ranks_feat[t], c, f);
    float *sum = sums + (int64_t)pool.ranks_bev[t] * pool.channels + c;
#pragma unroll
    for (int j = 0; j < TILE; j++)
        if (A || c + j < pool.channels)
            atomicAdd(sum + j, d * f[j]);
}

bool v2_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    const dim3 blocks(blocks_for(problem->map.points, THREADS),
                      blocks_for(problem->shape.channels, TILE));
    auto add = [&]<BevDtype D, bool W, bool A>(const Pool &pool, float *sums, cudaStream_t stream) {
        v2_kernel<D, W, A><<<blocks, THREADS, 0, stream>>>(pool, sums);
    };
    return sums_launch(problem, "v2", stream_, err, add);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v2) = {
    .name = "v2", .title = "V2",
    .idea = "The article's: each tile of 8 channels is a pass over all points, by atomics.",
    .published = "V2", .where = BEV_CUDA, .is_baseline = true, .dtypes = BEV_DENSE_DTYPES,
    .aligns = BEV_ALL_ALIGNS,
    .access = {.owner = BEV_OWNS_POINT, .sums = BEV_SUMS_ATOMIC, .tile = 8, .tiles_outside = true,
               .block = 256, .resident = 64, .load = 8, .store = 1, .ranks = 3,
               .indices_ahead = 1, .in_flight = 1, .point_instructions = 42},
    .workspace_bytes = ON_CUDA(sums_bytes),
    .launch = ON_CUDA(v2_launch),
};
/* clang-format on */
