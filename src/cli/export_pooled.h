/* bevscope export --pooled: the numbers that a kernel computes, for NumPy. */
#pragma once

#include "src/cli/selection.h"

/* Pools the workload with --kernel and --dtype, through libbevpool where that has the kernel
 * (library_run.h), and writes the grid to --pooled, float32 (ny, nx, C), with height
 * (nz, ny, nx, C): what the format stored, decoded. With --direction backward or both it writes
 * NAME-grad_out.npy, the gradient of the output that was used (random numbers of a fixed seed, as
 * stored), NAME-grad_depth.npy (camera, D, h, w) and NAME-grad_feat.npy (camera, h, w, C) beside
 * it. Nothing is written before all of it is computed. */
bool export_pooled(const Options *options, Workload *workload, BevAlign align, Err *err);
