/* SPDX-License-Identifier: MIT */
/* The CPU's backward kernels share this file: points sorted by pixel, and the gradient of depth as
 * FP32 in the workspace. */
#pragma once

#include "kernels/cpu/cpu.h"

/* The points of the map sorted by pixel, and by depth element within a pixel. */
typedef struct {
    int32_t *starts; /* [pixels + 1]: where a pixel begins in `points` */
    int32_t *points; /* [points]: numbers of the map's points */
} CpuPixels;

/* Pixels are numbered as in feat, or by image columns: (camera * w + column) * h + row. */
typedef enum { CPU_ROW_BY_ROW, CPU_BY_COLUMN } CpuPixelOrder;

/* Sorts the points by pixel. `starts` belongs to `kept`, the rest to `draft`. False: no memory. */
bool cpu_pixels_sort(CpuPixels *pixels, CpuArrays *kept, CpuArrays *draft,
                     const BevProblem *problem, CpuPixelOrder order);

/* The arrays of one launch. `grad_depth` is the output itself if that is FP32. */
typedef struct {
    CpuStage stage;
    float *grad_depth;
    float *own; /* floats for the kernel itself */
} CpuGrad;

/* cpu_grad_bytes returns the bytes of workspace for a team of `threads`, with `own` floats for the
 * kernel itself. cpu_grad lays the arrays out in it. */
size_t cpu_grad_bytes(const BevProblem *problem, int threads, int64_t own);
CpuGrad cpu_grad(const BevProblem *problem, int threads);

/* Every thread of the team calls the functions below. */

/* Encodes grad->grad_depth into the output if it is not the output itself. */
void cpu_grad_encode_depth(const CpuGrad *grad, const BevProblem *problem);

/* cpu_grad_row returns the row in which a pixel's feature gradient is summed: the row of an FP32
 * output, else a row of the calling thread. cpu_grad_store encodes the row of a thread. */
float *cpu_grad_row(const CpuGrad *grad, const BevProblem *problem, int64_t pixel);
void cpu_grad_store(const BevProblem *problem, int64_t pixel, const float *row);
