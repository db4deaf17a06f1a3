/* SPDX-License-Identifier: MIT */
/* IDEA    BEVPoolV2: a thread owns an output element and goes through the points of its interval.
 *         Nothing is shared, no atomics are needed, and the sum lives in a register. Channels are
 *         outside (the grid of threads), points inside (each thread's loop).
 * WHO     Thread i owns channel c = i % channels of interval i / channels.
 *
 *             warp 0    interval 0, channels  0 .. 31   adds all points of interval 0
 *             warp 1    interval 0, channels 32 .. 63   adds them again
 *             warp 2    interval 0, channels 64 .. 79   and again, and begins interval 1
 *
 * MEMORY  Channels last: 32 lanes read 32 neighbouring elements of one feature row, coalesced. All
 *         lanes read the same index and depth: one request, broadcast.
 * COST    Each warp that sums channels of an interval reads 8 bytes of indices and one depth a
 *         point: ceil(channels / 32) or one more, since warps lie across intervals. The output is
 *         cleared, then written once per interval.
 * LIMITS  Each lane loads single elements (2 bytes for FP16): many instructions for few bytes. A
 *         warp runs as long as its longest interval; a feature waits for its index, and only four
 *         points are under way.
 * TRY     `bench` it with 80 and 96 channels: at 96 every warp lies in one interval. Compare the
 *         index bytes with `v3_large_l2`. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/common.cuh"

namespace {

constexpr int THREADS = 256;

template <BevDtype D, bool W> __global__ void v2_bevdet_kernel(Pool pool) {
    int c; // [0, channels)
    int64_t i = divide(thread_number(), pool.channels, &c);
    if (i >= pool.intervals)
        return;
    int start = pool.starts[i], end = start + pool.lengths[i];
    float sum = 0.0f;
    for (int t = start; t < end; t++)
        sum += depth_at<D, W>(pool, t) * feat_at<D>(pool, pool.ranks_feat[t], c);
    out_put<D>(pool, pool.ranks_bev[start], c, sum);
}

bool v2_bevdet_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    auto launch = [&]<BevDtype D, bool W>(const Pool &pool, cudaStream_t stream) {
        unsigned blocks = blocks_for(pool.intervals * pool.channels, THREADS);
        v2_bevdet_kernel<D, W><<<blocks, THREADS, 0, stream>>>(pool);
    };
    return clear_and_launch(problem, "v2_bevdet", stream_, err, launch);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v2_bevdet) = {
    .name = "v2_bevdet", .title = "V2 (BEVDet)",
    .idea = "A thread owns a channel of a cell; no atomics: faster than V2+DO on skewed intervals.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .access = {.owner = BEV_OWNS_INTERVAL, .tile = 1, .block = 256, .resident = 64, .load = 1,
               .store = 1, .ranks = 2, .owner_bytes = BEV_INTERVAL_BYTES, .clears = true,
               .indices_ahead = 4, .indices_ahead_of = {0, 2, 2}, .in_flight = 4,
               .point_instructions = 14},
    .launch = ON_CUDA(v2_bevdet_launch),
};
/* clang-format on */
