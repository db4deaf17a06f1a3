/* What the CPU's backward kernels share: points in the order of their pixels, grad_out and the
 * gradient of depth as FP32 in the workspace. */
#pragma once

#include "kernels/cpu/cpu.h"

/* The points of each pixel side by side, sorted by depth element. */
typedef struct {
    int32_t *starts; /* [pixels + 1]: in `points`, by pixel in that order */
    int32_t *points; /* [points]: numbers of points of the map */
} CpuPixels;

/* Sorts the points by pixel. Pixels come row by row as in feat, or, with `columns`, image column by
 * image column: number (camera * w + column) * h + row. The caller frees
 * both arrays. */
bool cpu_pixels_init(CpuPixels *pixels, const BevProblem *problem, bool columns, Err *err);

/* The arrays of one launch. `grad_depth` is the output's own memory where that is FP32. */
typedef struct {
    CpuStage stage;
    float *grad_depth;
    float *own; /* the kernel's own floats */
} CpuGrad;

/* Bytes of workspace for a team of `threads`, with `own` floats for the kernel itself. */
size_t cpu_grad_bytes(const BevProblem *problem, int threads, int64_t own);
CpuGrad cpu_grad(const BevProblem *problem, int threads);

/* The functions below are called by every thread of the team. */

/* Decodes depth and features. */
void cpu_grad_fill(const CpuGrad *grad, const BevProblem *problem);

/* Encodes grad->grad_depth into the output, unless it is the output. */
void cpu_grad_finish(const CpuGrad *grad, const BevProblem *problem);

/* Where a pixel's feature gradient is summed: in an FP32 output, else in the calling thread's row,
 * which cpu_grad_store then encodes. */
float *cpu_grad_row(const CpuGrad *grad, const BevProblem *problem, int64_t pixel);
void cpu_grad_store(const BevProblem *problem, int64_t pixel, const float *row);
