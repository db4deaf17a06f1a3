// FP32 running sums for the kernels that add into the output from many threads. FP32 problems add
// into the output itself; narrower formats add into the problem's workspace, sums of the output's
// shape, which are encoded at the end, so that no partial sum is ever rounded to its format.
#pragma once

#include "kernels/cuda/common.cuh"

static inline int64_t sums_count(const BevProblem *problem) {
    return problem->shape.nx * problem->shape.ny * problem->shape.channels;
}

// The `workspace_bytes` of a row: none where the output itself serves.
static inline size_t sums_bytes(const BevProblem *problem, const BevPlan *) {
    return problem->out.dtype == BEV_FP32 ? 0 : (size_t)sums_count(problem) * sizeof(float);
}

// Where the sums are: the workspace or the output.
static inline float *sums_of(const BevProblem *problem) {
    return (float *)(problem->out.dtype == BEV_FP32 ? problem->out.data : problem->workspace);
}

static inline bool sums_clear(const BevProblem *problem, const char *where, cudaStream_t stream,
                              Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(sums_of(problem), 0,
                                    (size_t)sums_count(problem) * sizeof(float), stream));
    return true;
}

// One thread an output element, i in [0, cells * channels): sum -> scaled code.
template <BevDtype D>
__global__ void sums_encode_kernel(const float *sums, int64_t count, float scale, OutCode<D> *out) {
    int64_t i = thread_number();
    if (i < count)
        out[i] = Codec<OUT_OF<D>>::encode(sums[i] * scale);
}

// The same of INT8, whose channels have scales.
template <BevDtype D>
__global__ void sums_encode_channels_kernel(const float *sums, int64_t count, Pool pool) {
    int64_t i = thread_number();
    int c; // [0, channels)
    int64_t cell = divide(i, pool.channels, &c);
    if (i < count)
        out_put<D>(pool, cell, c, sums[i]);
}

// Encodes the sums into the output; nothing to do for FP32, whose scales are 1.
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

// Clears the sums, calls add.operator()<D, W, A>(pool, sums) if there are points, and encodes.
template <typename Add>
static inline bool sums_launch(const BevProblem *problem, const char *where, cudaStream_t stream,
                               Err *err, Add add) {
    float *sums = sums_of(problem);
    if (!sums_clear(problem, where, stream, err))
        return false;
    Pool pool = pool_of(problem);
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        if (pool.points)
            with_weights_and_rows(
                problem, [&]<bool W, bool A>() { add.template operator()<D, W, A>(pool, sums); });
        sums_encode<D>(pool, sums, stream);
    });
    return cuda_ok(cudaGetLastError(), where, err);
}
