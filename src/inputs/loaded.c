/* SPDX-License-Identifier: MIT */
/* Loads the scene of a job and finds its facts; loads the moments of a clip. */
#include "src/base/ref.h"
#include "src/base/worker.h"
#include "src/inputs/inputs.h"
#include "src/scene/slice.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the moments of a clip ------------------------------------------------------------------- */

struct Moments {
    const Scene *first; /* the first moment, with its clip */
    int room;           /* how many moments are kept: the wanted moment and those after it */
    int reach;          /* how many of the kept moments the thread loads */
    Worker worker;
    /* The worker's lock guards the fields below. */
    int wanted;     /* number of the moment asked for last; -1: none yet */
    int failed;     /* number of the moment that failed to load; -1: none */
    Err err;        /* why it failed */
    Scene *there[]; /* loaded moments by number; NULL: not loaded */
};

static void moment_destroy(void *contents) {
    scene_free(contents);
}

/* Returns how many moments of this size fit into MOMENTS_BYTES. */
static int moments_that_fit(const Scene *scene) {
    const Photos *photos = &scene->photos;
    size_t bytes =
        (features_depth_count(&scene->shape) + features_feat_count(&scene->shape)) * sizeof(float) +
        (size_t)(photos->cameras * photos->h * photos->w * 3) +
        (size_t)photos->sweep_count * 3 * sizeof(float) +
        (size_t)scene->map.points * 3 * sizeof(int32_t);
    size_t room = MOMENTS_BYTES / bytes;
    return !room ? 1 : room < INT_MAX ? (int)room : INT_MAX;
}

/* Returns the next moment to load: the first of the wanted ones that is missing. -1: none. */
static int next_to_load(const Moments *moments) {
    int count = moments->first->clip->count;
    for (int i = 0; moments->wanted >= 0 && i < moments->reach && i < count; i++) {
        int next = (moments->wanted + i) % count;
        if (!moments->there[next])
            return next == moments->failed ? -1 : next;
    }
    return -1;
}

/* Drops the loaded moments that are no longer wanted. */
static void drop_unwanted(Moments *moments) {
    int count = moments->first->clip->count;
    for (int i = moments->room; i < count; i++) {
        Scene **other = &moments->there[(moments->wanted + i) % count];
        ref_drop(*other);
        *other = NULL;
    }
}

/* Loads one moment. The lock is open while the file is read. */
static void load_moment(Moments *moments, int number) {
    Err err;
    worker_unlock(&moments->worker);
    Scene *moment = ref_new(sizeof *moment, moment_destroy);
    bool ok = (moment || err_no_memory(&err, moments->first->clip->path, "")) &&
              clip_load(moments->first, number, moment, &err);
    worker_lock(&moments->worker);
    if (ok)
        moments->there[number] = moment;
    else {
        ref_drop(moment);
        moments->failed = number;
        moments->err = err;
    }
    worker_tell(&moments->worker);
}

static void *load_moments(void *owner) {
    Moments *moments = owner;
    worker_lock(&moments->worker);
    while (!moments->worker.stop) {
        int next = next_to_load(moments);
        if (next < 0)
            worker_wait(&moments->worker);
        else
            load_moment(moments, next);
    }
    worker_unlock(&moments->worker);
    return NULL;
}

/* Starts the loading thread. `first` is the first moment, with its clip, which must outlive the
 * thread. `ahead`: moments are loaded before anything asks for them. */
static bool moments_open(const Scene *first, bool ahead, Moments **out, Err *err) {
    const Clip *clip = first->clip;
    Moments *moments = calloc(1, sizeof *moments + (size_t)clip->count * sizeof(Scene *));
    *out = NULL;
    if (!moments)
        return err_no_memory(err, clip->path, "");
    moments->first = first;
    moments->room = moments_that_fit(first);
    moments->reach = ahead ? moments->room : 1;
    moments->failed = -1;
    moments->wanted = ahead ? clip->count > 1 : -1; /* moment 0 is loaded with the scene */
    if (worker_start(&moments->worker, load_moments, moments, "moments", err))
        *out = moments;
    else
        free(moments);
    return *out;
}

Scene *moments_take(Moments *moments, int number, const GiveUp *give_up, Err *err) {
    const double look_ms = 5; /* how often the wait looks at give_up */
    worker_lock(&moments->worker);
    moments->wanted = number;
    drop_unwanted(moments);
    if (moments->failed == number)
        moments->failed = -1; /* tries again: the file may be whole by now */
    worker_tell(&moments->worker);
    while (!moments->there[number] && moments->failed != number && !given_up(give_up))
        worker_wait_ms(&moments->worker, look_ms);
    Scene *moment = ref_keep(moments->there[number]);
    if (!moment && moments->failed == number)
        *err = moments->err;
    worker_unlock(&moments->worker);
    return moment;
}

/* ---- the scene ------------------------------------------------------------------------------- */

static void loaded_destroy(void *contents) {
    LoadedScene *loaded = contents;
    Moments *moments = loaded->moments;
    if (moments)
        worker_stop(&moments->worker);
    for (int i = 0; moments && i < moments->first->clip->count; i++)
        ref_drop(moments->there[i]);
    free(moments);
    calibration_free(loaded->calibration);
    scene_free(&loaded->scene);
    free(loaded->path);
}

static void fill_scene_facts(LoadedScene *loaded) {
    const Scene *scene = &loaded->scene;
    SceneFacts *facts = &loaded->facts;
    snprintf(facts->name, sizeof facts->name, "%s", scene->name);
    snprintf(facts->title, sizeof facts->title, "%s", scene->title);
    Slice whole = slice_of(&scene->shape, SLICE_MAX);
    facts->nx = facts->cells_x = whole.cells_x;
    facts->ny = facts->rows = whole.rows;
    facts->slices = whole.slices;
    facts->channels = scene->channels;
    facts->depth_bins = scene->shape.depth_bins;
    facts->has_rig = scene->has_rig;
    facts->has_world = scene->has_world;
    facts->judged_s = scene->world.judged_s;
    facts->moment_s = scene->clip ? scene->clip->period_s : 0;
    facts->moments = scene->clip ? scene->clip->count : 0;
    facts->photo_features = scene->photo_features;
    facts->has_lidar = scene->has_rig && (scene->has_world || scene->photos.sweep_count);
    facts->has_truth = scene->photos.box_count || scene->photos.sweep_count;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (scene->has_rig || scene_has_map(scene, (BevAlign)align))
            facts->aligns |= 1u << align;
    facts->has_operator = scene->has_operator;
    facts->operator_spec = scene->operator_spec;
    facts->camera_count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < facts->camera_count; i++)
        memcpy(facts->cameras[i], scene->rig.cameras[i].name, sizeof facts->cameras[i]);
    if (scene->has_rig)
        facts->grid = facts->whole = scene->rig.grid;
}

LoadedScene *inputs_scene(LoadedScene *have, const char *path, const Job *job, bool ahead,
                          Err *err) {
    if (have && !strcmp(have->path, path) && operator_same_change(&have->sizes, &job->sizes) &&
        have->photo_features == job->photo_features)
        return ref_keep(have);
    LoadedScene *loaded = ref_new(sizeof *loaded, loaded_destroy);
    if (!loaded || !(loaded->path = strdup(path))) {
        ref_drop(loaded);
        err_no_memory(err, "scene", "choose a smaller scene");
        return NULL;
    }
    loaded->sizes = job->sizes;
    loaded->photo_features = job->photo_features;
    Scene *scene = &loaded->scene;
    /* a world makes photo features later, moment by moment */
    if (!scene_load(path, scene, err) || !operator_change(scene, &loaded->sizes, err) ||
        (job->photo_features && !scene->has_world && !scene_use_photo_features(scene, err)) ||
        (scene->clip && !moments_open(scene, ahead, &loaded->moments, err))) {
        ref_drop(loaded);
        return NULL;
    }
    fill_scene_facts(loaded);
    return loaded;
}
