/* The BEV in cells of the terminal: its place, its edges, sparse cells, wipe and baseline. */
#include "src/view/term/cells.h"
#include "src/view/term/dashboard_internal.h"
#include "tests/support/live_fixture.h"
#include "tests/support/tap.h"
#include "tests/view/screen.h"
#include "tests/view/view_check.h"

static void test_bev(void) {
    begin(100, 60);
    cells_clear(&cells);
    Area used = bev_cells_draw(&cells, (Area){0, 0, 100, 50}, &picture, &state);
    tap_ok(used.w == 100 && used.h == 50, "a square grid fills a square of half blocks");
    Rgb car = rgb_hex(cells_at(&cells, used.x + 107 / 2, used.y + 60 / 4)->style.ink & 0xffffff);
    tap_ok(car.r > 100 && car.g < 60, "the red car is where it is in the picture");
    use("page bev");
    use("play off");
    draw();
    tap_ok(shows("x -54 to 54 m up, y -54 to 54 m left"), "its edges in metres");
    tap_ok(shows("\u2016 t "), "a pause is shown");
    use("zoom 4");
    draw();
    tap_ok(shows("x -13.5 to 13.5 m up, y -13.5 to 13.5 m left"), "and those of a part");
    state.wipe = 0.5;
    Rgb blue = {0, 0, 255};
    Err err;
    if (!image_init(&picture.baseline, 200, 200, &err))
        exit(EXIT_FAILURE);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.baseline, i % 200, i / 200, blue);
    tap_ok(bev_picture_pixel(&picture, 0.5, 99, 0).b == 255 &&
               bev_picture_pixel(&picture, 0.5, 100, 0).b != 255,
           "left of the wipe is the baseline");
    image_free(&picture.baseline);
}

/* One cell in three was hit, as far from the cameras. */
static void test_sparse_bev(void) {
    static uint8_t states[200 * 200];
    Rgb red = {200, 0, 0}, black = {0, 0, 0};
    for (int y = 0; y < 200; y++)
        for (int x = 0; x < 200; x++) {
            bool hit = (x + y) % 3 == 0;
            states[raster_cell(200, 200, x, y)] = hit ? CELL_VALUE : CELL_EMPTY;
            image_set(&picture.image, x, y, hit ? red : black);
        }
    picture.field = (CellField){.nx = 200, .ny = 200, .state = states};
    begin(60, 40);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture, &state);
    Rgb shown = rgb_hex(cells_at(&cells, 5, 5)->style.ink & 0xffffff);
    tap_ok(shown.r > 170, "a third of the cells is enough to see the street: red %d of 200",
           shown.r);
    memset(states, CELL_EMPTY, sizeof states);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.image, i % 200, i / 200, black);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture, &state);
    tap_ok((cells_at(&cells, 5, 5)->style.ink & 0xffffff) == 0, "none is the background");
    picture.field = (CellField){0};
}

/* While comparing, the side that did not change is not decoded again. */
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

TAP_SUITE(bev_cells) {
    screen_open();
    test_bev();
    test_sparse_bev();
    test_kept_baseline();
    screen_close();
}
