/* info --kernels: what every CUDA kernel takes from the GPU. */
#ifndef BEV_INFO_KERNELS_H
#define BEV_INFO_KERNELS_H

#include "src/cli/options.h"

/* A row for each kernel that one launch starts, for the chosen kernels, formats and aligns on the
 * first scene, or on the canonical configuration. */
bool info_kernels(const Options *options, Err *err);

#endif
