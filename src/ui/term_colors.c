/* SPDX-License-Identifier: MIT */
/* Finds the colour of the terminal that is nearest to any colour. */
#include "src/ui/term_internal.h"

/* The 256 colours of xterm: 16 system colours, a cube of 6 x 6 x 6, 24 greys. Users redefine the
 * system colours, so they are used only where the terminal has no others. */
enum { CUBE_FIRST = 16, CUBE_EDGE = 6, GREY_FIRST = 232, GREYS = 24 };

static const uint8_t cube_levels[CUBE_EDGE] = {0, 95, 135, 175, 215, 255};

static const Rgb system_colors[16] = {
    {0, 0, 0},     {205, 0, 0},     {0, 205, 0},     {205, 205, 0},   {0, 0, 238}, {205, 0, 205},
    {0, 205, 205}, {229, 229, 229}, {127, 127, 127}, {255, 0, 0},     {0, 255, 0}, {255, 255, 0},
    {92, 92, 255}, {255, 0, 255},   {0, 255, 255},   {255, 255, 255},
};

/* Returns the highest step of the cube, except the last, that is not above a level. */
static int step_below(uint8_t level) {
    int step = 0;
    while (step + 2 < CUBE_EDGE && level >= cube_levels[step + 1])
        step++;
    return step;
}

static int luma(Rgb color) {
    return (30 * color.r + 59 * color.g + 11 * color.b) / 100;
}

/* Returns a distance that keeps hues. By plain distance a muted colour is often nearest to a grey,
 * and the picture would turn grey. So the difference to the grey of the same brightness counts
 * more. */
static int pale_distance(Rgb a, Rgb b) {
    int bright = luma(a) - luma(b);
    int red = a.r - b.r - bright, blue = a.b - b.b - bright;
    return 2 * bright * bright + 2 * red * red + blue * blue;
}

/* Returns the best of the cube's eight corners around the colour and the grey of its brightness. */
static int nearest_256(Rgb color) {
    int level = (luma(color) - 4) / 10, grey = level < 0 ? 0 : level >= GREYS ? GREYS - 1 : level;
    uint8_t shade = (uint8_t)(8 + 10 * grey);
    int best = GREY_FIRST + grey, least = pale_distance(color, (Rgb){shade, shade, shade});
    int r0 = step_below(color.r), g0 = step_below(color.g), b0 = step_below(color.b);
    for (int corner = 0; corner < 8; corner++) {
        int r = r0 + (corner & 1), g = g0 + (corner >> 1 & 1), b = b0 + (corner >> 2);
        Rgb cube = {cube_levels[r], cube_levels[g], cube_levels[b]};
        int far = pale_distance(color, cube);
        if (far < least) {
            least = far;
            best = CUBE_FIRST + (r * CUBE_EDGE + g) * CUBE_EDGE + b;
        }
    }
    return best;
}

int palette_nearest(Rgb color, int colors) {
    if (colors >= 256)
        return nearest_256(color);
    int best = 0, count = colors < 16 ? 8 : 16;
    for (int i = 1; i < count; i++)
        if (pale_distance(color, system_colors[i]) < pale_distance(color, system_colors[best]))
            best = i;
    return best;
}

int palette_tensor(Ink ink, bool light) {
    enum { RED = 1, GREEN, YELLOW, BLUE, MAGENTA, CYAN };
    switch (ink) {
    case INK_FEATURES:
        return light ? BLUE : CYAN;
    case INK_DEPTH:
        return light ? RED : YELLOW;
    case INK_INDEX:
        return GREEN;
    case INK_OUTPUT:
        return MAGENTA;
    default:
        return -1;
    }
}

static uint8_t away_from_grey(int level, int grey) {
    int far = grey + 3 * (level - grey) / 2;
    return (uint8_t)(far < 0 ? 0 : far > 255 ? 255 : far);
}

Rgb palette_vivid(Rgb color) {
    int grey = luma(color);
    return (Rgb){away_from_grey(color.r, grey), away_from_grey(color.g, grey),
                 away_from_grey(color.b, grey)};
}

static int number_of(Ink ink, int colors, bool light, bool paper) {
    Rgb color = ink_color(ink, light, paper);
    int tensor = colors <= 16 ? palette_tensor(ink, light) : -1;
    if (tensor >= 0)
        return tensor;
    return palette_nearest(ink & INK_RGB && colors > 16 ? palette_vivid(color) : color, colors);
}

/* Eight colours have no greys: an ink that would get the colour of its paper gets another one. */
void palette_pair(const CellStyle *style, int colors, bool light, int *ink, int *paper) {
    enum { BLUE = 4, CYAN = 6 };
    bool band = style->paper == INK_SELECTED || style->paper == INK_KEY;
    *ink = number_of(style->ink, colors, light, false);
    *paper = number_of(style->paper, colors, light, true);
    if (band && *paper == number_of(INK_DEFAULT, colors, light, true))
        *paper = light ? CYAN : BLUE;
    if (*ink == *paper && !(style->ink & INK_RGB))
        *ink = number_of(INK_TEXT, colors, light, false);
}
