/* The arrays of a tensor scene: one table of names, element types and shapes, and a reader that has
 * checked all headers against it. For the scene_npz files only. */
#ifndef BEV_SCENE_ARRAYS_H
#define BEV_SCENE_ARRAYS_H

#include "src/scene/npz.h"
#include "src/scene/scene.h"

typedef enum {
    ARRAY_DEPTH,
    ARRAY_FEAT,
    ARRAY_INTRINSICS,
    ARRAY_CAM2EGO,
    ARRAY_IMAGE_SIZE,
    ARRAY_RESIZE,
    ARRAY_CROP,
    ARRAY_DEPTH_RANGE,
    ARRAY_GRID,
    ARRAY_RANKS_DEPTH,
    ARRAY_RANKS_FEAT,
    ARRAY_RANKS_BEV,
    ARRAY_INTERVAL_STARTS,
    ARRAY_INTERVAL_LENGTHS,
    ARRAY_BEV_SHAPE,
    ARRAY_WEIGHTS,
    ARRAY_COUNT
} ArrayId;

/* Arrays that make sense only together; extras may be missing. */
typedef enum { GROUP_TENSORS, GROUP_CALIBRATION, GROUP_INDEX, GROUP_EXTRA } ArrayGroup;

typedef struct {
    const char *name;
    ArrayGroup group;
    unsigned types; /* bits of NpyType */
    /* Extents in order: a letter that stands for one, or a digit. The empty shape is a scalar. */
    const char *shape, *other_shape;
} ArrayRow;

extern const ArrayRow scene_arrays[ARRAY_COUNT];

/* Extents that must agree between arrays: N cameras, D depth bins, h, w feature map, C channels,
 * P points, I intervals. */
enum { ARRAY_EXTENTS = 7 };

/* An archive whose headers were all checked; no element was read yet. */
typedef struct {
    const Npz *npz;
    Err *err;
    int member[ARRAY_COUNT]; /* -1: not in the archive */
    NpyArray array[ARRAY_COUNT];
    int64_t extent[ARRAY_EXTENTS];    /* -1: not known */
    const char *first[ARRAY_EXTENTS]; /* the array that made it known */
    bool has_calibration, has_index;
} ArrayReader;

/* Refuses unknown and missing arrays, wrong types and shapes, extents out of bounds or not agreed.
 */
bool arrays_open(ArrayReader *reader, const Npz *npz, Err *err);

/* The extent of that letter, -1 where no array has it. */
int64_t arrays_extent(const ArrayReader *reader, char letter);

/* All elements of a small array; they must be finite. */
bool arrays_read_doubles(const ArrayReader *reader, ArrayId id, double *values);

/* Refuses element i of an array unless its value lies between the bounds. */
bool arrays_check_between(const ArrayReader *reader, ArrayId id, int64_t i, double value,
                          double min, double max);

/* Refuses an array; returns false. */
bool arrays_refuse(const ArrayReader *reader, const char *name, const char *hint, const char *what);

/* Refuses element i of an array, in the words of a format; false. */
#define ARRAYS_REFUSE_ELEMENT(reader_, id_, i_, ...)                                               \
    npz_refuse_element((reader_)->npz, scene_arrays[id_].name, &(reader_)->array[id_], i_,         \
                       (reader_)->err, __VA_ARGS__)

/* The rig that a calibration describes; scene_npz_rig.c. */
bool arrays_read_rig(const ArrayReader *reader, Rig *rig);

#endif
