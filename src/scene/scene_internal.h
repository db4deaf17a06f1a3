/* The arrays of a tensor scene: a table of their names, element types, shapes and bounds, and a
 * reader that checks an archive against it. Shared by scene_arrays.c and scene_npz.c. */
#pragma once

#include "src/base/data.h"
#include "src/scene/npz.h"
#include "src/scene/scene.h"

enum { HALF = 1u << NPY_F2, SINGLE = 1u << NPY_F4, DOUBLES = SINGLE | 1u << NPY_F8 };
enum { WHOLE = 1u << NPY_I4 | 1u << NPY_I8, NUMBERS = DOUBLES | WHOLE };
enum { BYTES = 1u << NPY_U1, TEXTS = 1u << NPY_S | 1u << NPY_U };

/* The arrays, as ROW(id, members of ArrayRow). */
/* clang-format off */
#define SCENE_ARRAYS(ROW)                                                                      \
    ROW(DEPTH, "depth", TENSORS, HALF | SINGLE, F4, "NDhw", NULL, 0, 0)                        \
    ROW(FEAT, "feat", TENSORS, HALF | SINGLE, F4, "NhwC", NULL, 0, 0)                          \
    ROW(INTRINSICS, "intrinsics", CALIBRATION, DOUBLES, F8, "N33", NULL, -SCENE_FAR_PX,          \
        SCENE_FAR_PX)                                                                          \
    ROW(CAM2EGO, "cam2ego", CALIBRATION, DOUBLES, F8, "N44", NULL, -SCENE_FAR_M, SCENE_FAR_M)      \
    ROW(IMAGE_SIZE, "image_size", CALIBRATION, WHOLE, I4, "2", NULL, 1, 65536)                 \
    ROW(RESIZE, "resize", CALIBRATION, NUMBERS, F8, "", "1", 1e-3, 1e3)                        \
    ROW(CROP, "crop", CALIBRATION, NUMBERS, F8, "4", "2", 0, 0)                                \
    ROW(DEPTH_RANGE, "depth_range", CALIBRATION, NUMBERS, F8, "3", NULL, 1e-3, 1e4)            \
    ROW(GRID, "grid", CALIBRATION, NUMBERS, F8, "33", NULL, -1e4, 2e4)                         \
    ROW(RANKS_DEPTH, "ranks_depth", INDEX, WHOLE, I4, "P", NULL, 0, 0)                         \
    ROW(RANKS_FEAT, "ranks_feat", INDEX, WHOLE, I4, "P", NULL, 0, 0)                           \
    ROW(RANKS_BEV, "ranks_bev", INDEX, WHOLE, I4, "P", NULL, 0, 0)                             \
    ROW(INTERVAL_STARTS, "interval_starts", INDEX, WHOLE, I4, "I", NULL, 0, 0)                 \
    ROW(INTERVAL_LENGTHS, "interval_lengths", INDEX, WHOLE, I4, "I", NULL, 0, 0)               \
    ROW(BEV_SHAPE, "bev_shape", INDEX, WHOLE, I4, "2", "5", 0, 0)                              \
    ROW(WEIGHTS, "weights", EXTRA, SINGLE, F4, "P", NULL, 0, 0)                                \
    ROW(IMAGES, "images", EXTRA, BYTES, U1, "NHW3", NULL, 0, 0)                                \
    ROW(CAMERA_NAMES, "camera_names", EXTRA, TEXTS, U, "N", NULL, 0, 0)                        \
    ROW(BOXES, "boxes", EXTRA, DOUBLES, F4, "B7", "B9", -SCENE_FAR_M, SCENE_FAR_M)              \
    ROW(BOX_LABELS, "box_labels", EXTRA, TEXTS, U, "B", NULL, 0, 0)                            \
    ROW(LIDAR, "lidar", EXTRA, HALF | DOUBLES, F4, "LK", NULL, 0, 0)                            \
    ROW(TIMESTAMPS, "timestamps", EXTRA, DOUBLES, F8, "N", "1", 0, 1e12)
/* clang-format on */

#define ARRAY_ID(id, ...) ARRAY_##id,
typedef enum { SCENE_ARRAYS(ARRAY_ID) ARRAY_COUNT } ArrayId;

/* The arrays of a group must all be present or all be missing. GROUP_EXTRA: optional arrays. */
typedef enum { GROUP_TENSORS, GROUP_CALIBRATION, GROUP_INDEX, GROUP_EXTRA } ArrayGroup;

typedef struct {
    const char *name;
    ArrayGroup group;
    unsigned types;  /* the element types that can be read: bits of NpyType */
    NpyType written; /* the element type that is written; tensors can also be float16 */
    /* One character per axis: a digit, or a letter from ArraySize. "" is a scalar. The other shape
     * can be read too; NULL: none. */
    const char *shape, *other_shape;
    double min, max; /* arrays_read_doubles: bounds of all elements; both 0: any finite value */
} ArrayRow;

extern const ArrayRow scene_arrays[ARRAY_COUNT];

/* Sizes that must be equal in all arrays, and their letters: N D h w C P I H W B L K. */
/* clang-format off */
typedef enum {
    SIZE_CAMERAS, SIZE_BINS, SIZE_ROWS, SIZE_COLUMNS, SIZE_CHANNELS, SIZE_POINTS, SIZE_INTERVALS,
    SIZE_IMAGE_ROWS, SIZE_IMAGE_COLUMNS, SIZE_BOXES, SIZE_SWEEP, SIZE_SWEEP_COLUMNS,
    SIZE_COUNT
} ArraySize;
/* clang-format on */

/* An archive whose headers have been checked. No element has been read yet. */
typedef struct {
    const Npz *npz;
    Err *err;
    int member[ARRAY_COUNT]; /* index in the archive; -1: missing */
    NpyArray array[ARRAY_COUNT];
    int64_t size[SIZE_COUNT];      /* -1: no array has it */
    const char *first[SIZE_COUNT]; /* the first array with that size */
    bool has_calibration, has_index;
} ArrayReader;

/* Writes the axes of a row's shape; returns their number. */
int arrays_axes(ArrayId id, const int64_t sizes[SIZE_COUNT], int64_t axes[NPY_MAX_RANK]);

/* Reads all headers. Unknown and missing arrays, wrong types and shapes, and sizes that are out of
 * bounds or differ between arrays are errors. */
bool arrays_open(ArrayReader *reader, const Npz *npz, Err *err);

/* Reads all elements of a small array and checks that they are finite and within the bounds. */
bool arrays_read_doubles(const ArrayReader *reader, ArrayId id, double *values);

/* Whether the archive has the array. */
bool arrays_has(const ArrayReader *reader, ArrayId id);

/* Checks that element i of an array, `value`, lies between the bounds. */
bool arrays_check_between(const ArrayReader *reader, ArrayId id, int64_t i, double value,
                          double min, double max);

/* ---- photos_npz.c: photographs, boxes and LiDAR ---------------------------------------------- */

/* Reads what a moment has beside its tensors; the scene's rig is known. Photographs are cut to the
 * network's input and reduced while they are read. */
bool photos_read(const ArrayReader *reader, Scene *scene);

/* Adds the arrays of the scene's moment to an archive; none where there is none. */
bool photos_write(NpzWriter *npz, const Scene *scene, Err *err);

/* Report an error in an array or in its element i: (hint and) printf format, arguments. Yield
 * false. */
#define ARRAYS_REFUSE(reader_, id_, ...)                                                           \
    data_refuse((reader_)->err, (reader_)->npz->where, scene_arrays[id_].name, __VA_ARGS__)
#define ARRAYS_REFUSE_ELEMENT(reader_, id_, i_, ...)                                               \
    data_refuse((reader_)->err, (reader_)->npz->where,                                             \
                npz_place(scene_arrays[id_].name, &(reader_)->array[id_], i_).text, "",            \
                __VA_ARGS__)
