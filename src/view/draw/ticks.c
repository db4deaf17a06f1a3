/* SPDX-License-Identifier: MIT */
#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers whose power of ten lies between these are written in full. */
enum { EXPONENT_SMALL = -3, EXPONENT_LARGE = 5 };

double ticks_step(double span, int target) {
    if (!(span > 0) || target < 1)
        return 0;
    double raw = span / target;
    double power = pow(10, floor(log10(raw)));
    double digit = raw / power;
    return power * (digit <= 1.0001 ? 1 : digit <= 2.0001 ? 2 : digit <= 5.0001 ? 5 : 10);
}

ShortText ticks_number(double value, int decimals) {
    ShortText digits = short_text("%.*f", decimals, fabs(value));
    bool zero = strspn(digits.text, "0.") == strlen(digits.text);
    return value < 0 && !zero ? short_text("\u2212%.80s", digits.text) : digits;
}

ShortText ticks_multiplier(int exponent) {
    static const char *const superscripts[10] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    ShortText text = short_text("%s", !exponent ? "" : exponent < 0 ? "×10⁻" : "×10");
    const ShortText digits = short_text("%d", abs(exponent));
    for (const char *d = digits.text; exponent && *d; d++)
        text_add(text.text, sizeof text.text, "%s", superscripts[*d - '0']);
    return text;
}

/* Returns the power of ten that the labels leave to the title; 0 for numbers of everyday size. The
 * magnitudes of the numbers go up to `largest`. */
static int exponent_of(double largest) {
    if (!(largest > 0))
        return 0;
    int power = (int)floor(log10(largest) + 1e-9);
    return power < EXPONENT_SMALL || power > EXPONENT_LARGE ? power : 0;
}

static void add(Ticks *ticks, double at, const char *label) {
    if (ticks->count == TICKS_MAX)
        return;
    ticks->at[ticks->count] = at;
    snprintf(ticks->label[ticks->count++], TICK_LABEL, "%.15s", label);
}

static void add_number(Ticks *ticks, double at, int decimals) {
    add(ticks, at, ticks_number(at / pow(10, ticks->exponent), decimals).text);
}

static int decimals_for(double step) {
    double places = -floor(log10(step) + 1e-9);
    return places > 0 ? (int)places : 0;
}

Ticks ticks_linear(double lo, double hi, int target) {
    Ticks ticks = {.exponent = exponent_of(fmax(fabs(lo), fabs(hi)))};
    double step = ticks_step(hi - lo, target);
    if (!(step > 0)) {
        add_number(&ticks, lo, 0);
        return ticks;
    }
    int decimals = decimals_for(step / pow(10, ticks.exponent));
    double slack = 1e-9 * (hi - lo);
    for (double i = ceil((lo - slack) / step); i * step <= hi + slack; i++)
        add_number(&ticks, i * step, decimals);
    return ticks;
}

/* Adds a digit times a power of ten too small to be written in full: "10⁻⁹", "2×10⁻⁵". */
static void add_power(Ticks *ticks, int digit, int power) {
    const ShortText multiplier = ticks_multiplier(power);
    add(ticks, digit * pow(10, power),
        digit == 1 ? multiplier.text + strlen("×")
                   : short_text("%d%.80s", digit, multiplier.text).text);
}

Ticks ticks_log(double lo, double hi, int target) {
    Ticks ticks = {0};
    if (!(lo > 0) || !(hi > lo)) {
        add_number(&ticks, lo, lo > 0 ? decimals_for(lo) : 0);
        return ticks;
    }
    static const double digits[] = {1, 2, 5};
    double decades = log10(hi / lo);
    int per_decade = 3 * decades <= 1.5 * target ? 3 : 1;
    double every = fmax(1, ceil(decades / target)); /* powers of ten between two labels */
    for (double power = floor(log10(lo)); power <= log10(hi) + 1e-9; power += every)
        for (int d = 0; d < per_decade; d++) {
            double at = digits[d] * pow(10, power);
            if (at < lo * (1 - 1e-9) || at > hi * (1 + 1e-9))
                continue;
            if (power < EXPONENT_SMALL)
                add_power(&ticks, (int)digits[d], (int)power);
            else
                add_number(&ticks, at, decimals_for(at));
        }
    return ticks;
}

/* Ticks of both signs, zero among them. */
static Ticks ticks_signed(double hi, double span, int target) {
    Ticks right = ticks_log(hi / span, hi, target / 2), ticks = {0};
    add(&ticks, 0, "0");
    for (int i = 1; i < right.count && ticks.count + 2 <= TICKS_MAX; i++)
        for (int sign = -1; sign <= 1; sign += 2)
            add(&ticks, sign * right.at[i],
                short_text("%s%.12s", sign < 0 ? "\u2212" : "", right.label[i]).text);
    return ticks;
}

Ticks ticks_of(bool logarithmic, double lo, double hi, int target) {
    if (logarithmic && lo < 0)
        return ticks_signed(hi, 1e4, target);
    return (logarithmic ? ticks_log : ticks_linear)(lo, hi, target);
}
