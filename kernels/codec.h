/* Storage codecs on the host: how each number format turns FP32 into bits and back.
 * Encoding rounds to nearest, ties to even; NaN stays NaN where the format has one. FP16 and BF16
 * overflow to infinity as IEEE does; FP8, NVFP4 and whole numbers saturate, as their instructions
 * do. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The code of one element, without scales, that is nearest to `value`; and the value of a code.
 * E4M3 (FP8; the "fn" form): no infinity, NaN = 0x7f and 0xff, largest 448, smallest 2^-9.
 * E5M2: infinity and NaN as in IEEE; the largest 57344, to which overflow and infinity saturate.
 * E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives (NVFP4); NaN encodes as the largest.
 * Whole numbers: -127 to 127 (-128 is not used), 0 to 255; NaN encodes as 0. */
uint32_t bev_code(BevDtype dtype, float value);
double bev_code_value(BevDtype dtype, uint32_t code);

/* The same for loops over many elements. */
float bev_fp16_decode(uint16_t code);
float bev_bf16_decode(uint16_t code);

/* The scale of a block, by its place in tensor->block_scales. */
float bev_block_scale(const BevTensor *tensor, int64_t block);

/* Bytes needed for `rows` x `row_len` codes, and block scales (0 where the format has none). */
size_t bev_code_bytes(BevDtype dtype, int64_t rows, int64_t row_len);
size_t bev_block_scale_bytes(BevDtype dtype, int64_t rows, int64_t row_len);

/* The tensor scale that maps |value| <= largest_abs onto the format without overflow: 1 for
 * FP32, FP16, BF16; largest_abs / 448 for FP8; largest_abs / 127 for INT8 and / 255 for UINT8;
 * largest_abs / (448 * 6) for NVFP4 (source: the NVFP4 recipe of two-level scaling). 1 where
 * largest_abs is 0. */
float bev_tensor_scale(BevDtype dtype, float largest_abs);

/* Encodes tensor->rows x tensor->row_len values with tensor->dtype and tensor->scale into
 * tensor->data and tensor->block_scales, which the caller allocated. */
void bev_tensor_encode(const BevTensor *tensor, const float *values);

/* The same for columns [first, first + count) of one row: how a kernel stores finished sums.
 * Formats with blocks: `first` is a multiple of a block, and the span ends with one or with the
 * row. */
void bev_span_encode(const BevTensor *tensor, int64_t row, int64_t first, int64_t count,
                     const float *values);

/* Decodes rows [first, first + count) into `values` (count x row_len). */
void bev_tensor_decode(const BevTensor *tensor, int64_t first, int64_t count, float *values);

/* What a sum of products of codes is multiplied by before it is encoded as an output: the scales of
 * depth and features over that of the output; bev_sum_factor: that of `channel` besides. */
float bev_tensors_factor(const BevProblem *problem);
float bev_sum_factor(const BevProblem *problem, int64_t channel);

/* One element, scales applied, in double: what the reference takes a stored value to be. */
double bev_tensor_at(const BevTensor *tensor, int64_t row, int64_t column);

#ifdef __cplusplus
}
#endif
