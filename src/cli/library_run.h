/* A kernel run as another program would run it: through libbevpool's public header alone. */
#pragma once

#include "kernels/bevpool.h"

/* Whether libbevpool has the kernel. The only ones that it leaves out are those that are wrong on
 * purpose: they need a session (session.h). Everything else that a session can pool, the library
 * can pool as well: all formats, aligns and layouts, grids with height, both directions. */
bool library_has(const BevKernel *kernel);

/* Runs `kernel`, which the library has, once on a problem in host memory, and writes its outputs to
 * `codes`, bev_output_bytes(host) long, in the order of bev_outputs and with channels last: the
 * bytes that session_read gives. Outputs and workspace are full of NaN before. A kernel of a GPU
 * runs on the open device (device.h). An error says libbevpool and what that said: ERR_DEVICE where
 * the device failed, else ERR_FAILED. */
bool library_run(const BevKernel *kernel, const BevProblem *host, void *codes, Err *err);
