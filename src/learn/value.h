/* A number of a lesson with its unit and where it comes from. */
#pragma once

#include "src/base/units.h"

/* clang-format off */
typedef enum {
    MEASURE_NONE, MEASURE_US, MEASURE_BYTES, MEASURE_COUNT, MEASURE_ERROR, MEASURE_PERCENT,
    MEASURE_GBPS, MEASURE_METRES, MEASURE_CACHE, /* bytes, printed in MiB */ MEASURE_TRUTH
} Measure;
/* clang-format on */

typedef struct {
    double number; /* of MEASURE_TRUTH: 0 or 1 */
    Measure measure;
    FigureSource source;
} Value;

/* "25.1 MB", "4.20 us (recorded)". The source is left out where the number was computed or measured
 * here. `unit` stands where the value has none: "34.9 % (model)". */
void value_text(const Value *value, const char *unit, char *text, size_t size);

/* The source of a result of two figures: the weaker one. */
FigureSource weaker_source(FigureSource a, FigureSource b);
