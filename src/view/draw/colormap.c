#include "src/view/draw/colormap.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "assets/colormaps.inc"

const Colormap colormaps[] = {
    {"viridis", "even steps from dark blue to yellow; safe for colour-blind readers", false,
     viridis_rgb},
    {"cividis", "blue to yellow, looks the same with and without colour blindness", false,
     cividis_rgb},
    {"turbo", "rainbow with high contrast; steps are not even in lightness", false, turbo_rgb},
    {"vik", "blue, near white at zero, red: for errors and differences", true, vik_rgb},
};
const int colormap_count = sizeof colormaps / sizeof *colormaps;

const Colormap *colormap_find(const char *name) {
    for (int i = 0; i < colormap_count; i++)
        if (strcmp(colormaps[i].name, name) == 0)
            return &colormaps[i];
    return NULL;
}

Rgb colormap_at(const Colormap *map, double t) {
    assert(!isnan(t));
    double entry = floor(t * COLORMAP_ENTRIES);
    entry = fmin(fmax(entry, 0), COLORMAP_ENTRIES - 1);
    return rgb_hex(map->entries[(int)entry]);
}
