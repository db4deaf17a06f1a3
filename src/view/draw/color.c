/* SPDX-License-Identifier: MIT */
#include "src/view/draw/color.h"

#include "assets/colormaps.inc"
#include "src/base/srgb.h"

#include <assert.h>
#include <math.h>
#include <string.h>

Rgb rgb_hex(uint32_t hex) {
    return (Rgb){(uint8_t)(hex >> 16), (uint8_t)(hex >> 8), (uint8_t)hex};
}

static double clamp01(double value) {
    return value > 0 ? (value < 1 ? value : 1) : 0; /* NaN compares false: 0 */
}

Rgb rgb_from_linear(double r, double g, double b) {
    return (Rgb){srgb_level(r), srgb_level(g), srgb_level(b)};
}

static uint8_t mix(uint8_t a, uint8_t b, double t) {
    return (uint8_t)(a + (b - a) * t + 0.5); /* the nearest: no level is below 0 */
}

Rgb rgb_mix(Rgb a, Rgb b, double t) {
    double u = clamp01(t);
    if (u == 0 || u == 1)
        return u == 0 ? a : b;
    return (Rgb){mix(a.r, b.r, u), mix(a.g, b.g, u), mix(a.b, b.b, u)};
}

Rgb rgb_blend(Rgb a, Rgb b, double t) {
    double u = clamp01(t), v = 1 - u;
    return rgb_from_linear(v * srgb_light(a.r) + u * srgb_light(b.r),
                           v * srgb_light(a.g) + u * srgb_light(b.g),
                           v * srgb_light(a.b) + u * srgb_light(b.b));
}

double rgb_luminance(Rgb color) {
    return 0.2126 * srgb_light(color.r) + 0.7152 * srgb_light(color.g) +
           0.0722 * srgb_light(color.b);
}

double rgb_contrast(Rgb a, Rgb b) {
    double la = rgb_luminance(a) + 0.05, lb = rgb_luminance(b) + 0.05;
    return la > lb ? la / lb : lb / la;
}

Rgb rgb_lifted(Rgb color) {
    double r = srgb_light(color.r), g = srgb_light(color.g), b = srgb_light(color.b);
    double most = fmax(r, fmax(g, b)), light = rgb_luminance(color);
    double gain = most > 0 ? fmin(sqrt(light) / light, 1 / most) : 1;
    return rgb_from_linear(gain * r, gain * g, gain * b);
}

/* ---- colour maps ---------------------------------------------------------------------------- */

const Colormap colormaps[] = {
    {"viridis", "even steps from dark blue to yellow; safe for colour-blind readers", viridis_rgb},
    {"cividis", "blue to yellow, looks the same with and without colour blindness", cividis_rgb},
    {"turbo", "rainbow with high contrast; steps are not even in lightness", turbo_rgb},
    {"signed", "light blue, dark at zero, light orange: for errors and differences", signed_rgb},
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

Rgb colormap_on(const Colormap *map, double t, bool light) {
    static const Rgb ends[] = {{11, 79, 158}, {163, 71, 0}};
    if (!light || map->entries != signed_rgb)
        return colormap_at(map, t);
    return rgb_mix(panel_themes[1].background, ends[t > 0.5], fabs(2 * t - 1));
}

/* ---- themes --------------------------------------------------------------------------------- */

const char *const figure_themes[THEME_COUNT] = {"light", "dark"};

/* clang-format off */
const Theme themes[THEME_COUNT] = {
    /*               page             text             muted            rule */
    [THEME_LIGHT] = {{255, 255, 255}, {26, 29, 33},    {91, 100, 112},  {208, 213, 219},
    /*               tint             accent */
                     {238, 242, 247}, {74, 104, 146}},
    [THEME_DARK] =  {{22, 25, 30},    {232, 234, 237}, {154, 164, 176}, {62, 69, 79},
                     {36, 42, 51},    {128, 164, 212}},
};

/* background, line, halo, bad, mark, dirt */
const PanelTheme panel_themes[2] = {
    {{20, 23, 28}, {255, 255, 255}, {10, 12, 15}, {255, 0, 255}, {255, 95, 210}, {60, 48, 36}},
    {{250, 250, 248}, {26, 29, 33}, {255, 255, 255}, {255, 0, 255}, {200, 20, 150}, {60, 48, 36}},
};
/* clang-format on */

/* ---- inks ------------------------------------------------------------------------------------ */

CellStyle cell_style(Ink ink) {
    return (CellStyle){.ink = ink};
}

CellStyle cell_bold(Ink ink) {
    return (CellStyle){.ink = ink, .attributes = CELL_BOLD};
}

/* Inks of different meaning differ for deutan and protan readers, too, and have a contrast of 4.5
 * to the paper. A search found these colours, and test_color checks both. */
static const uint32_t ink_colors[INK_COUNT][2] = {
    /*                 dark      light */
    [INK_DEFAULT] = {0xe4e8ee, 0x1b2027},  [INK_TEXT] = {0xe4e8ee, 0x1b2027},
    [INK_MUTED] = {0x8d98a5, 0x5a6472},    [INK_RULE] = {0x4a5361, 0xb4bcc6},
    [INK_TITLE] = {0xffffff, 0x000000},    [INK_GOOD] = {0x4fd09b, 0x146b42},
    [INK_WARN] = {0xf1b048, 0x9a692f},     [INK_BAD] = {0xff7b72, 0xa42c2b},
    [INK_SELECTED] = {0x28384f, 0xd9e7f8}, [INK_ACCENT] = {0xffd866, 0x806000},
    [INK_BASELINE] = {0xb8a5ff, 0x6a1fd0}, [INK_FEATURES] = {0x53addb, 0x0068a8},
    [INK_DEPTH] = {0xe69f01, 0x7c3b00},    [INK_INDEX] = {0x1bbb95, 0x04735a},
    [INK_OUTPUT] = {0xe297c4, 0x831b56},   [INK_KEY] = {0x39485e, 0xcfd9e6},
};
static const uint32_t papers[2] = {0x14181e, 0xfbfbf9};

Rgb ink_color(Ink ink, bool light, bool paper) {
    if (ink & INK_RGB)
        return rgb_hex(ink & 0xffffff);
    if (ink == INK_DEFAULT && paper)
        return rgb_hex(papers[light]);
    return rgb_hex(ink_colors[ink < INK_COUNT ? ink : INK_TEXT][light]);
}

Ink ink_rgb(Rgb color) {
    return INK_RGB | (Ink)color.r << 16 | (Ink)color.g << 8 | color.b;
}

bool text_drop_last(char *text) {
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[--length] & 0xc0) == 0x80)
        ;
    text[length] = '\0';
    return length > 0;
}

size_t cells_utf8(uint32_t glyph, char out[3]) {
    static const uint32_t first[] = {0, 0, 0xc0, 0xe0}; /* the bits that tell the length */
    const size_t length = glyph < 0x80 ? 1 : glyph < 0x800 ? 2 : 3;
    for (size_t i = length - 1; i > 0; i--, glyph >>= 6)
        out[i] = (char)(0x80 | (glyph & 0x3f));
    out[0] = (char)(first[length] | glyph);
    return length;
}
