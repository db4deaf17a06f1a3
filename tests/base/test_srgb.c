/* SPDX-License-Identifier: MIT */
/* The tables of sRGB beside its formula. */
#include "src/base/srgb.h"
#include "tests/support/tap.h"

#include <math.h>

static int by_formula(double v) {
    double s = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
    return (int)lround(255 * s);
}

TAP_SUITE(srgb) {
    enum { LIGHTS = 1000000 };
    int differ = 0, lost = 0;
    for (int i = 0; i <= LIGHTS; i++)
        differ += srgb_level((double)i / LIGHTS) != by_formula((double)i / LIGHTS);
    for (int level = 0; level < 256; level++)
        lost += srgb_level(srgb_light((uint8_t)level)) != level;
    tap_ok(!differ, "a million lights have the level of the formula (%d differ)", differ);
    tap_ok(!lost, "each level's light gives that level (%d do not)", lost);
    tap_ok(srgb_level(-1) == 0 && srgb_level(NAN) == 0 && srgb_level(2) == 255,
           "below 0 and NaN: 0; above 1: 255");
}
