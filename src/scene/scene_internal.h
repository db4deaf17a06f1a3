/* The arrays of a tensor scene: a table of their names, element types, shapes and bounds, and a
 * reader that checks an archive against it. Shared by scene_arrays.c, scene_moments.c, scene_npz.c,
 * photos_npz.c and clip.c. */
#pragma once

#include "src/base/data.h"
#include "src/scene/npz.h"
#include "src/scene/scene.h"

enum { HALF = 1u << NPY_F2, SINGLE = 1u << NPY_F4, DOUBLES = SINGLE | 1u << NPY_F8 };
enum { WHOLE = 1u << NPY_I4 | 1u << NPY_I8, NUMBERS = DOUBLES | WHOLE };
enum { BYTES = 1u << NPY_U1, TEXTS = 1u << NPY_S | 1u << NPY_U };

/* The arrays, as ROW(id, members of ArrayRow). */
/* clang-format off */
#define SCENE_ARRAYS(ROW)                                                                         \
    ROW(DEPTH, "depth", TENSORS, HALF | SINGLE, F4, "NDhw", NULL, {"TNDhw"}, 0, 0)                \
    ROW(FEAT, "feat", TENSORS, HALF | SINGLE, F4, "NhwC", NULL, {"TNhwC"}, 0, 0)                  \
    ROW(INTRINSICS, "intrinsics", CALIBRATION, DOUBLES, F8, "N33", NULL, {"TN33", "N33"},         \
        -SCENE_FAR_PX, SCENE_FAR_PX)                                                              \
    ROW(CAM2EGO, "cam2ego", CALIBRATION, DOUBLES, F8, "N44", NULL, {"TN44", "N44"},               \
        -SCENE_FAR_M, SCENE_FAR_M)                                                                \
    ROW(IMAGE_SIZE, "image_size", CALIBRATION, WHOLE, I4, "2", NULL, {NULL}, 1, 65536)            \
    ROW(RESIZE, "resize", CALIBRATION, NUMBERS, F8, "", "1", {NULL}, 1e-3, 1e3)                   \
    ROW(CROP, "crop", CALIBRATION, NUMBERS, F8, "4", "2", {NULL}, 0, 0)                           \
    ROW(DEPTH_RANGE, "depth_range", CALIBRATION, NUMBERS, F8, "3", NULL, {NULL}, 1e-3, 1e4)       \
    ROW(GRID, "grid", CALIBRATION, NUMBERS, F8, "33", NULL, {NULL}, -1e4, 2e4)                    \
    ROW(RANKS_DEPTH, "ranks_depth", INDEX, WHOLE, I4, "P", NULL, {NULL}, 0, 0)                    \
    ROW(RANKS_FEAT, "ranks_feat", INDEX, WHOLE, I4, "P", NULL, {NULL}, 0, 0)                      \
    ROW(RANKS_BEV, "ranks_bev", INDEX, WHOLE, I4, "P", NULL, {NULL}, 0, 0)                        \
    ROW(INTERVAL_STARTS, "interval_starts", INDEX, WHOLE, I4, "I", NULL, {NULL}, 0, 0)            \
    ROW(INTERVAL_LENGTHS, "interval_lengths", INDEX, WHOLE, I4, "I", NULL, {NULL}, 0, 0)          \
    ROW(BEV_SHAPE, "bev_shape", INDEX, WHOLE, I4, "2", "5", {NULL}, 0, 0)                         \
    ROW(WEIGHTS, "weights", EXTRA, SINGLE, F4, "P", NULL, {NULL}, 0, 0)                           \
    ROW(IMAGES, "images", EXTRA, BYTES, U1, "NHW3", NULL, {"TNHW3"}, 0, 0)                        \
    ROW(CAMERA_NAMES, "camera_names", EXTRA, TEXTS, U, "N", NULL, {NULL}, 0, 0)                   \
    ROW(BOXES, "boxes", EXTRA, DOUBLES, F4, "B7", "B9", {"b7", "b9"}, -SCENE_FAR_M, SCENE_FAR_M)  \
    ROW(BOX_LABELS, "box_labels", EXTRA, TEXTS, U, "B", NULL, {"b"}, 0, 0)                        \
    ROW(LIDAR, "lidar", EXTRA, HALF | DOUBLES, F4, "LK", NULL, {"lK"}, 0, 0)                      \
    ROW(TIMESTAMPS, "timestamps", EXTRA, DOUBLES, F8, "N", "1", {"TN", "T1", "T"}, 0, 1e12)       \
    ROW(BOXES_COUNT, "boxes_count", EXTRA, WHOLE, I4, NULL, NULL, {"T"}, 0, PHOTOS_MAX_BOXES)     \
    ROW(LIDAR_COUNT, "lidar_count", EXTRA, WHOLE, I4, NULL, NULL, {"T"}, 0, PHOTOS_MAX_SWEEP)
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
    /* The same in a file of several moments; none: the array is that of all moments. */
    const char *clip_shapes[3];
    double min, max; /* arrays_read_doubles: bounds of all elements; both 0: any finite value */
} ArrayRow;

extern const ArrayRow scene_arrays[ARRAY_COUNT];

/* Sizes that must be equal in all arrays, and their letters: N D h w C P I H W B L K T b l. */
/* clang-format off */
typedef enum {
    SIZE_CAMERAS, SIZE_BINS, SIZE_ROWS, SIZE_COLUMNS, SIZE_CHANNELS, SIZE_POINTS, SIZE_INTERVALS,
    SIZE_IMAGE_ROWS, SIZE_IMAGE_COLUMNS, SIZE_BOXES, SIZE_SWEEP, SIZE_SWEEP_COLUMNS,
    SIZE_MOMENTS, SIZE_ALL_BOXES, SIZE_ALL_SWEEP,
    SIZE_COUNT
} ArraySize;
/* clang-format on */

/* An archive whose headers have been checked, and one moment of it. */
typedef struct {
    Npz *npz;
    Err *err;
    int member[ARRAY_COUNT];          /* index in the archive; -1: missing */
    NpyArray whole[ARRAY_COUNT];      /* in the archive */
    const char *shape[ARRAY_COUNT];   /* of the row, which `whole` has */
    NpyArray array[ARRAY_COUNT];      /* of the moment; in a file of one the same as `whole` */
    int64_t before[ARRAY_COUNT];      /* elements of `whole` before those of the moment */
    int64_t size[SIZE_COUNT];         /* -1: no array has it */
    const char *first[SIZE_COUNT];    /* the first array with that size */
    bool has_calibration, has_index;
    bool is_clip; /* depth has an axis of moments; there are size[SIZE_MOMENTS] */
} ArrayReader;

/* Writes the axes of a row's shape; returns their number. */
int arrays_axes(ArrayId id, const int64_t sizes[SIZE_COUNT], int64_t axes[NPY_MAX_RANK]);

/* Reads all headers. Unknown and missing arrays, wrong types and shapes, and sizes that are out of
 * bounds or differ between arrays are errors. Chooses the first moment. */
bool arrays_open(ArrayReader *reader, Npz *npz, Err *err);

/* The moments of the file: 1 unless it is a clip. */
int64_t arrays_moments(const ArrayReader *reader);

/* Chooses the moment whose elements are read from now on (scene_moments.c). */
bool arrays_choose_moment(ArrayReader *reader, int64_t moment);

/* Checks a size of an array against its bounds and against the arrays before it. */
bool arrays_bind_size(ArrayReader *reader, ArrayId id, ArraySize size, int64_t value);

/* The functions of npz.h for the elements of the moment. */
bool arrays_read(const ArrayReader *reader, ArrayId id, NpyType type, void *elements);
bool arrays_read_pieces(const ArrayReader *reader, ArrayId id, int64_t most, NpzTake *take,
                        void *context);
bool arrays_read_texts(const ArrayReader *reader, ArrayId id, char *texts, size_t size);

/* Reads all elements of a small array and checks that they are finite and within the bounds. */
bool arrays_read_doubles(const ArrayReader *reader, ArrayId id, double *values);

/* Whether the archive has the array. */
bool arrays_has(const ArrayReader *reader, ArrayId id);

/* Checks that element i of an array, `value`, lies between the bounds. */
bool arrays_check_between(const ArrayReader *reader, ArrayId id, int64_t i, double value,
                          double min, double max);

/* Reads a moment of an archive that arrays_open has checked. On failure the scene is empty. */
bool arrays_read_scene(ArrayReader *reader, int64_t moment, Scene *scene);

/* ---- photos_npz.c: photographs, boxes and LiDAR ---------------------------------------------- */

/* Reads what a moment has beside its tensors; the scene's rig is known. Photographs are cut to the
 * network's input and reduced while they are read. */
bool photos_read(const ArrayReader *reader, Scene *scene);

/* Adds the arrays of the scene's moment to an archive; none where there is none. */
bool photos_write(NpzWriter *npz, const Scene *scene, Err *err);

/* Report an error in an array or in its element i of the moment: (hint and) printf format,
 * arguments. Yield false. */
#define ARRAYS_REFUSE(reader_, id_, ...)                                                           \
    data_refuse((reader_)->err, (reader_)->npz->where, scene_arrays[id_].name, __VA_ARGS__)
#define ARRAYS_REFUSE_ELEMENT(reader_, id_, i_, ...)                                               \
    data_refuse((reader_)->err, (reader_)->npz->where,                                             \
                npz_place(scene_arrays[id_].name, &(reader_)->whole[id_],                          \
                          (reader_)->before[id_] + (i_))                                           \
                    .text,                                                                         \
                "", __VA_ARGS__)
