/* SPDX-License-Identifier: MIT */
/* Colours: sRGB values, colour maps by name, the themes of pages, and inks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t r, g, b;
} Rgb;

Rgb rgb_hex(uint32_t hex); /* 0xRRGGBB */

/* Converts linear light to sRGB. Light is clamped to 0..1; NaN counts as 0. */
Rgb rgb_from_linear(double r, double g, double b);
/* Mixes a (t = 0) and b (t = 1) in sRGB, as picture editors do. t is clamped to 0..1. */
Rgb rgb_mix(Rgb a, Rgb b, double t);
/* Mixes as rgb_mix does, but as light: half of white is brighter. */
Rgb rgb_blend(Rgb a, Rgb b, double t);

/* Return relative luminance 0..1 and contrast ratio 1..21, as WCAG 2 defines them. */
double rgb_luminance(Rgb color);
double rgb_contrast(Rgb a, Rgb b);

/* Returns a brighter colour of the same hue: its luminance is the square root, as far as the hue
 * allows. Dark asphalt becomes grey, and white stays white. */
Rgb rgb_lifted(Rgb color);

/* ---- colour maps ---------------------------------------------------------------------------- */

enum { COLORMAP_ENTRIES = 256 };

typedef struct {
    const char *name; /* command line: "viridis" */
    const char *idea; /* one sentence for help texts */
    const uint32_t *entries;
} Colormap;

extern const Colormap colormaps[];
extern const int colormap_count;

/* Returns the row of that name, or NULL. */
const Colormap *colormap_find(const char *name);

/* Returns the colour of t. Values beyond [0, 1] have the colour of that end. t must not be NaN. */
Rgb colormap_at(const Colormap *map, double t);
/* Returns the colour of t on a dark BEV, or on a light one, where zero of signed values is light.
 */
Rgb colormap_on(const Colormap *map, double t, bool light);

/* ---- themes and type sizes ------------------------------------------------------------------ */

typedef enum { THEME_LIGHT, THEME_DARK, THEME_COUNT } FigureTheme;
extern const char *const figure_themes[THEME_COUNT]; /* "light", "dark" */

typedef struct {
    Rgb page, text, muted, rule;
    Rgb tint, accent; /* tint: highlighted rows; accent: camera coverage, the selection */
} Theme;

extern const Theme themes[THEME_COUNT];

/* The colours of a BEV. On screens every BEV is dark, because colour maps from dark to bright are
 * made for a dark background. On light pages of paper the BEV is light, to save ink. The background
 * is also the colour of zero in signed values. */
typedef struct {
    Rgb background, line, halo, bad;
    Rgb mark; /* marks the probed cell and its pixels: no class has this colour */
    Rgb dirt; /* covers the picture of a camera that drops out */
} PanelTheme;

extern const PanelTheme panel_themes[2]; /* dark, light */
#define panel_theme panel_themes[0]

enum {
    SIZE_TITLE = 26,
    SIZE_HEADING = 15,
    SIZE_BODY = 14,
    SIZE_SMALL = 12,
    MARGIN = 48,
    GUTTER = 40,
};

/* ---- inks: the roles of colours, one in each theme; styles of cells -------------------------- */

/* A role, or INK_RGB | 0xRRGGBB. */
typedef uint32_t Ink;
#define INK_RGB ((Ink)1 << 24)

/* clang-format off */
enum {
    INK_DEFAULT, /* as paper: the page; as ink: plain text */
    INK_TEXT, INK_MUTED, INK_RULE, INK_TITLE, INK_GOOD, INK_WARN, INK_BAD,
    INK_SELECTED, INK_KEY, /* papers: of the selected row, of keys on the key bar */
    INK_ACCENT, INK_BASELINE, /* the selection: titles, cursor, its latency; the pinned baseline */
    INK_FEATURES, INK_DEPTH, INK_INDEX, INK_OUTPUT, /* tensors, everywhere the same */
    INK_COUNT
};
/* clang-format on */

/* A part of a screen, in columns and rows. */
typedef struct {
    int x, y, w, h;
} Area;

enum { CELL_BOLD = 1, CELL_REVERSE = 2, CELL_UNDERLINE = 4 };

typedef struct {
    Ink ink, paper;
    unsigned attributes; /* CELL_... */
} CellStyle;

CellStyle cell_style(Ink ink);
CellStyle cell_bold(Ink ink);

/* Returns the colour of an ink in a theme. INK_DEFAULT is that of `paper` or of text. */
Rgb ink_color(Ink ink, bool light, bool paper);
Ink ink_rgb(Rgb color);

/* Removes the last character of valid UTF-8. Returns false when no character is left. */
bool text_drop_last(char *text);

/* Writes a glyph as UTF-8, without a terminating zero; returns the bytes used. */
size_t cells_utf8(uint32_t glyph, char out[3]);
