/* From pooled vectors to pixels and PNG, with answers worked out by hand. */
#include "src/view/draw/color.h"
#include "src/view/bev/decode.h"
#include "src/view/draw/image.h"
#include "src/view/bev/stats.h"
#include "src/view/bev/raster.h"
#include "src/base/units.h"
#include "kernels/clean.h"
#include "src/view/draw/text.h"
#include "src/view/draw/ticks.h"
#include "tests/tap.h"

#include <math.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

/* The number of cells that are not empty. */
static int64_t occupied(const CellField *field) {
    int64_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        count += field->state[cell] != CELL_EMPTY;
    return count;
}

static bool same(Rgb color, uint32_t hex) {
    Rgb want = rgb_hex(hex);
    return color.r == want.r && color.g == want.g && color.b == want.b;
}

/* ---- colours --------------------------------------------------------------------------------- */

static void test_colormaps(void) {
    static const struct {
        const char *name;
        uint32_t first, last; /* as published */
    } ends[] = {{"viridis", 0x440154, 0xfde725},
                {"cividis", 0x00224e, 0xfee838},
                {"turbo", 0x30123b, 0x7a0403},
                {"vik", 0x001261, 0x590008}};
    tap_ok(colormap_count == sizeof ends / sizeof *ends, "every colour map has its ends checked");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const Colormap *map = colormap_find(ends[i].name);
        tap_ok(map && same(colormap_at(map, 0), ends[i].first) &&
                   same(colormap_at(map, 1), ends[i].last),
               "%s has its published ends", ends[i].name);
        tap_ok(map && same(colormap_at(map, -INFINITY), ends[i].first) &&
                   same(colormap_at(map, 7), ends[i].last),
               "%s keeps its ends beyond them", ends[i].name);
    }
    tap_ok(!colormap_find("jet"), "an unknown colour map is not found");
}

static bool rises(const Colormap *map, int from, int to) {
    for (int i = from; i < to; i++)
        if (rgb_luminance(colormap_at(map, (i + 0.5) / COLORMAP_ENTRIES)) >=
            rgb_luminance(colormap_at(map, (i + 1.5) / COLORMAP_ENTRIES)) + 5e-4)
            return false;
    return true;
}

static void test_luminance(void) {
    tap_ok(rises(colormap_find("viridis"), 0, 255), "viridis never gets darker");
    tap_ok(rises(colormap_find("cividis"), 0, 255), "cividis never gets darker");
    tap_ok(!rises(colormap_find("turbo"), 0, 255), "turbo does: the check can fail");
    const Colormap *vik = colormap_find("vik");
    tap_ok(rises(vik, 0, 125) && !rises(vik, 130, 255), "vik is brightest around its middle");
}

static void test_contrast(void) {
    tap_ok(fabs(rgb_contrast(rgb_hex(0), rgb_hex(0xffffff)) - 21) < 1e-9,
           "black on white has contrast 21");
    for (int i = 0; i < THEME_COUNT; i++) {
        const Theme *theme = &themes[i];
        tap_ok(rgb_contrast(theme->text, theme->page) >= 7 &&
                   rgb_contrast(theme->text, theme->tint) >= 7,
               "%s: text on page and tint reaches contrast 7", figure_themes[i]);
        tap_ok(rgb_contrast(theme->muted, theme->page) >= 4.5 &&
                   rgb_contrast(theme->accent, theme->tint) >= 4.5,
               "%s: small text reaches contrast 4.5", figure_themes[i]);
    }
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const uint8_t *c = world_classes[class].color;
        double contrast = rgb_contrast((Rgb){c[0], c[1], c[2]}, panel_dark.background);
        tap_ok(contrast >= 1.5, "class %s stands out from the panel (%.1f)",
               world_classes[class].name, contrast);
    }
}

static void test_linear_light(void) {
    tap_ok(same(rgb_from_linear(0, 0.5, 1), 0x00bcff), "half the light is code 188 in sRGB");
    tap_ok(same(rgb_from_linear(-1, NAN, 9), 0x0000ff), "colours outside 0..1 are clamped");
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t crc32(const uint8_t *p, size_t length) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < length; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Goes through the chunks; returns how many have the right CRC, or -1. */
static int chunks_valid(const uint8_t *png, size_t length) {
    int chunks = 0;
    size_t at = 8;
    while (at + 12 <= length) {
        size_t size = big_endian(png + at);
        if (size > length - at - 12 ||
            crc32(png + at + 4, size + 4) != big_endian(png + at + 8 + size))
            return -1;
        chunks++;
        at += 12 + size;
    }
    return at == length ? chunks : -1;
}

static void paint_test_image(Image *image, bool translucent) {
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            image_set(image, x, y, (Rgb){(uint8_t)(7 * x), (uint8_t)(13 * y), (uint8_t)(x * y)});
    if (translucent)
        image->rgba[3] = 40;
}

static void test_png(bool translucent) {
    const char *kind = translucent ? "with alpha" : "opaque";
    Image image;
    Err err;
    uint8_t *png, *again;
    size_t length, length_again;
    if (!tap_ok(image_init(&image, 37, 23, &err), "%s: a picture", kind))
        return;
    paint_test_image(&image, translucent);
    bool encoded =
        image_png(&image, &png, &length, &err) && image_png(&image, &again, &length_again, &err);
    if (!tap_ok(encoded, "%s: encodes", kind))
        return;
    tap_ok(length == length_again && !memcmp(png, again, length), "%s: same bytes twice", kind);
    tap_ok(length > 33 && !memcmp(png, "\x89PNG\r\n\x1a\n", 8), "%s: signature", kind);
    tap_ok(!memcmp(png + 12, "IHDR", 4) && big_endian(png + 16) == 37 &&
               big_endian(png + 20) == 23 && png[24] == 8 && png[25] == (translucent ? 6 : 2),
           "%s: header", kind);
    tap_ok(chunks_valid(png, length) >= 3, "%s: every chunk has its CRC", kind);
    int w = 0, h = 0, channels = 0;
    uint8_t *pixels = stbi_load_from_memory(png, (int)length, &w, &h, &channels, 4);
    tap_ok(pixels && w == 37 && h == 23 && channels == (translucent ? 4 : 3) &&
               !memcmp(pixels, image.rgba, (size_t)w * (size_t)h * 4),
           "%s: decodes to the same pixels", kind);
    stbi_image_free(pixels);
    png[20]++;
    tap_ok(chunks_valid(png, length) < 0, "%s: a broken header is noticed", kind);
    free(png);
    free(again);
    image_free(&image);
}

static void test_image_limits(void) {
    Image image;
    Err err;
    tap_ok(!image_init(&image, 0, 5, &err) && !image.rgba, "an empty picture is refused");
    tap_ok(!image_init(&image, IMAGE_MAX_EDGE + 1, 1, &err) && strstr(err.what, "8193"),
           "a huge picture is refused by its size");
    image_free(NULL);
    Image small, large;
    if (!tap_ok(image_init(&small, 2, 1, &err), "a picture of two pixels"))
        return;
    image_set(&small, 0, 0, rgb_hex(0xff0000));
    image_set(&small, 1, 0, rgb_hex(0x0000ff));
    if (tap_ok(image_scale(&small, 6, 3, &large, &err), "scales up")) {
        tap_ok(same(image_get(&large, 2, 2), 0xff0000) && same(image_get(&large, 3, 0), 0x0000ff),
               "with an edge as sharp as before");
        image_free(&large);
    }
    image_free(&small);
}

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

static void test_orientation(void) {
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

/* ---- views of a pooled vector ---------------------------------------------------------------- */

enum { CHANNELS = EMBED_DIMS };

/* An embedding whose rows are the unit vectors: coordinates are channels. */
static Embedding unit_embedding(float rows[CHANNELS * CHANNELS]) {
    static double columns[CHANNELS * CHANNELS]; /* the same: the matrix is symmetric */
    for (int i = 0; i < CHANNELS; i++)
        for (int c = 0; c < CHANNELS; c++)
            columns[i * CHANNELS + c] = rows[i * CHANNELS + c] = i == c;
    return (Embedding){.channels = CHANNELS, .rows = rows, .columns = columns};
}

/* Two cells ahead of each other. Cell 0: mass 2 of car, mass 1 of road, red light. Cell 1: the
 * same with a quarter of the mass. Cells 2 and 3: nothing. */
static void fill_pooled(float pooled[4 * CHANNELS]) {
    memset(pooled, 0, sizeof(float) * 4 * CHANNELS);
    for (int cell = 0; cell < 2; cell++) {
        float scale = cell ? 0.25f : 1;
        pooled[cell * CHANNELS + CLASS_CAR] = 2 * scale;
        pooled[cell * CHANNELS + CLASS_ROAD] = 1 * scale;
        pooled[cell * CHANNELS + EMBED_R] = 3 * scale; /* red 1.0 */
        pooled[cell * CHANNELS + EMBED_G] = 1.5f * scale;
    }
}

static BevContent content_of(const float *pooled, const Embedding *embedding) {
    return (BevContent){
        .nx = 2, .ny = 2, .channels = CHANNELS, .pooled = pooled, .embedding = embedding};
}

static void test_decode(void) {
    float rows[CHANNELS * CHANNELS], pooled[4 * CHANNELS];
    Embedding embedding = unit_embedding(rows);
    fill_pooled(pooled);
    BevContent content = content_of(pooled, &embedding);
    CellField field;
    Err err;
    if (tap_ok(decode_view(VIEW_COLOR, &content, &field, &err), "decodes colour")) {
        tap_ok(same(field.color[0], 0xffbc00) && same(field.color[1], 0xffbc00),
               "colour is the colour parts over the mass, whatever the mass");
        tap_ok(field.state[2] == CELL_EMPTY && field.value[2] == 0 && occupied(&field) == 2,
               "cells that caught nothing are empty");
        tap_ok(field.full_mass == 3 && field.value[0] == 1 && field.value[1] == 0.5f,
               "a quarter of the full mass shows at half strength");
        cell_field_free(&field);
    }
    if (tap_ok(decode_view(VIEW_CLASS, &content, &field, &err), "decodes classes")) {
        const uint8_t *car = world_classes[CLASS_CAR].color;
        tap_ok(field.color[0].r == car[0] && field.color[0].g == car[1] &&
                   field.color[0].b == car[2],
               "the class with most mass wins");
        cell_field_free(&field);
    }
    if (tap_ok(decode_view(VIEW_NORM, &content, &field, &err), "decodes the norm")) {
        tap_ok(fabsf(field.value[0] - sqrtf(4 + 1 + 9 + 2.25f)) < 1e-6f && field.value[2] == 0,
               "norm of the vector");
        cell_field_free(&field);
    }
    content.full_mass = 12;
    if (tap_ok(decode_view(VIEW_COLOR, &content, &field, &err), "decodes with a given full mass")) {
        tap_ok(field.full_mass == 12 && field.value[0] == 0.5f && field.value[1] == 0.25f,
               "brightness follows the given mass: pictures can share it");
        cell_field_free(&field);
    }
    content.channel = CLASS_ROAD;
    if (tap_ok(decode_view(VIEW_CHANNEL, &content, &field, &err), "decodes a channel")) {
        tap_ok(field.value[0] == 1 && field.value[1] == 0.25f, "its numbers");
        cell_field_free(&field);
    }
}

/* Two points of depth 0.5 and 0.25 in one cell, one of depth 0.5 in another: means, not sums. */
static void test_rgb(void) {
    int32_t bev[] = {0, 0, 3}, depth_rank[] = {0, 1, 2}, starts[] = {0, 2}, lengths[] = {2, 1};
    float depth[] = {0.5f, 0.25f, 0.5f}, pooled[4 * 3] = {0.75f, 0.375f, 0};
    const BevMap map = {.points = 3, .intervals = 2, .ranks_depth = depth_rank, .ranks_bev = bev,
                        .interval_starts = starts, .interval_lengths = lengths};
    BevContent content = {.nx = 2, .ny = 2, .channels = 3, .pooled = pooled, .map = &map,
                          .depth = depth, .rgb = {{0, 1, 2}, {0, 0, 0}, {1, 1, 1}}};
    CellField field;
    Err err;
    pooled[9] = 0.25f; /* a mean of 0.5, 0, 1 */
    pooled[11] = 0.5f;
    if (tap_ok(decode_view(VIEW_RGB, &content, &field, &err), "decodes three channels")) {
        tap_ok(same(field.color[0], 0xff8000) && same(field.color[3], 0x8000ff),
               "the mean over the depth mass, in the given ranges");
        tap_ok(field.value[0] == 1 && fabsf(field.value[3] - sqrtf(0.5f / 0.75f)) < 1e-6f,
               "brightness is the depth mass");
        cell_field_free(&field);
    }
    content.rgb = (RgbChoice){.channel = {2, 1, 0}};
    if (tap_ok(decode_view(VIEW_RGB, &content, &field, &err), "with their own ranges")) {
        tap_ok(same(field.color[0], 0x00ffff) && same(field.color[3], 0xff0000) &&
                   field.rgb.lo[2] == 0.5 && field.rgb.hi[2] == 1,
               "from the least to the largest mean of each");
        cell_field_free(&field);
    }
    content.light = true;
    content.rgb = (RgbChoice){.channel = {0, 1, 2}};
    if (tap_ok(decode_view(VIEW_RGB, &content, &field, &err), "light")) {
        tap_ok(field.rgb.lo[0] == 0 && field.rgb.hi[1] == 1 && same(field.color[0], 0xffbc00),
               "shares one range, and is shown as light");
        cell_field_free(&field);
    }
    RgbChoice rgb;
    char text[96];
    tap_ok(rgb_parse("3,0:-1:2.5,12", &rgb) && rgb.channel[2] == 12 && rgb.lo[1] == -1 &&
               rgb.hi[1] == 2.5 && (rgb_text(&rgb, text, sizeof text), true) &&
               !strcmp(text, "3,0:-1:2.5,12"),
           "channels and ranges are read and written");
    static const char *const wrong[] = {"", "1", "1,2", "1,2,3,4", "1,2,-3", "1,2,3:1:1", "1,2,x",
                                        "1,2,3:0:inf", " 1,2,3", "1, 2,3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tap_ok(!rgb_parse(wrong[i], &rgb), "\"%s\" is refused", wrong[i]);
}

static void test_missing(void) {
    float rows[CHANNELS * CHANNELS], pooled[4 * CHANNELS] = {0};
    Embedding embedding = unit_embedding(rows);
    BevContent content = content_of(pooled, NULL);
    CellField field;
    Err err;
    tap_ok(!decode_view(VIEW_COLOR, &content, &field, &err) && strstr(err.what, "embedding"),
           "colour without an embedding is refused");
    tap_ok(!decode_view(VIEW_POINTS, &content, &field, &err) && strstr(err.what, "map"),
           "points without a map are refused");
    tap_ok(!decode_view(VIEW_ERROR, &content, &field, &err) && strstr(err.what, "FP64"),
           "error without a reference is refused");
    content.channel = CHANNELS;
    tap_ok(!decode_view(VIEW_CHANNEL, &content, &field, &err), "a channel too many is refused");
    embedding.channels = EMBED_DIMS - 1;
    content = content_of(pooled, &embedding);
    tap_ok(!decode_view(VIEW_CLASS, &content, &field, &err) && strstr(err.what, "few channels"),
           "classes in too few channels are refused");
    for (int i = 0; i < VIEW_COUNT; i++)
        tap_ok(views[i].name && views[i].decode, "view %d has its row", i);
}

static void test_points(void) {
    int32_t bev[] = {1, 1, 1, 2}, starts[] = {0, 3}, lengths[] = {3, 1};
    BevMap map = {.points = 4,
                  .intervals = 2,
                  .ranks_bev = bev,
                  .interval_starts = starts,
                  .interval_lengths = lengths};
    BevContent content = {.nx = 2, .ny = 2, .channels = 1, .map = &map};
    BevMap fewer = map;
    fewer.intervals = 1;
    BevContent other = {.nx = 2, .ny = 2, .channels = 1, .map = &fewer};
    CellField field;
    Err err;
    if (tap_ok(decode_view(VIEW_POINTS, &content, &field, &err), "decodes points per cell")) {
        tap_ok(field.value[1] == 3 && field.value[2] == 1 && field.state[0] == CELL_EMPTY &&
                   occupied(&field) == 2,
               "points per cell");
        cell_field_free(&field);
    }
    if (tap_ok(decode_difference(VIEW_POINTS, &other, &content, &field, &err), "and their "
                                                                               "difference")) {
        tap_ok(field.value[1] == 0 && field.value[2] == -1 && occupied(&field) == 2,
               "cells of either map count");
        cell_field_free(&field);
    }
}

static void test_error(void) {
    float pooled[] = {1, 2, 0, 0, 3, 3, 0, 0};
    double fp64_original[] = {1.5, 2.25, 0, 0, 3, 2, 0, 1};
    BevContent content = {
        .nx = 2, .ny = 2, .channels = 2, .pooled = pooled, .fp64_original = fp64_original};
    CellField field;
    Err err;
    if (tap_ok(decode_view(VIEW_ERROR, &content, &field, &err), "decodes errors")) {
        tap_ok(field.value[0] == -0.5f && field.value[2] == 1, "the largest error with its sign");
        tap_ok(field.state[1] == CELL_EMPTY && field.state[3] == CELL_VALUE && field.value[3] == -1,
               "a cell that should not be empty is an error, not empty");
        cell_field_free(&field);
    }
    float other[] = {1, 4, 0, 0, 3, 3, 0, 0};
    BevContent second = {.nx = 2, .ny = 2, .channels = 2, .pooled = other};
    if (tap_ok(decode_difference(VIEW_NORM, &content, &second, &field, &err), "two results")) {
        tap_ok(field.value[0] == -2 && field.value[2] == 0 && field.view == VIEW_ERROR,
               "differ by the channel that differs most");
        cell_field_free(&field);
    }
    other[0] = INFINITY;
    other[5] = NAN;
    if (tap_ok(decode_difference(VIEW_NORM, &content, &second, &field, &err), "a broken second")) {
        tap_ok(field.state[0] == CELL_INF && field.state[2] == CELL_NAN && field.inf_cells == 1 &&
                   field.nan_cells == 1,
               "result breaks the difference where it is broken");
        cell_field_free(&field);
    }
}

static void test_not_finite(void) {
    float rows[CHANNELS * CHANNELS], pooled[4 * CHANNELS];
    Embedding embedding = unit_embedding(rows);
    fill_pooled(pooled);
    pooled[1 * CHANNELS + 5] = INFINITY;
    pooled[1 * CHANNELS + 6] = NAN;
    pooled[2 * CHANNELS + 5] = -INFINITY;
    BevContent content = content_of(pooled, &embedding);
    double fp64_original[4 * CHANNELS] = {0};
    content.fp64_original = fp64_original;
    for (ViewKind view = 0; view < VIEW_COUNT; view++) {
        CellField field;
        Err err;
        if (!(views[view].needs & NEEDS_POOLED))
            continue;
        if (!tap_ok(decode_view(view, &content, &field, &err), "%s: decodes NaN", views[view].name))
            continue;
        tap_ok(field.nan_cells == 1 && field.inf_cells == 1 && field.state[1] == CELL_NAN &&
                   field.state[2] == CELL_INF && field.state[0] == CELL_VALUE,
               "%s: NaN and Inf are counted, the rest stays", views[view].name);
        RasterStyle style = {.colormap = colormap_find("vik"),
                             .range = {.lo = -1, .hi = 1},
                             .background = panel_dark.background,
                             .bad = panel_dark.bad};
        Image image;
        if (raster_render(&field, &style, &image, &err)) {
            Rgb nan = image_get(&image, 1, 0); /* cell 1: x = 1, y = 0 */
            tap_ok(same(nan, 0xff00ff), "%s: NaN has its own colour", views[view].name);
            image_free(&image);
        }
        cell_field_free(&field);
    }
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

static void test_ranges(void) {
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

/* ---- principal components -------------------------------------------------------------------- */

/* Points on a known line with a little spread across it. */
static void test_pca(void) {
    enum { COUNT = 101 };
    float vectors[COUNT * 3];
    for (int i = 0; i < COUNT; i++) {
        float along = (float)(i - 50) / 50, across = i % 2 ? 0.1f : -0.1f;
        vectors[3 * i] = 5 - 0.6f * along + 0.8f * across;
        vectors[3 * i + 1] = -0.8f * along - 0.6f * across;
        vectors[3 * i + 2] = 7;
    }
    Pca pca;
    Err err;
    if (!tap_ok(pca_fit(vectors, COUNT, 3, &pca, &err), "fits"))
        return;
    tap_ok(fabs(pca.axes[0] - 0.6) < 1e-3 && fabs(pca.axes[1] - 0.8) < 1e-3 &&
               fabs(pca.axes[2]) < 1e-9,
           "finds the axis, with its largest entry positive");
    tap_ok(fabs(pca.axes[3] - 0.8) < 1e-3 && fabs(pca.axes[4] + 0.6) < 1e-3,
           "finds the second axis across it");
    tap_ok(pca.axes[6] == 0 && pca.axes[7] == 0 && pca.axes[8] == 0 && pca.sigma[2] == 0,
           "has no third axis where there is no third dimension");
    tap_ok(pca.explained[0] > 0.95 && fabs(pca.explained[0] + pca.explained[1] - 1) < 1e-9,
           "shares of the variance sum to one");
    double at[PCA_COMPONENTS];
    pca_project(&pca, vectors, at);
    tap_ok(fabs(at[0] - sqrt(3)) < 0.05 && at[2] == 0, "the end of a line is 1.7 sigma out");
    pca_free(&pca);
    pca_free(NULL);
}

/* Two results compared must be coloured by the same components. */
static void test_shared_pca(void) {
    float first[4 * 2] = {1, 0, 0, 1, 1, 1, 0, 0}, second[4 * 2] = {1, 0, 1, 0.1f, 1, 0.2f, 0, 0};
    BevContent a = {.nx = 2, .ny = 2, .channels = 2, .pooled = first};
    BevContent b = {.nx = 2, .ny = 2, .channels = 2, .pooled = second};
    Pca pca;
    Err err;
    CellField of_a, of_b, of_own;
    if (!tap_ok(decode_fit_pca(&a, &pca, &err), "components of the first result"))
        return;
    a.pca = b.pca = &pca;
    bool decoded = decode_view(VIEW_PCA, &a, &of_a, &err) && decode_view(VIEW_PCA, &b, &of_b, &err);
    b.pca = NULL;
    if (tap_ok(decoded && decode_view(VIEW_PCA, &b, &of_own, &err), "colour both results")) {
        tap_ok(!memcmp(&of_a.color[0], &of_b.color[0], sizeof(Rgb)),
               "the same vector has the same colour in both");
        tap_ok(memcmp(&of_a.color[0], &of_own.color[0], sizeof(Rgb)) != 0,
               "by its own components it would not");
        tap_ok(of_a.state[3] == CELL_EMPTY && of_a.value[3] == 0, "empty cells stay empty");
        cell_field_free(&of_a);
        cell_field_free(&of_b);
        cell_field_free(&of_own);
    }
    pca_free(&pca);
}

/* ---- texts and ticks ------------------------------------------------------------------------- */

static bool label_is(const Ticks *ticks, int i, const char *label) {
    return i < ticks->count && !strcmp(ticks->label[i], label);
}

static void test_ticks(void) {
    Ticks ticks = ticks_linear(-54, 54, 12);
    tap_ok(ticks.count == 11 && ticks.at[0] == -50 && label_is(&ticks, 0, "\u221250") &&
               label_is(&ticks, 5, "0"),
           "a metre axis counts in tens, with a true minus sign");
    ticks = ticks_linear(-9e-7, 9e-7, 4);
    tap_ok(ticks.exponent == -7 && label_is(&ticks, ticks.count - 1, "5"),
           "tiny numbers share a power of ten");
    ticks = ticks_linear(0, 1, 5);
    tap_ok(label_is(&ticks, 1, "0.2") && label_is(&ticks, 0, "0.0"), "decimals agree");
    ticks = ticks_linear(3, 3, 5);
    tap_ok(ticks.count == 1, "an empty range has one tick");
    ticks = ticks_log(1, 352, 4);
    tap_ok(label_is(&ticks, 0, "1") && label_is(&ticks, ticks.count - 1, "100"),
           "a logarithmic bar counts in powers of ten");
    ticks = ticks_log(0.02, 20, 12);
    tap_ok(label_is(&ticks, 0, "0.02") && label_is(&ticks, 1, "0.05") &&
               label_is(&ticks, ticks.count - 1, "20"),
           "or in 1, 2, 5 where there is room");
    char text[64];
    ticks_multiplier(-7, text, sizeof text);
    tap_ok(!strcmp(text, "×10⁻⁷"), "the power of ten is printed");
    ticks_short(0.09911, 0, text, sizeof text);
    tap_ok(!strcmp(text, "0.0991"), "three digits");
    ticks_short(-20, 0, text, sizeof text);
    tap_ok(!strcmp(text, "\u221220"), "whole numbers keep their zeros (%s)", text);
    ticks_number(-0.001, 1, text, sizeof text);
    tap_ok(!strcmp(text, "0.0"), "no minus zero");
}

static void test_texts(void) {
    char text[64];
    unit_text(UNIT_COUNT, 209019, text, sizeof text);
    tap_ok(!strcmp(text, "209,019"), "thousands are grouped");
    unit_text(UNIT_COUNT, -1, text, sizeof text);
    tap_ok(!strcmp(text, "n/a"), "an unknown count is n/a");
    figure_text(UNIT_US, NAN, text, sizeof text);
    tap_ok(!strcmp(text, "n/a"), "an unknown time is n/a");
    figure_text(UNIT_US, 4312, text, sizeof text);
    tap_ok(!strcmp(text, "4.31 ms"), "milliseconds");
    figure_text(UNIT_US, 17.3, text, sizeof text);
    tap_ok(!strcmp(text, "17.3 \u00b5s"), "microseconds");
    clean_text("a\x01\xff\xc3(\xed\xa0\x80z\xc3\xa9", text, sizeof text);
    tap_ok(!strcmp(text, "a??\?(??\?z\u00e9"), "control bytes and broken UTF-8 become '?' (%s)",
           text);
    clean_text("a\xc2\x9bJb\u00a0", text, sizeof text);
    tap_ok(!strcmp(text, "a?Jb\u00a0"), "those of two bytes in UTF-8, too");
    clean_text("a\u202eb\u200b\ufffe\U000e0041\u2028z\u20ac\U0001f600", text, sizeof text);
    tap_ok(!strcmp(text, "a?b????z\u20ac\U0001f600"),
           "so do marks that turn the writing or show nothing, and what is no character (%s)", text);
    text_micro("12.6 to 11.0 us, used", text, sizeof text);
    tap_ok(!strcmp(text, "12.6 to 11.0 \u00b5s, used"), "microseconds have their sign");
    clean_text(NULL, text, sizeof text);
    tap_ok(!strcmp(text, "n/a"), "no text is n/a");
    clean_text("abc\u00e9", text, 5);
    tap_ok(!strcmp(text, "abc"), "a character is not cut in two");
    strcpy(text, "a\u2026");
    tap_ok(text_drop_last(text) && !strcmp(text, "a") && !text_drop_last(text),
           "characters are dropped whole");
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Every place of arrays of every size, values few and many. */
static void test_nth(void) {
    enum { MOST = 40 };
    uint32_t random = 1;
    int wrong = 0, asked = 0;
    for (int kinds = 1; kinds <= 64; kinds *= 4)
        for (size_t count = 1; count <= MOST; count++) {
            float values[MOST], sorted[MOST], moved[MOST];
            for (size_t i = 0; i < count; i++) {
                random = random * 1664525 + 1013904223;
                values[i] = sorted[i] = (float)(random >> 16 & (uint32_t)(kinds - 1)) - 8;
            }
            qsort(sorted, count, sizeof *sorted, ascending);
            for (size_t n = 0; n < count; n++, asked++) {
                memcpy(moved, values, sizeof moved);
                wrong += nth_smallest(moved, count, n) != sorted[n];
                qsort(moved, count, sizeof *moved, ascending);
                wrong += memcmp(moved, sorted, count * sizeof *moved) != 0;
            }
        }
    tap_ok(asked > 3000 && wrong == 0, "%d values at their places without sorting", asked);
}

int main(void) {
    test_colormaps();
    test_luminance();
    test_contrast();
    test_linear_light();
    test_png(false);
    test_png(true);
    test_image_limits();
    test_orientation();
    test_decode();
    test_missing();
    test_points();
    test_error();
    test_not_finite();
    test_nth();
    test_ranges();
    test_rgb();
    test_pca();
    test_shared_pca();
    test_ticks();
    test_texts();
    return tap_done();
}
