/* SPDX-License-Identifier: MIT */
/* Colours of the terminal: exact ones stay, greys stay grey, pale colours keep their hue. */
#include "src/ui/term_internal.h"
#include "tests/support/tap.h"

static Rgb rgb(int r, int g, int b) {
    return (Rgb){(uint8_t)r, (uint8_t)g, (uint8_t)b};
}

/* What xterm shows for a number from 16 on. */
static Rgb shown(int number) {
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int n = number - 16, shade = 8 + 10 * (number - 232);
    return number < 232 ? rgb(levels[n / 36], levels[n / 6 % 6], levels[n % 6])
                        : rgb(shade, shade, shade);
}

static bool same(Rgb a, Rgb b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

TAP_SUITE(term_colors_256) {
    int exact = 0, grey = 0, far = 0;
    for (int number = 16; number < 256; number++)
        exact += same(shown(palette_nearest(shown(number))), shown(number));
    tap_ok(exact == 240, "the colours of the palette are their own nearest (%d of 240)", exact);
    for (int v = 0; v < 256; v++) {
        Rgb near = shown(palette_nearest(rgb(v, v, v)));
        grey += near.r == near.g && near.g == near.b;
        far += abs(near.r - v) > 10;
    }
    tap_ok(grey == 256 && !far, "greys stay grey and as bright (%d, %d far)", grey, far);
}

TAP_SUITE(term_colors_pictures) {
    const Rgb olive = {104, 100, 62}, brick = {120, 84, 78}, dusk = {74, 80, 108};
    Rgb near = shown(palette_nearest(palette_vivid(olive)));
    tap_ok(near.b < near.r && near.b < near.g, "pale olive is not grey");
    near = shown(palette_nearest(palette_vivid(brick)));
    tap_ok(near.r > near.g && near.r > near.b, "pale brick is reddish");
    near = shown(palette_nearest(palette_vivid(dusk)));
    tap_ok(near.b > near.r, "pale blue is bluish");
    int kept = 0;
    for (int v = 0; v < 256; v++)
        kept += same(palette_vivid(rgb(v, v, v)), rgb(v, v, v));
    tap_ok(kept == 256, "what has no hue is given none");
    Rgb most = palette_vivid(rgb(255, 0, 10));
    tap_ok(most.r == 255 && most.g == 0, "and nothing leaves the range");
}

/* Cells in colours of 24 bits: all of them, then those that changed. */
TAP_SUITE(term_colors_direct) {
    Cells cells, shown_before;
    MemoryStream written;
    Err err;
    tap_need(cells_init(&cells, 4, 2, &err) && cells_init(&shown_before, 4, 2, &err),
             "two screens");
    cells_put(&cells, 1, 1, 0x2580, (CellStyle){INK_RGB | 0x0a141e, INK_RGB | 0x28323c, 0});
    bool ok = direct_bytes(&cells, &shown_before, TRUE_COLORS, &written, &err);
    tap_ok(ok &&
               !strcmp(written.bytes, "\033[2;2H\033[0;38;2;10;20;30;48;2;40;50;60m\u2580\033[0m"),
           "one cell has changed: its place, its two colours, its sign");
    free(written.bytes);
    ok = direct_bytes(&cells, &shown_before, TRUE_COLORS, &written, &err);
    tap_ok(ok && !written.length, "and then none");
    free(written.bytes);
    cells_free(&cells);
    cells_free(&shown_before);
}
