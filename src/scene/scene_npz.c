/* Tensor scenes from .npz. */
#include "src/scene/scatter.h"
#include "src/scene/scene_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- index arrays ---------------------------------------------------------------------------- */

static bool read_bev_shape(const ArrayReader *reader, BevShape *shape) {
    double values[5];
    if (!arrays_read_doubles(reader, ARRAY_BEV_SHAPE, values))
        return false;
    int at = 0; /* of ny */
    if (reader->array[ARRAY_BEV_SHAPE].count == 5) {
        at = 2;
        if (!arrays_check_between(reader, ARRAY_BEV_SHAPE, 0, values[0], 1, 1) ||
            !arrays_check_between(reader, ARRAY_BEV_SHAPE, 1, values[1], 1, 1) ||
            !arrays_check_between(reader, ARRAY_BEV_SHAPE, 4, values[4],
                                  (double)arrays_extent(reader, 'C'),
                                  (double)arrays_extent(reader, 'C')))
            return false;
    }
    if (!arrays_check_between(reader, ARRAY_BEV_SHAPE, at, values[at], 1, SCENE_MAX_CELLS) ||
        !arrays_check_between(reader, ARRAY_BEV_SHAPE, at + 1, values[at + 1], 1, SCENE_MAX_CELLS))
        return false;
    int64_t ny = (int64_t)values[at], nx = (int64_t)values[at + 1];
    if (reader->has_calibration && (ny != shape->ny || nx != shape->nx))
        return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_BEV_SHAPE, ny != shape->ny ? at : at + 1,
                                     "%lld x %lld cells (ny, nx), but grid has %lld x %lld",
                                     (long long)ny, (long long)nx, (long long)shape->ny,
                                     (long long)shape->nx);
    shape->ny = ny;
    shape->nx = nx;
    return true;
}

/* All elements, malloc'd; NULL on failure. */
static void *read_elements(const ArrayReader *reader, ArrayId id, NpyType type) {
    const NpyArray *array = &reader->array[id];
    size_t count = array->count > 0 ? (size_t)array->count : 1;
    void *elements = malloc(count * npy_types[type].bytes);
    if (!elements)
        arrays_refuse(reader, scene_arrays[id].name, "", "out of memory");
    else if (npz_read(reader->npz, reader->member[id], array, type, elements, reader->err))
        return elements;
    free(elements);
    return NULL;
}

static bool read_ranks(const ArrayReader *reader, ArrayId id, int32_t **ranks) {
    return (*ranks = read_elements(reader, id, NPY_I4)) != NULL;
}

static bool read_floats(const ArrayReader *reader, ArrayId id, float **values) {
    return (*values = read_elements(reader, id, NPY_F4)) != NULL;
}

static bool read_map(const ArrayReader *reader, const BevShape *shape, BevMap *map) {
    map->points = arrays_extent(reader, 'P');
    map->intervals = arrays_extent(reader, 'I');
    return read_ranks(reader, ARRAY_RANKS_DEPTH, &map->ranks_depth) &&
           read_ranks(reader, ARRAY_RANKS_FEAT, &map->ranks_feat) &&
           read_ranks(reader, ARRAY_RANKS_BEV, &map->ranks_bev) &&
           read_ranks(reader, ARRAY_INTERVAL_STARTS, &map->interval_starts) &&
           read_ranks(reader, ARRAY_INTERVAL_LENGTHS, &map->interval_lengths) &&
           (reader->member[ARRAY_WEIGHTS] < 0 ||
            read_floats(reader, ARRAY_WEIGHTS, &map->weights)) &&
           scatter_check(map, shape, reader->npz->where, reader->err);
}

/* ---- the scene ------------------------------------------------------------------------------- */

static int64_t count_non_finite(const float *values, int64_t count) {
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++)
        bad += !isfinite(values[i]);
    return bad;
}

static bool read_rig(const ArrayReader *reader, Scene *scene) {
    if (!arrays_read_rig(reader, &scene->rig))
        return false;
    scene->has_rig = true;
    scene->shape = rig_shape(&scene->rig, scene->channels);
    return true;
}

/* Which maps count is told in scene.h. */
static bool read_index(const ArrayReader *reader, Scene *scene) {
    if (!read_map(reader, &scene->shape, &scene->map))
        return false;
    scene->has_map = !scene->has_rig || !scene->map.weights;
    if (!scene->has_map)
        scatter_free(&scene->map);
    return true;
}

/* From the small to the large: a broken file is refused before its tensors take memory. */
static bool read_scene(const ArrayReader *reader, Scene *scene) {
    scene->channels = arrays_extent(reader, 'C');
    scene->temperature = 1;
    scene->shape = (BevShape){.cameras = arrays_extent(reader, 'N'),
                              .depth_bins = arrays_extent(reader, 'D'),
                              .feat_h = arrays_extent(reader, 'h'),
                              .feat_w = arrays_extent(reader, 'w'),
                              .channels = scene->channels};
    if ((reader->has_calibration && !read_rig(reader, scene)) ||
        (reader->has_index && !read_bev_shape(reader, &scene->shape)) ||
        !scene_check_size(&scene->shape, reader->npz->where, reader->err) ||
        (reader->has_index && !read_index(reader, scene)) ||
        !read_floats(reader, ARRAY_DEPTH, &scene->tensors.depth) ||
        !read_floats(reader, ARRAY_FEAT, &scene->tensors.feat))
        return false;
    scene->non_finite = count_non_finite(scene->tensors.depth, reader->array[ARRAY_DEPTH].count) +
                        count_non_finite(scene->tensors.feat, reader->array[ARRAY_FEAT].count);
    return true;
}

static bool read_archive(const Npz *npz, Scene *scene, Err *err) {
    ArrayReader reader;
    bool ok = arrays_open(&reader, npz, err) && read_scene(&reader, scene);
    if (!ok)
        scene_free(scene);
    return ok;
}

bool scene_read_npz(const void *bytes, size_t length, const char *where, Scene *scene, Err *err) {
    Npz npz;
    memset(scene, 0, sizeof *scene);
    bool ok = npz_open_memory(&npz, bytes, length, where, err) && read_archive(&npz, scene, err);
    npz_close(&npz);
    return ok;
}

bool scene_load_npz(const char *path, Scene *scene, Err *err) {
    Npz npz;
    memset(scene, 0, sizeof *scene);
    bool ok =
        npz_open_file(&npz, path, SCENE_MAX_FILE_BYTES, err) && read_archive(&npz, scene, err);
    npz_close(&npz);
    return ok;
}
