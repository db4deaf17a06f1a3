#include "src/ui/palette.h"

/* The standard of xterm: 16 system colours, which users change at will and which are used only
 * where there is nothing else; a cube of 6 x 6 x 6; 24 greys. */
enum { CUBE_FIRST = 16, CUBE_EDGE = 6, GREY_FIRST = 232, GREYS = 24 };

static const uint8_t cube_levels[CUBE_EDGE] = {0, 95, 135, 175, 215, 255};

static const Rgb system_colors[16] = {
    {0, 0, 0},     {205, 0, 0},     {0, 205, 0},     {205, 205, 0},   {0, 0, 238}, {205, 0, 205},
    {0, 205, 205}, {229, 229, 229}, {127, 127, 127}, {255, 0, 0},     {0, 255, 0}, {255, 255, 0},
    {92, 92, 255}, {255, 0, 255},   {0, 255, 255},   {255, 255, 255},
};

/* Weighted as the eye does: green counts most. */
static int distance(Rgb a, Rgb b) {
    int r = a.r - b.r, g = a.g - b.g, blue = a.b - b.b;
    return 3 * r * r + 6 * g * g + blue * blue;
}

static int cube_step(uint8_t level) {
    int step = 0;
    while (step + 1 < CUBE_EDGE && level > (cube_levels[step] + cube_levels[step + 1]) / 2)
        step++;
    return step;
}

static int nearest_256(Rgb color) {
    int r = cube_step(color.r), g = cube_step(color.g), b = cube_step(color.b);
    Rgb cube = {cube_levels[r], cube_levels[g], cube_levels[b]};
    int level = ((color.r + color.g + color.b) / 3 - 3) / 10;
    int grey = level < 0 ? 0 : level >= GREYS ? GREYS - 1 : level;
    uint8_t shade = (uint8_t)(8 + 10 * grey);
    if (distance(color, (Rgb){shade, shade, shade}) < distance(color, cube))
        return GREY_FIRST + grey;
    return CUBE_FIRST + (r * CUBE_EDGE + g) * CUBE_EDGE + b;
}

int palette_nearest(Rgb color, int colors) {
    if (colors >= 256)
        return nearest_256(color);
    int best = 0, count = colors < 16 ? 8 : 16;
    for (int i = 1; i < count; i++)
        if (distance(color, system_colors[i]) < distance(color, system_colors[best]))
            best = i;
    return best;
}
