/* Where a figure comes from. It is shown beside every number and never mixed: UNKNOWN prints "n/a",
 * which is not 0. */
#ifndef BEV_READING_H
#define BEV_READING_H

#include "src/base/units.h"

#include <stdbool.h>

typedef enum { SOURCE_UNKNOWN, SOURCE_MEASURED, SOURCE_RECORDED, SOURCE_MODEL } FigureSource;

/* One number on a screen. A zeroed one is unknown. */
typedef struct {
    double value;
    FigureSource source;
    bool stale; /* belongs to an earlier selection or scene; shown, but marked */
} Reading;

/* "n/a", "measured", "recorded", "model", by FigureSource. */
extern const char *const source_names[];

static inline Reading reading(double value, FigureSource source) {
    return (Reading){.value = value, .source = source};
}

/* The figure with its unit, "n/a" where unknown. Units as people print them: "µs". */
void reading_text(Unit unit, const Reading *reading, char *text, size_t size);
void figure_text(Unit unit, double value, char *text, size_t size);

/* The mark beside a figure: "" measured, "r" recorded, "m" model, "~" stale. */
const char *reading_mark(const Reading *reading);

#endif
