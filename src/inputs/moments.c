/* SPDX-License-Identifier: MIT */
/* Loads the moments of a clip, on a thread of their own. */
#include "src/base/ref.h"
#include "src/base/worker.h"
#include "src/inputs/inputs.h"

#include <limits.h>
#include <stdlib.h>

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
    const size_t room = MOMENTS_BYTES / bytes;
    return room < 1 ? 1 : room < INT_MAX ? (int)room : INT_MAX;
}

/* Returns the next moment to load: from the wanted moment on, the first that is missing. -1: none,
 * or the missing moment has failed to load. */
static int next_to_load(const Moments *moments) {
    const int count = moments->first->clip->count;
    const int reach = moments->wanted >= 0 ? moments->reach : 0;
    for (int i = 0; i < reach && i < count; i++) {
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
        *other = ref_swap(*other, NULL);
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

bool moments_open(const Scene *first, bool ahead, Moments **out, Err *err) {
    const Clip *clip = first->clip;
    Moments *moments = calloc(1, sizeof *moments + (size_t)clip->count * sizeof(Scene *));
    *out = NULL;
    if (!moments)
        return err_no_memory(err, clip->path, "");
    moments->first = first;
    moments->room = moments_that_fit(first);
    moments->reach = ahead ? moments->room : 1;
    moments->failed = -1;
    moments->wanted = -1;
    if (ahead)
        moments->wanted = clip->count > 1 ? 1 : 0; /* moment 0 is loaded with the scene */
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
        moments->failed = -1; /* tries again: the file may be complete by now */
    worker_tell(&moments->worker);
    while (!moments->there[number] && moments->failed != number && !given_up(give_up))
        worker_wait_ms(&moments->worker, look_ms);
    Scene *moment = ref_keep(moments->there[number]);
    if (!moment && moments->failed == number)
        *err = moments->err;
    worker_unlock(&moments->worker);
    return moment;
}

void moments_close(Moments *moments) {
    if (moments)
        worker_stop(&moments->worker);
    for (int i = 0; moments && i < moments->first->clip->count; i++)
        ref_drop(moments->there[i]);
    free(moments);
}
