/* SPDX-License-Identifier: MIT */
#include "src/inputs/moments.h"

#include "src/base/ref.h"
#include "src/base/worker.h"

#include <stdlib.h>
#include <string.h>

struct Moments {
    const Clip *clip;
    bool photo_features, ahead;
    Worker worker;
    /* The worker's lock guards the fields below. */
    int wanted;     /* number of the moment asked for last; -1: none yet */
    Moment **there; /* loaded moments by number; NULL: not loaded */
    size_t *bytes;  /* bytes of each loaded moment */
    size_t total;
    int failed; /* number of the moment that failed to load; -1: none */
    Err err;    /* why it failed */
};

static void moment_destroy(void *contents) {
    Moment *moment = contents;
    scene_free(&moment->scene);
}

static size_t bytes_of(const Scene *scene) {
    const Photos *photos = &scene->photos;
    return (features_depth_count(&scene->shape) + features_feat_count(&scene->shape)) *
               sizeof(float) +
           (size_t)(photos->cameras * photos->h * photos->w * 3) +
           (size_t)photos->sweep_count * 3 * sizeof(float) +
           (size_t)photos->box_count * sizeof *photos->boxes +
           (size_t)scene->map.points * 3 * sizeof(int32_t);
}

/* Returns how many moments after the wanted one moment `number` is shown; a clip repeats. */
static int shown_after(const Moments *moments, int number) {
    int count = moments->clip->count;
    return (number - moments->wanted + count) % count;
}

static void forget_moment(Moments *moments, int number) {
    ref_drop(moments->there[number]);
    moments->there[number] = NULL;
    moments->total -= moments->bytes[number];
    moments->bytes[number] = 0;
}

/* Returns the loaded moment that will be shown last; -1: none is loaded. */
static int shown_last(const Moments *moments) {
    int found = -1;
    for (int i = 0; i < moments->clip->count; i++)
        if (moments->there[i] &&
            (found < 0 || shown_after(moments, i) > shown_after(moments, found)))
            found = i;
    return found;
}

/* Returns the next moment to load. -1: all are loaded, or the memory is full of moments that are
 * shown sooner. */
static int next_to_load(const Moments *moments) {
    int count = moments->clip->count, last = shown_last(moments), next = moments->wanted;
    if (next < 0)
        return -1;
    for (int i = 0; i < count && moments->there[next]; i++)
        next = (next + 1) % count;
    if (moments->there[next] || next == moments->failed ||
        (next != moments->wanted && !moments->ahead))
        return -1;
    size_t one = last >= 0 ? moments->bytes[last] : 0;
    bool full = moments->total + one > MOMENTS_BYTES;
    return full && shown_after(moments, next) > shown_after(moments, last) ? -1 : next;
}

static void keep_moment(Moments *moments, Moment *moment) {
    size_t bytes = bytes_of(&moment->scene);
    for (int last; moments->total + bytes > MOMENTS_BYTES && (last = shown_last(moments)) >= 0 &&
                   last != moments->wanted;)
        forget_moment(moments, last);
    moments->there[moment->number] = moment;
    moments->bytes[moment->number] = bytes;
    moments->total += bytes;
}

/* Loads one moment. The lock is open while the file is read. */
static void load_moment(Moments *moments, int number) {
    Err err;
    worker_unlock(&moments->worker);
    Moment *moment = ref_new(sizeof *moment, moment_destroy);
    if (moment)
        moment->number = number;
    bool ok = moment
                  ? clip_load(moments->clip, number, &moment->scene, &err) &&
                        (!moments->photo_features || scene_use_photo_features(&moment->scene, &err))
                  : err_set(&err, ERR_FAILED, moments->clip->path, "", "out of memory");
    worker_lock(&moments->worker);
    if (ok)
        keep_moment(moments, moment);
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

bool moments_open(const Clip *clip, bool photo_features, bool ahead, Moments **out, Err *err) {
    Moments *moments = calloc(1, sizeof *moments);
    size_t count = (size_t)clip->count;
    bool ok = moments && (moments->there = calloc(count, sizeof(Moment *))) &&
              (moments->bytes = calloc(count, sizeof(size_t)));
    *out = NULL;
    if (!ok)
        err_set(err, ERR_FAILED, clip->path, "", "out of memory");
    else {
        moments->clip = clip;
        moments->photo_features = photo_features;
        moments->ahead = ahead;
        moments->failed = -1;
        moments->wanted = ahead ? (clip->count > 1) : -1; /* moment 0 is loaded with the scene */
        ok = worker_start(&moments->worker, load_moments, moments, "moments", err);
    }
    if (ok) {
        *out = moments;
        return true;
    }
    if (moments) {
        free(moments->there);
        free(moments->bytes);
    }
    free(moments);
    return false;
}

void moments_close(Moments *moments) {
    if (!moments)
        return;
    worker_end(&moments->worker);
    for (int i = 0; i < moments->clip->count; i++)
        ref_drop(moments->there[i]);
    free(moments->there);
    free(moments->bytes);
    free(moments);
}

Moment *moments_take(Moments *moments, int number, const GiveUp *give_up, Err *err) {
    const double look_ms = 5; /* how often the wait looks at give_up */
    worker_lock(&moments->worker);
    moments->wanted = number;
    if (moments->failed == number)
        moments->failed = -1; /* tries again: the file may be whole by now */
    worker_tell(&moments->worker);
    while (!moments->there[number] && moments->failed != number && !given_up(give_up))
        worker_wait_ms(&moments->worker, look_ms);
    Moment *moment = ref_keep(moments->there[number]);
    if (!moment && moments->failed == number)
        *err = moments->err;
    worker_unlock(&moments->worker);
    return moment;
}
