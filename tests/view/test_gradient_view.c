/* SPDX-License-Identifier: MIT */
/* Backward as pictures show it: strengths of gradients, their light over camera pictures, and
 * losses over cells of the grid. That gradients are adjoint to them: tests/live/test_loss.c. */
#include "src/scene/grid_loss.h"
#include "src/view/bev/strip.h"
#include "src/view/bev/raster.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

enum { PIXELS = 12 };
static const BevShape shape = {2, 4, 2, 3, 2, 1, 1, 1}; /* 2 cameras of 2 x 3 pixels, 2 channels */

static void test_strength(void) {
    float grads[2 * PIXELS] = {0}, *strength = gradient_strengths(&shape, grads, &err);
    tap_ok(strength && strength[0] == 0 && gradient_shown(&shape, strength, -1) == -1,
           "no gradient anywhere: all strengths are 0, and no pixel is the strongest");
    grads[2 * 3] = 3, grads[2 * 3 + 1] = -4; /* norm 5 */
    grads[2 * 9 + 1] = -10;
    free(strength), strength = gradient_strengths(&shape, grads, &err);
    tap_ok(strength && strength[3] == 0.5F && strength[9] == 1 && strength[0] == 0 &&
               gradient_shown(&shape, strength, -1) == 9,
           "the norm over channels, as a share of the largest of all cameras");
    grads[2 * 9] = NAN, grads[2 * 5] = INFINITY;
    free(strength), strength = gradient_strengths(&shape, grads, &err);
    tap_ok(strength && isnan(strength[9]) && isnan(strength[5]) && strength[3] == 1 &&
               gradient_shown(&shape, strength, -1) == 3,
           "NaN and Inf mark their pixel and leave the others");
    memset(grads, 0xff, sizeof grads); /* NaN */
    free(strength), strength = gradient_strengths(&shape, grads, &err);
    tap_ok(!strength && strstr(err.what, "finite"), "no finite gradient at all is an error");
}

/* A reader who sees no colours must see the light too: it is told by brightness alone. */
static void test_light(void) {
    double least = INFINITY;
    bool rises = true;
    for (int r = 0; r < 256; r += 15)
        for (int g = 0; g < 256; g += 15)
            for (int b = 0; b < 256; b += 15) {
                Rgb picture = {(uint8_t)r, (uint8_t)g, (uint8_t)b}, dim = gradient_lit(picture, 0);
                double before = rgb_luminance(dim);
                least = fmin(least, rgb_contrast(dim, gradient_lit(picture, 1)));
                for (float s = 0.1F; s <= 1; s += 0.1F) {
                    double now = rgb_luminance(gradient_lit(picture, s));
                    rises = rises && now > before;
                    before = now;
                }
            }
    tap_ok(least >= 3, "full light has contrast %.2f with any dimmed picture", least);
    tap_ok(rises, "a larger gradient is brighter, on any picture");
    Rgb bad = gradient_lit((Rgb){9, 9, 9}, NAN);
    tap_ok(!memcmp(&bad, &panel_theme.bad, sizeof bad), "NaN has the colour of bad values");
}

static void test_pixels(int w, int h) {
    const Frustum frustum = {.input_w = 704, .input_h = 256, .feat_w = 44, .feat_h = 16};
    int counts[16][44] = {{0}}, wrong = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int64_t pixel = gradient_pixel(&frustum, w, h, x, y);
            counts[pixel / 44][pixel % 44]++;
            /* linspace puts feature 0 at input pixel 0 and feature 43 at 703. */
            double u = (x + 0.5) * 704 / w - 0.5, v = (y + 0.5) * 256 / h - 0.5;
            double off_u = fabs(u - (double)(pixel % 44) * 703 / 43);
            double off_v = fabs(v - (double)(pixel / 44) * 255 / 15);
            wrong += off_u > 703.0 / 86 + 1e-9 || off_v > 255.0 / 30 + 1e-9;
        }
    int missing = 0;
    for (int i = 0; i < 16 * 44; i++)
        missing += counts[i / 44][i % 44] == 0;
    tap_ok(wrong == 0 && missing == 0,
           "%d x %d: each pixel shows the feature next to it, and none is left out", w, h);
    if (w == 44)
        tap_ok(gradient_pixel(&frustum, w, h, 7, 5) == 5 * 44 + 7,
               "a picture of the features' size: pixel for pixel");
}

static void test_camera(void) {
    const Frustum frustum = {.input_w = 6, .input_h = 4, .feat_w = 3, .feat_h = 2};
    float color[2 * 8 * 12 * 3], strength[PIXELS] = {0};
    for (size_t i = 0; i < sizeof color / sizeof *color; i++)
        color[i] = 0.5F;
    strength[6 + 4] = 1; /* camera 1, row 1, column 1 */
    CameraViews seen = {.cameras = 2, .h = 8, .w = 12, .color = color};
    Image images[2] = {{0}};
    const StripInput input = {.seen = &seen, .frustum = &frustum};
    bool ok = true;
    for (int i = 0; i < 2; i++)
        ok = ok && strip_camera(&input, STRIP_IMAGE, strength, NULL, i, 12, &images[i], &err);
    int lit[2] = {0};
    for (int i = 0; ok && i < 2; i++)
        for (int p = 0; p < 8 * 12; p++) {
            Rgb at = image_get(&images[i], p % 12, p / 12);
            lit[i] += at.r == gradient_light.r && at.b == gradient_light.b;
        }
    Rgb there = ok ? image_get(&images[1], 6, 7) : (Rgb){0};
    tap_ok(ok && lit[0] == 0 && lit[1] > 8 && lit[1] < 40 && there.r == gradient_light.r,
           "only the pixel of its own camera is lit (%d pixels of the picture)", lit[1]);
    image_free(&images[0]);
    image_free(&images[1]);
}

typedef struct {
    OpenProblem *opened;
    Embedding embedding;
    float *pooled;
    GridContent content;
} Street;

static void open_street(Street *street, BevAlign align) {
    OpenProblem *opened = open_problem("intersection", BEV_FP32, align, 16, BEV_FORWARD);
    const Scene *scene = opened->workload.scene;
    *street = (Street){.opened = opened};
    need(problem_pool(bev_default(BEV_CPU, BEV_FORWARD), opened->view, &err) &&
             embedding_init(&street->embedding, 16, scene->seed, &err),
         &err);
    const BevTensor *out = &opened->view->out;
    size_t bytes = (size_t)(out->rows * out->row_len) * sizeof(float);
    street->pooled = memcpy(malloc(bytes), out->data, bytes);
    street->content = (GridContent){.nx = scene->shape.nx,
                                    .ny = scene->shape.ny,
                                    .channels = 16,
                                    .pooled = street->pooled,
                                    .map = &opened->view->map,
                                    .rig = &scene->rig,
                                    .world = &scene->world,
                                    .embedding = &street->embedding};
}

static void close_street(Street *street) {
    embedding_free(&street->embedding);
    close_problem(street->opened);
    free(street->pooled);
}

static void check_cells(const Street *street, const GridLoss *loss, const char *name) {
    const GridContent *content = &street->content;
    int64_t count = 0, wrong = 0;
    double value = 0;
    for (int64_t i = 0; i < content->nx * content->ny * content->channels; i++) {
        bool inside = loss->inside[i / content->channels];
        count += inside && i % content->channels == 0;
        wrong += loss->grad_out[i] != (inside ? content->pooled[i] : 0);
        value += inside ? 0.5 * content->pooled[i] * content->pooled[i] : 0;
    }
    tap_ok(wrong == 0 && count == loss->count && loss->inside[loss->cell] &&
               fabs(value - loss->value) <= 1e-9 * value,
           "%s: the gradient is what is pooled into its %lld cells, 0 elsewhere", name,
           (long long)count);
}

static int64_t cell_at(const Street *street, double x_m, double y_m) {
    const Grid *grid = &street->opened->workload.scene->rig.grid;
    int64_t x = (int64_t)((x_m - grid->x_min_m) / (grid->x_max_m - grid->x_min_m) * grid->nx);
    int64_t y = (int64_t)((y_m - grid->y_min_m) / (grid->y_max_m - grid->y_min_m) * grid->ny);
    return y * grid->nx + x;
}

/* Something is pooled into the cell. */
static bool is_filled(const Street *street, int64_t cell) {
    GridLoss loss;
    bool made = grid_loss_make(&loss, &street->content, LOSS_CELL, cell, &err);
    if (made)
        grid_loss_free(&loss);
    return made;
}

/* The middle of a car that something is pooled into, and the area of its outline in cells. */
static int64_t find_car(const Street *street, double *cells) {
    const World *world = street->content.world;
    const Grid *grid = &street->opened->workload.scene->rig.grid;
    double cell_m2 =
        (grid->x_max_m - grid->x_min_m) / grid->nx * (grid->y_max_m - grid->y_min_m) / grid->ny;
    for (int i = 0; i < world->solid_count; i++) {
        const Solid *solid = &world->solids[i];
        int64_t cell = cell_at(street, solid->center_m[0], solid->center_m[1]);
        *cells = solid->size_m[0] * solid->size_m[1] / cell_m2;
        if (solid->class == CLASS_CAR && is_filled(street, cell))
            return cell;
    }
    return -1;
}

static void test_losses(BevAlign align) {
    Street street;
    open_street(&street, align);
    double area = 0;
    int64_t car = find_car(&street, &area);
    int64_t counts[LOSS_COUNT] = {0};
    tap_ok(car >= 0, "%s: a car is seen", bev_aligns[align].name);
    for (int kind = 0; car >= 0 && kind < LOSS_COUNT; kind++) {
        GridLoss loss;
        if (!tap_ok(grid_loss_make(&loss, &street.content, (LossKind)kind, car, &err), "%s, %s",
                    bev_aligns[align].name, losses[kind].name))
            continue;
        counts[kind] = loss.count;
        check_cells(&street, &loss, losses[kind].name);
        tap_ok(kind != LOSS_BOX || loss.class == CLASS_CAR, "%s: its class", losses[kind].name);
        grid_loss_free(&loss);
    }
    tap_ok(counts[LOSS_CELL] == 1, "one cell");
    tap_ok(fabs((double)counts[LOSS_BOX] - area) < 0.4 * area, "the car covers %lld cells of %.1f",
           (long long)counts[LOSS_BOX], area);
    tap_ok(counts[LOSS_CLASS] > 1, "its class has %lld cells", (long long)counts[LOSS_CLASS]);
    close_street(&street);
}

static void refused(const Street *street, LossKind kind, int64_t cell, const char *says) {
    GridLoss loss;
    bool made = grid_loss_make(&loss, &street->content, kind, cell, &err);
    tap_ok(!made && err.kind == ERR_USAGE && strstr(err.what, says), "%s: %s", losses[kind].name,
           err.what);
    if (made)
        grid_loss_free(&loss);
}

static void test_refusals(void) {
    Street street;
    open_street(&street, BEV_NEAREST);
    bool there = false;
    int64_t strongest = grid_strongest(&street.content, 15, &there);
    double center[2];
    grid_center(&street.opened->workload.scene->rig.grid, strongest, center);
    tap_ok(strongest >= 0 && there && fabs(hypot(center[0], center[1]) - 15) <= 1.5,
           "the cell to begin with lies %.1f m away", hypot(center[0], center[1]));
    refused(&street, LOSS_CELL, 0, "no point falls into that cell");
    double ahead_m = 9; /* the street there is empty */
    while (ahead_m < 14 && !is_filled(&street, cell_at(&street, ahead_m, 0)))
        ahead_m += 0.25;
    refused(&street, LOSS_BOX, cell_at(&street, ahead_m, 0), "no object covers");
    memset(street.pooled + strongest * 16, 0, 16 * sizeof *street.pooled);
    refused(&street, LOSS_CELL, strongest, "are 0");
    refused(&street, LOSS_CLASS, strongest, "no known embedding");
    street.content.world = NULL;
    street.content.embedding = NULL;
    refused(&street, LOSS_BOX, strongest, "no objects");
    refused(&street, LOSS_CLASS, strongest, "no known embedding");
    memset(street.pooled, 0, (size_t)(street.content.nx * street.content.ny) * 16 * sizeof(float));
    street.pooled[0] = 1;
    tap_ok(grid_strongest(&street.content, 15, &there) == 0 && !there,
           "nothing is pooled there: the strongest of all cells");
    street.pooled[0] = 0;
    tap_ok(grid_strongest(&street.content, 15, &there) == -1,
           "nothing pooled: no cell to begin with");
    close_street(&street);
}

TAP_SUITE(gradient_view) {
    test_strength();
    test_light();
    test_pixels(44, 16);
    test_pixels(528, 192);
    test_pixels(97, 31);
    test_camera();
    test_losses(BEV_NEAREST);
    test_losses(BEV_BILINEAR);
    test_refusals();
}
