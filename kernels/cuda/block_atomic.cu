/* SPDX-License-Identifier: MIT */
/* IDEA    Reduce inside the block first: points are sorted by cell, so neighbours can be added by
 *         shuffles and shared memory, and one atomic a cell and block is left of 256.
 * WHO     A block owns 256 consecutive points and 8 channels; a thread owns one point, a warp 32.
 *         Runs of equal cells, here in one warp of eight for the drawing:
 *
 *             cell     5  5  5  7  7  9  9  9 | 9  9 11 ...   next warp
 *             lane     0  1  2  3  4  5  6  7 | 0
 *             head     ^        ^     ^       | (not a head: the run began one warp earlier)
 *
 *         Shuffles leave each run's sum in its first lane. A run that reaches the warp's end takes
 *         the sums of the warps that go on with its cell from shared memory.
 * MEMORY  Lanes hold different points, so one load instruction reads 16 bytes from each of 32 rows
 *         instead of one contiguous row: the reduction costs coalescing.
 * COST    Atomics: channels * (cells touched by a block) per 256 points. Index and depth are read
 *         once per 8 channels: channels / 8 passes.
 * LIMITS  Blocks still meet at cells that straddle a border, in any order: the last bits may vary.
 *         Formats below FP32 add into an FP32 workspace, encoded inside the launch. Shuffles cost
 *         5 steps of 8 channels whether a run is long or short.
 * TRY     Count atomics in `regime canonical` (13 points a cell), and think of a map
 *         of one point per cell, where this kernel does all the work of `atomic` and more. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/sums.cuh"

namespace {

constexpr int TILE = 8, THREADS = 256, WARPS = THREADS / WARP, NO_CELL = -1;

// Sums the runs of equal `cell` in a warp; the first lane of each run gets the run's sum. Cells are
// sorted: if lane + step has the same cell, all lanes between have this cell, too.
__device__ void reduce_runs(int cell, float sum[TILE]) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        int other_cell = __shfl_down_sync(~0u, cell, step);
        bool same = lane + step < WARP && other_cell == cell;
#pragma unroll
        for (int j = 0; j < TILE; j++) {
            float other = __shfl_down_sync(~0u, sum[j], step);
            sum[j] += same ? other : 0.0f;
        }
    }
}

template <BevDtype D, bool W, bool A> __global__ void block_atomic_kernel(Pool pool, float *sums) {
    __shared__ int first_cell[WARPS], last_cell[WARPS];
    __shared__ float first_run[WARPS][TILE]; // the sum of each warp's first run
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t t = thread_number(); // [0, points); past the end: NO_CELL and sums of zero
    int c = (int)blockIdx.y * TILE;
    int cell = NO_CELL;
    float sum[TILE] = {};
    if (t < pool.points) {
        cell = pool.ranks_bev[t];
        float d = depth_at<D, W>(pool, t);
        feat8<D, A>(pool, pool.ranks_feat[t], c, sum);
#pragma unroll
        for (int j = 0; j < TILE; j++)
            sum[j] *= d;
    }
    reduce_runs(cell, sum);
    if (lane == 0) {
        first_cell[warp] = cell;
#pragma unroll
        for (int j = 0; j < TILE; j++)
            first_run[warp][j] = sum[j];
    }
    if (lane == WARP - 1)
        last_cell[warp] = cell;
    int left_cell = __shfl_up_sync(~0u, cell, 1);
    __syncthreads();

    if (lane == 0)
        left_cell = warp ? last_cell[warp - 1] : NO_CELL;
    bool head = cell != NO_CELL && cell != left_cell;
    if (!head)
        return;
    // Only the last run of a warp can continue in later warps. It adds the first runs of these
    // warps.
    if (last_cell[warp] == cell)
        for (int next = warp + 1; next < WARPS && first_cell[next] == cell; next++)
            for (int j = 0; j < TILE; j++)
                sum[j] += first_run[next][j];
    float *out = sums + (int64_t)cell * pool.channels + c;
#pragma unroll
    for (int j = 0; j < TILE; j++)
        if (A || c + j < pool.channels)
            atomicAdd(out + j, sum[j]);
}

bool block_atomic_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    dim3 grid(blocks_for(problem->map.points, THREADS), blocks_for(problem->shape.channels, TILE));
    auto add = [&]<BevDtype D, bool W, bool A>(const Pool &pool, float *sums, cudaStream_t stream) {
        block_atomic_kernel<D, W, A><<<grid, THREADS, 0, stream>>>(pool, sums);
    };
    return sums_launch(problem, "block_atomic", stream_, err, add);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(block_atomic) = {
    .name = "block_atomic", .title = "BLOCK",
    .idea = "Shuffles and shared memory add up a block's points first: "
            "one atomic a cell and block.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .access = {.owner = BEV_OWNS_POINT, .sums = BEV_SUMS_ATOMIC, .tile = 8, .tiles_outside = true,
               .block = 256, .resident = 64, .load = 8, .store = 1, .ranks = 3, .merges = true,
               .indices_ahead = 1, .in_flight = 1, .point_instructions = 221},
    .workspace_bytes = ON_CUDA(sums_bytes),
    .launch = ON_CUDA(block_atomic_launch),
};
/* clang-format on */
