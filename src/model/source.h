/* Where a figure comes from. It is shown beside every number and never mixed: UNKNOWN prints "n/a",
 * which is not 0. */
#ifndef BEV_SOURCE_H
#define BEV_SOURCE_H

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

#endif
