/* SPDX-License-Identifier: MIT */
#include "src/view/draw/ink.h"

CellStyle cell_style(Ink ink) {
    return (CellStyle){.ink = ink};
}

CellStyle cell_bold(Ink ink) {
    return (CellStyle){.ink = ink, .attributes = CELL_BOLD};
}

/* Inks of different meaning were searched to differ for deutan and protan readers as well, at a
 * contrast of 4.5 to the paper; test_color checks them. */
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
