/* SPDX-License-Identifier: MIT */
/* The formats, and what can be asked about a problem without running it: which rows support the
 * problem, where its arrays lie, and their bytes. Then the codes of each format. */
#include "kernels/codec.h"

#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* clang-format off */
const BevDtypeInfo bev_dtypes[BEV_ELEMENT_COUNT] = {
    [BEV_FP32] = {"fp32", "FP32", 32, 1, 8, 0, BEV_FP32, BEV_FP32, 0x1p-24, 0x1p-149, FLT_MAX,
                  "none"},
    [BEV_FP16] = {"fp16", "FP16", 16, 1, 5, 0, BEV_FP16, BEV_FP16, 0x1p-11, 0x1p-24, 65504, "none"},
    [BEV_BF16] = {"bf16", "BF16", 16, 1, 8, 0, BEV_BF16, BEV_BF16, 0x1p-8, 0x1p-133, 0x1.fep127,
                  "none"},
    [BEV_FP8] = {"fp8", "FP8", 8, 1, 4, 0, BEV_FP8, BEV_FP8, 0x1p-4, 0x1p-9, 448, "per tensor"},
    [BEV_NVFP4] = {"nvfp4", "NVFP4", 4, 1, 2, BEV_BLOCK, BEV_FP8, BEV_FP8, 0x1p-2, 0.5, 6,
                   "per 16 values and per tensor"},
    [BEV_INT8] = {"int8", "INT8", 8, 1, 0, 0, BEV_UINT8, BEV_INT8, 0x1p-7, 1, 127,
                  "per tensor or channel"},
    [BEV_INT8_FP16] = {"int8_fp16", "INT8/FP16", 8, 1, 0, 0, BEV_UINT8, BEV_FP16, 0x1p-7, 1, 127,
                       "per tensor or channel"},
    [BEV_UINT8] = {"uint8", "UINT8", 8, 0, 0, 0, BEV_UINT8, BEV_UINT8, 0x1p-8, 1, 255,
                   "per tensor"},
    [BEV_E5M2] = {"e5m2", "E5M2", 8, 1, 5, 0, BEV_E5M2, BEV_E5M2, 0x1p-3, 0x1p-16, 57344, "none"},
};
/* clang-format on */

const BevWords bev_aligns[BEV_ALIGN_COUNT] = {
    [BEV_NEAREST] = {"nearest", "Nearest", "A point goes into the cell that holds it."},
    [BEV_BILINEAR] = {"bilinear", "Bilinear", "A point is shared out to the four nearest cells."},
    [BEV_LATTICE] = {"bev-align", "BEV Align as published",
                     "A point is shared out to lower cell corners, half a cell aside."},
};

const BevWords bev_directions[BEV_DIRECTION_COUNT] = {
    [BEV_FORWARD] = {"forward", "Forward", "Points add features to cells."},
    [BEV_BACKWARD] = {"backward", "Backward",
                      "Points bring the cells' gradients back to depth and features."},
};

const BevWords bev_stages[BEV_STAGE_COUNT] = {
    [BEV_POOL] = {"pool", "Pool", "Depths and features become cells."},
    [BEV_VIEW] = {"view", "View", "A network's logits and features become cells."},
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Whether a row of the CPU names the other row as its counterpart. */
static bool names_counterpart(const BevKernel *cpu, const BevKernel *cuda) {
    return cpu->where == BEV_CPU && cpu->counterpart && !strcmp(cpu->counterpart, cuda->name);
}

const BevKernel *bev_counterpart(const BevKernel *kernel, BevWhere where) {
    if (kernel->where == where)
        return kernel;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *row = bev_kernels[i];
        const bool are_pair = names_counterpart(row, kernel) || names_counterpart(kernel, row);
        if (row->where == where && are_pair)
            return row;
    }
    return NULL;
}

bool bev_is_listed(const BevKernel *kernel) {
    return kernel->launch && kernel->stage == BEV_POOL && !kernel->skips;
}

typedef enum { DEFAULT_ROW, BASELINE_ROW } Mark;

/* Returns the row of stage POOL with this mark that this build can launch, or NULL. */
static const BevKernel *find_marked_row(BevWhere where, BevDirection direction, Mark mark) {
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *row = bev_kernels[i];
        const bool marked = mark == BASELINE_ROW ? row->is_baseline : row->is_default;
        if (marked && row->where == where && row->direction == direction &&
            row->stage == BEV_POOL && row->launch)
            return row;
    }
    return NULL;
}

const BevKernel *bev_default(BevWhere where, BevDirection direction) {
    return find_marked_row(where, direction, DEFAULT_ROW);
}

const BevKernel *bev_baseline(BevWhere where, BevDirection direction) {
    return find_marked_row(where, direction, BASELINE_ROW);
}

const char *bev_unavailable(const BevKernel *kernel) {
    return kernel->launch ? NULL : "needs a build with CUDA";
}

const char *bev_refuses(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->direction != problem->direction)
        return "goes the other direction";
    if (kernel->stage != problem->stage)
        return problem->stage == BEV_VIEW ? "pools depths only" : "takes logits";
    if (problem->out_samples && !kernel->writes_first)
        return "writes channels last";
    if (!(kernel->dtypes & 1u << problem->dtype))
        return "has no kernel for this format";
    if (!(kernel->aligns & 1u << problem->align))
        return "has no kernel for this align";
    if (kernel->where == BEV_CUDA && problem->shape.channels > BEV_MAX_CUDA_CHANNELS)
        return "more than 1,024 channels";
    return NULL;
}

const char *bev_unsupported(const BevKernel *kernel, const BevProblem *problem) {
    const char *why = bev_unavailable(kernel);
    return why ? why : bev_refuses(kernel, problem);
}

/* ---- arrays of a map ------------------------------------------------------------------------- */

BevMapArrays bev_map_arrays(BevMap *map) {
    return (BevMapArrays){
        .array = {(void **)&map->ranks_depth, (void **)&map->ranks_feat, (void **)&map->ranks_bev,
                  (void **)&map->interval_starts, (void **)&map->interval_lengths,
                  (void **)&map->weights},
        .count = {map->points, map->points, map->points, map->intervals, map->intervals,
                  map->weights ? map->points : 0},
    };
}

size_t bev_map_place(BevMap *map, void *memory) {
    const BevMapArrays list = bev_map_arrays(map);
    int arrays = map->weights ? BEV_MAP_ARRAYS : BEV_MAP_ARRAYS - 1;
    size_t bytes = 0;
    for (int i = 0; i < arrays; i++) {
        if (memory)
            *list.array[i] = (char *)memory + bytes;
        bytes += ((size_t)list.count[i] * sizeof(int32_t) + 255) / 256 * 256;
    }
    return bytes;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t bev_tensor_bytes(const BevTensor *tensor) {
    return bev_code_bytes(tensor->dtype, tensor->rows, tensor->row_len) +
           bev_block_scale_bytes(tensor->dtype, tensor->rows, tensor->row_len);
}

BevProblem bev_bare_problem(const BevShape *shape, const BevMap *map, BevDirection direction,
                            BevDtype dtype, BevAlign align) {
    const BevDtypeInfo *format = &bev_dtypes[dtype];
    const int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    const int64_t depths = pixels * shape->depth_bins, cells = shape->nx * shape->ny;
    BevProblem problem = {
        .shape = *shape,
        .direction = direction,
        .dtype = dtype,
        .align = align,
        .map = *map,
        .depth = {.dtype = format->depth, .rows = 1, .row_len = depths, .scale = 1},
        .feat = {.dtype = dtype, .rows = pixels, .row_len = shape->channels, .scale = 1},
        .out = {.dtype = format->out, .rows = cells, .row_len = shape->channels, .scale = 1}};
    if (problem.direction == BEV_BACKWARD) {
        problem.grad_out = problem.out;
        problem.grad_depth = problem.depth;
        problem.grad_feat = problem.feat;
    }
    return problem;
}

int bev_outputs(const BevProblem *problem, const BevTensor *outputs[BEV_MAX_OUTPUTS]) {
    bool backward = problem->direction == BEV_BACKWARD;
    outputs[0] = backward ? &problem->grad_depth : &problem->out;
    outputs[1] = backward ? &problem->grad_feat : NULL;
    return backward ? 2 : 1;
}

size_t bev_output_bytes(const BevProblem *problem) {
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    size_t bytes = 0;
    for (int i = bev_outputs(problem, outputs); i-- > 0;)
        bytes += bev_tensor_bytes(outputs[i]);
    return bytes;
}

BevFootprint bev_footprint(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    return (BevFootprint){
        .feat = (double)bev_tensor_bytes(&problem->feat),
        .depth = (double)bev_tensor_bytes(&problem->depth),
        .index =
            (double)sizeof(int32_t) * (3.0 * (double)map->points + 2.0 * (double)map->intervals),
        .weight = map->weights ? (double)sizeof(float) * (double)map->points : 0,
        .out = (double)bev_tensor_bytes(&problem->out),
        .grads = problem->direction == BEV_BACKWARD ? (double)bev_output_bytes(problem) : 0,
    };
}

double bev_footprint_total(BevFootprint footprint) {
    return footprint.feat + footprint.depth + footprint.index + footprint.weight + footprint.out +
           footprint.grads;
}

/* ---- codes of narrow floats ------------------------------------------------------------------ */

CPU_INLINE uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

CPU_INLINE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum { FP32_FRACTION = 23, FP32_BIAS = 127 };

/* A narrow format has a sign, an exponent and a fraction. The formats differ in these numbers. */
typedef struct {
    int width, fraction, bias;
    uint32_t top;      /* code of an overflow: infinity, or the largest value */
    uint32_t infinity; /* first code that is no finite number; 1 << width: none */
    uint32_t nan;
} Narrow;

static const Narrow narrow[BEV_ELEMENT_COUNT] = {
    [BEV_FP16] = {16, 10, 15, 0x7c00, 0x7c00, 0x7e00},
    [BEV_BF16] = {16, 7, 127, 0x7f80, 0x7f80, 0x7fc0},
    [BEV_FP8] = {8, 3, 7, 0x7e, 0x7f, 0x7f},
    [BEV_NVFP4] = {4, 1, 1, 0x7, 1 << 4, 0x7},
    [BEV_E5M2] = {8, 2, 15, 0x7b, 0x7c, 0x7e},
};

/* Returns `first ? a : b` without a branch, so that the compiler can vectorise the loops that call
 * this function. */
CPU_INLINE uint32_t select_bits(bool first, uint32_t a, uint32_t b) {
    uint32_t mask = -(uint32_t)first;
    return (a & mask) | (b & ~mask);
}

/* Returns the code nearest to `value`, ties to even, without a branch: the loops over spans are
 * vectorised. To a normal result the function adds just under half a unit and the lowest kept bit.
 * The carry of this addition rounds up exactly the values that must be. To a subnormal result the
 * function adds a float whose last place is the format's smallest step. This addition rounds. */
CPU_INLINE uint32_t narrow_encode(BevDtype dtype, float value) {
    const Narrow *to = &narrow[dtype];
    int shift = FP32_FRACTION - to->fraction;
    uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
    uint32_t sign = bits >> 31 << (to->width - 1), odd = magnitude >> shift & 1;
    uint32_t rebias = (uint32_t)(FP32_BIAS - to->bias) << FP32_FRACTION;
    uint32_t normal = (magnitude + (1u << (shift - 1)) - 1 + odd - rebias) >> shift;
    uint32_t step = (uint32_t)(FP32_BIAS + 1 - to->bias + shift) << FP32_FRACTION;
    uint32_t tiny = bits_of(float_of(magnitude) + float_of(step)) - step;
    uint32_t least_normal = (uint32_t)(FP32_BIAS + 1 - to->bias) << FP32_FRACTION;
    uint32_t code = select_bits(magnitude < least_normal, tiny, normal);
    code = select_bits(code > to->top, to->top, code);
    code = select_bits(magnitude > 0x7f800000, to->nan, code);
    return sign | code;
}

CPU_INLINE float narrow_decode(BevDtype dtype, uint32_t code) {
    const Narrow *from = &narrow[dtype];
    int shift = FP32_FRACTION - from->fraction;
    uint32_t sign = code >> (from->width - 1) << 31;
    uint32_t magnitude = code & ((1u << (from->width - 1)) - 1);
    uint32_t rebias = (uint32_t)(FP32_BIAS - from->bias) << FP32_FRACTION;
    uint32_t normal = (magnitude << shift) + rebias;
    /* A subnormal result is the format's smallest value times a whole number. The product is a
     * normal float: a subnormal float would cost a hundred cycles. (The subnormals of BF16 are
     * subnormal floats, so BF16 has its own decoder.) */
    float step = float_of((uint32_t)(FP32_BIAS + 1 - from->bias - from->fraction) << FP32_FRACTION);
    uint32_t tiny = bits_of((float)(int32_t)magnitude * step);
    uint32_t special = 0x7f800000 | (from->infinity == from->nan ? 1u << 22 : magnitude << shift);
    uint32_t bits = select_bits(magnitude >> from->fraction, normal, tiny);
    bits = select_bits(magnitude >= from->infinity, special, bits);
    return float_of(sign | bits);
}

float bev_fp16_decode(uint16_t code) {
    return narrow_decode(BEV_FP16, code);
}

float bev_bf16_decode(uint16_t code) {
    return float_of((uint32_t)code << 16);
}

/* Encodes every NaN as +6. */
CPU_INLINE uint32_t e2m1_encode(float value) {
    return value != value ? narrow[BEV_NVFP4].nan : narrow_encode(BEV_NVFP4, value);
}

/* ---- codes of whole numbers ------------------------------------------------------------------ */

/* Rounds `value` to a whole number from `least` to `most`, ties to even: 2^23 + 2^22 is added and
 * taken away. A NaN fails the first comparison and becomes 0. */
CPU_INLINE int32_t whole_encode(float value, float least, float most) {
    value = value > least ? value : value != value ? 0 : least;
    value = value < most ? value : most;
    return (int32_t)((value + 0x1.8p23f) - 0x1.8p23f);
}

/* ---- one element of any format --------------------------------------------------------------- */

uint32_t bev_code(BevDtype dtype, float value) {
    if (dtype == BEV_FP32)
        return bits_of(value);
    if (dtype == BEV_NVFP4)
        return e2m1_encode(value);
    if (narrow[dtype].width)
        return narrow_encode(dtype, value);
    return (uint8_t)(dtype == BEV_UINT8 ? whole_encode(value, 0, 255)
                                        : whole_encode(value, -127, 127));
}

double bev_code_value(BevDtype dtype, uint32_t code) {
    if (dtype == BEV_FP32 || dtype == BEV_BF16)
        return float_of(dtype == BEV_FP32 ? code : code << 16);
    if (narrow[dtype].width)
        return narrow_decode(dtype, code);
    return dtype == BEV_UINT8 ? (uint8_t)code : (int8_t)code;
}

/* ---- sizes and scales ------------------------------------------------------------------------ */

static int64_t blocks_of(BevDtype dtype, int64_t row_len) {
    int block = bev_dtypes[dtype].block;
    return block ? (row_len + block - 1) / block : 0;
}

float bev_block_scale(const BevTensor *tensor, int64_t block) {
    return narrow_decode(BEV_FP8, tensor->block_scales[block]);
}

size_t bev_code_bytes(BevDtype dtype, int64_t rows, int64_t row_len) {
    if (dtype == BEV_NVFP4)
        return (size_t)rows * (size_t)blocks_of(dtype, row_len) * (BEV_BLOCK / 2);
    assert(bev_dtypes[dtype].bits % 8 == 0);
    return (size_t)rows * (size_t)row_len * (size_t)(bev_dtypes[dtype].bits / 8);
}

size_t bev_block_scale_bytes(BevDtype dtype, int64_t rows, int64_t row_len) {
    return (size_t)rows * (size_t)blocks_of(dtype, row_len);
}

float bev_tensor_scale(BevDtype dtype, float largest_abs) {
    double largest = 0; /* the largest value of the format at tensor scale 1; 0: it has no scale */
    if (dtype == BEV_NVFP4)
        largest = bev_dtypes[BEV_FP8].largest * bev_dtypes[dtype].largest;
    else if (bev_dtypes[dtype].bits == 8)
        largest = bev_dtypes[dtype].largest;
    if (largest == 0 || !(largest_abs > 0) || largest_abs > FLT_MAX)
        return 1;
    float scale = (float)(largest_abs / largest);
    return scale < FLT_MIN ? FLT_MIN : scale; /* a subnormal scale would have lost its precision */
}

/* ---- loops over spans ------------------------------------------------------------------------ */

/* Encodes or decodes n elements. The scale of INT8's element i is scale * scales[i]; without
 * `scales` all elements have `scale`. Formats of 16 bits and more have no scale. */
typedef void Span(void *to, const void *from, const float *restrict scales, float scale, int64_t n);

/* Defines a Span that is compiled for each vector width. `assignment` is the value of out[i]. */
#define SPAN(name, to, from, assignment)                                                           \
    CPU_CLONES static void name(void *results, const void *given, const float *restrict scales,    \
                                float scale, int64_t n) {                                          \
        to *restrict out = results;                                                                \
        const from *restrict in = given;                                                           \
        (void)scale, (void)scales;                                                                 \
        CPU_SIMD                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = assignment;                                                                   \
    }

SPAN(fp32_copy, float, float, in[i])
SPAN(fp16_encode, uint16_t, float, (uint16_t)narrow_encode(BEV_FP16, in[i]))
SPAN(fp16_decode, float, uint16_t, narrow_decode(BEV_FP16, in[i]))
SPAN(bf16_encode, uint16_t, float, (uint16_t)narrow_encode(BEV_BF16, in[i]))
SPAN(bf16_decode, float, uint16_t, float_of((uint32_t)in[i] << 16))
SPAN(e4m3_encode, uint8_t, float, (uint8_t)narrow_encode(BEV_FP8, in[i] / scale))
SPAN(e4m3_decode, float, uint8_t, narrow_decode(BEV_FP8, in[i]) * scale)
SPAN(uint8_encode, uint8_t, float, (uint8_t)whole_encode(in[i] / scale, 0, 255))
SPAN(uint8_decode, float, uint8_t, (float)in[i] * scale)
SPAN(int8_encode, int8_t, float,
     (int8_t)whole_encode(in[i] / (scales ? scales[i] * scale : scale), -127, 127))
SPAN(int8_decode, float, int8_t, (float)in[i] * (scales ? scales[i] * scale : scale))

/* E5M2, which is a format of single codes, and NVFP4, which has blocks, have no row here. */
static const struct {
    Span *encode, *decode;
} spans[BEV_ELEMENT_COUNT] = {
    [BEV_FP32] = {fp32_copy, fp32_copy},        [BEV_FP16] = {fp16_encode, fp16_decode},
    [BEV_BF16] = {bf16_encode, bf16_decode},    [BEV_FP8] = {e4m3_encode, e4m3_decode},
    [BEV_INT8] = {int8_encode, int8_decode},    [BEV_INT8_FP16] = {int8_encode, int8_decode},
    [BEV_UINT8] = {uint8_encode, uint8_decode},
};

/* ---- NVFP4 blocks ---------------------------------------------------------------------------- */

/* Encodes up to 16 values as a block and returns the code of its scale. The block scale is the E4M3
 * value nearest to largest / 6, both in units of the tensor scale. */
static uint8_t block_encode(uint8_t codes[BEV_BLOCK / 2], const float *values, int64_t n,
                            float scale) {
    float largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fabsf(values[i]) > largest ? fabsf(values[i]) : largest;
    uint32_t block = narrow_encode(BEV_FP8, largest / (float)bev_dtypes[BEV_NVFP4].largest / scale);
    float unit = narrow_decode(BEV_FP8, block) * scale;
    memset(codes, 0, BEV_BLOCK / 2);
    for (int64_t i = 0; unit > 0 && i < n; i++)
        codes[i / 2] |= (uint8_t)(e2m1_encode(values[i] / unit) << (i % 2 * 4));
    return (uint8_t)block;
}

/* Encodes channels [first, first + count) of a row, block by block. */
static void nvfp4_encode_span(const BevTensor *tensor, int64_t row, int64_t first, int64_t count,
                              const float *values) {
    assert(first % BEV_BLOCK == 0);
    for (int64_t c = 0; c < count; c += BEV_BLOCK) {
        int64_t block = row * blocks_of(tensor->dtype, tensor->row_len) + (first + c) / BEV_BLOCK;
        int64_t n = count - c < BEV_BLOCK ? count - c : BEV_BLOCK;
        tensor->block_scales[block] = block_encode(
            (uint8_t *)tensor->data + block * (BEV_BLOCK / 2), values + c, n, tensor->scale);
    }
}

static void nvfp4_decode_row(const BevTensor *tensor, int64_t row, float *values) {
    for (int64_t c = 0; c < tensor->row_len; c += BEV_BLOCK) {
        int64_t block = row * blocks_of(tensor->dtype, tensor->row_len) + c / BEV_BLOCK;
        int64_t n = tensor->row_len - c < BEV_BLOCK ? tensor->row_len - c : BEV_BLOCK;
        const uint8_t *codes = (const uint8_t *)tensor->data + block * (BEV_BLOCK / 2);
        float unit = narrow_decode(BEV_FP8, tensor->block_scales[block]) * tensor->scale;
        for (int64_t i = 0; i < n; i++)
            values[c + i] = narrow_decode(BEV_NVFP4, codes[i / 2] >> (i % 2 * 4) & 0xf) * unit;
    }
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Returns where an element lies, in a format without blocks. */
static char *place_of(const BevTensor *tensor, int64_t row, int64_t column) {
    return (char *)tensor->data + bev_code_bytes(tensor->dtype, row, tensor->row_len) +
           bev_code_bytes(tensor->dtype, 1, column);
}

void bev_span_encode(const BevTensor *tensor, int64_t row, int64_t first, int64_t count,
                     const float *values) {
    const float *scales = tensor->channel_scales;
    assert(bev_dtypes[tensor->dtype].bits <= 8 || tensor->scale == 1);
    if (tensor->dtype == BEV_NVFP4)
        nvfp4_encode_span(tensor, row, first, count, values);
    else
        spans[tensor->dtype].encode(place_of(tensor, row, first), values,
                                    scales ? scales + first : NULL, tensor->scale, count);
}

void bev_tensor_encode(const BevTensor *tensor, const float *values) {
    for (int64_t row = 0; row < tensor->rows; row++)
        bev_span_encode(tensor, row, 0, tensor->row_len, values + row * tensor->row_len);
}

void bev_tensor_decode(const BevTensor *tensor, int64_t first, int64_t count, float *values) {
    const int64_t row_len = tensor->row_len;
    const float *scales = tensor->channel_scales;
    const bool has_blocks = tensor->dtype == BEV_NVFP4;
    Span *decode = spans[tensor->dtype].decode;
    if (!scales && !has_blocks) { /* all rows have one scale */
        decode(values, place_of(tensor, first, 0), NULL, tensor->scale, count * row_len);
        return;
    }
    for (int64_t row = first; row < first + count; row++, values += row_len)
        if (has_blocks)
            nvfp4_decode_row(tensor, row, values);
        else
            decode(values, place_of(tensor, row, 0), scales, tensor->scale, row_len);
}

float bev_tensors_factor(const BevProblem *problem) {
    return problem->depth.scale * problem->feat.scale / problem->out.scale;
}

float bev_sum_factor(const BevProblem *problem, int64_t channel) {
    float factor = bev_tensors_factor(problem);
    return problem->feat.channel_scales ? factor * problem->feat.channel_scales[channel] : factor;
}

double bev_tensor_at(const BevTensor *tensor, int64_t row, int64_t column) {
    const BevDtype dtype = tensor->dtype;
    const size_t element = (size_t)(row * tensor->row_len + column);
    if (dtype == BEV_FP32)
        return ((const float *)tensor->data)[element];
    if (dtype == BEV_NVFP4) {
        int64_t block = row * blocks_of(tensor->dtype, tensor->row_len) + column / BEV_BLOCK;
        uint8_t pair =
            ((const uint8_t *)tensor->data)[(block * BEV_BLOCK + column % BEV_BLOCK) / 2];
        return bev_code_value(dtype, pair >> (column % 2 * 4) & 0xf) *
               bev_block_scale(tensor, block) * tensor->scale;
    }
    uint32_t code = bev_dtypes[dtype].bits == 8 ? ((const uint8_t *)tensor->data)[element]
                                                : ((const uint16_t *)tensor->data)[element];
    return bev_code_value(dtype, code) * tensor->scale *
           (tensor->channel_scales ? tensor->channel_scales[column] : 1);
}
