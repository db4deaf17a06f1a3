/* SPDX-License-Identifier: MIT */
/* The view transforms on the CPU share this file. It also has transpositions. */
#pragma once

#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"

/* Read and write element `at` of a tensor without a scale (FP32, FP16, BF16). */
CPU_INLINE float cpu_view_get(const BevTensor *tensor, int64_t at) {
    if (tensor->dtype == BEV_FP32)
        return ((const float *)tensor->data)[at];
    uint16_t code = ((const uint16_t *)tensor->data)[at];
    return tensor->dtype == BEV_FP16 ? bev_fp16_decode(code) : bev_bf16_decode(code);
}

CPU_INLINE void cpu_view_put(const BevTensor *tensor, int64_t at, float value) {
    if (tensor->dtype == BEV_FP32)
        ((float *)tensor->data)[at] = value;
    else
        ((uint16_t *)tensor->data)[at] = (uint16_t)bev_code(tensor->dtype, value);
}

/* A plane of elements to transpose: where element (r, c) is read, and where it is written. */
typedef struct {
    int64_t rows, columns, from_row, from_column, to_row, to_column;
} CpuPlane;

/* CPU_STREAMED may write past the caches, for large outputs. A store fence must follow. */
typedef enum { CPU_CACHED, CPU_STREAMED } CpuStores;

/* Transposes elements of 1, 2 or 4 bytes from element `from_at` of an array to element `to_at` of
 * another array, on the calling thread. */
void cpu_transpose(const CpuPlane *plane, size_t bytes, const void *from, int64_t from_at, void *to,
                   int64_t to_at, CpuStores stores);

/* Returns the problem of stage POOL inside a view, with depths of format `depth`. Its arrays follow
 * each other in problem->workspace. `*used` receives their bytes. */
BevProblem cpu_view_inner(const BevProblem *problem, BevDtype depth, size_t *used);

/* Copies an image row's features, by the strides problem->view.feat, to `feat`, channels last. */
void cpu_view_features(const BevProblem *problem, int64_t camera, int64_t row, void *feat);

/* Writes the grid `rows`, with channels last, to the problem's output with channels first. */
void cpu_view_spread(const BevProblem *problem, const void *rows);
