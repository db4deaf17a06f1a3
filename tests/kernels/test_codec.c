/* SPDX-License-Identifier: MIT */
/* Every code of every format: what it means, and that rounding to it is to nearest, ties to even.
 * The meaning is worked out here a second time, from the format's definition, in double. */
#include "kernels/codec.h"
#include "src/base/random.h"
#include "tests/support/tap.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

typedef struct {
    const char *name;
    BevDtype dtype;
    int width, fraction, bias;
    bool ieee;      /* the top exponent means infinity and NaN */
    bool saturates; /* overflow gives the largest value */
} Format;

/* The whole number that a value is stored as. */
static int whole_of(BevDtype dtype, float value) {
    return (int)bev_code_value(dtype, bev_code(dtype, value));
}

static const Format formats[] = {
    {"fp16", BEV_FP16, 16, 10, 15, true, false}, {"bf16", BEV_BF16, 16, 7, 127, true, false},
    {"e4m3", BEV_FP8, 8, 3, 7, false, true},     {"e5m2", BEV_E5M2, 8, 2, 15, true, true},
    {"e2m1", BEV_NVFP4, 4, 1, 1, false, true},
};
static const Format *const e4m3 = &formats[2], *const e2m1 = &formats[4];
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static uint32_t sign_bit(const Format *f) {
    return 1u << (f->width - 1);
}

/* The first magnitude that is no finite number. */
static uint32_t finite_end(const Format *f) {
    if (f->ieee)
        return ((1u << (f->width - 1 - f->fraction)) - 1) << f->fraction;
    return f->dtype == BEV_FP8 ? 0x7f : sign_bit(f);
}

/* The definition: (-1)^s * 2^(e - bias) * 1.f, or 2^(1 - bias) * 0.f. */
static double meaning(const Format *f, uint32_t code) {
    uint32_t magnitude = code & (sign_bit(f) - 1);
    if (magnitude >= finite_end(f)) {
        bool infinity = f->ieee && magnitude == finite_end(f);
        return copysign(infinity ? INFINITY : NAN, code & sign_bit(f) ? -1 : 1);
    }
    int exponent = (int)(magnitude >> f->fraction);
    double fraction = ldexp(magnitude & ((1u << f->fraction) - 1), -f->fraction);
    double value =
        exponent ? ldexp(1 + fraction, exponent - f->bias) : ldexp(fraction, 1 - f->bias);
    return code & sign_bit(f) ? -value : value;
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void test_decode_and_round_trip(const Format *f) {
    uint32_t decoded = 0, returned = 0, count = 1u << f->width;
    for (uint32_t code = 0; code < count; code++) {
        float value = (float)bev_code_value(f->dtype, code);
        decoded += same(value, meaning(f, code));
        bool lost = isinf(value) && f->saturates; /* E5M2's own infinity becomes its largest, too */
        returned += isnan(value) || lost
                        ? !isinf(bev_code_value(f->dtype, bev_code(f->dtype, value)))
                        : bev_code(f->dtype, value) == code;
    }
    tap_ok(decoded == count, "%s: %u of %u codes decode as defined", f->name, decoded, count);
    tap_ok(returned == count, "%s: %u of %u codes survive decode, encode", f->name, returned,
           count);
}

/* Between each code and the next: just below the midpoint goes down, just above goes up, the
 * midpoint itself to the even code. The midpoint past the largest finite code included. */
static void test_midpoints(const Format *f) {
    uint32_t wrong = 0, end = finite_end(f);
    for (uint32_t low = 0; low < end; low++)
        for (int negative = 0; negative < 2; negative++) {
            uint32_t sign = negative ? sign_bit(f) : 0, high = low + 1;
            double below = meaning(f, low),
                   step = low ? below - meaning(f, low - 1) : meaning(f, 1);
            bool last = high == end;
            double above = last ? below + step : meaning(f, high);
            float middle = (float)((below + above) / 2);
            if (last && f->saturates)
                high = low;
            uint32_t even = low & 1 ? high : low;
            float s = negative ? -1 : 1;
            wrong += bev_code(f->dtype, s * middle) != (sign | even);
            wrong += bev_code(f->dtype, s * nextafterf(middle, 0)) != (sign | low);
            wrong += bev_code(f->dtype, s * nextafterf(middle, INFINITY)) != (sign | high);
        }
    tap_ok(wrong == 0, "%s: nearest even round every midpoint (%u wrong)", f->name, wrong);
}

static void test_specials(const Format *f) {
    const BevDtypeInfo *info = &bev_dtypes[f->dtype];
    uint32_t top = finite_end(f) - 1, over = f->saturates ? top : top + 1, sign = sign_bit(f);
    tap_ok(bev_code(f->dtype, INFINITY) == over && bev_code(f->dtype, -INFINITY) == (sign | over),
           "%s: infinity %s", f->name, f->saturates ? "saturates" : "stays infinity");
    tap_ok(bev_code(f->dtype, FLT_MAX) == over && bev_code(f->dtype, -FLT_MAX) == (sign | over),
           "%s: overflow %s", f->name, f->saturates ? "saturates" : "gives infinity");
    if (f->dtype == BEV_NVFP4)
        tap_ok(bev_code(f->dtype, NAN) == top && bev_code(f->dtype, -NAN) == top,
               "%s: NaN is the largest", f->name);
    else
        tap_ok(isnan(bev_code_value(f->dtype, bev_code(f->dtype, NAN))) &&
                   isnan(bev_code_value(f->dtype, bev_code(f->dtype, -NAN))),
               "%s: NaN stays NaN", f->name);
    float tiny = ldexpf((float)info->smallest, -2);
    tap_ok(bev_code(f->dtype, tiny) == 0 && bev_code(f->dtype, -tiny) == sign &&
               bev_code(f->dtype, FLT_TRUE_MIN) == 0,
           "%s: underflow gives zero and keeps the sign", f->name);
    tap_ok(meaning(f, 1) == info->smallest && meaning(f, top) == info->largest &&
               meaning(f, bev_code(f->dtype, 1) + 1) - 1 == 2 * info->unit_roundoff &&
               info->bits == f->width && info->sign == 1 &&
               info->exponent == f->width - 1 - f->fraction,
           "%s: smallest, largest, unit roundoff and bits of the table", f->name);
}

static void round_trip(BevTensor *tensor, const float *values, float *back) {
    bev_tensor_encode(tensor, values);
    bev_tensor_decode(tensor, 0, tensor->rows, back);
}

static void test_spans_match_elements(void) {
    enum { N = 1021 };
    static float values[N], back[N];
    static uint16_t codes[N];
    uint64_t seed = 1;
    for (int i = 0; i < N; i++)
        values[i] = ldexpf((float)random_unit(&seed) - 0.5f, (int)random_below(&seed, 60) - 30);
    values[7] = NAN, values[8] = INFINITY, values[9] = -INFINITY, values[10] = -0.0f;
    for (int i = 0; i < FORMAT_COUNT - 1; i++) {
        const Format *f = &formats[i];
        if (f->dtype == BEV_E5M2)
            continue; /* codes alone */
        BevTensor tensor = {f->dtype, 1, N, codes, NULL, f->width == 8 ? 0.25f : 1, NULL};
        round_trip(&tensor, values, back);
        int encoded = 0, decoded = 0, at = 0;
        for (int k = 0; k < N; k++) {
            uint32_t code = f->width == 8 ? ((uint8_t *)codes)[k] : codes[k];
            encoded += code == bev_code(f->dtype, values[k] / tensor.scale);
            decoded += same(back[k], (float)bev_code_value(f->dtype, code) * tensor.scale);
            at += same(bev_tensor_at(&tensor, 0, k), bev_code_value(f->dtype, code) * tensor.scale);
        }
        tap_ok(encoded == N && decoded == N && at == N,
               "%s: arrays give what single elements give (%d, %d, %d of %d)", f->name, encoded,
               decoded, at, N);
    }
}

static void test_fp32_is_untouched(void) {
    const float values[] = {0, -0.0f, 1.1f, FLT_TRUE_MIN, -FLT_MAX, INFINITY, NAN};
    enum { N = sizeof values / sizeof *values };
    float codes[N], back[N];
    BevTensor tensor = {BEV_FP32, 1, N, codes, NULL, 1, NULL};
    round_trip(&tensor, values, back);
    tap_ok(!memcmp(values, codes, sizeof values) && !memcmp(values, back, sizeof values) &&
               bev_code(BEV_FP32, -1.5f) == 0xbfc00000 &&
               bev_code_value(BEV_FP32, 0x7f7fffff) == FLT_MAX,
           "fp32: bits pass unchanged");
}

/* Every pair of block scale and code, and the padding of rows that end inside a block. */
static void test_nvfp4_decode(void) {
    uint8_t codes[2 * BEV_BLOCK / 2], scales[2];
    BevTensor tensor = {BEV_NVFP4, 1, BEV_BLOCK + 5, codes, scales, 0.5f, NULL};
    float row[BEV_BLOCK + 5];
    int wrong = 0;
    for (int i = 0; i < BEV_BLOCK; i++)
        codes[i] = (uint8_t)((2 * i & 0xf) | ((2 * i + 1) & 0xf) << 4);
    for (int scale = 0; scale < 256; scale++) {
        scales[0] = (uint8_t)scale;
        scales[1] = (uint8_t)(255 - scale);
        bev_tensor_decode(&tensor, 0, 1, row);
        for (int c = 0; c < BEV_BLOCK + 5; c++) {
            double want =
                meaning(e2m1, (uint32_t)c % 16) * meaning(e4m3, scales[c / BEV_BLOCK]) * 0.5;
            bool nan = isnan(want) && isnan(row[c]) && isnan(bev_tensor_at(&tensor, 0, c));
            wrong += !nan && (row[c] != want || bev_tensor_at(&tensor, 0, c) != want);
        }
    }
    tap_ok(wrong == 0, "nvfp4: every code under every block scale (%d wrong)", wrong);
}

/* Against an exhaustive search over all block scales: the encoder's is the nearest to largest / 6,
 * and each code is the nearest under it. */
static void test_nvfp4_encode(void) {
    enum { ROWS = 200, LEN = 37, BLOCKS = 3 };
    static float values[ROWS * LEN];
    static uint8_t codes[ROWS * BLOCKS * BEV_BLOCK / 2], scales[ROWS * BLOCKS];
    uint64_t seed = 2;
    float largest = 0;
    for (int i = 0; i < ROWS * LEN; i++) {
        values[i] = ldexpf((float)random_unit(&seed) - 0.5f, (int)random_below(&seed, 8));
        largest = fmaxf(largest, fabsf(values[i]));
    }
    BevTensor tensor = {BEV_NVFP4, ROWS, LEN, codes, scales, bev_tensor_scale(BEV_NVFP4, largest),
                        NULL};
    bev_tensor_encode(&tensor, values);
    int wrong_scale = 0, wrong_value = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < LEN; c++) {
            double top = 0;
            for (int k = c / BEV_BLOCK * BEV_BLOCK; k < LEN && k / BEV_BLOCK == c / BEV_BLOCK; k++)
                top = fmax(top, fabs((double)values[r * LEN + k]) / 6 / tensor.scale);
            double chosen = meaning(e4m3, scales[r * BLOCKS + c / BEV_BLOCK]);
            for (uint32_t s = 0; s < 0x7f; s++)
                wrong_scale += fabs(meaning(e4m3, s) - top) < fabs(chosen - top) * 0.999999;
            double value = values[r * LEN + c], unit = chosen * tensor.scale;
            for (uint32_t code = 0; code < 16; code++)
                wrong_value += fabs(meaning(e2m1, code) * unit - value) <
                               fabs(bev_tensor_at(&tensor, r, c) - value) * 0.999999;
        }
    tap_ok(wrong_scale == 0 && wrong_value == 0,
           "nvfp4: nearest block scale, nearest code (%d, %d wrong)", wrong_scale, wrong_value);
}

static void test_nvfp4_edges(void) {
    float values[BEV_BLOCK] = {0}, back[BEV_BLOCK];
    uint8_t codes[BEV_BLOCK / 2], scale;
    BevTensor tensor = {BEV_NVFP4, 1, BEV_BLOCK, codes, &scale, 1, NULL};
    round_trip(&tensor, values, back);
    bool zero = true;
    for (int i = 0; i < BEV_BLOCK; i++)
        zero = zero && back[i] == 0;
    tap_ok(zero, "nvfp4: a block of zeros stays zero");
    values[3] = 1e9f;
    values[4] = NAN;
    round_trip(&tensor, values, back);
    tap_ok(back[3] == 448 * 6 && back[4] == 448 * 6 && back[5] == 0,
           "nvfp4: past its range a block saturates, NaN is the largest");
    tap_ok(bev_code_bytes(BEV_NVFP4, 3, 17) == 48 && bev_block_scale_bytes(BEV_NVFP4, 3, 17) == 6 &&
               bev_code_bytes(BEV_FP16, 3, 17) == 102 && bev_block_scale_bytes(BEV_FP8, 3, 17) == 0,
           "rows of nvfp4 are padded to whole blocks, others are dense");
}

/* Every code, alone and of three channels, which have their own scales where they are features. */
static void test_whole_numbers(BevDtype dtype, int low, int high) {
    enum { N = 3 };
    float scales[N] = {0.5f, 3, 0x1p-20f}, values[N], back[N];
    uint8_t codes[N];
    BevTensor tensor = {dtype, 1, N, codes, NULL, 2, dtype == BEV_INT8 ? scales : NULL};
    int wrong = 0;
    for (int number = low; number <= high; number++) {
        uint8_t code = (uint8_t)number;
        wrong += bev_code_value(dtype, code) != number || bev_code(dtype, (float)number) != code;
        for (int c = 0; c < N; c++)
            values[c] = (float)number * (tensor.channel_scales ? scales[c] : 1) * 2;
        round_trip(&tensor, values, back);
        for (int c = 0; c < N; c++)
            wrong += codes[c] != code || back[c] != values[c] ||
                     bev_tensor_at(&tensor, 0, c) != (double)values[c];
    }
    tap_ok(wrong == 0, "%s: every code of %d to %d, alone and in an array (%d wrong)",
           bev_dtypes[dtype].name, low, high, wrong);
}

/* Numbers between codes and past them; a span that begins at a later channel. */
static void test_int8(void) {
    float scales[3] = {0.5f, 3, 0x1p-20f}, alone = 6;
    int8_t codes[3];
    BevTensor tensor = {BEV_INT8, 1, 3, codes, NULL, 2, scales};
    bev_span_encode(&tensor, 0, 1, 1, &alone);
    tap_ok(codes[1] == 1, "int8: a span has the scales of its own channels");
    tap_ok(bev_code_value(BEV_INT8, 0x80) == -128, "int8: the code that is not made is read");
    tap_ok(whole_of(BEV_INT8, 0.5f) == 0 && whole_of(BEV_INT8, 1.5f) == 2 &&
               whole_of(BEV_INT8, -2.5f) == -2 && whole_of(BEV_INT8, 2.51f) == 3 &&
               whole_of(BEV_UINT8, 254.5f) == 254,
           "int8: to nearest, ties to even");
    tap_ok(whole_of(BEV_INT8, 127.6f) == 127 && whole_of(BEV_INT8, -1e30f) == -127 &&
               whole_of(BEV_INT8, INFINITY) == 127 && whole_of(BEV_UINT8, 1e30f) == 255 &&
               whole_of(BEV_UINT8, -3) == 0,
           "int8: past its range a number saturates and does not wrap");
    tap_ok(whole_of(BEV_INT8, NAN) == 0 && whole_of(BEV_UINT8, NAN) == 0,
           "int8: NaN is silently 0");
}

/* Products in the order of CUDA kernels: one factor for all channels, then that of the channel. */
static void test_sum_factor(void) {
    float scales[2] = {3, 5};
    BevProblem problem = {
        .depth.scale = 0.25f, .feat = {.scale = 2, .channel_scales = scales}, .out.scale = 1};
    tap_ok(bev_sum_factor(&problem, 0) == 1.5f && bev_sum_factor(&problem, 1) == 2.5f,
           "a sum of codes is worth the scales of depth, tensor and channel");
    problem.feat.channel_scales = NULL;
    problem.out.scale = 4;
    tap_ok(bev_sum_factor(&problem, 1) == 0.125f, "and less, the larger the output's scale");
}

static void test_tensor_scale(void) {
    tap_ok(bev_tensor_scale(BEV_FP8, 896) == 2 && bev_tensor_scale(BEV_NVFP4, 448 * 6 * 4) == 4 &&
               bev_tensor_scale(BEV_INT8, 254) == 2 && bev_tensor_scale(BEV_UINT8, 510) == 2 &&
               bev_tensor_scale(BEV_FP16, 896) == 1 && bev_tensor_scale(BEV_FP8, 0) == 1,
           "tensor scales put the largest value on the format's largest");
    int clipped = 0, count = 0;
    for (float largest = FLT_TRUE_MIN; largest < FLT_MAX / 2; largest *= 1.7f) {
        float scale = bev_tensor_scale(BEV_FP8, largest);
        count++;
        clipped += largest / scale > 464;
    }
    tap_ok(count > 100 && clipped == 0, "no largest value is clipped by its own scale (%d tried)",
           count);
}

TAP_SUITE(codec) {
    for (int i = 0; i < FORMAT_COUNT; i++) {
        test_decode_and_round_trip(&formats[i]);
        test_midpoints(&formats[i]);
        test_specials(&formats[i]);
    }
    test_fp32_is_untouched();
    test_spans_match_elements();
    test_nvfp4_decode();
    test_nvfp4_encode();
    test_nvfp4_edges();
    test_whole_numbers(BEV_INT8, -127, 127);
    test_whole_numbers(BEV_UINT8, 0, 255);
    test_int8();
    test_sum_factor();
    test_tensor_scale();
}
