/* SPDX-License-Identifier: MIT */
/* Declarations for the row of a CUDA kernel. nvcc compiles a kernel's file as CUDA. A build without
 * CUDA compiles the same file as plain C, with the row and without the functions. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
#define CUDA_ROW(name) extern "C" const BevKernel kernel_##name
#else
#define CUDA_ROW(name) const BevKernel kernel_##name
#endif

#ifdef __CUDACC__
#define ON_CUDA(...) __VA_ARGS__
#else
#define ON_CUDA(...) NULL
#endif
