/* SPDX-License-Identifier: MIT */
// FP32 sums for kernels in which many threads add to an output. FP32 problems add to the output
// itself. Narrower formats add to the workspace, which holds sums of the output's shape. These are
// encoded at the end, so that no partial sum is rounded to the format.
#pragma once

#include "kernels/cuda/common.cuh"

static inline int64_t sums_count(const BevProblem *problem) {
    return problem->shape.nx * problem->shape.ny * problem->shape.channels;
}

// Defines `workspace_bytes` of a row: 0 if the sums are in the output.
static inline size_t sums_bytes(const BevProblem *problem, const BevPlan *) {
    return problem->out.dtype == BEV_FP32 ? 0 : (size_t)sums_count(problem) * sizeof(float);
}

// Returns where the sums are: in the workspace or in the output.
static inline float *sums_of(const BevProblem *problem) {
    return (float *)(problem->out.dtype == BEV_FP32 ? problem->out.data : problem->workspace);
}

static inline bool sums_clear(const BevProblem *problem, const char *where, cudaStream_t stream,
                              Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(sums_of(problem), 0,
                                    (size_t)sums_count(problem) * sizeof(float), stream));
    return true;
}

// Thread i in [0, count) scales and encodes output element i.
template <BevDtype D>
__global__ void sums_encode_kernel(const float *sums, int64_t count, float scale, OutCode<D> *out) {
    int64_t i = thread_number();
    if (i < count)
        out[i] = Codec<OUT_OF<D>>::encode(sums[i] * scale);
}

// Thread i scales and encodes output element i of INT8, whose channels have scales.
template <BevDtype D>
__global__ void sums_encode_channels_kernel(const float *sums, int64_t count, Pool pool) {
    int64_t i = thread_number();
    int c; // [0, channels)
    int64_t cell = divide(i, pool.channels, &c);
    if (i < count)
        out_put<D>(pool, cell, c, sums[i]);
}

// Encodes the sums into the output. FP32 sums are the output already, with scale 1.
template <BevDtype D>
static inline void sums_encode(const Pool &pool, const float *sums, cudaStream_t stream) {
    int64_t count = pool.cells * pool.channels;
    if constexpr (WHOLE<D>)
        sums_encode_channels_kernel<D>
            <<<blocks_for(count, 256), 256, 0, stream>>>(sums, count, pool);
    else if (OUT_OF<D> != BEV_FP32)
        sums_encode_kernel<D><<<blocks_for(count, 256), 256, 0, stream>>>(
            sums, count, pool.scale, (OutCode<D> *)pool.out);
}

// Clears the sums, calls add.operator()<D, W, A>(pool, sums, stream) if there are points, and
// encodes.
template <typename Add>
static inline bool sums_launch(const BevProblem *problem, const char *where, void *stream_,
                               Err *err, Add add) {
    cudaStream_t stream = (cudaStream_t)stream_;
    float *sums = sums_of(problem);
    if (!sums_clear(problem, where, stream, err))
        return false;
    Pool pool = pool_of(problem);
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        if (pool.points)
            with_weights_and_rows(problem, [&]<bool W, bool A>() {
                add.template operator()<D, W, A>(pool, sums, stream);
            });
        sums_encode<D>(pool, sums, stream);
    });
    return cuda_ok(cudaGetLastError(), where, err);
}
