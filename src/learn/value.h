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

/* "25.1 MB", "4.20 us (recorded)": the source is named unless the number is exact arithmetic over
 * shapes or was measured here. */
void value_text(const Value *value, char *text, size_t size);

/* Of two sources the one that a result of both must be labelled with. */
FigureSource weaker_source(FigureSource a, FigureSource b);
