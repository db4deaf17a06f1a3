/* From cells to pixels: where ahead and left are, and the range of values that the colours span. */
#include "src/view/bev/decode.h"
#include "src/view/bev/raster.h"
#include "src/view/draw/color.h"
#include "src/view/draw/image.h"
#include "tests/support/tap.h"
#include "tests/view/view_check.h"

#include <math.h>

/* ---- orientation ----------------------------------------------------------------------------- */

enum { NX = 4, NY = 6 };

/* A field of 4 x 6 cells (x, y) of which one is hot. */
static bool hot_cell(int x, int y, int *column, int *row) {
    uint8_t state[NX * NY] = {0};
    float value[NX * NY] = {0};
    CellField field = {.view = VIEW_NORM, .nx = NX, .ny = NY, .state = state, .value = value};
    state[y * NX + x] = CELL_VALUE;
    value[y * NX + x] = 1;
    RasterStyle style = {.colormap = colormap_find("viridis"),
                         .range = {.lo = 0, .hi = 1},
                         .background = rgb_hex(0x123456)};
    Image image;
    int found = 0;
    if (!raster_render(&field, &style, &image, NULL))
        return false;
    bool shape = image.w == NY && image.h == NX;
    for (int r = 0; r < image.h; r++)
        for (int c = 0; c < image.w; c++)
            if (same(image_get(&image, c, r), 0xfde725)) {
                *column = c;
                *row = r;
                found++;
            } else if (!same(image_get(&image, c, r), 0x123456))
                found = 100;
    image_free(&image);
    return shape && found == 1;
}

TAP_SUITE(raster_orientation) {
    int column = -1, row = -1;
    tap_ok(hot_cell(3, 5, &column, &row) && column == 0 && row == 0,
           "the cell farthest ahead and left is the upper left pixel");
    tap_ok(hot_cell(0, 0, &column, &row) && column == NY - 1 && row == NX - 1,
           "the cell farthest behind and right is the lower right pixel");
    tap_ok(hot_cell(3, 0, &column, &row) && column == NY - 1 && row == 0,
           "ahead and right is the upper right pixel");
    int wrong = 0;
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            wrong +=
                !hot_cell(x, y, &column, &row) || raster_cell(NX, NY, column, row) != y * NX + x;
    tap_ok(wrong == 0, "raster_cell finds back every cell");
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static ValueRange range_of(ViewKind view, float *values, int count) {
    uint8_t state[256];
    memset(state, CELL_VALUE, sizeof state);
    CellField field = {.view = view, .nx = count, .ny = 1, .state = state, .value = values};
    const CellField *fields[] = {&field};
    ValueRange range = {.lo = -99, .hi = -99};
    range_auto(fields, 1, &range, NULL);
    return range;
}

TAP_SUITE(raster_ranges) {
    float values[200];
    for (int i = 0; i < 200; i++)
        values[i] = (float)(i + 1);
    values[199] = 1e6f;
    ValueRange range = range_of(VIEW_CHANNEL, values, 200);
    tap_ok(range.lo == 0 && range.hi > 190 && range.hi < 200 && range.above && !range.below,
           "a linear range leaves out the outliers and says so");
    range = range_of(VIEW_NORM, values, 200);
    tap_ok(range.logarithmic && range.hi == 1e6 && range.lo == 1e3 && range.below,
           "a logarithmic range spans three decades at most");
    tap_ok(fabs(range_position(&range, sqrt(1e9)) - 0.5) < 1e-12 && range_position(&range, 0) == 0,
           "its middle is the geometric mean");
    for (int i = 0; i < 200; i++)
        values[i] = i % 2 ? -3 : 1;
    range = range_of(VIEW_ERROR, values, 200);
    tap_ok(range.lo == -3 && range.hi == 3 && range_position(&range, 0) == 0.5,
           "a symmetric range has zero in its middle");
    memset(values, 0, sizeof values);
    values[7] = -0.125f;
    range = range_of(VIEW_ERROR, values, 200);
    tap_ok(range.hi == 0.125, "one wrong cell is enough for a range");
    values[7] = 0;
    range = range_of(VIEW_ERROR, values, 200);
    tap_ok(range.lo == 0 && range.hi == 0 && range_position(&range, 0) == 0.5,
           "no error at all: the colour of zero");
    range = range_of(VIEW_ERROR, values, 0);
    tap_ok(isnan(range.lo) && isnan(range.hi), "no cell at all: no range");
}
