/* bevscope export --pooled: the numbers that a kernel computes, for NumPy. */
#pragma once

#include "src/cli/selection.h"

/* Pools the workload with --kernel and --dtype, through libbevpool where the library has the kernel
 * (library_run.h). Writes the grid to --pooled, float32 (ny, nx, C), with height (nz, ny, nx, C):
 * the stored values, decoded. With --direction backward or both, three more files:
 * NAME-grad_out.npy, the gradient of the output that was used (random numbers of a fixed seed, as
 * stored), NAME-grad_depth.npy (camera, D, h, w) and NAME-grad_feat.npy (camera, h, w, C). Nothing
 * is written before all is computed. */
bool export_pooled(const Options *options, Workload *workload, BevAlign align, Err *err);
