/* SPDX-License-Identifier: MIT */
// The backward kernels share this file: arguments, rows of four channels, points sorted by pixel,
// and FP32 sums that are encoded at the end.
#pragma once

#include "kernels/cuda/grad_sort.cuh"
#include "kernels/cuda/sums.cuh"

#include <type_traits>

// ---- arguments ---------------------------------------------------------------------------------

// A backward BevProblem as the argument of a kernel. All formats have scale 1.
struct Grad {
    const void *depth, *feat, *grad_out;
    void *grad_depth, *grad_feat;
    const int32_t *ranks_depth, *ranks_feat, *ranks_bev;
    const float *weights; // NULL: all 1
    int64_t points, depths, pixels;
    int channels;
};

static inline Grad grad_of(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    Grad grad = {};
    grad.depth = problem->depth.data;
    grad.feat = problem->feat.data;
    grad.grad_out = problem->grad_out.data;
    grad.grad_depth = problem->grad_depth.data;
    grad.grad_feat = problem->grad_feat.data;
    grad.ranks_depth = map->ranks_depth;
    grad.ranks_feat = map->ranks_feat;
    grad.ranks_bev = map->ranks_bev;
    grad.weights = map->weights;
    grad.points = map->points;
    grad.depths = problem->depth.rows * problem->depth.row_len;
    grad.pixels = problem->feat.rows;
    grad.channels = (int)problem->shape.channels;
    return grad;
}

// ---- elements ----------------------------------------------------------------------------------

template <BevDtype D> using Code = typename Codec<D>::Code;

// Read and write element i of an array of format D.
template <BevDtype D> __device__ inline float value_at(const void *values, int64_t i) {
    return Codec<D>::decode(__ldg((const Code<D> *)values + i));
}

template <BevDtype D> __device__ inline void value_put(void *values, int64_t i, float value) {
    ((Code<D> *)values)[i] = Codec<D>::encode(value);
}

// Stores two neighbouring elements, from an even i on, with one instruction.
template <BevDtype D> __device__ inline void pair_put(void *values, int64_t i, const float v[2]) {
    struct alignas(2 * sizeof(Code<D>)) Pair {
        Code<D> low, high;
    };
    *(Pair *)((Code<D> *)values + i) = {Codec<D>::encode(v[0]), Codec<D>::encode(v[1])};
}

constexpr int QUAD = 4; // channels that a lane loads at once

// Loads channels [c, c + 4) of a row. A: the number of channels is a multiple of 4, and the four
// channels are one load. Channels that do not exist read as 0.
template <BevDtype D, bool A>
__device__ inline void load_quad(const void *rows, int64_t row, int c, int channels,
                                 float values[QUAD]) {
    const Code<D> *p = (const Code<D> *)rows + row * channels + c;
    if constexpr (!A) {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            values[j] = c + j < channels ? Codec<D>::decode(__ldg(p + j)) : 0.0f;
    } else if constexpr (D == BEV_FP32) {
        float4 raw = c < channels ? __ldg((const float4 *)p) : make_float4(0, 0, 0, 0);
        values[0] = raw.x, values[1] = raw.y, values[2] = raw.z, values[3] = raw.w;
    } else {
        uint2 raw = c < channels ? __ldg((const uint2 *)p) : make_uint2(0, 0);
        Code<D> codes[QUAD];
        memcpy(codes, &raw, sizeof raw);
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            values[j] = Codec<D>::decode(codes[j]);
    }
}

template <BevDtype D, bool A>
__device__ inline void store_quad(void *rows, int64_t row, int c, int channels,
                                  const float values[QUAD]) {
    Code<D> *p = (Code<D> *)rows + row * channels + c;
    Code<D> codes[QUAD];
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        codes[j] = Codec<D>::encode(values[j]);
    if constexpr (!A) {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            if (c + j < channels)
                p[j] = codes[j];
    } else if (c < channels) {
        using Word = typename std::conditional<D == BEV_FP32, uint4, uint2>::type;
        Word raw;
        memcpy(&raw, codes, sizeof raw);
        *(Word *)p = raw;
    }
}

// Returns the sum over all lanes, in every lane. The order of additions is always the same.
__device__ inline float warp_sum(float value) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
}

// Calls f.operator()<W, A, GROUPS>(): a lane has GROUPS times 4 channels of a row, 128 apart.
template <typename F> static inline void with_rows(const BevProblem *problem, F f) {
    with_flag(problem->map.weights, [&]<bool W>() {
        with_flag(problem->shape.channels % QUAD == 0, [&]<bool A>() {
            if (problem->shape.channels <= QUAD * WARP)
                f.template operator()<W, A, 1>();
            else
                f.template operator()<W, A, BEV_MAX_CUDA_CHANNELS / (QUAD * WARP)>();
        });
    });
}

// ---- points sorted by pixel --------------------------------------------------------------------

// Points sorted by pixel, then by depth element. Pixel i has the points [starts[i], starts[i + 1]).
struct PixelPoints {
    int *cells, *elements, *pixels; // [points]
    float *weights;                 // [points]; NULL: all 1
    int *starts;                    // [pixels + 1]
};

struct PixelOrder : PixelPoints {
    bool regular; // no two pixels share a depth element
    void *memory;
    ~PixelOrder() {
        cudaFree(memory);
    }
};

// Thread t makes the key of point t. It sets *irregular if the depth element is another pixel's.
static __global__ void grad_keys_kernel(Grad grad, int bins, int plane, GradKeys keys,
                                        int *irregular) {
    int64_t t = thread_number();
    if (t >= grad.points)
        return;
    int element = grad.ranks_depth[t], pixel = grad.ranks_feat[t];
    keys.keys[t] = (uint64_t)pixel << 32 | (uint32_t)element;
    keys.points[t] = (int)t;
    int in_plane, camera = element / plane / bins;
    divide(element, plane, &in_plane);
    if ((int64_t)camera * plane + in_plane != pixel)
        *irregular = 1;
}

// Thread i copies the i-th point of the new order.
static __global__ void grad_gather_kernel(Grad grad, GradKeys keys, PixelPoints order) {
    int64_t i = thread_number();
    if (i >= grad.points)
        return;
    int t = keys.points[i];
    order.elements[i] = (int)(uint32_t)keys.keys[i];
    order.pixels[i] = (int)(keys.keys[i] >> 32);
    order.cells[i] = grad.ranks_bev[t];
    if (order.weights)
        order.weights[i] = grad.weights[t];
}

// Returns the index of the first of n sorted keys that is >= `key`.
__device__ inline int64_t first_at_least(const uint64_t *keys, int64_t n, uint64_t key) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Thread i in [0, pixels] finds where pixel i begins.
static __global__ void grad_starts_kernel(Grad grad, const uint64_t *keys, int *starts) {
    int64_t i = thread_number();
    if (i <= grad.pixels)
        starts[i] = (int)first_at_least(keys, grad.points, (uint64_t)i << 32);
}

static inline bool sort_points(const BevProblem *problem, GradKeys keys, int *irregular,
                               PixelOrder *order, const char *where, Err *err) {
    Grad grad = grad_of(problem);
    const BevShape &s = problem->shape;
    int found = 0;
    TRY_CUDA(where, cudaMemsetAsync(irregular, 0, sizeof *irregular, 0));
    if (grad.points) {
        unsigned blocks = blocks_for(grad.points, 256);
        grad_keys_kernel<<<blocks, 256>>>(grad, (int)s.depth_bins, (int)(s.feat_h * s.feat_w), keys,
                                          irregular);
        uint64_t largest = (uint64_t)grad.pixels << 32 | 0xffffffffu;
        if (!grad_sort(&keys, grad.points, largest, where, err))
            return false;
        grad_gather_kernel<<<blocks, 256>>>(grad, keys, *order);
    }
    grad_starts_kernel<<<blocks_for(grad.pixels + 1, 256), 256>>>(grad, keys.keys, order->starts);
    if (!read_back(&found, irregular, where, err))
        return false;
    order->regular = !found;
    return cuda_ok(cudaGetLastError(), where, err);
}

// Sorts a map's points by pixel, on the default stream, and waits.
static inline bool build_order(const BevProblem *problem, PixelOrder *order, const char *where,
                               Err *err) {
    int64_t points = problem->map.points;
    GradKeys keys = {};
    int *irregular;
    Pooled draft;
    auto layout = [&](Arena &arena) {
        arena.take(&order->cells, points);
        arena.take(&order->elements, points);
        arena.take(&order->pixels, points);
        arena.take(&order->weights, problem->map.weights ? points : 0);
        arena.take(&order->starts, problem->feat.rows + 1);
    };
    auto draft_layout = [&](Arena &arena) {
        arena.take(&keys.keys, points);
        arena.take(&keys.spare_keys, points);
        arena.take(&keys.points, points);
        arena.take(&keys.spare_points, points);
        arena.take(&irregular, 1);
    };
    return arena_allocate(&order->memory, where, layout, err) &&
           arena_allocate(&draft.memory, where, draft_layout, err) &&
           sort_points(problem, keys, irregular, order, where, err) &&
           cuda_ok(cudaStreamSynchronize(0), where, err);
}

// Enqueues both gradients by grad_owner's kernel. `points` must come from a regular PixelOrder.
void grad_owner_run(const BevProblem *problem, const PixelPoints &points, cudaStream_t stream);

// Builds the plan of rows that take any map; an argument of make_plan.
template <const char *WHERE>
static inline bool make_order(const BevProblem *problem, PixelOrder *order, Err *err) {
    return build_order(problem, order, WHERE, err);
}

// As make_order, for kernels that write each depth element from one pixel: fails if two pixels
// share a depth element.
template <const char *WHERE>
static inline bool make_regular_order(const BevProblem *problem, PixelOrder *order, Err *err) {
    return build_order(problem, order, WHERE, err) &&
           (order->regular ||
            err_set(err, ERR_USAGE, WHERE, "use grad_atomic or grad_block",
                    "the map has points whose depth and feature are of different pixels"));
}

// ---- FP32 sums of both gradients ---------------------------------------------------------------

// The arrays in which gradients are summed. FP32 problems sum in the outputs, other problems in the
// workspace.
struct GradSums {
    float *depth, *feat;
};

static inline int64_t grad_elements(const BevProblem *problem) {
    const BevTensor &depth = problem->depth, &feat = problem->feat;
    return depth.rows * depth.row_len + feat.rows * feat.row_len;
}

static inline size_t grad_sums_bytes(const BevProblem *problem, const BevPlan *) {
    return problem->dtype == BEV_FP32 ? 0 : (size_t)grad_elements(problem) * sizeof(float);
}

static inline bool grad_clear(const BevProblem *problem, const char *where, cudaStream_t stream,
                              Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(problem->grad_depth.data, 0,
                                    bev_tensor_bytes(&problem->grad_depth), stream));
    TRY_CUDA(where, cudaMemsetAsync(problem->grad_feat.data, 0,
                                    bev_tensor_bytes(&problem->grad_feat), stream));
    return true;
}

// Clears the sums, calls add.operator()<D, W, A, GROUPS>(grad, sums, stream) if there are points,
// and encodes the sums.
template <typename Add>
static inline bool grad_sums_launch(const BevProblem *problem, const char *where, void *stream_,
                                    Err *err, Add add) {
    cudaStream_t stream = (cudaStream_t)stream_;
    Grad grad = grad_of(problem);
    GradSums sums = {(float *)grad.grad_depth, (float *)grad.grad_feat};
    bool narrow = problem->dtype != BEV_FP32;
    if (narrow) {
        sums = {(float *)problem->workspace, (float *)problem->workspace + grad.depths};
        TRY_CUDA(where, cudaMemsetAsync(sums.depth, 0, grad_sums_bytes(problem, NULL), stream));
    } else if (!grad_clear(problem, where, stream, err)) {
        return false;
    }
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        if (grad.points)
            with_rows(problem, [&]<bool W, bool A, int GROUPS>() {
                add.template operator()<D, W, A, GROUPS>(grad, sums, stream);
            });
        int64_t feats = grad.pixels * grad.channels;
        if (narrow) {
            sums_encode_kernel<D><<<blocks_for(grad.depths, 256), 256, 0, stream>>>(
                sums.depth, grad.depths, 1, (OutCode<D> *)grad.grad_depth);
            sums_encode_kernel<D><<<blocks_for(feats, 256), 256, 0, stream>>>(
                sums.feat, feats, 1, (OutCode<D> *)grad.grad_feat);
        }
    });
    return cuda_ok(cudaGetLastError(), where, err);
}
