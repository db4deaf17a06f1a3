/* SPDX-License-Identifier: MIT */
/* Views of a pooled vector: from its channels to colours and values, worked out by hand. */
#include "src/view/bev/raster.h"
#include "src/view/bev/stats.h"
#include "tests/support/tap.h"
#include "tests/view/view_check.h"

#include <math.h>

static Err err; /* why a step failed */

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

static CellField field; /* decoded last; the next decoding frees it */

/* A decoding without which the rest says nothing. */
static void decodes(ViewKind view, const BevContent *content, const char *title) {
    cell_field_free(&field);
    tap_need(tap_ok(decode_view(view, content, &field, &err), "%s", title), title);
}

static void decodes_difference(ViewKind view, const BevContent *content, const BevContent *other,
                               const char *title) {
    cell_field_free(&field);
    tap_need(tap_ok(decode_difference(view, content, other, &field, &err), "%s", title), title);
}

/* 2 x 2 cells. */
static BevContent grid_of(int64_t channels, const float *pooled) {
    return (BevContent){.nx = 2, .ny = 2, .rows = 4, .channels = channels, .pooled = pooled};
}

static BevContent content_of(const float *pooled, const Embedding *embedding) {
    BevContent content = grid_of(CHANNELS, pooled);
    content.embedding = embedding;
    return content;
}

TAP_SUITE(view_decode) {
    float rows[CHANNELS * CHANNELS], pooled[4 * CHANNELS];
    Embedding embedding = unit_embedding(rows);
    fill_pooled(pooled);
    BevContent content = content_of(pooled, &embedding);
    decodes(VIEW_COLOR, &content, "decodes colour");
    tap_ok(same(field.color[0], 0xffbc00) && same(field.color[1], 0xffbc00),
           "colour is the colour parts over the mass, whatever the mass");
    tap_ok(field.state[2] == CELL_EMPTY && field.value[2] == 0 && occupied(&field) == 2,
           "cells that caught nothing are empty");
    tap_ok(field.full_mass == 3 && field.value[0] == 1 &&
               fabsf(field.value[1] - cbrtf(0.25f)) < 1e-6f,
           "a quarter of the full mass shows at its cube root");
    decodes(VIEW_CLASS, &content, "decodes classes");
    const uint8_t *car = world_classes[CLASS_CAR].color;
    tap_ok(field.color[0].r == car[0] && field.color[0].g == car[1] && field.color[0].b == car[2],
           "the class with most mass wins");
    decodes(VIEW_NORM, &content, "decodes the norm");
    tap_ok(fabsf(field.value[0] - sqrtf(4 + 1 + 9 + 2.25f)) < 1e-6f && field.value[2] == 0,
           "norm of the vector");
    content.full_mass = 12;
    decodes(VIEW_COLOR, &content, "decodes with a given full mass");
    tap_ok(field.full_mass == 12 && fabsf(field.value[0] - cbrtf(0.25f)) < 1e-6f &&
               fabsf(field.value[1] - cbrtf(0.0625f)) < 1e-6f,
           "brightness follows the given mass: pictures can share it");
    content.channel = CLASS_ROAD;
    decodes(VIEW_CHANNEL, &content, "decodes a channel");
    tap_ok(field.value[0] == 1 && field.value[1] == 0.25f, "its numbers");
}

/* Two points of depth 0.5 and 0.25 in one cell, one of depth 0.5 in another: means, not sums. */
TAP_SUITE(view_rgb) {
    int32_t bev[] = {0, 0, 3}, depth_rank[] = {0, 1, 2}, starts[] = {0, 2}, lengths[] = {2, 1};
    float depth[] = {0.5f, 0.25f, 0.5f}, pooled[4 * 3] = {0.75f, 0.375f, 0};
    const BevMap map = {.points = 3,
                        .intervals = 2,
                        .ranks_depth = depth_rank,
                        .ranks_bev = bev,
                        .interval_starts = starts,
                        .interval_lengths = lengths};
    BevContent content = grid_of(3, pooled);
    content.map = &map;
    content.depth = depth;
    content.rgb = (RgbChoice){{0, 1, 2}, {0, 0, 0}, {1, 1, 1}};
    pooled[9] = 0.25f; /* a mean of 0.5, 0, 1 */
    pooled[11] = 0.5f;
    decodes(VIEW_RGB, &content, "decodes three channels");
    tap_ok(same(field.color[0], 0xff8000) && same(field.color[3], 0x8000ff),
           "the mean over the depth mass, in the given ranges");
    tap_ok(field.value[0] == 1 && fabsf(field.value[3] - cbrtf(0.5f / 0.75f)) < 1e-6f,
           "brightness is the accumulated depth weight");
    content.rgb = (RgbChoice){.channel = {2, 1, 0}};
    decodes(VIEW_RGB, &content, "with their own ranges");
    tap_ok(same(field.color[0], 0x00ffff) && same(field.color[3], 0xff0000) &&
               field.rgb.lo[2] == 0.5 && field.rgb.hi[2] == 1,
           "from the least to the largest mean of each");
    content.light = true;
    content.rgb = (RgbChoice){.channel = {0, 1, 2}};
    decodes(VIEW_RGB, &content, "light");
    tap_ok(field.rgb.lo[0] == 0 && field.rgb.hi[1] == 1 && same(field.color[0], 0xffbc00),
           "shares one range, and is shown as light");
    RgbChoice rgb;
    tap_ok(rgb_parse("3,0:-1:2.5,12", &rgb) && rgb.channel[2] == 12 && rgb.lo[1] == -1 &&
               rgb.hi[1] == 2.5 && rgb.channel[0] == 3 && rgb.lo[0] == rgb.hi[0],
           "channels and ranges are read");
    static const char *const wrong[] = {"",          "1",     "1,2",         "1,2,3,4", "1,2,-3",
                                        "1,2,3:1:1", "1,2,x", "1,2,3:0:inf", " 1,2,3",  "1, 2,3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tap_ok(!rgb_parse(wrong[i], &rgb), "\"%s\" is refused", wrong[i]);
}

TAP_SUITE(view_missing) {
    float rows[CHANNELS * CHANNELS], pooled[4 * CHANNELS] = {0};
    Embedding embedding = unit_embedding(rows);
    BevContent content = content_of(pooled, NULL);
    tap_ok(!decode_view(VIEW_COLOR, &content, &field, &err) && strstr(err.what, "embedding"),
           "colour without an embedding is refused");
    content.channel = CHANNELS;
    tap_ok(!decode_view(VIEW_CHANNEL, &content, &field, &err), "a channel too many is refused");
    embedding.channels = EMBED_DIMS - 1;
    content = content_of(pooled, &embedding);
    tap_ok(!decode_view(VIEW_CLASS, &content, &field, &err) && strstr(err.what, "few channels"),
           "classes in too few channels are refused");
}

TAP_SUITE(view_points) {
    int32_t bev[] = {1, 1, 1, 2}, starts[] = {0, 3}, lengths[] = {3, 1};
    BevMap map = {.points = 4,
                  .intervals = 2,
                  .ranks_bev = bev,
                  .interval_starts = starts,
                  .interval_lengths = lengths};
    BevMap fewer = map;
    fewer.intervals = 1;
    BevContent content = grid_of(1, NULL), other = content;
    content.map = &map;
    other.map = &fewer;
    decodes(VIEW_POINTS, &content, "decodes points per cell");
    tap_ok(field.value[1] == 3 && field.value[2] == 1 && field.state[0] == CELL_EMPTY &&
               occupied(&field) == 2,
           "points per cell");
    decodes_difference(VIEW_POINTS, &other, &content, "and their difference");
    tap_ok(field.value[1] == 0 && field.value[2] == -1 && occupied(&field) == 2,
           "cells of either map count");
}

TAP_SUITE(view_error) {
    float pooled[] = {1, 2, 0, 0, 3, 3, 0, 0};
    double fp64_original[] = {1.5, 2.25, 0, 0, 3, 2, 0, 1};
    BevContent content = grid_of(2, pooled);
    content.fp64_original = fp64_original;
    decodes(VIEW_ERROR, &content, "decodes errors");
    tap_ok(field.value[0] == -0.5f && field.value[2] == 1, "the largest error with its sign");
    tap_ok(field.state[1] == CELL_EMPTY && field.state[3] == CELL_VALUE && field.value[3] == -1,
           "a cell that should not be empty is an error, not empty");
    float other[] = {1, 4, 0, 0, 3, 3, 0, 0};
    BevContent second = grid_of(2, other);
    decodes_difference(VIEW_NORM, &content, &second, "two results");
    tap_ok(field.value[0] == -2 && field.value[2] == 0 && field.view == VIEW_ERROR,
           "differ by the channel that differs most");
    other[0] = INFINITY;
    other[5] = NAN;
    decodes_difference(VIEW_NORM, &content, &second, "a broken second");
    tap_ok(field.state[0] == CELL_INF && field.state[2] == CELL_NAN && field.inf_cells == 1 &&
               field.nan_cells == 1,
           "result breaks the difference where it is broken");
}

TAP_SUITE(view_not_finite) {
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
        if (!(views[view].needs & NEEDS_POOLED) ||
            !tap_ok(decode_view(view, &content, &field, &err), "%s: decodes NaN", views[view].name))
            continue;
        tap_ok(field.nan_cells == 1 && field.inf_cells == 1 && field.state[1] == CELL_NAN &&
                   field.state[2] == CELL_INF && field.state[0] == CELL_VALUE,
               "%s: NaN and Inf are counted, the rest stays", views[view].name);
        RasterStyle style = {colormap_find("signed"), (ValueRange){.lo = -1, .hi = 1}, false,
                             false};
        Image image;
        if (raster_render(&field, &style, &image, &err)) {
            Rgb nan = image_get(&image, 1, 0); /* cell 1: x = 1, y = 0 */
            tap_ok(same(nan, 0xff00ff), "%s: NaN has its own colour", views[view].name);
            image_free(&image);
        }
        cell_field_free(&field);
    }
}

TAP_SUITE(view_shared_pca) {
    float first[4 * 2] = {1, 0, 0, 1, 1, 1, 0, 0}, second[4 * 2] = {1, 0, 1, 0.1f, 1, 0.2f, 0, 0};
    BevContent a = grid_of(2, first), b = grid_of(2, second);
    Pca pca;
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
