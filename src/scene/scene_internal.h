/* SPDX-License-Identifier: MIT */
/* The arrays of a tensor scene. A table has their names, element types, shapes and bounds. A reader
 * checks an archive against the table. The files scene_*.c share this header. */
#pragma once

#include "src/base/json_fields.h"
#include "src/scene/npz.h"
#include "src/scene/scene.h"

enum { FLOATS = 1u << NPY_F2 | 1u << NPY_F4 | 1u << NPY_F8, PRECISE = FLOATS & ~(1u << NPY_F2) };
enum { WHOLE = (1u << (NPY_U4 + 1)) - (1u << NPY_I4), NUMBERS = FLOATS | WHOLE };
enum { BYTES = 1u << NPY_U1, TEXTS = 1u << NPY_S | 1u << NPY_U };

/* The table of the arrays: ROW(id, members of ArrayRow). */
/* clang-format off */
#define SCENE_ARRAYS(ROW)                                                                         \
    ROW(DEPTH, "depth", TENSORS, FLOATS, F4, {"NDhw"},                                            \
        0, 0, "how likely each depth bin of a pixel is")                                          \
    ROW(FEAT, "feat", TENSORS, FLOATS, F4, {"NhwC"},                                              \
        0, 0, "features of each pixel, channels last; made from images where it is missing")      \
    ROW(INTRINSICS, "intrinsics", CALIBRATION, PRECISE, F8, {"N33"},                              \
        -SCENE_FAR_PX, SCENE_FAR_PX, "camera matrix, in pixels of the camera's own image")        \
    ROW(CAM2EGO, "cam2ego", CALIBRATION, PRECISE, F8, {"N44"}, -SCENE_FAR_M, SCENE_FAR_M,         \
        "camera (x right, y down, z forward) to ego (x forward, y left, z up), metres")           \
    ROW(IMAGE_SIZE, "image_size", CALIBRATION, NUMBERS, I4, {"2", "N2"},                          \
        1, 65536, "height and width of the network's input; one size, "                           \
        "also where it stands by camera")                                                         \
    ROW(RESIZE, "resize", CALIBRATION, NUMBERS, F8, {"", "1", "N", "N2"},                         \
        1e-3, 1e3, "input = resize * own image - crop; by camera also x, y")                      \
    ROW(CROP, "crop", CALIBRATION, NUMBERS, F8, {"4", "2", "N4", "N2"},                           \
        0, 0, "x, y, or x, y, x2, y2")                                                            \
    ROW(DEPTH_RANGE, "depth_range", CALIBRATION, NUMBERS, F8, {"3"},                              \
        1e-3, 1e4, "start, stop, step of the depth bins, metres")                                 \
    ROW(GRID, "grid", CALIBRATION, NUMBERS, F8, {"33"}, -1e4, 2e4,                                \
        "rows x, y, z: lower end, upper end, cell, metres; several cells in z are slices")        \
    ROW(RANKS_DEPTH, "ranks_depth", INDEX, WHOLE, I4, {"P"},                                      \
        0, 0, "of each point the number of its depth value")                                      \
    ROW(RANKS_FEAT, "ranks_feat", INDEX, WHOLE, I4, {"P"},                                        \
        0, 0, "of each point the number of its feature row")                                      \
    ROW(RANKS_BEV, "ranks_bev", INDEX, WHOLE, I4, {"P"},                                          \
        0, 0, "of each point the number of its cell, ascending")                                  \
    ROW(INTERVAL_STARTS, "interval_starts", INDEX, WHOLE, I4, {"I"},                              \
        0, 0, "first point of each cell that has any")                                            \
    ROW(INTERVAL_LENGTHS, "interval_lengths", INDEX, WHOLE, I4, {"I"},                            \
        0, 0, "how many points that cell has")                                                    \
    ROW(BEV_SHAPE, "bev_shape", INDEX, WHOLE, I4, {"2", "5"},                                     \
        0, 0, "ny, nx, or BEVDet's 1, nz, ny, nx, C")                                             \
    ROW(WEIGHTS, "weights", EXTRA, FLOATS, F4, {"P"},                                             \
        0, 0, "a factor for each point of the index arrays")                                      \
    ROW(IMAGES, "images", EXTRA, BYTES, U1, {"NHW3"},                                             \
        0, 0, "RGB photographs: the network's input at any resolution, or whole images")          \
    ROW(CAMERA_NAMES, "camera_names", EXTRA, TEXTS, U, {"N"},                                     \
        0, 0, "names for the pictures")                                                           \
    ROW(BOXES, "boxes", EXTRA, NUMBERS, F4, {"B7", "B9"}, -SCENE_FAR_M, SCENE_FAR_M,              \
        "centre x, y, z, length, width, height, yaw in the ego frame; velocity is not read")      \
    ROW(BOX_LABELS, "box_labels", EXTRA, TEXTS, U, {"B"},                                         \
        0, 0, "class of each box")                                                                \
    ROW(LIDAR, "lidar", EXTRA, NUMBERS, F4, {"LK"},                                               \
        0, 0, "x, y, z in the ego frame, metres; NaN: no echo")                                   \
    ROW(TIMESTAMPS, "timestamps", EXTRA, NUMBERS, F8, {"1", "N"},                                 \
        0, 1e12, "seconds; a clip begins at 0 with the first")                                    \
    ROW(ROUNDING, "rounding", EXTRA, TEXTS, U, {"", "1"},                                         \
        0, 0, "how cells are numbered: floor (default), or truncate as LSS and BEVDet do")        \
    ROW(DEPTH_BINS, "depth_bins", EXTRA, NUMBERS, F8, {"D"},                                      \
        1e-3, 1e4, "depths of the bins, metres, in place of depth_range: SID, LID")               \
    ROW(OWN_SIZE, "own_size", EXTRA, WHOLE, I4, {"N2", "2"},                                      \
        1, 65536, "height and width of each camera's own image, which images of this size begin")
/* clang-format on */

#define ARRAY_ID(id, ...) ARRAY_##id,
typedef enum { SCENE_ARRAYS(ARRAY_ID) ARRAY_COUNT } ArrayId;

/* The arrays of a group must be all present or all missing. GROUP_EXTRA is optional. */
typedef enum { GROUP_TENSORS, GROUP_CALIBRATION, GROUP_INDEX, GROUP_EXTRA } ArrayGroup;

typedef struct {
    const char *name;
    ArrayGroup group;
    unsigned types;  /* element types that can be read: bits of NpyType */
    NpyType written; /* element type that is written; tensors can also be float16 */
    /* The shapes that can be read, NULL after the last. Each axis is one character: a digit, or a
     * letter of ArraySize. "" is a scalar. */
    const char *shapes[5];
    double min, max;     /* arrays_read_numbers: bounds of all elements; both 0: any finite value */
    const char *meaning; /* one line for help texts */
} ArrayRow;
extern const ArrayRow scene_arrays[ARRAY_COUNT];

/* The sizes that must be equal in all arrays. Their letters are N D h w C P I H W B L K. */
/* clang-format off */
typedef enum {
    SIZE_CAMERAS, SIZE_BINS, SIZE_ROWS, SIZE_COLUMNS, SIZE_CHANNELS, SIZE_POINTS, SIZE_INTERVALS,
    SIZE_IMAGE_ROWS, SIZE_IMAGE_COLUMNS, SIZE_BOXES, SIZE_SWEEP, SIZE_SWEEP_COLUMNS, SIZE_COUNT
} ArraySize;
/* clang-format on */

/* An open archive. */
typedef struct {
    Npz npz;
    Err *err;
    NpyArray array[ARRAY_COUNT];   /* the array as its header describes it; `start` 0: missing */
    double *numbers[ARRAY_COUNT];  /* of arrays_read_numbers; NULL: not read, or missing */
    int64_t size[SIZE_COUNT];      /* -1: no array has this size */
    const char *first[SIZE_COUNT]; /* the first array with this size */
    bool has_calibration, has_index;
} ArrayReader;

/* Returns an array of this type that has shape `which` of its row for these sizes. */
NpyArray arrays_layout(ArrayId id, int which, NpyType type, const int64_t sizes[SIZE_COUNT]);

/* Opens an archive, checks it against the table, and has `read` read it. The headers are checked
 * first: names, types, shapes, bounds of sizes, and sizes that differ between arrays. Takes over
 * `file`; NULL: `err` says already why. */
bool arrays_read_file(FILE *file, const char *where, bool (*read)(ArrayReader *reader, void *to),
                      void *to, Err *err);

/* Reads all elements of an array as texts of NPZ_TEXT bytes, which lie `stride` bytes apart. A
 * missing array leaves them alone. */
bool arrays_read_texts(ArrayReader *reader, ArrayId id, char *texts, size_t stride);

/* Reads all elements as numbers of `type` into memory of the caller. NULL: it failed. */
void *arrays_take(ArrayReader *reader, ArrayId id, NpyType type);

/* Reads an array into reader->numbers, unless it is missing. Checks that all elements are finite
 * and within the row's bounds. */
bool arrays_read_numbers(ArrayReader *reader, ArrayId id);

/* Whether an array has few numbers: no axis of pixels or points. */
bool arrays_is_small(ArrayId id);

static inline bool arrays_has(const ArrayReader *reader, ArrayId id) {
    return reader->array[id].start > 0;
}

/* Checks that `value`, element i of an array, lies between the bounds. */
bool arrays_check_between(ArrayReader *reader, ArrayId id, int64_t i, double value, double min,
                          double max);

/* Reads photographs, boxes, LiDAR and time. The rig is known, and small arrays are read. */
bool scene_read_recorded(ArrayReader *reader, Scene *scene);

/* Compares a map that has one cell for each point with the rig's nearest map. A point on a cell's
 * edge agrees with the cells on both sides. The edge is as wide as the rounding of FP32
 * coordinates. Where less than 99.9 percent agree, `remark` says both numbers and names the
 * convention that explains most. Otherwise `remark` is "". Without memory nothing is compared. */
MapAgreement agreement_find(const Rig *rig, const BevMap *map, char *remark, size_t size);

/* Whether a map without a calibration seems to have its cells numbered x * ny + y. Then the picture
 * is mirrored. `map` has been checked. Without memory the answer is no. */
bool numbering_is_transposed(const BevMap *map, const BevShape *shape);

/* Makes the scene of a JSON value. `build`: also builds the data of an operator scene. The caller
 * frees the scene, also after a failure. */
bool scene_of_json(const Check *check, const json_t *json, bool build, Scene *scene);

/* Loads a folder of arrays as an operator scene (scene.h describes the arrays). */
bool scene_load_folder(const char *path, Scene *scene, Err *err);

/* End the enclosing function, which has a `reader`, with false if the condition holds. The error
 * is in an array, or in its element i. Arguments: a hint (of an array), a printf format, values. */
#define REFUSE_IF(condition_, id_, ...)                                                            \
    do {                                                                                           \
        if (condition_)                                                                            \
            return data_refuse(reader->err, reader->npz.where, scene_arrays[id_].name,             \
                               __VA_ARGS__);                                                       \
    } while (0)
#define REFUSE_ELEMENT_IF(condition_, id_, i_, ...)                                                \
    do {                                                                                           \
        if (condition_)                                                                            \
            return data_refuse(reader->err, reader->npz.where,                                     \
                               npz_place(scene_arrays[id_].name, &reader->array[id_], i_).text,    \
                               "", __VA_ARGS__);                                                   \
    } while (0)
