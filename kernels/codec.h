/* SPDX-License-Identifier: MIT */
/* Storage codecs on the host: they turn FP32 into the bits of each format and back. Encoding rounds
 * to nearest, ties to even; NaN stays NaN where the format has one. FP16 and BF16 overflow to
 * infinity as IEEE does; FP8, NVFP4 and whole numbers saturate, as their instructions do. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bev_code returns the code nearest to `value`, bev_code_value the value of a code; both ignore
 * scales. E4M3 (FP8; the "fn" form) has no infinity, NaN = 0x7f and 0xff, largest 448, smallest
 * 2^-9. E5M2 has infinity and NaN as in IEEE; overflow and infinity saturate to its largest value,
 * 57344. E2M1 (NVFP4) has 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; NaN encodes as the
 * largest. Whole numbers go from -127 to 127 (-128 is not used) or from 0 to 255; NaN encodes as
 * 0. */
uint32_t bev_code(BevDtype dtype, float value);
double bev_code_value(BevDtype dtype, uint32_t code);

/* Decode one FP16 or BF16 code; for loops over many elements. */
float bev_fp16_decode(uint16_t code);
float bev_bf16_decode(uint16_t code);

/* Returns the scale of a block; `block` is its index in tensor->block_scales. */
float bev_block_scale(const BevTensor *tensor, int64_t block);

/* Return the bytes of `rows` x `row_len` codes, and of their block scales (0: none). */
size_t bev_code_bytes(BevDtype dtype, int64_t rows, int64_t row_len);
size_t bev_block_scale_bytes(BevDtype dtype, int64_t rows, int64_t row_len);

/* Returns the tensor scale that maps |value| <= largest_abs onto the format without overflow: 1 for
 * FP32, FP16, BF16; largest_abs / 448 for FP8; largest_abs / 127 for INT8 and / 255 for UINT8;
 * largest_abs / (448 * 6) for NVFP4 (source: the NVFP4 recipe of two-level scaling). Returns 1
 * where largest_abs is 0. */
float bev_tensor_scale(BevDtype dtype, float largest_abs);

/* Encodes tensor->rows x tensor->row_len values with tensor->dtype and tensor->scale into
 * tensor->data and tensor->block_scales, which the caller allocated. */
void bev_tensor_encode(const BevTensor *tensor, const float *values);

/* Encodes columns [first, first + count) of one row; kernels store finished sums so. In formats
 * with blocks `first` is a multiple of the block, and the span ends with a block or with the
 * row. */
void bev_span_encode(const BevTensor *tensor, int64_t row, int64_t first, int64_t count,
                     const float *values);

/* Decodes rows [first, first + count) into `values` (count x row_len). */
void bev_tensor_decode(const BevTensor *tensor, int64_t first, int64_t count, float *values);

/* Return the factor by which a sum of products of codes is multiplied before it is encoded as an
 * output. bev_tensors_factor is scale of depth * scale of features / scale of output.
 * bev_sum_factor multiplies it by the channel scale of `channel`. */
float bev_tensors_factor(const BevProblem *problem);
float bev_sum_factor(const BevProblem *problem, int64_t channel);

/* Returns one element as a double, scales applied. The reference computes with these values. */
double bev_tensor_at(const BevTensor *tensor, int64_t row, int64_t column);

#ifdef __cplusplus
}
#endif
