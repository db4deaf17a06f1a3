/* A tensor scene of several moments: which elements of the file are those of one moment.
 *
 * Arrays with an axis of moments hold them one after another. Boxes and LiDAR points differ in
 * number from moment to moment, so that their rows lie in one list without the axis, and a count a
 * moment says where its rows begin. In NumPy that is np.concatenate(boxes) and [len(b) for b in
 * boxes]; a number of a moment for each row would say the same with more, allow any order, and one
 * would have to read all rows for those of one moment. */
#include "src/scene/scene_internal.h"

#include <stdlib.h>

int64_t arrays_moments(const ArrayReader *reader) {
    return reader->is_clip ? reader->size[SIZE_MOMENTS] : 1;
}

/* Takes the axis of moments away. */
static void take_moment(ArrayReader *reader, int id, int64_t moment) {
    NpyArray *array = &reader->array[id];
    array->count /= array->shape[0];
    array->rank--;
    for (int axis = 0; axis < NPY_MAX_RANK; axis++)
        array->shape[axis] = axis < array->rank ? array->shape[axis + 1] : 0;
    reader->before[id] = moment * array->count;
}

/* Takes rows [before, before + rows). */
static void take_rows(ArrayReader *reader, ArrayId id, int64_t before, int64_t rows) {
    NpyArray *array = &reader->array[id];
    int64_t columns = array->rank > 1 ? array->shape[1] : 1;
    array->shape[0] = rows;
    array->count = rows * columns;
    reader->before[id] = before * columns;
}

/* Checks the counts of all moments, which must add up to the rows of `id`. */
static bool add_counts(const ArrayReader *reader, ArrayId id, ArrayId counts_id,
                       const double *counts, int64_t moment, int64_t *before, int64_t *rows) {
    const NpyArray *whole = &reader->whole[id];
    int64_t total = 0;
    for (int64_t i = 0; i < reader->whole[counts_id].count; i++) {
        if (i == moment) {
            *before = total;
            *rows = (int64_t)counts[i];
        }
        total += (int64_t)counts[i];
        if (total > whole->shape[0])
            return ARRAYS_REFUSE_ELEMENT(
                reader, counts_id, i, "%.0f, and %lld up to here, but %s has %lld rows", counts[i],
                (long long)total, scene_arrays[id].name, (long long)whole->shape[0]);
    }
    return total == whole->shape[0] ||
           ARRAYS_REFUSE(reader, counts_id, "", "%lld in all, but %s has %lld rows",
                         (long long)total, scene_arrays[id].name, (long long)whole->shape[0]);
}

/* Chooses the rows of a moment in a list of all moments. */
static bool choose_rows(ArrayReader *reader, ArrayId id, ArrayId counts_id, ArraySize size,
                        int64_t moment) {
    int64_t before = 0, rows = 0;
    if (!arrays_has(reader, id))
        return !arrays_has(reader, counts_id) ||
               ARRAYS_REFUSE(reader, counts_id, "save them too", "counts without %s",
                             scene_arrays[id].name);
    if (!arrays_has(reader, counts_id))
        return ARRAYS_REFUSE(reader, counts_id, "save how many rows each moment has",
                             "is missing, but %s is there", scene_arrays[id].name);
    double *counts = malloc((size_t)reader->whole[counts_id].count * sizeof *counts + 1);
    if (!counts)
        return ARRAYS_REFUSE(reader, counts_id, "", "out of memory");
    bool ok = arrays_read_doubles(reader, counts_id, counts) &&
              add_counts(reader, id, counts_id, counts, moment, &before, &rows);
    free(counts);
    if (!ok)
        return false;
    take_rows(reader, id, before, rows);
    if (id == ARRAY_BOXES && arrays_has(reader, ARRAY_BOX_LABELS))
        take_rows(reader, ARRAY_BOX_LABELS, before, rows);
    reader->size[size] = rows;
    return true;
}

bool arrays_choose_moment(ArrayReader *reader, int64_t moment) {
    if (moment < 0 || moment >= arrays_moments(reader))
        return ARRAYS_REFUSE(reader, ARRAY_DEPTH, "", "moment %lld is outside 0 to %lld",
                             (long long)moment, (long long)arrays_moments(reader) - 1);
    for (int id = 0; id < ARRAY_COUNT; id++) {
        reader->array[id] = reader->whole[id];
        reader->before[id] = 0;
        bool counts = id == ARRAY_BOXES_COUNT || id == ARRAY_LIDAR_COUNT; /* always read whole */
        if (arrays_has(reader, (ArrayId)id) && reader->shape[id][0] == 'T' && !counts)
            take_moment(reader, id, moment);
    }
    return !reader->is_clip ||
           (choose_rows(reader, ARRAY_BOXES, ARRAY_BOXES_COUNT, SIZE_BOXES, moment) &&
            choose_rows(reader, ARRAY_LIDAR, ARRAY_LIDAR_COUNT, SIZE_SWEEP, moment));
}
