/* From the words of the command line to rows of the tables. */
#ifndef BEV_SELECTION_H
#define BEV_SELECTION_H

#include "src/run/bench.h"
#include "src/cli/options.h"

/* Devices to run on, as a bit mask of BevWhere. "auto" takes what is there; a build with CUDA says
 * in one line on standard error why there is no GPU. A device asked for by name that is not there
 * is ERR_DEVICE. */
bool select_devices(const char *word, unsigned *where, Err *err);

/* A kernel by name, or by title on the chosen devices ("v3" is cpu_v3 on the CPU, the GPU first).
 * NULL with an error when it does not run there. */
const BevKernel *select_kernel(const char *word, unsigned where, Err *err);

/* The last row of the lesson that runs on the best of the chosen devices. */
const BevKernel *select_best(unsigned where);

/* Refuses a list where only one value can be shown: "SAYS, not 'LIST'". NULL passes. */
bool select_single(const char *list, const char *option, const char *says, const char *hint,
                   Err *err);

/* `*selection` with the words of "fp8" or "v2,bilinear" replaced in it. */
bool select_changed(const char *words, unsigned where, KernelConfig *config, Err *err);

/* The options every command that opens a workload shares. */
WorkloadOptions select_workload(const Options *options);

#endif
