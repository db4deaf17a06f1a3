/* A kernel run as another program would run it: through libbevpool's public header alone. */
#pragma once

#include "kernels/bevpool.h"

/* Whether libbevpool has the kernel. The library lacks only kernels that are wrong on purpose:
 * those need a session (session.h). The library can pool all else that a session can pool: all
 * formats, aligns and layouts, grids with height, both directions. */
bool library_has(const BevKernel *kernel);

/* Runs `kernel`, which the library has, once on a problem in host memory. Writes its outputs to
 * `codes`, bev_output_bytes(host) long, in the order of bev_outputs and with channels last: the
 * same bytes as session_read. Outputs and workspace are full of NaN before. A GPU's kernel runs on
 * the open device (device.h). An error names libbevpool and its message: ERR_DEVICE where the
 * device failed, else ERR_FAILED. */
bool library_run(const BevKernel *kernel, const BevProblem *host, void *codes, Err *err);
