/* SPDX-License-Identifier: MIT */
/* Loads an operator of the user: a folder of .npy files. */
#include "src/scene/npz.h"
#include "src/scene/operator/operator_internal.h"
#include "src/scene/scatter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static bool read_array(Folder *folder, int id) {
    char path[4096], shape[128];
    const NpyArray *array = &folder->array[id];
    Err why;
    snprintf(path, sizeof path, "%s/%s", folder->folder, files[id].name);
    FILE *file = data_open(path, &why);
    if (!file)
        return (errno == ENOENT && id >= NEEDED) ||
               REFUSE(folder, id, "five arrays make an operator", "%s", why.what);
    bool ok = npy_read_file(file, path, files[id].whole ? NPY_I4 : NPY_F4, &folder->array[id],
                            &folder->elements[id], folder->err);
    fclose(file);
    if (!ok || array->rank == files[id].rank)
        return ok;
    npy_shape_text(array, shape, sizeof shape);
    return REFUSE(folder, id, "reshape it", "shape %s, must have %d ax%s", shape, files[id].rank,
                  files[id].rank == 1 ? "is" : "es");
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
    operator_rectangle(rows, SCENE_MAX_FEATURES, &shape->feat_h, &shape->feat_w);
    return scene_check_size(shape, folder->folder, folder->err); /* the grid is not known yet */
}

/* ---- elements -------------------------------------------------------------------------------- */

static bool check_range(Folder *folder, int id, int64_t end) {
    const int32_t *values = folder->elements[id];
    for (int64_t i = 0; i < folder->array[id].count; i++)
        if (values[i] < 0 || values[i] >= end)
            return REFUSE(folder, id, "", "element %lld is %d, must be 0 to %lld", (long long)i,
                          values[i], (long long)end - 1);
    return true;
}

/* Finds the grid. Without bev_shape.npy it is nearly square and has the highest cell. */
static bool find_grid(Folder *folder, BevShape *shape) {
    const int32_t *cells = folder->elements[RANKS_BEV], *grid = folder->elements[GRID];
    int64_t count = 0, side = 1;
    if (!check_range(folder, RANKS_BEV, MOST_CELLS) ||
        (grid && !check_range(folder, GRID, SCENE_MAX_CELLS + 1)))
        return false;
    if (grid && (grid[0] < 1 || grid[1] < 1))
        return REFUSE(folder, GRID, "ny and nx", "%d x %d cells, must be 1 at least each", grid[0],
                      grid[1]);
    for (int64_t t = 0; t < folder->array[RANKS_BEV].count; t++)
        count = cells[t] >= count ? cells[t] + 1 : count;
    while (side * side < count)
        side++;
    operator_rectangle(count, side, &shape->ny, &shape->nx);
    if (grid) {
        shape->ny = grid[0];
        shape->nx = grid[1];
    }
    return check_range(folder, RANKS_BEV, shape->ny * shape->nx);
}

/* ---- the scene ------------------------------------------------------------------------------- */

/* Returns the place of a depth value after rows were padded to a rectangle. */
static int64_t depth_place(int64_t rows, const BevShape *shape, int64_t depth) {
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
        points.depths[t] = (int32_t)depth_place(rows, &scene->shape, points.depths[t]);
    for (int64_t i = 0; i < folder->array[DEPTH].count; i++)
        scene->tensors.depth[depth_place(rows, &scene->shape, i)] = depths[i];
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
        ok = read_array(&folder, id);
    ok = ok && check_shapes(&folder, &scene->shape) &&
         check_range(&folder, RANKS_DEPTH, folder.array[DEPTH].count) &&
         check_range(&folder, RANKS_FEAT, folder.array[FEAT].shape[0]) &&
         find_grid(&folder, &scene->shape) && scene_check_size(&scene->shape, path, err) &&
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
