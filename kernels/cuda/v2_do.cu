/* SPDX-License-Identifier: MIT */
/* IDEA    Depth outside, channels inside (V2+DO): one pass over an interval's points feeds all
 *         channels, so indices are read once instead of once per tile. After CUDA-BEVFusion's
 *         bevpool_half_pack10_kernel.
 * WHO     A thread owns 10 channels of an interval; ceil(channels / 10) threads sit side by side
 *         on one interval, and a block of up to 1,024 threads holds 1024 / that many intervals.
 *
 *             threadIdx.x     0        1        2     ...   7
 *             channels      0..9    10..19   20..29       70..79      (C = 80)
 *             threadIdx.y   one interval each
 *
 * MEMORY  One packed record {start, end, cell} an interval, 12 bytes. Features as 5 pair loads a
 *         thread (20 bytes in FP16 do not fit a 16-byte load). ranks_feat is not read: camera and
 *         pixel are worked out from ranks_depth by integer division.
 * COST    Per point: 4 index bytes, one depth, a feature per channel; two divisions in every lane.
 *         The output is cleared, then written once per interval.
 * LIMITS  Only 8 threads share an interval, one point after the other: the longest interval
 *         decides, and a block of 1,024 threads stays until its last lane is done. How many points'
 *         loads are under way is left to the compiler, as in the published code: two for FP16, one
 *         for FP8 and INT8. On long intervals these therefore take longer: 115 and 125 us for
 *         FP16's 80 on canonical (H200). The division assumes ranks_feat = camera * h * w + pixel,
 *         which holds for every map built from a frustum; prepare checks it and refuses other maps.
 * TRY     Halve the threads a block and watch the tail. Then compare with `v2_bevdet` on the
 *         canonical rig, where 80 threads share an interval, and on an even map. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/common.cuh"

namespace {

constexpr int TILE = 10, THREADS = 1024;

struct Plan {
    int3 *records; // {start, end, cell} of each interval
    ~Plan() {
        cudaFree(records);
    }
};

// Loads two neighbouring features with one load of 8, 4 or 2 bytes; c and channels are even.
template <BevDtype D> __device__ float2 feat_pair(const Pool &pool, int64_t row, int c) {
    using Code = typename Codec<D>::Code;
    alignas(8) Code pair[2];
    const Code *p = (const Code *)pool.feat + row * pool.channels + c;
    memcpy(pair, __builtin_assume_aligned(p, sizeof pair), sizeof pair);
    if constexpr (D == BEV_FP8)
        return __half22float2(half2_from_e4m3((uint16_t)(pair[0] | pair[1] << 8)));
    else
        return make_float2(Codec<D>::decode(pair[0]), Codec<D>::decode(pair[1]));
}

// PAIRS: an even number of channels, at least ten. The last tile then overlaps its neighbour, so
// that it ends with the row: every thread reads ten features and writes its own.
template <BevDtype D, bool W, bool PAIRS>
__global__ void __launch_bounds__(THREADS)
    v2_do_kernel(Pool pool, const int3 *records, int depth_bins, int pixels) {
    int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; // [0, intervals)
    int own = (int)threadIdx.x * TILE;                          // [0, channels)
    int c = PAIRS ? min(own, pool.channels - TILE) : own;
    if (i >= pool.intervals)
        return;
    int3 record = records[i];
    float sum[TILE] = {};
    for (int t = record.x; t < record.y; t++) {
        int rank = pool.ranks_depth[t];
        int camera = rank / (depth_bins * pixels), pixel = rank % pixels;
        int64_t row = (int64_t)camera * pixels + pixel;
        float d = Codec<DEPTH_OF<D>>::decode(((const DepthCode<D> *)pool.depth)[rank]);
        if (W)
            d *= pool.weights[t];
        if constexpr (PAIRS) {
#pragma unroll
            for (int j = 0; j < TILE; j += 2) {
                float2 pair = feat_pair<D>(pool, row, c + j);
                sum[j] += d * pair.x;
                sum[j + 1] += d * pair.y;
            }
        } else {
#pragma unroll
            for (int j = 0; j < TILE; j++)
                sum[j] += c + j < pool.channels ? d * feat_at<D>(pool, (int)row, c + j) : 0.0f;
        }
    }
#pragma unroll
    for (int j = 0; j < TILE; j++)
        if (c + j >= own && c + j < pool.channels)
            out_put<D>(pool, record.z, c + j, sum[j]);
}

// Thread i packs the record of interval i. It also checks that division finds the feature row of
// point i; *mismatches counts points where it does not.
__global__ void pack_kernel(Pool pool, int depth_bins, int pixels, int3 *records, int *mismatches) {
    int64_t i = thread_number();
    if (i < pool.intervals) {
        int start = pool.starts[i];
        records[i] = make_int3(start, start + pool.lengths[i], pool.ranks_bev[start]);
    }
    if (i < pool.points) {
        int rank = pool.ranks_depth[i];
        if (rank / (depth_bins * pixels) * pixels + rank % pixels != pool.ranks_feat[i])
            atomicAdd(mismatches, 1);
    }
}

bool v2_do_build(const BevProblem *problem, Plan *plan, Err *err) {
    Pool pool = pool_of(problem);
    // The int behind the records counts mismatches.
    size_t records = (size_t)pool.intervals * sizeof(int3);
    if (!cuda_allocate((void **)&plan->records, records + sizeof(int), "v2_do", err))
        return false;
    int *mismatches = (int *)((char *)plan->records + records), found = 0;
    TRY_CUDA("v2_do", cudaMemsetAsync(mismatches, 0, sizeof(int), 0));
    int depth_bins = (int)problem->shape.depth_bins;
    int pixels = (int)(problem->shape.feat_h * problem->shape.feat_w);
    if (pool.points)
        pack_kernel<<<blocks_for(pool.points, 256), 256>>>(pool, depth_bins, pixels, plan->records,
                                                           mismatches);
    TRY_CUDA("v2_do", cudaGetLastError());
    TRY_CUDA("v2_do", cudaMemcpy(&found, mismatches, sizeof found, cudaMemcpyDeviceToHost));
    if (found)
        return err_set(err, ERR_USAGE, "v2_do", "use another kernel for this map",
                       "%d of %lld points have a ranks_feat that is not camera * h * w + pixel of "
                       "their ranks_depth",
                       found, (long long)pool.points);
    return true;
}

bool v2_do_launch(const BevProblem *problem, const BevPlan *plan, void *stream_, Err *err) {
    int depth_bins = (int)problem->shape.depth_bins;
    int pixels = (int)(problem->shape.feat_h * problem->shape.feat_w);
    const int3 *records = ((const Plan *)plan)->records;
    auto launch = [&]<BevDtype D, bool W>(const Pool &pool, cudaStream_t stream) {
        unsigned tiles = blocks_for(pool.channels, TILE);
        dim3 threads(tiles, THREADS / tiles);
        with_flag(pool.channels % 2 == 0 && pool.channels >= TILE, [&]<bool PAIRS>() {
            v2_do_kernel<D, W, PAIRS>
                <<<blocks_for(pool.intervals, threads.y), threads, 0, stream>>>(
                    pool, records, depth_bins, pixels);
        });
    };
    return clear_and_launch(problem, "v2_do", stream_, err, launch);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v2_do) = {
    .name = "v2_do", .title = "V2+DO",
    .idea = "One pass over the points feeds all channels: 10 a thread, indices by division.",
    .published = "V2+DO", .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true,
    .access = {.owner = BEV_OWNS_INTERVAL, .tile = 10, .block = 1024, .whole = true, .resident = 32,
               .load = 2, .store = 2, .ranks = 1, .owner_bytes = BEV_INTERVAL_BYTES, .clears = true,
               .indices_ahead = 2, .indices_ahead_of = {0, 0, 0, 1}, .in_flight = 2,
               .in_flight_of = {0, 0, 0, 1, 0, 1, 1}, .point_instructions = 58},
    .prepare = ON_CUDA(make_plan<Plan, v2_do_build>),
    .release = ON_CUDA(release_plan<Plan>), .launch = ON_CUDA(v2_do_launch),
};
/* clang-format on */
