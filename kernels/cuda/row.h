/* SPDX-License-Identifier: MIT */
/* What the row of a CUDA kernel needs. nvcc compiles a kernel's file as CUDA. A build without CUDA
 * compiles the same file as plain C, with the row and without the functions. */
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

/* Bit masks for the fields dtypes and aligns of a row. */
enum {
    BEV_UNSCALED_DTYPES = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16,
    BEV_DENSE_DTYPES = BEV_UNSCALED_DTYPES | 1u << BEV_FP8 | 1u << BEV_INT8 | 1u << BEV_INT8_FP16,
    BEV_ALL_DTYPES = BEV_DENSE_DTYPES | 1u << BEV_NVFP4,
    BEV_ALL_ALIGNS = 1u << BEV_NEAREST | 1u << BEV_BILINEAR | 1u << BEV_LATTICE,
};
