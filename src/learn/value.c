/* SPDX-License-Identifier: MIT */
#include "src/learn/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

FigureSource weaker_source(FigureSource a, FigureSource b) {
    static const int weakness[] = {
        [SOURCE_COMPUTED] = 0,  [SOURCE_MEASURED] = 1, [SOURCE_RECORDED] = 2,
        [SOURCE_PUBLISHED] = 3, [SOURCE_MODEL] = 4,    [SOURCE_UNKNOWN] = 5};
    return weakness[a] > weakness[b] ? a : b;
}

/* Writes a number with three significant digits, without an exponent and trailing zeros. Four
 * digits are kept where they are exact (0.3125). A number below 1, such as a cosine, may take six
 * decimals, so that it is not rounded to 1. */
static void plain_text(double number, char *text, size_t size) {
    double magnitude = fabs(number);
    snprintf(text, size, "%.4g", magnitude);
    if (magnitude >= 1000)
        unit_text(UNIT_COUNT, magnitude, text, size);
    else if (strtod(text, NULL) != magnitude)
        snprintf(text, size, "%.3g", magnitude);
    if (magnitude < 1 && strtod(text, NULL) >= 1)
        snprintf(text, size, "%.6f", magnitude);
}

void value_text(const Value *value, const char *unit, char *text, size_t size) {
    static const Unit units[] = {[MEASURE_US] = UNIT_US,
                                 [MEASURE_BYTES] = UNIT_BYTES,
                                 [MEASURE_COUNT] = UNIT_COUNT,
                                 [MEASURE_ERROR] = UNIT_ERROR,
                                 [MEASURE_GBPS] = UNIT_GBPS};
    char number[48];
    double magnitude = fabs(value->number);
    switch (value->measure) {
    case MEASURE_TRUTH:
        snprintf(number, sizeof number, "%s", value->number ? "yes" : "no");
        break;
    case MEASURE_CACHE:
        plain_text(magnitude / 1048576, number, sizeof number);
        break;
    case MEASURE_NONE:
    case MEASURE_PERCENT:
    case MEASURE_METRES:
        plain_text(magnitude, number, sizeof number);
        break;
    default:
        unit_text(units[value->measure], magnitude, number, sizeof number);
    }
    bool named = value->source != SOURCE_COMPUTED && value->source != SOURCE_MEASURED;
    bool bare = value->measure == MEASURE_NONE || value->measure == MEASURE_COUNT;
    const char *own = value->measure == MEASURE_PERCENT  ? "%"
                      : value->measure == MEASURE_METRES ? "m"
                      : value->measure == MEASURE_CACHE  ? "MiB"
                      : bare                             ? unit
                                                         : "";
    snprintf(text, size, "%s%s%s%s%s%s%s", value->number < 0 ? "-" : "", number, *own ? " " : "",
             own, named ? " (" : "", named ? source_names[value->source] : "", named ? ")" : "");
}
