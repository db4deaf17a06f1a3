/* SPDX-License-Identifier: MIT */
/* Finds the errors that belong to the newest frame. Errors are judged at one moment of the scene,
 * so that they stay while the world moves and can be compared. The errors of earlier selections are
 * kept. */
#include "src/live/engine_internal.h"

#include <stdlib.h>
#include <string.h>

enum { VERDICTS = 16 }; /* so many selections are kept */

/* Selections with the same key have the same errors in all formats. */
typedef struct {
    int scene, align;
    const BevKernel *kernel;
    int64_t channels;
    RigState rig;
    const char *scales_file;
    BevDtype scales_dtype;
    bool photo_features;
    OperatorChange sizes;
    double time_s; /* the moment, if each moment is judged by itself; else -1 */
} VerdictKey;

typedef struct {
    VerdictKey key;
    LiveAccuracy accuracy[BEV_DTYPE_COUNT];
    GateSet gates[BEV_DTYPE_COUNT];
} Verdict;

struct Verdicts {
    VerdictKey now;
    int count;
    Verdict list[VERDICTS]; /* the newest first */
};

/* Whether each moment is judged by itself: in scripts, and for the questions of a lesson. */
static bool judges_each(const Engine *engine) {
    const State *state = &engine->now.state;
    return engine->options.script || (state->lesson.open && !state->playing);
}

static VerdictKey verdict_key(const Engine *engine) {
    const Job *job = &engine->now.live.job;
    return (VerdictKey){.scene = job->scene,
                        .align = job->config.align,
                        .kernel = job->config.kernel,
                        .channels = job->channels,
                        .rig = job->rig,
                        .scales_file = job->scales_file,
                        .scales_dtype = scales_dtype(job),
                        .photo_features = job->photo_features,
                        .sizes = job->sizes,
                        .time_s = judges_each(engine) ? job->time_s : -1};
}

static bool same_key(const VerdictKey *a, const VerdictKey *b) {
    return a->scene == b->scene && a->align == b->align && a->kernel == b->kernel &&
           a->channels == b->channels && rig_state_equal(&a->rig, &b->rig) &&
           a->scales_file == b->scales_file && a->scales_dtype == b->scales_dtype &&
           a->photo_features == b->photo_features && operator_same_change(&a->sizes, &b->sizes) &&
           a->time_s == b->time_s;
}

/* Puts the errors of the last selection at the front of the list. */
static void keep_verdict(Engine *engine, Verdicts *verdicts) {
    int at = 0;
    while (at < verdicts->count && !same_key(&verdicts->list[at].key, &verdicts->now))
        at++;
    at = at < VERDICTS ? at : VERDICTS - 1;
    verdicts->count += at == verdicts->count;
    memmove(verdicts->list + 1, verdicts->list, (size_t)at * sizeof *verdicts->list);
    Verdict *first = verdicts->list;
    first->key = verdicts->now;
    memcpy(first->accuracy, engine->now.live.accuracy, sizeof first->accuracy);
    memcpy(first->gates, engine->judged_gates, sizeof first->gates);
}

/* Shows the kept errors of a selection. False: the list has none. */
static bool show_verdict(Engine *engine, const Verdicts *verdicts, const VerdictKey *key) {
    for (int i = 0; i < verdicts->count; i++) {
        const Verdict *found = &verdicts->list[i];
        if (!same_key(&found->key, key))
            continue;
        memcpy(engine->now.live.accuracy, found->accuracy, sizeof found->accuracy);
        memcpy(engine->judged_gates, found->gates, sizeof found->gates);
        return true;
    }
    return false;
}

/* Marks the errors as stale. Errors of another scene, kernel or align are forgotten. */
static void mark_stale(Engine *engine, const VerdictKey *before, const VerdictKey *key) {
    LiveData *live = &engine->now.live;
    memset(engine->judged_gates, 0, sizeof engine->judged_gates);
    if (before->scene != key->scene || before->kernel != key->kernel || before->align != key->align)
        live_forget_accuracy(live);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        LiveAccuracy *accuracy = &live->accuracy[dtype];
        accuracy->stale = accuracy->source != SOURCE_UNKNOWN;
    }
}

void engine_aim_accuracy(Engine *engine, const FrameInputs *inputs) {
    const VerdictKey key = verdict_key(engine);
    Verdicts *verdicts = engine->verdicts;
    const bool first = !verdicts;
    if (first && !(verdicts = engine->verdicts = calloc(1, sizeof *verdicts)))
        return; /* without memory no verdict is kept */
    if (!first && same_key(&key, &verdicts->now))
        return;
    if (!first && !engine->options.script)
        keep_verdict(engine, verdicts);
    engine->judged_s =
        judges_each(engine) ? inputs->features->time_s : inputs->scene->facts.judged_s;
    engine->accuracy_tag++;
    if (engine->judging)
        background_give_up(engine->judging);
    if (!show_verdict(engine, verdicts, &key))
        mark_stale(engine, &verdicts->now, &key);
    engine->now.live.counters.stale = engine->now.live.counters.source != SOURCE_UNKNOWN;
    verdicts->now = key;
}
