/* SPDX-License-Identifier: MIT */
#include "src/scene/clip.h"

#include "src/base/data.h"
#include "src/scene/scene_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double clip_period_s = 0.5; /* nuScenes has boxes for two moments a second */

/* ---- the folder ------------------------------------------------------------------------------ */

static int is_moment(const struct dirent *entry) {
    return entry->d_name[0] != '.' && data_has_suffix(entry->d_name, ".npz");
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

void clip_path(const Clip *clip, int moment, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", clip->path, clip->files[moment]->d_name);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Reads the time of a moment, which is the time of its first camera. NaN: the file has no time. */
static bool read_time(const Clip *clip, int moment, double *time_s, Err *err) {
    char path[PATH_MAX];
    double times[RIG_MAX_CAMERAS] = {NAN};
    ArrayReader reader;
    Npz npz;
    clip_path(clip, moment, path);
    if (!npz_open_file(&npz, path, SCENE_MAX_FILE_BYTES, err))
        return false;
    bool ok =
        arrays_open(&reader, &npz, err) && arrays_read_doubles(&reader, ARRAY_TIMESTAMPS, times);
    npz_close(&npz);
    *time_s = times[0];
    return ok;
}

/* Sets how long moments last: the mean by the times of the first and the last one. */
static bool set_period(Clip *clip, Err *err) {
    double first_s, last_s;
    int steps = clip->count - 1;
    if (!read_time(clip, 0, &first_s, err) || !read_time(clip, steps, &last_s, err))
        return false;
    double period_s = steps ? (last_s - first_s) / steps : clip_period_s;
    clip->untimed = isnan(first_s) || isnan(last_s) ? "no timestamps"
                    : period_s <= 1e-3              ? "timestamps do not ascend"
                    : period_s >= 3600              ? "an hour between two timestamps"
                                                    : NULL;
    clip->period_s = clip->untimed ? clip_period_s : period_s;
    return true;
}

int clip_at(const Clip *clip, double time_s) {
    const double rounding = 1e-6; /* ten steps of 0.1 s must count as 1 s */
    double moment = floor(time_s / clip->period_s + rounding);
    return moment > 0 ? (int)fmod(moment, clip->count) : 0;
}

/* ---- what moments have in common ------------------------------------------------------------- */

ClipKind clip_kind(const Scene *scene) {
    ClipKind kind;
    memset(&kind, 0, sizeof kind); /* kinds are compared as bytes */
    kind.shape = scene->shape;
    kind.grid = scene->rig.grid;
    kind.photos_h = scene->photos.h;
    kind.photos_w = scene->photos.w;
    kind.has_rig = scene->has_rig;
    kind.has_map = scene->has_map;
    kind.weighted = scene->map.weights != NULL;
    return kind;
}

bool clip_check(const Clip *clip, int moment, const Scene *scene, Err *err) {
    const ClipKind kind = clip_kind(scene);
    char path[PATH_MAX];
    clip_path(clip, moment, path);
    return !memcmp(&kind, &clip->kind, sizeof kind) ||
           err_set(err, ERR_FAILED, path, "moments have the same arrays, shapes and grid",
                   "another kind of moment than %s", clip->files[0]->d_name);
}

/* ---- the handle ------------------------------------------------------------------------------ */

bool clip_open(const char *folder, Clip **out, Err *err) {
    Clip *clip = calloc(1, sizeof *clip);
    *out = NULL;
    if (clip)
        clip->path = strdup(folder);
    bool ok = (clip && clip->path) || err_no_memory(err, folder, "");
    int count = ok ? scandir(folder, &clip->files, is_moment, compare_names) : 0;
    if (count < 0)
        ok = err_set(err, ERR_FAILED, folder, "", "cannot be listed: %s", strerror(errno));
    else if (ok && !count)
        ok = err_set(err, ERR_FAILED, folder, "one .npz a moment, or an operator's five .npy",
                     "a folder without .npz files");
    else if (ok)
        clip->count = count;
    if (ok && set_period(clip, err)) {
        *out = clip;
        return true;
    }
    clip_free(clip);
    return false;
}

void clip_free(Clip *clip) {
    if (!clip)
        return;
    for (int i = 0; i < clip->count; i++)
        free(clip->files[i]);
    free(clip->files);
    free(clip->path);
    free(clip);
}
