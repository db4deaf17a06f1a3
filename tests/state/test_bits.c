/* SPDX-License-Identifier: MIT */
/* The page of bits: what it says of a code, against a second way to find it; controls and keys. */
#include "kernels/codec.h"
#include "src/base/units.h"
#include "tests/state/state_fixture.h"

#include <math.h>

/* The value of "-2^3 x (1 + 2/8)", "2^-6 x 3/8" or "-128 + 5". */
static double worth(const char *formula) {
    int power, whole, more;
    double sign = *formula == '-' ? -1 : 1, fraction, parts;
    const char *text = formula + (*formula == '-');
    if (sscanf(text, "2^%d x (1 + %lf/%lf)", &power, &fraction, &parts) == 3)
        return sign * ldexp(1 + fraction / parts, power);
    if (sscanf(text, "2^%d x %lf/%lf", &power, &fraction, &parts) == 3)
        return sign * ldexp(fraction / parts, power);
    return sscanf(formula, "%d + %d", &whole, &more) == 2 ? whole + more : NAN;
}

/* All numbers of a format of at most 16 bits in their order, infinities included, each once. */
static int sorted(BevDtype dtype, double *values) {
    int count = 0, kept = 0;
    for (uint32_t code = 0; code < 1u << bev_dtypes[dtype].bits; code++) {
        double value = bev_code_value(dtype, code);
        if (!isnan(value) && !(bev_is_whole(dtype) && value == -128))
            values[count++] = value;
    }
    sort_ascending(values, count);
    for (int i = 0; i < count; i++)
        if (!kept || values[i] > values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

/* From the least number up, step by step, and down again. */
static bool walks(BevDtype dtype, const double *values, int count) {
    uint32_t code = 0, beyond;
    int right = 0;
    while (bev_code_value(dtype, code) != values[0]) /* encoding never gives E5M2's infinity */
        code++;
    for (int i = 1; i < count; i++)
        right += bits_next(dtype, code, 1, &code) && bev_code_value(dtype, code) == values[i];
    bool ends = !bits_next(dtype, code, 1, &beyond);
    for (int i = count - 2; i >= 0; i--)
        right += bits_next(dtype, code, -1, &code) && bev_code_value(dtype, code) == values[i];
    return ends && right == 2 * (count - 1) && !bits_next(dtype, code, -1, &beyond);
}

static void test_format(BevDtype dtype) {
    static double values[1 << 16];
    const BevDtypeInfo *format = &bev_dtypes[dtype];
    int wrong_worth = 0, wrong_class = 0, said = 0;
    for (uint32_t code = 0; code < 1u << format->bits; code++) {
        double value = bev_code_value(dtype, code),
               normal = format->smallest * ldexp(1, format->bits - 1 - format->exponent);
        const char *class = bits_class(dtype, code), *formula = bits_formula(dtype, code).text;
        const char *want = isnan(value)                    ? "NaN"
                           : isinf(value)                  ? "infinity"
                           : fabs(value) > format->largest ? "unused"
                           : value == 0                    ? "zero"
                           : !format->exponent             ? "whole number"
                           : fabs(value) < normal          ? "subnormal"
                                                           : "normal";
        wrong_class += strcmp(class, want) != 0;
        wrong_worth += *formula && worth(formula) != value;
        said += *formula != '\0';
    }
    tap_ok(!wrong_class, "%s: the class of every code", format->title);
    tap_ok(!wrong_worth && (said || dtype == BEV_UINT8), "%s: every formula has the code's value",
           format->title);
    tap_ok(walks(dtype, values, sorted(dtype, values)),
           "%s: from number to number up and down, none left out", format->title);
}

TAP_SUITE(bits_codes) {
    for (int dtype = 0; dtype < BEV_ELEMENT_COUNT; dtype++)
        if (bev_dtypes[dtype].bits <= 16)
            test_format((BevDtype)dtype);
    uint32_t code = bev_code(BEV_FP32, 1), next;
    tap_ok(bits_next(BEV_FP32, code, 1, &next) && next == code + 1 &&
               !strcmp(bits_formula(BEV_FP32, 0x80000001).text, "-2^-126 x 1/8388608") &&
               bits_next(BEV_FP32, 0x7f7fffff, 1, &next) && next == 0x7f800000 &&
               !bits_next(BEV_FP32, next, 1, &code) && bits_then_nan(BEV_FP32, next),
           "FP32: its codes are walked and read, too");
    tap_ok(bits_next(BEV_FP8, 0x80, 1, &next) && next == 1 && bits_next(BEV_FP8, 0, -1, &next) &&
               next == 0x81,
           "both zeros have the same neighbours");
    tap_ok(!strcmp(bits_digits(BEV_NVFP4, 7).text, "0 11 1") &&
               !strcmp(bits_title(BEV_FP8).text, "FP8 E4M3") &&
               !strcmp(bits_title(BEV_UINT8).text, "UINT8"),
           "the parts of a code are told apart");
}

static bool means(int32_t key, Action action, int step) {
    Command command;
    return keys_here(&state, key, &command) && command.action == action && command.step == step;
}

STATE_SUITE(bits_keys) {
    KeyHint hints[KEY_HINTS];
    tap_ok(means(KEYCODE_LEFT, ACTION_CURSOR_Y, 1), "the arrows move the cursor");
    after("bits on",
          means(KEYCODE_LEFT, ACTION_BITS_AT, 1) && means(KEYCODE_RIGHT, ACTION_BITS_AT, -1) &&
              means(KEYCODE_UP, ACTION_BITS_VALUE, 1) &&
              means(KEYCODE_DOWN, ACTION_BITS_VALUE, -1) && means(' ', ACTION_BITS_FLIP, 1) &&
              means('d', ACTION_DTYPE, 1),
          "on the page of bits they choose bits and numbers, and Space flips");
    keys_hints(&state, hints);
    tap_ok(!strcmp(hints[0].key.name, "Arrows") && !strcmp(hints[1].key.name, "Space"),
           "the key bar tells so");
    state.lesson.open = true;
    state.lesson.asks = ASKS_CHOICE;
    int count = keys_hints(&state, hints), escapes = 0;
    for (int i = 0; i < count; i++)
        escapes += !strcmp(hints[i].key.name, "Esc");
    tap_ok(means(' ', ACTION_BITS_FLIP, 1) && !strcmp(hints[0].key.name, "Left Right") &&
               escapes == 1 && count <= KEY_HINTS,
           "in a lesson, too, where Up and Down choose an answer");
    after("escape", !state.bits.open && state.lesson.open && means(' ', ACTION_PLAY, 1),
          "Esc leaves the page of bits first");
}
