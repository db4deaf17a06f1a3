/* SPDX-License-Identifier: MIT */
#include "src/scene/clip.h"

#include "src/base/data.h"
#include "src/scene/scene_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double clip_period_s = 0.5; /* nuScenes has boxes for two moments a second */

/* ---- the folder ------------------------------------------------------------------------------ */

static bool is_moment(const char *name) {
    return name[0] != '.' && data_has_suffix(name, ".npz");
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Adds the file name of a moment to the clip. */
static bool add_name(Clip *clip, const char *name, Err *err) {
    _Static_assert(sizeof clip->names[0] >= sizeof((struct dirent *)0)->d_name, "a name fits");
    if (clip->count == CLIP_MAX_MOMENTS)
        return err_set(err, ERR_FAILED, clip->path, "split it, or save fewer",
                       "more than %d moments", CLIP_MAX_MOMENTS);
    if (!(clip->count & (clip->count - 1))) { /* count is a power of two: allocate twice as much */
        size_t room = clip->count ? 2 * (size_t)clip->count : 1;
        void *more = realloc(clip->names, room * sizeof clip->names[0]);
        if (!more)
            return err_set(err, ERR_FAILED, clip->path, "", "out of memory");
        clip->names = more;
    }
    strcpy(clip->names[clip->count++], name);
    return true;
}

/* Lists the moments of a clip's folder, in the order of their names. */
static bool list_folder(Clip *clip, Err *err) {
    DIR *directory = opendir(clip->path);
    bool ok = directory ||
              err_set(err, ERR_FAILED, clip->path, "", "cannot be listed: %s", strerror(errno));
    for (struct dirent *entry; ok && (entry = readdir(directory));)
        if (is_moment(entry->d_name))
            ok = add_name(clip, entry->d_name, err);
    if (directory)
        closedir(directory);
    if (ok && !clip->count)
        return err_set(err, ERR_FAILED, clip->path, "one .npz a moment, or an operator's five .npy",
                       "a folder without .npz files");
    if (ok)
        qsort(clip->names, (size_t)clip->count, sizeof clip->names[0], compare_names);
    return ok;
}

void clip_path(const Clip *clip, int moment, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", clip->path, clip->names[moment]);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Reads the time of a moment, which is the time of its first camera. NaN: the file has no time. */
static bool read_time(const ArrayReader *reader, double *time_s) {
    double times[RIG_MAX_CAMERAS] = {NAN};
    bool ok = !arrays_has(reader, ARRAY_TIMESTAMPS) ||
              arrays_read_doubles(reader, ARRAY_TIMESTAMPS, times);
    *time_s = times[0];
    return ok;
}

/* Returns why the times cannot be used for playing, or NULL. */
static const char *why_untimed(const double *times_s, int count) {
    for (int i = 0; i < count; i++)
        if (isnan(times_s[i]))
            return "no timestamps";
    for (int i = 1; i < count; i++) {
        double step_s = times_s[i] - times_s[i - 1];
        if (step_s <= 1e-3)
            return step_s == 0 ? "two moments have the same timestamp" : "timestamps do not ascend";
        if (step_s >= 3600)
            return "an hour between two timestamps";
    }
    return NULL;
}

/* Sets how long moments last, by the times of all moments. */
static void set_period(Clip *clip, const double *times_s) {
    int steps = clip->count - 1;
    clip->untimed = why_untimed(times_s, clip->count);
    clip->period_s =
        clip->untimed || !steps ? clip_period_s : (times_s[steps] - times_s[0]) / steps;
}

/* The header of a moment: its arrays, which must be the same in all moments, and its time. */
typedef struct {
    bool has[ARRAY_COUNT];
    NpyArray array[ARRAY_COUNT];
    double grid[9], bev_shape[5], time_s;
} Header;

static bool fill_header(const ArrayReader *reader, Header *header) {
    memset(header, 0, sizeof *header);
    for (int id = 0; id < ARRAY_COUNT; id++)
        header->has[id] = arrays_has(reader, (ArrayId)id);
    memcpy(header->array, reader->array, sizeof header->array);
    if ((header->has[ARRAY_GRID] && !arrays_read_doubles(reader, ARRAY_GRID, header->grid)) ||
        (header->has[ARRAY_BEV_SHAPE] &&
         !arrays_read_doubles(reader, ARRAY_BEV_SHAPE, header->bev_shape)))
        return false;
    return read_time(reader, &header->time_s);
}

static bool size_may_differ(int id) {
    return id == ARRAY_BOXES || id == ARRAY_BOX_LABELS || id == ARRAY_LIDAR ||
           scene_arrays[id].group == GROUP_INDEX || id == ARRAY_WEIGHTS;
}

static bool same_shape(const NpyArray *a, const NpyArray *b) {
    return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof a->shape);
}

static bool check_values(const ArrayReader *reader, ArrayId id, const double *values,
                         const double *wanted, const char *first) {
    for (int64_t i = 0; i < reader->array[id].count; i++)
        if (values[i] != wanted[i])
            return ARRAYS_REFUSE_ELEMENT(reader, id, i, "%.9g, but %s has %.9g", values[i], first,
                                         wanted[i]);
    return true;
}

/* Refuses a moment whose arrays or shapes differ from those of the first moment. */
static bool check_same_arrays(const ArrayReader *reader, const Header *header, const Header *wanted,
                              const char *first) {
    for (int id = 0; id < ARRAY_COUNT; id++) {
        char found[96], shape[96];
        if (header->has[id] != wanted->has[id] && id != ARRAY_BOXES && id != ARRAY_BOX_LABELS)
            return ARRAYS_REFUSE(reader, id, "moments have the same arrays", "is %s, but %s has %s",
                                 header->has[id] ? "there" : "missing", first,
                                 wanted->has[id] ? "it" : "none");
        npy_shape_text(&header->array[id], found, sizeof found);
        npy_shape_text(&wanted->array[id], shape, sizeof shape);
        if (header->has[id] && !size_may_differ(id) &&
            !same_shape(&header->array[id], &wanted->array[id]))
            return ARRAYS_REFUSE(reader, id, "moments have the same shapes",
                                 "shape %s, but %s has %s", found, first, shape);
    }
    return check_values(reader, ARRAY_GRID, header->grid, wanted->grid, first) &&
           check_values(reader, ARRAY_BEV_SHAPE, header->bev_shape, wanted->bev_shape, first);
}

/* Reads the header of a moment and compares it with the header of the first moment. */
static bool read_header(const Clip *clip, int moment, Header *header, const Header *wanted,
                        Err *err) {
    char path[PATH_MAX];
    Npz npz;
    ArrayReader *reader = malloc(sizeof *reader);
    clip_path(clip, moment, path);
    bool ok = reader || err_set(err, ERR_FAILED, path, "", "out of memory");
    if (ok && npz_open_file(&npz, path, SCENE_MAX_FILE_BYTES, err)) {
        ok = arrays_open(reader, &npz, err) && fill_header(reader, header) &&
             check_same_arrays(reader, header, moment ? wanted : header, clip->names[0]);
        npz_close(&npz);
    } else
        ok = false;
    free(reader);
    return ok;
}

/* Reads the headers of all moments, and from them the times of the clip. */
static bool read_headers(Clip *clip, Err *err) {
    Header *headers = malloc(2 * sizeof *headers);
    double *times_s = malloc((size_t)clip->count * sizeof *times_s);
    bool ok = (headers && times_s) || err_set(err, ERR_FAILED, clip->path, "", "out of memory");
    for (int i = 0; ok && i < clip->count; i++) {
        ok = read_header(clip, i, &headers[i > 0], headers, err);
        times_s[i] = headers[i > 0].time_s;
    }
    if (ok)
        set_period(clip, times_s);
    free(times_s);
    free(headers);
    return ok;
}

/* ---- public functions ------------------------------------------------------------------------ */

bool clip_open(const char *folder, Clip **out, Err *err) {
    Clip *clip = calloc(1, sizeof *clip);
    *out = NULL;
    if (clip)
        clip->path = strdup(folder);
    bool ok = (clip && clip->path) || err_set(err, ERR_FAILED, folder, "", "out of memory");
    if (ok && list_folder(clip, err) && read_headers(clip, err)) {
        *out = clip;
        return true;
    }
    clip_free(clip);
    return false;
}

void clip_free(Clip *clip) {
    if (!clip)
        return;
    free(clip->path);
    free(clip->names);
    free(clip);
}

int clip_at(const Clip *clip, double time_s) {
    const double rounding = 1e-6; /* ten steps of 0.1 s must count as 1 s */
    double moment = floor(time_s / clip->period_s + rounding);
    return moment > 0 ? (int)fmod(moment, clip->count) : 0;
}
