/* SPDX-License-Identifier: MIT */
/* From cells to pixels: where ahead and left are, and the range of values that the colours span. */
#include "src/view/bev/strip.h"
#include "src/view/bev/raster.h"
#include "tests/support/scenes.h"
#include "tests/view/view_check.h"

#include <math.h>

enum { NX = 4, NY = 6 };

/* A field of 4 x 6 cells (x, y) of which one is hot. */
static bool hot_cell(int x, int y, int *column, int *row) {
    uint8_t state[NX * NY] = {0};
    float value[NX * NY] = {0};
    CellField field = {.view = VIEW_NORM, .nx = NX, .ny = NY, .state = state, .value = value};
    state[y * NX + x] = CELL_VALUE;
    value[y * NX + x] = 1;
    RasterStyle style = {.colormap = colormap_find("viridis"), .range = {.lo = 0, .hi = 1}};
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
            } else if (!same(image_get(&image, c, r), 0x14171c))
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
    int wrong = 0;
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            wrong +=
                !hot_cell(x, y, &column, &row) || raster_cell(NX, NY, column, row) != y * NX + x;
    tap_ok(wrong == 0, "raster_cell finds back every cell");
}

static ValueRange range_of(ViewKind view, float *values, int count) {
    uint8_t state[256];
    memset(state, CELL_VALUE, sizeof state);
    CellField field = {.view = view, .nx = count, .ny = 1, .state = state, .value = values};
    const CellField *fields[] = {&field};
    ValueRange range = {.lo = -99, .hi = -99};
    range_auto(fields, 1, &range, NULL);
    return range;
}

/* A check of the `range` of so many values. */
#define spans(view_, values_, count_, ...)                                                         \
    (range = range_of(view_, values_, count_), tap_ok(__VA_ARGS__))

TAP_SUITE(raster_ranges) {
    ValueRange range;
    float values[200];
    for (int i = 0; i < 200; i++)
        values[i] = (float)(i + 1);
    values[199] = 1e6f;
    spans(VIEW_CHANNEL, values, 200,
          range.lo == 0 && range.hi > 190 && range.hi < 200 && range.above && !range.below,
          "a linear range leaves out the outliers and says so");
    spans(VIEW_NORM, values, 200,
          range.logarithmic && range.hi == 1e6 && range.lo == 1e3 && range.below,
          "a logarithmic range spans three decades at most");
    tap_ok(fabs(range_position(&range, sqrt(1e9)) - 0.5) < 1e-12 && range_position(&range, 0) == 0,
           "its middle is the geometric mean");
    for (int i = 0; i < 200; i++)
        values[i] = i % 2 ? -3 : 1;
    spans(VIEW_ERROR, values, 200,
          range.lo == -3 && range.hi == 3 && range_position(&range, 0) == 0.5,
          "a symmetric range has zero in its middle");
    memset(values, 0, sizeof values);
    values[7] = -0.125f;
    spans(VIEW_ERROR, values, 200, range.hi == 0.125, "one wrong cell is enough for a range");
    tap_ok(range_position(&range, -0.125) == 0 && range_position(&range, 0.125e-4) > 0.66 &&
               range_position(&range, 0.125e-5) < 0.52,
           "a ten-thousandth of the largest error is still seen");
    values[7] = 0;
    spans(VIEW_ERROR, values, 200,
          range.lo == 0 && range.hi == 0 && range_position(&range, 0) == 0.5,
          "no error at all: the colour of zero");
    spans(VIEW_ERROR, values, 0, isnan(range.lo) && isnan(range.hi), "no cell at all: no range");
}

enum { SIDE = 5, CENTRE = 12, AT_LEFT = 10, UP_RIGHT = 4, DOWN_RIGHT = 24, AT_RIGHT = 14 };

/* The contrast of the centre of a square to its ground; these cells have the value 1. */
static double centre_of(ViewKind view, bool fill, const int cells[3]) {
    uint8_t state[SIDE * SIDE] = {0};
    float value[SIDE * SIDE] = {0};
    for (int k = 0; k < 3; k++)
        state[cells[k]] = CELL_VALUE, value[cells[k]] = 1;
    CellField field = {.view = view, .nx = SIDE, .ny = SIDE, .state = state, .value = value};
    RasterStyle style = {colormap_find("viridis"), (ValueRange){.lo = 0, .hi = 1}, fill, false};
    Image image;
    Err err = {0};
    need(raster_render(&field, &style, &image, &err), &err);
    Rgb centre = image_get(&image, CENTRE % SIDE, CENTRE / SIDE);
    image_free(&image);
    return rgb_contrast(centre, panel_theme.background);
}

/* Cells with a value lie around the centre, on three sides of it or on two: it is drawn, or it
 * stays empty. */
TAP_SUITE(raster_fill) {
    static const struct {
        int cells[3];
        bool drawn;
    } cases[] = {{{AT_LEFT, UP_RIGHT, DOWN_RIGHT}, true},
                 {{AT_LEFT, AT_RIGHT, AT_RIGHT}, true},
                 {{UP_RIGHT, AT_RIGHT, DOWN_RIGHT}, false},
                 {{AT_LEFT, AT_LEFT, AT_LEFT}, false}};
    const double full = rgb_contrast(rgb_hex(0xfde725), panel_theme.background);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double light = centre_of(VIEW_NORM, true, cases[i].cells);
        tap_ok(cases[i].drawn ? light > 3 && light < full : light == 1,
               "case %zu: the centre is %s", i, cases[i].drawn ? "drawn, dimmer" : "empty");
        tap_ok(centre_of(VIEW_NORM, false, cases[i].cells) == 1 &&
                   centre_of(VIEW_POINTS, true, cases[i].cells) == 1 &&
                   centre_of(VIEW_ERROR, true, cases[i].cells) == 1,
               "and it is empty without fill, and where a view shows points or errors");
    }
}

/* The street as the display shows it, in both themes: light enough for the last row. */
TAP_SUITE(raster_street) {
    Err err = {0};
    OpenProblem *opened = open_problem("intersection", BEV_FP32, BEV_NEAREST, 16, BEV_FORWARD);
    Embedding embedding = {0};
    need(problem_pool(bev_default(BEV_CPU, BEV_FORWARD), opened->view, &err) &&
             embedding_init(&embedding, 16, opened->workload.scene->seed, &err),
         &err);
    BevContent content = {.nx = opened->view->shape.nx,
                          .ny = opened->view->shape.ny,
                          .channels = 16,
                          .pooled = opened->view->out.data,
                          .embedding = &embedding};
    CellField field;
    Image image;
    int street = 0, seen = 0;
    RasterStyle style = {NULL, (ValueRange){0}, true, false};
    need(decode_view(VIEW_COLOR, &content, &field, &err) &&
             raster_render(&field, &style, &image, &err),
         &err);
    for (int i = 0; i < image.w * image.h; i++) {
        double contrast =
            rgb_contrast(image_get(&image, i % image.w, i / image.w), panel_theme.background);
        street += contrast > 1;
        seen += contrast >= 3;
    }
    tap_ok(2 * seen >= street && street > 14000,
           "%d of the street's %d pixels have a contrast of 3 to the ground", seen, street);
    image_free(&image);
    cell_field_free(&field);
    embedding_free(&embedding);
    close_problem(opened);
}

enum { SEEN_W = 352, SEEN_H = 128, FRONT = 1 };

/* Of the points on the front camera's picture: how many there are, the share that has the depth of
 * the pixel under it, the same of those on vehicles. */
typedef struct {
    int points;
    double right, on_vehicles;
} Fit;

static Fit fit_of(const Rig *rig, const Photos *sweep, const CameraViews *seen) {
    static float depth_m[SEEN_W * SEEN_H];
    int points = 0, right = 0, vehicles = 0, right_vehicles = 0;
    strip_lidar(rig, FRONT, sweep, SEEN_W, SEEN_H, 1, depth_m);
    for (int i = 0; i < SEEN_W * SEEN_H; i++) {
        int64_t pixel = (int64_t)FRONT * SEEN_W * SEEN_H + i;
        bool vehicle = seen->class[pixel] == CLASS_CAR || seen->class[pixel] == CLASS_TRUCK;
        if (isnan(depth_m[i]))
            continue;
        bool fits = fabs(depth_m[i] - seen->depth_m[pixel]) < 0.3 + 0.03 * depth_m[i];
        points++;
        right += fits;
        vehicles += vehicle;
        right_vehicles += vehicle && fits;
    }
    return (Fit){points, (double)right / points, (double)right_vehicles / vehicles};
}

/* The pixels with a point have the colour of its depth; the others stay. */
static int wrong_pixels(const Scene *scene, const Photos *sweep, const CameraViews *seen) {
    static float depth_m[SEEN_W * SEEN_H];
    StripInput input = {&scene->rig, NULL, 0, seen, NULL, NULL};
    const ValueRange none = {.hi = 0}, range = {.hi = scene->rig.frustum.depth_stop_m};
    Image plain, dotted;
    Err err = {0};
    int wrong = 0;
    need(strip_camera(&input, STRIP_IMAGE, NULL, &none, FRONT, SEEN_W, &plain, &err), &err);
    input.lidar = sweep;
    need(strip_camera(&input, STRIP_IMAGE, NULL, &none, FRONT, SEEN_W, &dotted, &err), &err);
    strip_lidar(&scene->rig, FRONT, sweep, SEEN_W, SEEN_H, 1, depth_m);
    for (int i = 0; i < SEEN_W * SEEN_H; i++) {
        Rgb want = isnan(depth_m[i])
                       ? image_get(&plain, i % SEEN_W, i / SEEN_W)
                       : colormap_at(colormap_find("turbo"), range_position(&range, depth_m[i]));
        Rgb got = image_get(&dotted, i % SEEN_W, i / SEEN_W);
        wrong += memcmp(&want, &got, sizeof got) != 0;
    }
    image_free(&plain);
    image_free(&dotted);
    return wrong;
}

TAP_SUITE(raster_lidar) {
    Scene *scene = load_scene("intersection");
    CameraViews seen;
    Photos sweep = {.sweep_count = 0};
    Err err = {0};
    need(camera_views_render(&scene->rig, &scene->world, SEEN_H, SEEN_W, 0, &seen, &err), &err);
    need(photos_world_sweep(&scene->world, 0, &sweep, &err), &err);
    Fit fit = fit_of(&scene->rig, &sweep, &seen);
    tap_ok(fit.points > 2000 && fit.right > 0.9 && fit.on_vehicles > 0.85,
           "%d points, %.1f %% at the depth of what they lie on, %.1f %% of those on vehicles",
           fit.points, 100 * fit.right, 100 * fit.on_vehicles);
    tap_ok(wrong_pixels(scene, &sweep, &seen) == 0, "they have the colour of their depth");
    Rig wrong = scene->rig;
    camera_apply_error(&wrong.cameras[FRONT], &(CameraError){.yaw_deg = 3});
    Fit off = fit_of(&wrong, &sweep, &seen);
    tap_ok(
        off.on_vehicles < fit.on_vehicles - 0.25 && off.right < fit.right - 0.05,
        "3 degrees of yaw: %.1f %% are, and %.1f %% of those on vehicles: they leave their objects",
        100 * off.right, 100 * off.on_vehicles);
    photos_free(&sweep);
    camera_views_free(&seen);
    drop_scene(scene);
}

/* A grid of 2 x 2 m from (0, -1), up to 1 m high. */
static void test_fates(void) {
    static const struct {
        double ego_m[3];
        PointFate fate;
    } points[] = {{{1, 0, 0.5}, FATE_INSIDE},  {{1, 0, 1}, FATE_ABOVE},
                  {{1, 0, -0.1}, FATE_BELOW},  {{2, 0, 0.5}, FATE_AHEAD},
                  {{-0.1, 0, 0}, FATE_BEHIND}, {{1, 1, 0}, FATE_LEFT},
                  {{1, -1.1, 0}, FATE_RIGHT},  {{5, 5, 5}, FATE_ABOVE}};
    const Grid grid = {0, 2, -1, 1, 0, 1, 4, 4, 1, 0};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        tap_ok(point_fate(&grid, points[i].ego_m) == points[i].fate, "point %zu has fate %d", i,
               points[i].fate);
}

/* The map is built by other code: both drop the same points. */
TAP_SUITE(raster_dropped) {
    static const char *const scenes[] = {"small", "occupancy"};
    test_fates();
    for (size_t i = 0; i < 2; i++) {
        OpenProblem *opened = open_problem(scenes[i], BEV_FP32, BEV_NEAREST, 16, BEV_FORWARD);
        const BevShape *shape = &opened->view->shape;
        int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w, kept = 0, dropped = 0;
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            PixelFates fates =
                pixel_fates(&opened->workload.scene->rig, opened->workload.features->depth, pixel);
            kept += fates.of[FATE_INSIDE];
            dropped += fates.dropped;
        }
        tap_ok(kept == opened->view->map.points && dropped > 0,
               "%s: %lld points kept as in the map, %lld dropped", scenes[i], (long long)kept,
               (long long)dropped);
        close_problem(opened);
    }
}

TAP_SUITE(raster_dropped_strip) {
    OpenProblem *opened = open_problem("small", BEV_FP32, BEV_NEAREST, 16, BEV_FORWARD);
    const BevShape *shape = &opened->view->shape;
    const Rig *rig = &opened->workload.scene->rig;
    const float *depth = opened->workload.features->depth;
    const StripInput input = {.rig = rig, .features = opened->workload.features};
    ValueRange range;
    char text[256];
    Err err = {0};
    float *values = strip_values(&input, STRIP_DROPPED, &range, &err);
    tap_need(values != NULL, "its values");
    int64_t plane = shape->feat_h * shape->feat_w, worst = 0, lowest = plane - 1;
    for (int64_t i = 0; i < plane; i++)
        worst = values[i] > values[worst] ? i : worst;
    tap_ok(values[worst] > 0.99f && worst < plane / 2 && values[lowest] == 0 && range.hi == 1,
           "a pixel above the horizon loses %.2f of its depth, the lowest %.2f", values[worst],
           values[lowest]);
    dropped_text(rig, depth, worst, text, sizeof text);
    tap_ok(strstr(text, " points dropped, ") && strstr(text, " the grid from ") &&
               strstr(text, "100 % of its depth lost"),
           "its text: %s", text);
    dropped_text(rig, depth, lowest, text, sizeof text);
    tap_ok(strstr(text, "; 0 % of its depth lost") != NULL, "the other's: %s", text);
    int64_t whole = 0;
    while (whole < plane && pixel_fates(rig, depth, whole).dropped)
        whole++;
    tap_need(whole < plane, "a pixel that loses no point");
    dropped_text(rig, depth, whole, text, sizeof text);
    tap_ok(strstr(text, "points in the grid") != NULL, "and its text: %s", text);
    const Rgb grey = {200, 200, 200};
    Rgb lost = strip_over(grey, STRIP_DROPPED, 1, &range);
    Rgb kept = strip_over(grey, STRIP_DROPPED, 0, &range);
    tap_ok(rgb_contrast(lost, kept) > 4, "lost pixels shine: contrast %.1f to kept ones",
           rgb_contrast(lost, kept));
    free(values);
    close_problem(opened);
}
