/* SPDX-License-Identifier: MIT */
/* Cells of the terminal: texts, cuts, collisions, contrast of inks, a picture of a screen; the BEV
 * in them: its place, its edges, sparse cells, wipe and baseline. */
#include "tests/support/screen.h"
#include "tests/view/view_check.h"

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
    Image image = {0};
    Err err;
    begin(120, 40);
    draw();
    bool ok = cells_image(&cells, 1, &image, &err);
    tap_ok(ok && image.w == 1080 && image.h == 720, "a picture of 9 x 18 pixels a cell");
    image_free(&image);
}

SCREEN_SUITE(cells) {
    test_cells();
    test_contrast();
    test_image();
}

static void test_bev(void) {
    begin(100, 60);
    cells_clear(&cells);
    Area used = bev_cells_draw(&cells, (Area){0, 0, 100, 50}, &picture.bev, &state);
    tap_ok(used.w == 100 && used.h == 50, "a square grid fills a square of half blocks");
    Rgb car = rgb_hex(cells_at(&cells, used.x + 107 / 2, used.y + 60 / 4)->style.ink & 0xffffff);
    tap_ok(car.r > 100 && car.g < 60, "the red car is where it is in the picture");
    seen_after("page bev; play off", shows("x -54 to 54 m up, y -54 to 54 m left"),
               "its edges in metres");
    tap_ok(shows("\u2016 t "), "a pause is shown");
    seen_after("zoom 4", shows("x -13.5 to 13.5 m up, y -13.5 to 13.5 m left"),
               "and those of a part");
    state.wipe = 0.5;
    Rgb blue = {0, 0, 255};
    Err err;
    if (!image_init(&picture.bev.baseline, 200, 200, &err))
        exit(EXIT_FAILURE);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.bev.baseline, i % 200, i / 200, blue);
    tap_ok(bev_picture_pixel(&picture.bev, &state, 99, 0).b == 255 &&
               bev_picture_pixel(&picture.bev, &state, 100, 0).b != 255,
           "left of the wipe is the baseline");
    image_free(&picture.bev.baseline);
}

/* One cell in three was hit, as far from the cameras. */
static void test_sparse_bev(void) {
    Rgb red = {200, 0, 0}, ground = panel_theme.background;
    for (int y = 0; y < 200; y++)
        for (int x = 0; x < 200; x++) {
            bool hit = (x + y) % 3 == 0;
            image_set(&picture.bev.image, x, y, hit ? red : ground);
        }
    begin(60, 40);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture.bev, &state);
    Rgb shown = rgb_hex(cells_at(&cells, 5, 5)->style.ink & 0xffffff);
    tap_ok(shown.r > 170, "a third of the cells is enough to see the street: red %d of 200",
           shown.r);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.bev.image, i % 200, i / 200, ground);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture.bev, &state);
    tap_ok(same(rgb_hex(cells_at(&cells, 5, 5)->style.ink & 0xffffff), 0x14171c),
           "none is the background");
}

static void test_kept_baseline(void) {
    enum { CELLS = 4, CHANNELS = 2 };
    float pooled[CELLS * CHANNELS] = {1, 2, 3, 4, 5, 6, 7, 8};
    float baseline[CELLS * CHANNELS] = {8, 7, 6, 5, 4, 3, 2, 1};
    LiveFrame frame = {.nx = 2,
                       .ny = 2,
                       .channels = CHANNELS,
                       .pooled = pooled,
                       .baseline = baseline,
                       .baseline_content = 1};
    BevPicture first, kept, fresh, other;
    Err err;
    begin(80, 24);
    use("view norm");
    state.compare = COMPARE_WIPE;
    bool ok = bev_picture_render(&first, NULL, &state, &frame, NULL, &err);
    baseline[0] = 100; /* not told: the old field shows that it was kept */
    ok = ok && bev_picture_render(&kept, &first, &state, &frame, NULL, &err);
    tap_ok(ok && kept.ready && kept.other.value[0] == first.other.value[0] &&
               occupied(&kept.other) == CELLS,
           "a baseline that stayed the same is kept");
    frame.baseline_content = 2;
    ok = ok && bev_picture_render(&fresh, &kept, &state, &frame, NULL, &err);
    tap_ok(ok && fresh.other.value[0] > 99, "another one is decoded");
    use("view channel");
    ok = ok && bev_picture_render(&other, &fresh, &state, &frame, NULL, &err);
    tap_ok(ok && other.other.value[0] == 100, "and so is another view of it");
    BevPicture *all[] = {&first, &kept, &fresh, &other};
    for (int i = 0; ok && i < 4; i++)
        bev_picture_free(all[i]);
}

SCREEN_SUITE(bev_cells) {
    test_bev();
    test_sparse_bev();
    test_kept_baseline();
}
