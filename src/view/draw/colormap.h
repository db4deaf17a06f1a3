/* Colour maps by name: a number between 0 and 1 becomes a colour. */
#ifndef BEV_COLORMAP_H
#define BEV_COLORMAP_H

#include "src/view/draw/color.h"

#include <stdbool.h>

enum { COLORMAP_ENTRIES = 256 };

typedef struct {
    const char *name; /* command line: "viridis" */
    const char *idea; /* one sentence for help texts */
    bool diverging;   /* its middle means zero */
    const uint32_t *entries;
} Colormap;

extern const Colormap colormaps[];
extern const int colormap_count;

/* The row of that name, or NULL. */
const Colormap *colormap_find(const char *name);

/* Colour of t in [0, 1]; values beyond take the end's colour. t must not be NaN. */
Rgb colormap_at(const Colormap *map, double t);

#endif
