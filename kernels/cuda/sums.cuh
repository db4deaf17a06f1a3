// FP32 running sums for the kernels that add into the output from many threads. FP32 problems add
// into the output itself; narrower formats add into a workspace of the same shape, which is
// encoded at the end, so that no partial sum is ever rounded to the output's format.
#pragma once

#include "kernels/cuda/common.cuh"

static inline int64_t sums_count(const BevProblem *problem) {
    return problem->shape.nx * problem->shape.ny * problem->shape.channels;
}

// Allocates the workspace; *sums stays NULL where the output itself serves.
static inline bool sums_allocate(const BevProblem *problem, float **sums, const char *where,
                                 Err *err) {
    *sums = NULL;
    if (problem->out.dtype == BEV_FP32)
        return true;
    return cuda_allocate((void **)sums, (size_t)sums_count(problem) * sizeof **sums, where, err);
}

// Where the sums are: the workspace or the output.
static inline float *sums_of(const BevProblem *problem, float *workspace) {
    return workspace ? workspace : (float *)problem->out.data;
}

static inline bool sums_clear(const BevProblem *problem, float *workspace, const char *where,
                              cudaStream_t stream, Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(sums_of(problem, workspace), 0,
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

// Encodes a workspace into the output; nothing to do for FP32, whose scales are 1.
template <BevDtype D>
static inline void sums_encode(const Pool &pool, const float *workspace, cudaStream_t stream) {
    int64_t count = pool.cells * pool.channels;
    if (workspace)
        sums_encode_kernel<D><<<blocks_for(count, 256), 256, 0, stream>>>(
            workspace, count, pool.scale, (OutCode<D> *)pool.out);
}

// ---- kernels whose plan is the workspace alone ------------------------------------------------

struct SumsPlan {
    float *sums; // workspace, NULL for FP32
    ~SumsPlan() {
        cudaFree(sums);
    }
};

template <const char *WHERE>
static inline bool sums_build(const BevProblem *problem, SumsPlan *plan, Err *err) {
    return sums_allocate(problem, &plan->sums, WHERE, err);
}

// Clears the sums, calls add.operator()<D, W, A>(pool, sums) if there are points, and encodes.
template <typename Add>
static inline bool sums_launch(const BevProblem *problem, const BevPlan *plan, const char *where,
                               cudaStream_t stream, Err *err, Add add) {
    float *workspace = ((const SumsPlan *)plan)->sums, *sums = sums_of(problem, workspace);
    if (!sums_clear(problem, workspace, where, stream, err))
        return false;
    Pool pool = pool_of(problem);
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        if (pool.points)
            with_weights_and_rows(
                problem, [&]<bool W, bool A>() { add.template operator()<D, W, A>(pool, sums); });
        sums_encode<D>(pool, workspace, stream);
    });
    return cuda_ok(cudaGetLastError(), where, err);
}
