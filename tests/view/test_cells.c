/* Cells of the terminal: texts, cuts and collisions, contrast of inks, a picture of a screen. */
#include "src/view/term/cells.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

static void test_cells(void) {
    begin(10, 2);
    cells_clear(&cells);
    CellStyle plain = cell_style(INK_TEXT);
    cells_text(&cells, 0, 0, 10, plain, "a\tb\xff\u4e2d\u0301");
    char *text = cells_to_text(&cells);
    tap_ok(text && !strncmp(text, "a?b???\n", 7), "controls, bad bytes, wide and combining glyphs");
    free(text);
    tap_ok(cells_text(&cells, 0, 1, 5, plain, "abcdefg") == 5 && cells.cuts == 1 &&
               cells_at(&cells, 4, 1)->glyph == 0x2026,
           "a cut ends with an ellipsis and is counted");
    cells_put(&cells, 0, 1, 'x', plain);
    tap_ok(cells.collisions == 1, "drawing twice is counted");
    cells_put(&cells, -1, 99, 'x', plain);
    cells_erase(&cells, (Area){-5, -5, 100, 100}, INK_DEFAULT);
    tap_ok(cells_at(&cells, 0, 1)->glyph == ' ', "an erased area is blank, outside is nothing");
}

static void test_contrast(void) {
    static const Ink texts[] = {INK_TEXT,     INK_MUTED, INK_TITLE,  INK_GOOD,
                                INK_WARN,     INK_BAD,   INK_ACCENT, INK_BASELINE,
                                INK_FEATURES, INK_DEPTH, INK_INDEX,  INK_OUTPUT};
    double least = 21;
    for (int light = 0; light < 2; light++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            least = fmin(least, rgb_contrast(ink_color(texts[i], light, false),
                                             ink_color(INK_DEFAULT, light, true)));
    tap_ok(least >= 4.5, "every text has a contrast of at least 4.5 in both themes: %.1f", least);
    for (int light = 0; light < 2; light++)
        least = fmin(least, rgb_contrast(ink_color(INK_ACCENT, light, false),
                                         ink_color(INK_SELECTED, light, true)));
    tap_ok(least >= 4.5, "and the selected row on its own paper: %.1f", least);
}

static void test_image(void) {
    Image a = {0}, b = {0};
    Err err;
    begin(120, 40);
    draw();
    bool ok = cells_image(&cells, 1, &a, &err) && cells_image(&cells, 1, &b, &err);
    tap_ok(ok && a.w == 1080 && a.h == 720, "a picture of 9 x 18 pixels a cell");
    tap_ok(ok && !memcmp(a.rgba, b.rgba, (size_t)a.w * (size_t)a.h * 4), "the same one every time");
    image_free(&a);
    image_free(&b);
}

TAP_SUITE(cells) {
    screen_open();
    test_cells();
    test_contrast();
    test_image();
    screen_close();
}
