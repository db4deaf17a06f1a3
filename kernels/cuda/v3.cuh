/* SPDX-License-Identifier: MIT */
// Both forms of V3 share this file: the interval of each cell, and sums in half2 pairs or integers.
#pragma once

#include "kernels/cuda/common.cuh"

// ---- every cell is written, empty ones as zeros: no clear --------------------------------------

constexpr int NO_INTERVAL = -1;

struct V3Plan {
    int *interval_of; // [cells]: the cell's interval, or NO_INTERVAL
    ~V3Plan() {
        cudaFree(interval_of);
    }
};

static __global__ void v3_intervals_kernel(Pool pool, int *interval_of) {
    int64_t i = thread_number(); // [0, intervals)
    if (i < pool.intervals)
        interval_of[pool.ranks_bev[pool.starts[i]]] = (int)i;
}

static inline size_t v3_interval_bytes(const BevProblem *problem) {
    return (size_t)(problem->shape.nx * problem->shape.ny) * sizeof(int);
}

static inline bool v3_find_intervals(const BevProblem *problem, int *interval_of,
                                     cudaStream_t stream, Err *err) {
    Pool pool = pool_of(problem);
    TRY_CUDA("v3", cudaMemsetAsync(interval_of, 0xff, v3_interval_bytes(problem), // NO_INTERVAL
                                   stream));
    if (pool.intervals)
        v3_intervals_kernel<<<blocks_for(pool.intervals, 256), 256, 0, stream>>>(pool, interval_of);
    TRY_CUDA("v3", cudaGetLastError());
    return true;
}

static inline bool v3_build(const BevProblem *problem, V3Plan *plan, Err *err) {
    if (!cuda_allocate((void **)&plan->interval_of, v3_interval_bytes(problem), "v3", err) ||
        !v3_find_intervals(problem, plan->interval_of, 0, err))
        return false;
    TRY_CUDA("v3", cudaStreamSynchronize(0));
    return true;
}

// Without a plan each launch finds the intervals again, in the workspace.
static inline size_t v3_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return plan ? 0 : v3_interval_bytes(problem);
}

static inline bool v3_intervals(const BevProblem *problem, const BevPlan *plan, cudaStream_t stream,
                                const int **interval_of, Err *err) {
    if (plan) {
        *interval_of = ((const V3Plan *)plan)->interval_of;
        return true;
    }
    *interval_of = (const int *)problem->workspace;
    return v3_find_intervals(problem, (int *)problem->workspace, stream, err);
}

// ---- sixteen channels summed in halves --------------------------------------------------------

// The number of points after which half sums are added to FP32 sums. So the rounding error does not
// grow with the interval.
constexpr int CHUNK = 8;

// Factor that keeps CHUNK products of the largest codes below 65,504. The output's scale undoes it.
template <BevDtype D> constexpr float SHRINK = DEPTH_OF<D> == BEV_FP8 ? 1.0f / 256 : 1.0f;

template <BevDtype D, bool A> struct HalfSums {
    // TESTED: a branch skips channels past the row's end. Without the branch the loads of several
    // points overlap, but addresses are clamped. If decoding is cheap, the clamp costs more.
    static constexpr bool TESTED = !A || (D == BEV_FP8 && BEV_HARDWARE_FP8);

    __half2 pairs[8];

    __device__ void clear() {
#pragma unroll
        for (int j = 0; j < 8; j++)
            pairs[j] = __float2half2_rn(0.0f);
    }

    // Adds d * SHRINK * features (row, c .. c + 15); d = depth * weight, and c < channels.
    __device__ void add(const Pool &pool, int row, int c, float d) {
        if constexpr (D == BEV_NVFP4) { // all sixteen share a scale, fused with d
            int64_t block = block_at(pool, row, c);
            d *= float_from_e4m3(__ldg(pool.feat_scales + block));
        }
        __half2 factor = __float2half2_rn(d * SHRINK<D>);
#pragma unroll
        for (int part = 0; part < 2; part++) {
            __half2 f[4];
            int at = c + 8 * part; // past the row's end no sum is written
            if (TESTED && part && at >= pool.channels)
                break;
            if (!TESTED && D != BEV_NVFP4) // NVFP4 rows have whole blocks of 16
                at = min(at, pool.channels - 8);
            feat8_half2<D, A>(pool, row, at, f);
#pragma unroll
            for (int j = 0; j < 4; j++)
                pairs[4 * part + j] = __hfma2(factor, f[j], pairs[4 * part + j]);
        }
    }

    // Adds the half sums to the FP32 sums.
    __device__ void fold(float sums[16]) const {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float2 pair = __half22float2(pairs[j]);
            sums[2 * j] += pair.x;
            sums[2 * j + 1] += pair.y;
        }
    }
};

// ---- INT8 without weights: whole numbers, of four points by one instruction ---------------------

// Sets word j of `to` to byte j of each of the four words of `from`.
__device__ inline void transpose_bytes(const uint32_t from[4], uint32_t to[4]) {
    uint32_t low01 = __byte_perm(from[0], from[1], 0x5140);
    uint32_t high01 = __byte_perm(from[0], from[1], 0x7362);
    uint32_t low23 = __byte_perm(from[2], from[3], 0x5140);
    uint32_t high23 = __byte_perm(from[2], from[3], 0x7362);
    to[0] = __byte_perm(low01, low23, 0x5410), to[1] = __byte_perm(low01, low23, 0x7632);
    to[2] = __byte_perm(high01, high23, 0x5410), to[3] = __byte_perm(high01, high23, 0x7632);
}

// Returns sum + the dot product of four unsigned bytes and four signed bytes.
__device__ inline int dot_bytes(uint32_t depths, uint32_t feats, int sum) {
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(depths), "r"(feats));
    return sum;
}

// Integer sums of PARTS times eight channels of a thread, from c on. Rows begin at multiples of 8.
template <int PARTS> struct WholeSums {
    int sums[8 * PARTS] = {};

    // Adds four points, given their feature rows and their depths as the bytes of a word.
    __device__ void add(const Pool &pool, const int rows[4], uint32_t depths, int c) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            int at = min(c + 8 * part, pool.channels - 8); // past the row's end no sum is written
            uint32_t low[4], high[4], codes[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint2 raw = load_codes<uint2, int8_t>(pool, rows[i], at);
                low[i] = raw.x, high[i] = raw.y;
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                transpose_bytes(half ? high : low, codes);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int &sum = sums[8 * part + 4 * half + j];
                    sum = dot_bytes(depths, codes[j], sum);
                }
            }
        }
    }

    // Adds points [t, end) in fours, whose indices are one load from a multiple of four on. The
    // first and last four may be incomplete: missing points have depth 0.
    template <int UNROLL> __device__ void add_points(const Pool &pool, int t, int end, int c) {
        const uint8_t *depth = (const uint8_t *)pool.depth;
        auto add_some = [&](int stop) {
            int rows[4];
            uint32_t depths = 0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int point = min(t + i, stop - 1);
                rows[i] = pool.ranks_feat[point];
                if (t + i < stop)
                    depths |= (uint32_t)depth[pool.ranks_depth[point]] << 8 * i;
            }
            add(pool, rows, depths, c);
            t = stop;
        };
        if (t % 4 && t < end)
            add_some(min(t + 4 - t % 4, end));
        int fours = (end - t) / 4; // known in advance, so that no exit stands between the loads
#pragma unroll UNROLL
        for (int i = 0; i < fours; i++, t += 4) {
            int4 from = __ldg((const int4 *)(pool.ranks_depth + t));
            int4 feats = __ldg((const int4 *)(pool.ranks_feat + t));
            const int rows[4] = {feats.x, feats.y, feats.z, feats.w};
            add(pool, rows, pack_bytes(depth[from.x], depth[from.y], depth[from.z], depth[from.w]),
                c);
        }
        if (t < end)
            add_some(end);
    }

    __device__ void copy_to(float to[8 * PARTS]) const {
#pragma unroll
        for (int j = 0; j < 8 * PARTS; j++)
            to[j] = (float)sums[j];
    }
};
