/* SPDX-License-Identifier: MIT */
#include "src/scene/operator/operator.h"

#include "kernels/threads.h"
#include "src/base/random.h"
#include "src/scene/scatter.h"
#include "src/scene/scene_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const OperatorInfo operator_kinds[OPERATOR_COUNT] = {
    [OPERATOR_HISTOGRAM] = {"histogram", "Histogram", "values", "bins", BARS_CELLS,
                            "values of a bin"},
    [OPERATOR_EMBEDDING_BAG] = {"embedding_bag", "Embedding bag", "look-ups", "bags",
                                BARS_SORTED_ROWS, "uses of a row, most first"},
    [OPERATOR_VOXELIZE] = {"voxelize", "Voxelisation", "rays", "pillars", BARS_SORTED_CELLS,
                           "returns of a pillar, most first"},
    [OPERATOR_SEGMENTS] = {"segments", "Segmented sum", "rows", "segments", BARS_SORTED_CELLS,
                           "rows of a segment, most first"},
};

/* Unsorted points. Point t has cell cells[t] and row rows[t]; cell -1: it has none. */
typedef struct {
    int64_t count;
    int32_t *cells, *rows;
    int32_t *depths;      /* the depth value of each point; NULL: that of its row */
    const float *weights; /* NULL: all 1 */
} OperatorPoints;

/* ---- checks ---------------------------------------------------------------------------------- */

/* Refuses sizes that do not go together. Each size alone is within its bounds. */
static bool check_sizes_agree(const OperatorSpec *spec, const char *where, Err *err) {
    double side = floor(sqrt((double)spec->cells) + 0.5);
    if (spec->kind == OPERATOR_HISTOGRAM && spec->channels != 1)
        return data_refuse(err, where, "channels", "", "%lld, but a histogram counts one",
                           (long long)spec->channels);
    if (spec->kind == OPERATOR_VOXELIZE && side * side != (double)spec->cells)
        return data_refuse(err, where, "cells", "such as 40000, for 200 x 200",
                           "%lld pillars are no square grid", (long long)spec->cells);
    if (spec->kind == OPERATOR_VOXELIZE && spec->channels < EMBED_DIMS)
        return data_refuse(err, where, "channels", "",
                           "%lld, must be %d at least: class, colour, height",
                           (long long)spec->channels, EMBED_DIMS);
    if (spec->kind == OPERATOR_EMBEDDING_BAG && spec->points < spec->cells)
        return data_refuse(err, where, "points", "",
                           "%lld look-ups for %lld bags, must be one a bag at least",
                           (long long)spec->points, (long long)spec->cells);
    return true;
}

/* Arranges `count` rows or cells as a rectangle: one line, or lines of `most`. */
static void arrange_rectangle(int64_t count, int64_t most, int64_t *lines, int64_t *columns) {
    *columns = count < most ? count : most;
    *lines = (count + *columns - 1) / *columns;
}

/* ---- drawing points -------------------------------------------------------------------------- */

/* Returns cumulative sums of (rank + 1)^-skew, for draw_zipf_rank. Free them. NULL: no memory. */
static double *zipf_sums(int64_t count, double skew) {
    double *sums = malloc((size_t)count * sizeof *sums), sum = 0;
    for (int64_t r = 0; sums && r < count; r++)
        sums[r] = sum += pow((double)(r + 1), -skew);
    return sums;
}

/* Draws a rank: the first rank whose cumulative sum is above a random part of the total. */
static int64_t draw_zipf_rank(const double *sums, int64_t count, uint64_t *random) {
    double drawn_sum = random_unit(random) * sums[count - 1];
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (sums[middle] > drawn_sum)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws the bin of each value: its rank by Zipf's law. Rank 0 is the middle bin. The next ranks are
 * its neighbours, in turn to the right and to the left. At skew 0 all bins are alike. */
static bool draw_histogram(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *sums = zipf_sums(spec->cells, spec->skew);
    const int64_t middle = (spec->cells - 1) / 2;
    for (int64_t t = 0; sums && t < points->count; t++) {
        const int64_t rank = draw_zipf_rank(sums, spec->cells, &random);
        const int64_t from_middle = (rank + 1) / 2;
        const bool to_right = rank % 2;
        points->cells[t] = (int32_t)(middle + (to_right ? from_middle : -from_middle));
        points->rows[t] = (int32_t)t;
    }
    free(sums);
    return sums != NULL;
}

/* Returns the numbers 0 to count - 1 in random order. The caller frees. NULL: no memory. */
static int32_t *shuffled_numbers(int64_t count, uint64_t *random) {
    int32_t *order = malloc((size_t)count * sizeof *order);
    for (int64_t i = 0; order && i < count; i++) {
        int64_t j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    return order;
}

static int compare_values(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the rows of each bag. The points of a bag lie side by side. */
static void sort_rows_of_bags(OperatorPoints *points) {
    int64_t first = 0; /* of the bag */
    for (int64_t end = 1; end <= points->count; end++) {
        if (end < points->count && points->cells[end] == points->cells[first])
            continue;
        qsort(points->rows + first, (size_t)(end - first), sizeof *points->rows, compare_values);
        first = end;
    }
}

/* Draws the look-ups of embedding bags of equal length. A look-up draws the rank of a row by Zipf's
 * law, as words of a text. The ranks are shuffled over the table. The rows of a bag ascend. */
static bool draw_lookups(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *sums = zipf_sums(spec->rows, spec->skew);
    int32_t *order = shuffled_numbers(spec->rows, &random);
    bool ok = sums && order;
    for (int64_t t = 0; ok && t < points->count; t++) {
        points->cells[t] = (int32_t)(t * spec->cells / points->count);
        points->rows[t] = order[draw_zipf_rank(sums, spec->rows, &random)];
    }
    if (ok)
        sort_rows_of_bags(points);
    free(sums);
    free(order);
    return ok;
}

/* Draws the segments of rows. Rows lie segment after segment. The length of a segment is in
 * proportion to E^skew, where E is exponentially distributed. At skew 0 all lengths are equal, at
 * skew 1 they are distributed geometrically. */
static bool draw_segments(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *ends = malloc((size_t)spec->cells * sizeof *ends), sum = 0;
    for (int64_t i = 0; ends && i < spec->cells; i++)
        ends[i] = sum += pow(-log1p(-random_unit(&random)), spec->skew);
    int64_t row = 0;
    for (int64_t i = 0; ends && i < spec->cells; i++) {
        int64_t end = llround(ends[i] / sum * (double)points->count);
        for (; row < end; row++) {
            points->cells[row] = (int32_t)i;
            points->rows[row] = (int32_t)row;
        }
    }
    free(ends);
    return ends != NULL;
}

/* ---- the points of voxelize: a scan of a sample's world -------------------------------------- */

enum { BEAMS = 64 };
#define SENSOR_M   1.8  /* height above the ground, over the ego's origin */
#define NEAREST_M  2.5  /* radius of the ring of the lowest beam */
#define RANGE_M    70.0 /* range of the other rings beyond NEAREST_M */
#define FARTHEST_M 120.0

/* Computes the ray of a beam at turn number `turn` of `turns`, with length 1 along the ground. At
 * skew 0 the beams' rings have equal distances. A larger skew makes them denser near the car. */
static void beam_ray(int64_t beam, int64_t turn, int64_t turns, double skew, double direction[3]) {
    double ring_m = NEAREST_M + RANGE_M * pow((double)beam / BEAMS, 1 + skew);
    double angle = 2 * M_PI * (double)turn / (double)turns;
    direction[0] = cos(angle);
    direction[1] = sin(angle);
    direction[2] = -SENSOR_M / ring_m;
}

/* Casts one ray. Returns the cell of the hit point and fills its row of features. -1: no cell. */
static int32_t scan_ray(const WorldSnapshot *world, const Embedding *embedding, const Grid *grid,
                        const double direction[3], float *row) {
    static const WorldSight all = {.count = -1};
    static const double sensor_m[3] = {0, 0, SENSOR_M};
    WorldHit hit = world_cast(world, &all, sensor_m, direction, FARTHEST_M);
    if (!hit.hit)
        return -1;
    double at[3];
    point_on_ray(sensor_m, direction, hit.depth_m, at);
    float parts[EMBED_DIMS] = {0};
    parts[hit.class] = 1;
    for (int i = 0; i < 3; i++)
        parts[EMBED_R + i] = hit.color[i];
    parts[EMBED_HEIGHT] = (float)(hit.height_m / EMBED_HEIGHT_M);
    embedding_encode(embedding, parts, row);
    return (int32_t)grid_cell(grid, at);
}

/* Scans the sample spec->world. Fills the points' cells and the features of all rows. */
static bool draw_sweep(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                       float *feat, Err *err) {
    Scene scene;
    WorldSnapshot *world = NULL;
    Embedding embedding = {.channels = 0};
    if (!scene_load_sample(spec->world, &scene, err))
        return false;
    /* All solids become boxes or cylinders, because recorded results are of this simpler sweep. */
    Solid *const solids = scene.world.solids;
    for (int i = 0; i < scene.world.solid_count; i++)
        solids[i].kind = solid_is_round(solids[i].kind) ? SOLID_CYLINDER : SOLID_BOX;
    bool ok = (scene.has_world ||
               data_refuse(err, where, "world", "bevscope --list shows them",
                           "%s is an operator, must be a scene with cameras", spec->world)) &&
              world_snapshot(&scene.world, 0, &world, err) &&
              embedding_init(&embedding, spec->channels, spec->seed, err);
    Grid grid = scene.rig.grid;
    grid.nx = grid.ny = (int)lround(sqrt((double)spec->cells));
    grid.nz = 1;
    int64_t turns = (points->count + BEAMS - 1) / BEAMS;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 256)
    for (int64_t t = 0; t < (ok ? points->count : 0); t++) {
        double direction[3];
        beam_ray(t % BEAMS, t / BEAMS, turns, spec->skew, direction);
        points->rows[t] = (int32_t)t;
        points->cells[t] = scan_ray(world, &embedding, &grid, direction, feat + t * spec->channels);
    }
    world_snapshot_free(world);
    embedding_free(&embedding);
    scene_free(&scene);
    return ok;
}

/* Fills the depths. In a histogram each depth is the same power of two, so that sums in any order
 * are equal. In a voxelisation the depths of a pillar add up to 1, which makes the sum a mean. */
static void fill_depth(const OperatorSpec *spec, const BevMap *map, float *depth) {
    double power_of_two = exp2(round(log2((double)spec->cells / (double)spec->points)));
    double each = spec->kind == OPERATOR_HISTOGRAM ? power_of_two : 1;
    for (int64_t row = 0; row < spec->rows; row++)
        depth[row] = (float)each;
    if (spec->kind != OPERATOR_VOXELIZE)
        return;
    for (int64_t i = 0; i < map->intervals; i++) {
        const int32_t *ranks = map->ranks_depth + map->interval_starts[i];
        for (int32_t k = 0; k < map->interval_lengths[i]; k++)
            depth[ranks[k]] = 1 / (float)map->interval_lengths[i];
    }
}

/* ---- the map --------------------------------------------------------------------------------- */

/* Sorts the points by cell; within a cell they keep their order. `starts` (cells + 1) is 0. */
static void sort_points(const OperatorPoints *points, int64_t cells, int32_t *starts, BevMap *map) {
    const int32_t *depths = points->depths ? points->depths : points->rows;
    for (int64_t t = 0; t < points->count; t++)
        if (points->cells[t] >= 0)
            starts[points->cells[t] + 1]++;
    for (int64_t cell = 0; cell < cells; cell++)
        starts[cell + 1] += starts[cell];
    map->points = starts[cells];
    for (int64_t t = 0; t < points->count; t++) {
        if (points->cells[t] < 0)
            continue;
        int32_t at = starts[points->cells[t]]++;
        map->ranks_bev[at] = points->cells[t];
        map->ranks_feat[at] = points->rows[t];
        map->ranks_depth[at] = depths[t];
        if (map->weights)
            map->weights[at] = points->weights[t];
    }
}

static bool operator_map(const OperatorPoints *points, int64_t cells, BevMap *map, Err *err) {
    int32_t *starts = calloc((size_t)cells + 1, sizeof *starts);
    bool ok = starts ? scatter_allocate(map, points->count, 0, points->weights != NULL, err)
                     : err_no_memory(err, "scatter map", "choose fewer points");
    if (ok)
        sort_points(points, cells, starts, map);
    free(starts);
    return ok && scatter_find_intervals(map, err);
}

/* ---- the whole scene ------------------------------------------------------------------------- */

/* Draws the points by the rule of their kind, and random features. A histogram's features are 1. */
static bool draw_points(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                        float *feat, Err *err) {
    static bool (*const draws[OPERATOR_COUNT])(const OperatorSpec *, OperatorPoints *) = {
        [OPERATOR_HISTOGRAM] = draw_histogram,
        [OPERATOR_EMBEDDING_BAG] = draw_lookups,
        [OPERATOR_SEGMENTS] = draw_segments,
    };
    /* The features' random sequence differs from the points' sequence. */
    uint64_t random = spec->seed ^ 0x6665617475726573;
    if (spec->kind == OPERATOR_VOXELIZE)
        return draw_sweep(spec, where, points, feat, err);
    for (int64_t i = 0; i < spec->rows * spec->channels; i++)
        feat[i] = spec->kind == OPERATOR_HISTOGRAM ? 1 : (float)(2 * random_unit(&random) - 1);
    return draws[spec->kind](spec, points) || err_no_memory(err, where, "choose fewer points");
}

bool operator_build(const OperatorSpec *wanted, const char *where, Scene *scene, Err *err) {
    OperatorSpec spec = *wanted;
    if (spec.kind != OPERATOR_EMBEDDING_BAG)
        spec.rows = spec.points;
    if (!check_sizes_agree(&spec, where, err))
        return false;
    scene->has_operator = scene->has_map = true;
    scene->operator_spec = spec;
    scene->channels = spec.channels;
    scene->seed = spec.seed;
    scene->temperature = 1;
    BevShape *shape = &scene->shape;
    *shape = (BevShape){.cameras = 1, .depth_bins = 1, .channels = spec.channels};
    arrange_rectangle(spec.rows, SCENE_MAX_FEATURES, &shape->feat_h, &shape->feat_w);
    arrange_rectangle(spec.cells, (int64_t)ceil(sqrt((double)spec.cells) - 1e-9), &shape->ny,
                      &shape->nx);
    if (!scene_check_size(&scene->shape, where, err))
        return false;
    size_t count = (size_t)spec.points;
    OperatorPoints points = {.count = spec.points,
                             .cells = malloc(count * sizeof *points.cells),
                             .rows = malloc(count * sizeof *points.rows)};
    scene->tensors.depth = calloc(features_depth_count(&scene->shape), sizeof(float));
    scene->tensors.feat = calloc(features_feat_count(&scene->shape), sizeof(float));
    bool ok = points.cells && points.rows && scene->tensors.depth && scene->tensors.feat;
    ok = ok ? draw_points(&spec, where, &points, scene->tensors.feat, err) &&
                  operator_map(&points, spec.cells, &scene->map, err)
            : err_no_memory(err, where, "choose fewer points");
    if (ok)
        fill_depth(&spec, &scene->map, scene->tensors.depth);
    free(points.cells);
    free(points.rows);
    return ok;
}

bool operator_change(Scene *scene, const OperatorChange *change, Err *err) {
    Scene next = {.channels = 0};
    OperatorSpec spec = scene->operator_spec;
    if (change->skewed)
        spec.skew = change->skew;
    if (change->points)
        spec.points = change->points;
    if (!scene->has_operator && operator_is_changed(change))
        return err_set(err, ERR_USAGE, scene->name, "such as bevscope bench histogram --skew 1",
                       "--skew and --points are for operator scenes; this one has %s",
                       scene->has_rig ? "cameras" : "a map from a file");
    if (spec.skew == scene->operator_spec.skew && spec.points == scene->operator_spec.points)
        return true;
    if (!operator_build(&spec, scene->name, &next, err)) {
        scene_free(&next);
        return false;
    }
    memcpy(next.name, scene->name, sizeof next.name);
    memcpy(next.title, scene->title, sizeof next.title);
    scene_free(scene);
    *scene = next;
    return true;
}

void operator_label(const OperatorChange *change, char *text, size_t size) {
    if (change->skewed)
        text_add(text, size, ", skew %g", change->skew);
    if (change->points)
        text_add(text, size, ", %lld points", (long long)change->points);
}

ShortText operator_describe(const OperatorSpec *spec) {
    const OperatorInfo *info = &operator_kinds[spec->kind];
    ShortText text = short_text("%s, no cameras: %s %s", info->title,
                                text_of_unit(UNIT_COUNT, (double)spec->points).text, info->points);
    if (spec->kind == OPERATOR_EMBEDDING_BAG)
        text_add(text.text, sizeof text.text, " of %s rows",
                 text_of_unit(UNIT_COUNT, (double)spec->rows).text);
    text_add(text.text, sizeof text.text, ", %s %s, skew %g",
             text_of_unit(UNIT_COUNT, (double)spec->cells).text, info->cells, spec->skew);
    return text;
}

/* ---- the bars of an operator ----------------------------------------------------------------- */

bool operator_bars(const OperatorSpec *spec, const BevMap *map, OperatorBars *bars, Err *err) {
    const BarsOf of = operator_kinds[spec->kind].bars;
    const bool by_row = of == BARS_SORTED_ROWS, sorted = of != BARS_CELLS;
    int64_t all = by_row ? spec->rows : spec->cells;
    int32_t *uses = calloc((size_t)all, sizeof *uses); /* points of each cell or row */
    *bars = (OperatorBars){.count = all < OPERATOR_BARS ? (int)all : OPERATOR_BARS};
    if (!uses)
        return err_no_memory(err, "bars", "choose fewer points");
    for (int64_t t = 0; t < map->points; t++)
        uses[by_row ? map->ranks_feat[t] : map->ranks_bev[t]]++;
    if (sorted)
        qsort(uses, (size_t)all, sizeof *uses, compare_values);
    for (int bar = 0; bar < bars->count; bar++) {
        int64_t first = all * bar / bars->count, end = all * (bar + 1) / bars->count;
        double sum = 0;
        for (int64_t i = first; i < end; i++) {
            const int32_t use = uses[sorted ? all - 1 - i : i]; /* `uses` ascend, bars descend */
            sum += use;
            bars->most = use > bars->most ? use : bars->most;
        }
        bars->points[bar] = (float)(sum / (double)(end - first));
    }
    free(uses);
    return true;
}

double operator_bar_height(const OperatorBars *bars, int bar) {
    double most = 0;
    for (int i = 0; i < bars->count; i++)
        most = fmax(most, bars->points[i]);
    return most > 0 ? log1p(bars->points[bar]) / log1p(most) : 0;
}

ShortText operator_bars_title(const OperatorSpec *spec, const OperatorBars *bars) {
    return short_text("%s: up to %s (log)", operator_kinds[spec->kind].bars_title,
                      text_of_unit(UNIT_COUNT, (double)bars->most).text);
}

/* ---- an operator of the user: a folder of .npy files ----------------------------------------- */

/* clang-format off */
typedef enum {
    RANKS_DEPTH, RANKS_FEAT, RANKS_BEV, DEPTH, FEAT, WEIGHTS, GRID, FILE_COUNT
} FileId;
/* clang-format on */

enum { MOST_CELLS = 1 << 24, NEEDED = WEIGHTS /* files before this one must be there */ };
static const struct {
    const char *name;
    int rank;
    bool whole; /* int32 or int64; otherwise float16, float32 or float64 */
} files[FILE_COUNT] = {
    [RANKS_DEPTH] = {"ranks_depth.npy", 1, true},
    [RANKS_FEAT] = {"ranks_feat.npy", 1, true},
    [RANKS_BEV] = {"ranks_bev.npy", 1, true},
    [DEPTH] = {"depth.npy", 1, false},
    [FEAT] = {"feat.npy", 2, false},
    [WEIGHTS] = {"weights.npy", 1, false},
    [GRID] = {"bev_shape.npy", 1, true},
};

typedef struct {
    const char *folder;
    Err *err;
    NpyArray array[FILE_COUNT];
    void *elements[FILE_COUNT]; /* int32 or float; NULL: the file is missing */
} Folder;

#define REFUSE(folder_, id_, ...)                                                                  \
    data_refuse((folder_)->err, (folder_)->folder, files[id_].name, __VA_ARGS__)

/* Reads a file of the folder, and checks the number of its axes. */
static bool read_folder_array(Folder *folder, int id) {
    char path[4096];
    const NpyArray *array = &folder->array[id];
    Err why;
    snprintf(path, sizeof path, "%s/%s", folder->folder, files[id].name);
    FILE *file = data_open(path, &why);
    if (!file)
        return (errno == ENOENT && id >= NEEDED) ||
               REFUSE(folder, id, "five arrays make an operator", "%s", why.what);
    const NpyType type = files[id].whole ? NPY_I4 : NPY_F4;
    if (!npy_read_file(file, path, type, &folder->array[id], &folder->elements[id], folder->err))
        return false;
    return array->rank == files[id].rank ||
           REFUSE(folder, id, "reshape it", "shape %s, must have %d ax%s",
                  npy_shape_text(array).text, files[id].rank, files[id].rank == 1 ? "is" : "es");
}

/* ---- checks of shapes and elements ----------------------------------------------------------- */

static bool check_count(Folder *folder, int id, int64_t count, int64_t most, const char *what) {
    return (count >= 1 && count <= most) || REFUSE(folder, id, "", "%lld %s, must be 1 to %lld",
                                                   (long long)count, what, (long long)most);
}

/* Checks that the lengths of the five arrays agree, and finds the operator's shape. */
static bool check_shapes(Folder *folder, BevShape *shape) {
    const NpyArray *a = folder->array;
    int64_t points = a[RANKS_BEV].count, rows = a[FEAT].shape[0], depths = a[DEPTH].count;
    static const FileId per_point[] = {RANKS_DEPTH, RANKS_FEAT, WEIGHTS};
    if (!check_count(folder, RANKS_BEV, points, INT32_MAX, "points") ||
        !check_count(folder, FEAT, rows, OPERATOR_MAX_ROWS, "rows") ||
        !check_count(folder, FEAT, a[FEAT].shape[1], SCENE_MAX_CHANNELS, "channels"))
        return false;
    for (int i = 0; i < 3; i++)
        if (folder->elements[per_point[i]] && a[per_point[i]].count != points)
            return REFUSE(folder, per_point[i], "", "%lld points, but ranks_bev.npy has %lld",
                          (long long)a[per_point[i]].count, (long long)points);
    if (depths < rows || depths % rows || depths / rows > SCENE_MAX_BINS)
        return REFUSE(folder, DEPTH, "a factor for each point goes into weights.npy",
                      "%lld depths, must be 1 to %d times the %lld rows of feat.npy",
                      (long long)depths, SCENE_MAX_BINS, (long long)rows);
    if (folder->elements[GRID] && a[GRID].count != 2)
        return REFUSE(folder, GRID, "", "%lld numbers, must be ny and nx",
                      (long long)a[GRID].count);
    *shape = (BevShape){.cameras = 1, .depth_bins = depths / rows, .channels = a[FEAT].shape[1]};
    arrange_rectangle(rows, SCENE_MAX_FEATURES, &shape->feat_h, &shape->feat_w);
    return scene_check_size(shape, folder->folder, folder->err); /* the grid is not known yet */
}

static bool check_elements(Folder *folder, int id, int64_t end) {
    const int32_t *values = folder->elements[id];
    for (int64_t i = 0; i < folder->array[id].count; i++)
        if (values[i] < 0 || values[i] >= end)
            return REFUSE(folder, id, "", "element %lld is %d, must be 0 to %lld", (long long)i,
                          values[i], (long long)end - 1);
    return true;
}

/* Finds the grid. Without bev_shape.npy it is nearly square and has the highest cell. */
static bool find_grid_shape(Folder *folder, BevShape *shape) {
    const int32_t *cells = folder->elements[RANKS_BEV], *grid = folder->elements[GRID];
    int64_t count = 0, side = 1;
    if (!check_elements(folder, RANKS_BEV, MOST_CELLS) ||
        (grid && !check_elements(folder, GRID, SCENE_MAX_CELLS + 1)))
        return false;
    if (grid && (grid[0] < 1 || grid[1] < 1))
        return REFUSE(folder, GRID, "ny and nx", "%d x %d cells, must be 1 at least each", grid[0],
                      grid[1]);
    for (int64_t t = 0; t < folder->array[RANKS_BEV].count; t++)
        count = cells[t] >= count ? cells[t] + 1 : count;
    while (side * side < count)
        side++;
    arrange_rectangle(count, side, &shape->ny, &shape->nx);
    if (grid) {
        shape->ny = grid[0];
        shape->nx = grid[1];
    }
    return check_elements(folder, RANKS_BEV, shape->ny * shape->nx);
}

/* ---- the scene ------------------------------------------------------------------------------- */

/* Returns the place of a depth value after rows were padded to a rectangle. */
static int64_t padded_depth_index(int64_t rows, const BevShape *shape, int64_t depth) {
    return depth / rows * shape->feat_h * shape->feat_w + depth % rows;
}

/* Makes the scene of the arrays: its tensors, and its map sorted by cell. */
static bool build_scene(Folder *folder, Scene *scene) {
    const int64_t rows = folder->array[FEAT].shape[0], count = folder->array[RANKS_BEV].count;
    OperatorPoints points = {.count = count,
                             .cells = folder->elements[RANKS_BEV],
                             .rows = folder->elements[RANKS_FEAT],
                             .depths = folder->elements[RANKS_DEPTH],
                             .weights = folder->elements[WEIGHTS]};
    const float *depths = folder->elements[DEPTH];
    scene->tensors.depth = calloc(features_depth_count(&scene->shape), sizeof(float));
    scene->tensors.feat = calloc(features_feat_count(&scene->shape), sizeof(float));
    if (!scene->tensors.depth || !scene->tensors.feat)
        return err_no_memory(folder->err, folder->folder, "choose fewer points");
    for (int64_t t = 0; t < count; t++)
        points.depths[t] = (int32_t)padded_depth_index(rows, &scene->shape, points.depths[t]);
    for (int64_t i = 0; i < folder->array[DEPTH].count; i++)
        scene->tensors.depth[padded_depth_index(rows, &scene->shape, i)] = depths[i];
    memcpy(scene->tensors.feat, folder->elements[FEAT],
           (size_t)folder->array[FEAT].count * sizeof(float));
    return operator_map(&points, scene->shape.nx * scene->shape.ny, &scene->map, folder->err) &&
           scatter_check(&scene->map, &scene->shape, folder->folder, folder->err);
}

bool scene_load_folder(const char *path, Scene *scene, Err *err) {
    Folder folder = {.folder = path, .err = err};
    memset(scene, 0, sizeof *scene);
    bool ok = true;
    for (int id = 0; ok && id < FILE_COUNT; id++)
        ok = read_folder_array(&folder, id);
    ok = ok && check_shapes(&folder, &scene->shape) &&
         check_elements(&folder, RANKS_DEPTH, folder.array[DEPTH].count) &&
         check_elements(&folder, RANKS_FEAT, folder.array[FEAT].shape[0]) &&
         find_grid_shape(&folder, &scene->shape) && scene_check_size(&scene->shape, path, err) &&
         build_scene(&folder, scene);
    scene->has_map = true;
    scene->channels = scene->shape.channels;
    scene->temperature = 1;
    for (int id = 0; id < FILE_COUNT; id++)
        free(folder.elements[id]);
    if (!ok)
        scene_free(scene);
    return ok;
}
