/* SPDX-License-Identifier: MIT */
/* Round numbers for axes and colour bars. */
#pragma once

#include "src/base/units.h"

enum { TICKS_MAX = 24, TICK_LABEL = 16 };

typedef struct {
    int count;
    int exponent; /* labels are values / 10^exponent; 0 for everyday sizes */
    double at[TICKS_MAX];
    char label[TICKS_MAX][TICK_LABEL]; /* with a true minus sign */
} Ticks;

/* Returns 1, 2 or 5 times a power of ten, so that about `target` steps cover `span`. */
double ticks_step(double span, int target);
/* Returns about `target` ticks within [lo, hi], at multiples of a round step. */
Ticks ticks_linear(double lo, double hi, int target);
/* Returns ticks at 1, 2, 5 (or only powers of ten) within [lo, hi], lo > 0. */
Ticks ticks_log(double lo, double hi, int target);
/* Returns linear or logarithmic ticks. A logarithmic axis from lo < 0 to hi = -lo has four decades
 * for each sign. */
Ticks ticks_of(bool logarithmic, double lo, double hi, int target);

/* Returns "−12.5": `decimals` digits after the point, a true minus sign, no "−0". */
ShortText ticks_number(double value, int decimals);
/* Returns "×10⁻⁷", or "" for exponent 0. */
ShortText ticks_multiplier(int exponent);
