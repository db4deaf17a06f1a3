/* SPDX-License-Identifier: MIT */
/* A number of a lesson with its unit and its source. */
#pragma once

#include "src/base/units.h"

/* clang-format off */
typedef enum {
    MEASURE_NONE, MEASURE_US, MEASURE_BYTES, MEASURE_COUNT, MEASURE_ERROR, MEASURE_PERCENT,
    MEASURE_GBPS, MEASURE_METRES, MEASURE_CACHE, /* bytes, printed in MiB */ MEASURE_TRUTH
} Measure;
/* clang-format on */

typedef struct {
    double number; /* 0 or 1 for MEASURE_TRUTH */
    Measure measure;
    FigureSource source;
} Value;

/* Writes "25.1 MB" or "4.20 us (recorded)". A computed figure, or one measured here, shows no
 * source. `unit` is written where the value has no unit of its own: "34.9 % (model)". */
void value_text(const Value *value, const char *unit, char *text, size_t size);

/* Returns the source of a result of two figures: the weaker of their sources. */
FigureSource weaker_source(FigureSource a, FigureSource b);
