/* SPDX-License-Identifier: MIT */
/* Inks: the roles of colours. A role has one ink in each theme: in the terminal, the window and the
 * charts. */
#pragma once

#include "src/view/draw/color.h"

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
