/* SPDX-License-Identifier: MIT */
#include "src/accuracy/cases.h"

#include "src/base/hash.h"
#include "src/base/random.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where the points of a case go ----------------------------------------------------------- */

/* A rule gives the cell of a frustum point. -1: the point is outside the grid. */
#define RULE(name, cell)                                                                           \
    static int64_t name(const BevShape *s, int64_t point, uint64_t *state) {                       \
        const int64_t cells = s->nx * s->ny;                                                       \
        (void)cells, (void)point, (void)state;                                                     \
        return cell;                                                                               \
    }
RULE(nowhere, -1)
RULE(first_only, point == 0 ? cells / 2 : -1)
RULE(all_in_one, cells - 1)
RULE(one_each, point < cells ? point : -1)
/* Puts points into the first and the last cell only. */
RULE(both_ends, random_bits(state) & 1 ? 0 : cells - 1)

/* Spreads points as a real rig does: few in most cells, many in some, a third outside the grid. */
static int64_t ragged(const BevShape *s, int64_t point, uint64_t *state) {
    (void)point;
    double u = random_unit(state);
    return random_below(state, 3) ? (int64_t)(u * u * u * (double)(s->nx * s->ny)) : -1;
}

/* Puts 2,000 points into one cell and spreads all others as ragged() does. */
RULE(one_long, point % 2 == 0 && point < 4000 ? 3 : ragged(s, point, state))
/* Spreads points as a level rig does. All pixels of an image column at one depth share a cell. Four
 * neighbouring columns share their cells. */
RULE(columns,
     point / (s->feat_w * s->feat_h) % s->depth_bins + s->depth_bins * (point % s->feat_w / 4))

/* Parts of the corner cases. */
#define SMALL(channels) .shape = {2, 7, 4, 9, channels, 13, 11, 1}
#define LONG(channels)                                                                             \
    .shape = {2, 30, 10, 8, channels, 13, 11, 1}, .cell = one_long, .crowded = true
#define COLUMNS(width, channels)                                                                   \
    .shape = {2, 6, 19, width, channels, 13, 11, 1}, .cell = columns, .crowded = true

static const Case corners[] = {
    {.name = "no_points", SMALL(80), .cell = nowhere},
    {.name = "one_point", SMALL(80), .cell = first_only},
    {.name = "one_cell", SMALL(80), .cell = all_in_one, .crowded = true},
    {.name = "one_per_cell", SMALL(80), .cell = one_each},
    {.name = "both_ends", SMALL(80), .cell = both_ends, .crowded = true},
    {.name = "one_cell_grid", .shape = {1, 5, 3, 4, 16, 1, 1, 1}, .cell = ragged, .crowded = true},
    {.name = "ragged", SMALL(80), .cell = ragged},
    {.name = "ragged_tall", .shape = {3, 6, 5, 1, 80, 2, 57, 1}, .cell = ragged},
    {.name = "ragged_c1", SMALL(1), .cell = ragged},
    {.name = "ragged_c7", SMALL(7), .cell = ragged},
    {.name = "ragged_c8", SMALL(8), .cell = ragged},
    {.name = "ragged_c19", SMALL(19), .cell = ragged},
    {.name = "ragged_c83", SMALL(83), .cell = ragged},
    {.name = "ragged_c128", SMALL(128), .cell = ragged},
    {.name = "ragged_c256", SMALL(256), .cell = ragged},
    {.name = "ragged_c1024", SMALL(1024), .cell = ragged},
    {.name = "long_interval", LONG(80)},
    {.name = "long_interval_c19", LONG(19)},
    {.name = "columns", COLUMNS(7, 80)},
    {.name = "columns_c128", COLUMNS(8, 128)},
    {.name = "sparse", SMALL(80), .cell = ragged, .sparse = true},
    {.name = "sparse_columns", COLUMNS(7, 80), .sparse = true},
    {.name = "sparse_columns_c128", COLUMNS(8, 128), .sparse = true},
    {.name = "all_outside", .shape = {0}},
};
enum { CORNERS = sizeof corners / sizeof *corners };

int case_count(void) {
    return CORNERS + preset_count;
}

Case case_at(int number) {
    if (number < CORNERS)
        return corners[number];
    const Preset *config = &presets[number - CORNERS];
    return (Case){.name = config->name, .config = config};
}

/* ---- maps, from a rule or from the canonical rig --------------------------------------------- */

/* A contribution of a frustum point to a cell. */
typedef struct {
    int32_t cell, rank_depth;
    float weight;
} Touch;

/* Sorts by cell, and the contributions to a cell by rank_depth. */
static int compare_touches(const void *a, const void *b) {
    const Touch *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->rank_depth > y->rank_depth) - (x->rank_depth < y->rank_depth);
}

/* Lists the contributions of a point, and returns their number. Nearest has one contribution, to
 * `cell`, with weight 1. Bilinear has up to four, to `cell` and its upper and right neighbours. */
static int64_t list_touches(const BevShape *shape, BevAlign align, int64_t cell, int64_t point,
                            uint64_t *state, Touch *touches) {
    if (align == BEV_NEAREST) {
        touches[0] = (Touch){(int32_t)cell, (int32_t)point, 1};
        return 1;
    }
    float fx = (float)random_unit(state), fy = (float)random_unit(state);
    int64_t count = 0;
    for (int corner = 0; corner < 4; corner++) {
        int64_t dx = corner & 1, dy = corner >> 1;
        float weight = (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy);
        if (cell % shape->nx + dx < shape->nx && cell / shape->nx + dy < shape->ny)
            touches[count++] =
                (Touch){(int32_t)(cell + dy * shape->nx + dx), (int32_t)point, weight};
    }
    return count;
}

static bool map_from_rule(const Case *c, BevAlign align, uint64_t *state, BevMap *map, Err *err) {
    const BevShape *shape = &c->shape;
    int64_t pixels = shape->feat_h * shape->feat_w, bins_by_pixels = shape->depth_bins * pixels;
    int64_t frustum = shape->cameras * bins_by_pixels, count = 0;
    Touch *touches = malloc((size_t)frustum * 4 * sizeof *touches);
    for (int64_t point = 0; touches && point < frustum; point++) {
        int64_t cell = c->cell(shape, point, state);
        if (cell >= 0)
            count += list_touches(shape, align, cell, point, state, touches + count);
    }
    bool ok = touches ? scatter_allocate(map, count, 0, align != BEV_NEAREST, err)
                      : err_no_memory(err, c->name, "");
    if (ok)
        qsort(touches, (size_t)count, sizeof *touches, compare_touches);
    for (int64_t t = 0; ok && t < count; t++) {
        int32_t rank = touches[t].rank_depth;
        map->ranks_depth[t] = rank;
        map->ranks_feat[t] = (int32_t)(rank / bins_by_pixels * pixels + rank % pixels);
        map->ranks_bev[t] = touches[t].cell;
        if (map->weights)
            map->weights[t] = touches[t].weight;
    }
    free(touches);
    return ok && scatter_find_intervals(map, err);
}

static bool map_from_rig(const Case *c, BevAlign align, BevShape *shape, BevMap *map, Err *err) {
    Scene scene;
    if (!scene_load(c->config ? c->name : preset_world, &scene, err))
        return false;
    if (!c->config) { /* case all_outside: no camera looks at the small grid */
        scene.rig.camera_count = 1;
        scene.rig.grid.x_min_m += 1000;
        scene.rig.grid.x_max_m += 1000;
        scene.rig.grid.nx = scene.rig.grid.ny = 20;
    }
    *shape = rig_shape(&scene.rig, scene.channels);
    bool ok = scatter_build(&scene.rig, align, UINT32_MAX, NULL, map, err);
    scene_free(&scene);
    return ok;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Draws depths as a softmax gives them, few large and many small. Features have both signs. */
static bool draw_features(CaseData *data, uint64_t *state) {
    const BevShape *s = &data->shape;
    int64_t pixels = s->cameras * s->feat_h * s->feat_w;
    int64_t depths = pixels * s->depth_bins, feats = pixels * s->channels;
    data->features.depth = malloc((size_t)depths * sizeof(float));
    data->features.feat = malloc((size_t)feats * sizeof(float));
    if (!data->features.depth || !data->features.feat)
        return false;
    for (int64_t i = 0; i < depths; i++)
        data->features.depth[i] = (float)pow(random_unit(state), 4);
    for (int64_t i = 0; i < feats; i++)
        data->features.feat[i] = (float)(random_unit(state) + random_unit(state) - 1);
    return true;
}

/* Sets most depths to 0: three of four image columns of each bin, and half of the other pixels. */
static void thin_out_depths(CaseData *data, uint64_t *state) {
    const BevShape *s = &data->shape;
    int64_t bins = s->cameras * s->depth_bins, pixels = s->feat_h * s->feat_w;
    for (int64_t bin = 0; bin < bins; bin++)
        for (int64_t w = 0; w < s->feat_w; w++) {
            bool is_zero_column = random_below(state, 4) > 0;
            for (int64_t h = 0; h < s->feat_h; h++)
                if (is_zero_column || random_below(state, 2))
                    data->features.depth[bin * pixels + h * s->feat_w + w] = 0;
        }
}

bool case_build(const Case *c, BevAlign align, int channel_divisor, uint64_t seed, CaseData *data,
                Err *err) {
    *data = (CaseData){.shape = c->shape};
    uint64_t state = hash_text(seed, c->name);
    bool ok = c->cell ? map_from_rule(c, align, &state, &data->map, err)
                      : map_from_rig(c, align, &data->shape, &data->map, err);
    if (ok && c->config)
        data->shape.channels /= channel_divisor;
    if (ok && !draw_features(data, &state))
        ok = err_no_memory(err, c->name, "");
    if (ok && c->sparse)
        thin_out_depths(data, &state);
    if (!ok)
        case_free(data);
    return ok;
}

void case_free(CaseData *data) {
    if (!data)
        return;
    scatter_free(&data->map);
    features_free(&data->features);
    memset(data, 0, sizeof *data);
}

char *bad_cells_map(const uint8_t *bad, int64_t nx, int64_t ny, int columns, int rows) {
    int64_t width = ny < columns ? ny : columns, height = nx < rows ? nx : rows;
    int64_t line = width + 1, size = line * height;
    char *text = malloc((size_t)size + 1);
    if (!text)
        return NULL;
    for (int64_t at = 0; at < size; at++)
        text[at] = at % line < width ? '.' : '\n';
    text[size] = '\0';
    /* A character may show several cells. The rounding puts x = nx - 1 into the first line of the
     * text, and y = ny - 1 into the first column. */
    for (int64_t cell = 0; cell < nx * ny; cell++) {
        int64_t x = cell % nx, y = cell / nx;
        int64_t from_bottom = ((x + 1) * height - 1) / nx, row = height - 1 - from_bottom;
        int64_t from_right = ((y + 1) * width - 1) / ny, column = width - 1 - from_right;
        if (bad[cell])
            text[row * line + column] = 'x';
    }
    return text;
}
