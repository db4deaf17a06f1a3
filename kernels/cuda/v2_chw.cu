/* SPDX-License-Identifier: MIT */
/* IDEA    BEVDet's V2 as inference plugins ship it: features and output channels first, because
 *         that is how the network before it and the one after it lay out their tensors. The same
 *         loops as `v2_bevdet`; only the addresses differ, so that coalescing can be seen.
 * WHO     Thread i owns channel c = i % channels of interval i / channels, as in `v2_bevdet`.
 * MEMORY  feat (camera, c, h, w) and out (c, cell). Neighbouring lanes read elements h * w apart:
 *
 *             channels last    |c0 c1 c2 ... c31|             one or two 32-byte sectors a warp
 *             channels first   |c0 ...| |c1 ...| ... |c31 ...|   32 sectors, 2 bytes used of each
 *
 *         The same on the way out: one sector for each element written.
 * COST    32 bytes of cache traffic for every feature and every output element, 16 times the data
 *         in FP16. Indices and depth as in `v2_bevdet`, plus a division per point.
 * LIMITS  As `v2_bevdet`. This kernel gets its tensors transposed and gives its output transposed:
 *         whoever runs it transposes them outside the timed launch, as a network would have made
 *         them so in the first place.
 * TRY     Let the lanes of a warp hold 32 intervals and one channel instead. Writes become
 *         neighbours then; do the reads? Why not? */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/common.cuh"

namespace {

constexpr int THREADS = 256;

// `pixels` is h * w, the pixels of one camera.
template <BevDtype D, bool W> __global__ void v2_chw_kernel(Pool pool, int pixels) {
    using Code = typename Codec<D>::Code;
    int c; // [0, channels)
    int64_t i = divide(thread_number(), pool.channels, &c);
    if (i >= pool.intervals)
        return;
    int start = pool.starts[i], end = start + pool.lengths[i];
    // element (camera, c, pixel) lies at rank + camera * (channels - 1) * pixels + c * pixels
    const Code *feat = (const Code *)pool.feat + (int64_t)c * pixels;
    int64_t camera_step = (int64_t)(pool.channels - 1) * pixels;
    float sum = 0.0f;
    for (int t = start; t < end; t++) {
        unsigned rank = (unsigned)pool.ranks_feat[t], camera = rank / (unsigned)pixels;
        sum += depth_at<D, W>(pool, t) * Codec<D>::decode(feat[rank + camera * camera_step]);
    }
    int64_t element = (int64_t)c * pool.cells + pool.ranks_bev[start];
    ((OutCode<D> *)pool.out)[element] = Codec<OUT_OF<D>>::encode(sum * sum_factor<D>(pool, c));
}

bool v2_chw_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    int pixels = (int)(problem->shape.feat_h * problem->shape.feat_w);
    auto launch = [&]<BevDtype D, bool W>(const Pool &pool, cudaStream_t stream) {
        unsigned blocks = blocks_for(pool.intervals * pool.channels, THREADS);
        v2_chw_kernel<D, W><<<blocks, THREADS, 0, stream>>>(pool, pixels);
    };
    return clear_and_launch(problem, "v2_chw", stream_, err, launch);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v2_chw) = {
    .name = "v2_chw", .title = "V2 CHW",
    .idea = "V2 (BEVDet), channels first, as plugins ship it: each lane touches its own sector.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .channels_first = true,
    .access = {.owner = BEV_OWNS_INTERVAL, .tile = 1, .block = 256, .resident = 64, .load = 1,
               .store = 1, .ranks = 2, .owner_bytes = BEV_INTERVAL_BYTES, .clears = true,
               .indices_ahead = 4, .indices_ahead_of = {2, 0, 0, 1, 0, 2, 2},
               .in_flight = 4.0f / 3, .in_flight_of = {2, 0, 0, 4, 0, 2, 2},
               .point_instructions = 25},
    .launch = ON_CUDA(v2_chw_launch),
};
/* clang-format on */
