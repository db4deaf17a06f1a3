/* SPDX-License-Identifier: MIT */
/* IDEA    Most depths of a frame are 0, so most points add nothing. Take these out of the map
 *         first, in every frame, and run V3 on what is left.
 * WHO     A warp owns an interval: 32 points at a time, each lane asks for one depth, and the warp
 *         writes the points that stay to the front of the interval's own stretch.
 *
 *             depth      .2  0  0 .7  0 .1  0  0           point t .. t + 7 of a cell
 *             stays       1  0  0  1  0  1  0  0           a vote of the warp
 *             goes to     0        1     2                 the number of votes before
 *
 * MEMORY  ranks_depth and depths of all points are read once more than V3 reads those that stay;
 *         these are written, and read again from the L2. No point leaves its interval's stretch:
 *         starts stay as they are and nothing is counted across intervals.
 * COST    Per point: 4 index bytes and a depth. Per point that stays: 4 more, 8 written (with
 *         weights 8 and 12), and V3's cost. One more launch.
 * LIMITS  A NaN or infinite feature does not reach a cell over a point that is left out. Where none
 *         is, this is V3 and a copy of its map.
 * TRY     Leave out nearly all points (`bench -k v3_compact --prune 0.9`): what is left is the
 *         price of asking. For which share of zeros does V3 alone take as long? */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/v4/tools.cuh"

extern "C" const BevKernel kernel_v3_large_l2;

namespace {

constexpr int THREADS = 256;

// The compacted map of a frame, in the workspace.
struct Compacted {
    int32_t *ranks_depth, *ranks_feat, *lengths;
    float *weights;
};

Compacted compacted_of(const BevProblem *problem, Arena *arena) {
    const BevMap &map = problem->map;
    Compacted to = {};
    arena->take(&to.ranks_depth, map.points);
    arena->take(&to.ranks_feat, map.points);
    arena->take(&to.lengths, map.intervals);
    arena->take(&to.weights, map.weights ? map.points : 0);
    return to;
}

// Each warp compacts one interval.
template <BevDtype D, bool W> __global__ void compact_kernel(Pool pool, Compacted to) {
    int64_t interval = thread_number() / WARP; // [0, intervals)
    int lane = (int)threadIdx.x % WARP;
    if (interval >= pool.intervals)
        return;
    int start = pool.starts[interval], length = pool.lengths[interval], kept = 0;
    for (int base = 0; base < length; base += WARP) {
        int t = start + base + lane;
        bool inside = base + lane < length;
        int from = inside ? pool.ranks_depth[t] : 0;
        float depth = Codec<DEPTH_OF<D>>::decode(((const DepthCode<D> *)pool.depth)[from]);
        bool stays = inside && depth != 0; // a NaN stays
        unsigned votes = __ballot_sync(~0u, stays);
        int at = start + kept + __popc(votes & ((1u << lane) - 1));
        if (stays) {
            to.ranks_depth[at] = from;
            to.ranks_feat[at] = pool.ranks_feat[t];
            if (W)
                to.weights[at] = pool.weights[t];
        }
        kept += __popc(votes);
    }
    if (lane == 0)
        to.lengths[interval] = kept;
}

// Returns V3's problem on the compacted map. V3's scratch, if any, follows the map.
BevProblem compacted_problem(const BevProblem *problem, Arena *arena, Compacted *to) {
    BevProblem inner = *problem;
    *to = compacted_of(problem, arena);
    inner.map.ranks_depth = to->ranks_depth;
    inner.map.ranks_feat = to->ranks_feat;
    inner.map.interval_lengths = to->lengths;
    inner.map.weights = to->weights;
    inner.workspace = arena->base ? arena->base + arena->used : NULL;
    return inner;
}

size_t compact_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    Arena arena = {};
    compacted_of(problem, &arena);
    return arena.used + kernel_v3_large_l2.workspace_bytes(problem, plan);
}

bool compact_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    Arena arena = {(char *)problem->workspace, 0};
    Compacted to;
    BevProblem inner = compacted_problem(problem, &arena, &to);
    Pool pool = pool_of(problem);
    with_dtype_or_fp4(problem->dtype, [&]<BevDtype D>() {
        with_flag(pool.weights, [&]<bool W>() {
            if (pool.intervals)
                compact_kernel<D, W><<<blocks_for(pool.intervals * WARP, THREADS), THREADS, 0,
                                       (cudaStream_t)stream>>>(pool, to);
        });
    });
    return cuda_ok(cudaGetLastError(), "v3_compact", err) &&
           kernel_v3_large_l2.launch(&inner, plan, stream, err);
}

bool compact_prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return kernel_v3_large_l2.prepare(problem, plan, err);
}

void compact_release(BevPlan *plan) {
    kernel_v3_large_l2.release(plan);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v3_compact) = {
    .name = "v3_compact", .title = "V3 compact",
    .idea = "A map without the points of depth 0, made anew in each launch, and V3 behind it.",
    .where = BEV_CUDA, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .accumulate = {BEV_FP32, BEV_FP32, BEV_FP32, BEV_FP32, BEV_FP16}, .deterministic = true,
    .skips = "v3_large_l2", .plan_optional = true,
    .prepare = ON_CUDA(compact_prepare),
    .release = ON_CUDA(compact_release), .workspace_bytes = ON_CUDA(compact_workspace_bytes),
    .launch = ON_CUDA(compact_launch),
};
/* clang-format on */
