/* SPDX-License-Identifier: MIT */
/* Loads an operator of the user: a folder of .npy files. All headers are checked before elements
 * are read. */
#include "src/scene/npz.h"
#include "src/scene/operator/operator_internal.h"
#include "src/scene/scatter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    FILE *open[FILE_COUNT]; /* positioned at the first element; NULL: the file is missing */
    NpyArray array[FILE_COUNT];
    double *values[FILE_COUNT];
} Folder;

#define REFUSE(folder_, id_, ...)                                                                  \
    data_refuse((folder_)->err, (folder_)->folder, files[id_].name, __VA_ARGS__)

static void folder_close(Folder *folder) {
    for (int id = 0; id < FILE_COUNT; id++) {
        if (folder->open[id])
            fclose(folder->open[id]);
        free(folder->values[id]);
    }
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Reads the header of a .npy file, and compares its size with that of the file. */
static bool read_header(Folder *folder, int id) {
    FILE *file = folder->open[id];
    NpyArray *array = &folder->array[id];
    unsigned char prefix[NPY_PREFIX_BYTES] = {0};
    size_t start, length;
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) ||
        fread(prefix, 1, sizeof prefix, file) != sizeof prefix)
        return REFUSE(folder, id, "", "no .npy file");
    if (!npy_read_prefix(prefix, files[id].name, &start, &length, folder->err))
        return false;
    char *text = malloc(length + 1); /* at most NPY_MAX_HEADER_BYTES */
    bool ok =
        text && fseek(file, (long)start, SEEK_SET) == 0 && fread(text, 1, length, file) == length;
    if (!ok)
        REFUSE(folder, id, "", text ? "ends in its header" : "out of memory");
    ok = ok && npy_read_header(text, length, files[id].name, array, folder->err);
    free(text);
    if (!ok)
        return false;
    double needed = (double)array->count * (double)npy_types[array->type].bytes;
    double there = (double)status.st_size - (double)start - (double)length;
    return needed == there ||
           REFUSE(folder, id, "", "needs %.0f bytes of elements, but has %.0f", needed, there);
}

static bool check_header(Folder *folder, int id) {
    const NpyArray *array = &folder->array[id];
    bool fits = files[id].whole ? npy_is_whole(array->type) : npy_is_float(array->type);
    char shape[128];
    npy_shape_text(array, shape, sizeof shape);
    if (array->rank != files[id].rank)
        return REFUSE(folder, id, "reshape it", "shape %s, must have %d ax%s", shape,
                      files[id].rank, files[id].rank == 1 ? "is" : "es");
    return fits ||
           REFUSE(folder, id, files[id].whole ? "" : "save array.astype(numpy.float32)",
                  "dtype %s, must be %s", npy_types[array->type].name,
                  files[id].whole ? "any whole number" : "float16, float32 or float64");
}

static bool open_files(Folder *folder) {
    for (int id = 0; id < FILE_COUNT; id++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder->folder, files[id].name);
        Err why;
        folder->open[id] = data_open(path, &why);
        if (!folder->open[id] && (errno != ENOENT || id < NEEDED))
            return REFUSE(folder, id, "five arrays make an operator", "%s", why.what);
        if (folder->open[id] && (!read_header(folder, id) || !check_header(folder, id)))
            return false;
    }
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

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
        if (folder->open[per_point[i]] && a[per_point[i]].count != points)
            return REFUSE(folder, per_point[i], "", "%lld points, but ranks_bev.npy has %lld",
                          (long long)a[per_point[i]].count, (long long)points);
    if (depths < rows || depths % rows || depths / rows > SCENE_MAX_BINS)
        return REFUSE(folder, DEPTH, "a factor for each point goes into weights.npy",
                      "%lld depths, must be 1 to %d times the %lld rows of feat.npy",
                      (long long)depths, SCENE_MAX_BINS, (long long)rows);
    if (folder->open[GRID] && a[GRID].count != 2)
        return REFUSE(folder, GRID, "", "%lld numbers, must be ny and nx",
                      (long long)a[GRID].count);
    *shape = (BevShape){.cameras = 1, .depth_bins = depths / rows, .channels = a[FEAT].shape[1]};
    operator_rectangle(rows, SCENE_MAX_FEATURES, &shape->feat_h, &shape->feat_w);
    return scene_check_size(shape, folder->folder, folder->err); /* the grid is not known yet */
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Reads the elements of an array as doubles. */
static bool read_values(Folder *folder, int id) {
    const NpyArray *array = &folder->array[id];
    const size_t count = (size_t)array->count, size = npy_types[array->type].bytes;
    double *values = folder->values[id] = malloc(count * sizeof *values);
    unsigned char *bytes = malloc(count * size);
    bool ok = values && bytes ? fread(bytes, size, count, folder->open[id]) == count ||
                                    REFUSE(folder, id, "", "cannot read its elements")
                              : REFUSE(folder, id, "", "out of memory");
    for (size_t i = 0; ok && i < count; i++)
        values[i] =
            npy_element(array->type, bytes + (size_t)npy_place(array, (int64_t)i) * size);
    free(bytes);
    return ok;
}

static bool check_range(Folder *folder, int id, int64_t end) {
    for (int64_t i = 0; i < folder->array[id].count; i++) {
        double value = folder->values[id][i];
        if (!(value >= 0 && value < (double)end))
            return REFUSE(folder, id, "", "element %lld is %.0f, must be 0 to %lld", (long long)i,
                          value, (long long)end - 1);
    }
    return true;
}

/* Finds the grid. Without bev_shape.npy it is nearly square and has the highest cell. */
static bool find_grid(Folder *folder, BevShape *shape) {
    const double *cells = folder->values[RANKS_BEV], *grid = folder->values[GRID];
    int64_t count = 0, side = 1;
    if (!check_range(folder, RANKS_BEV, MOST_CELLS) ||
        (grid && !check_range(folder, GRID, SCENE_MAX_CELLS + 1)))
        return false;
    if (grid && (grid[0] < 1 || grid[1] < 1))
        return REFUSE(folder, GRID, "ny and nx", "%.0f x %.0f cells, must be 1 at least each",
                      grid[0], grid[1]);
    for (int64_t t = 0; t < folder->array[RANKS_BEV].count; t++)
        count = cells[t] >= (double)count ? (int64_t)cells[t] + 1 : count;
    while (side * side < count)
        side++;
    operator_rectangle(count, side, &shape->ny, &shape->nx);
    if (grid) {
        shape->ny = (int64_t)grid[0];
        shape->nx = (int64_t)grid[1];
    }
    return check_range(folder, RANKS_BEV, shape->ny * shape->nx);
}

/* ---- the scene ------------------------------------------------------------------------------- */

/* Returns the place of a depth value after rows were padded to a rectangle. */
static int64_t depth_place(const Folder *folder, const BevShape *shape, int64_t depth) {
    int64_t rows = folder->array[FEAT].shape[0];
    return depth / rows * shape->feat_h * shape->feat_w + depth % rows;
}

static void fill_tensors(const Folder *folder, Scene *scene) {
    for (int64_t i = 0; i < folder->array[DEPTH].count; i++)
        scene->tensors.depth[depth_place(folder, &scene->shape, i)] =
            (float)folder->values[DEPTH][i];
    for (int64_t i = 0; i < folder->array[FEAT].count; i++)
        scene->tensors.feat[i] = (float)folder->values[FEAT][i];
}

/* Fills the map, sorted by cell. The points of a cell keep the order of the file. */
static void fill_map(const Folder *folder, const BevShape *shape, int64_t *starts, BevMap *map) {
    const double *cells = folder->values[RANKS_BEV];
    for (int64_t t = 0; t < map->points; t++)
        starts[(int64_t)cells[t] + 1]++;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++)
        starts[cell + 1] += starts[cell];
    for (int64_t t = 0; t < map->points; t++) {
        int64_t at = starts[(int64_t)cells[t]]++;
        map->ranks_bev[at] = (int32_t)cells[t];
        map->ranks_feat[at] = (int32_t)folder->values[RANKS_FEAT][t];
        map->ranks_depth[at] =
            (int32_t)depth_place(folder, shape, (int64_t)folder->values[RANKS_DEPTH][t]);
        if (map->weights)
            map->weights[at] = (float)folder->values[WEIGHTS][t];
    }
}

/* Makes the scene of the arrays: its tensors, and its map sorted by cell. */
static bool build_scene(Folder *folder, Scene *scene) {
    size_t cells = (size_t)(scene->shape.nx * scene->shape.ny);
    BevMap *map = &scene->map;
    int64_t *starts = calloc(cells + 1, sizeof *starts);
    scene->tensors.depth = calloc(features_depth_count(&scene->shape), sizeof(float));
    scene->tensors.feat = calloc(features_feat_count(&scene->shape), sizeof(float));
    bool ok =
        (starts && scene->tensors.depth && scene->tensors.feat) ||
        err_set(folder->err, ERR_FAILED, folder->folder, "choose fewer points", "out of memory");
    ok = ok && scatter_allocate(map, folder->array[RANKS_BEV].count, 0,
                                folder->open[WEIGHTS] != NULL, folder->err);
    if (ok) {
        fill_tensors(folder, scene);
        fill_map(folder, &scene->shape, starts, map);
    }
    free(starts);
    return ok && scatter_find_intervals(map, folder->err) &&
           scatter_check(map, &scene->shape, folder->folder, folder->err);
}

bool scene_load_folder(const char *path, Scene *scene, Err *err) {
    Folder folder = {.folder = path, .err = err};
    memset(scene, 0, sizeof *scene);
    bool ok = open_files(&folder) && check_shapes(&folder, &scene->shape);
    for (int id = 0; ok && id < FILE_COUNT; id++)
        ok = !folder.open[id] || read_values(&folder, id);
    ok = ok && check_range(&folder, RANKS_DEPTH, folder.array[DEPTH].count) &&
         check_range(&folder, RANKS_FEAT, folder.array[FEAT].shape[0]) &&
         find_grid(&folder, &scene->shape) && scene_check_size(&scene->shape, path, err) &&
         build_scene(&folder, scene);
    scene->has_map = true;
    scene->channels = scene->shape.channels;
    scene->temperature = 1;
    folder_close(&folder);
    if (!ok)
        scene_free(scene);
    return ok;
}
