/* SPDX-License-Identifier: MIT */
/* Finds the errors that belong to the newest frame. All errors are judged at one moment of the
 * scene. So they do not change while the world moves, and can be compared. The errors of earlier
 * selections are kept. */
#include "src/live/engine_internal.h"

#include <string.h>

/* Whether each moment is judged by itself: in scripts, and for the questions of a lesson. */
static bool judges_each(const Engine *engine) {
    const State *state = &engine->now.state;
    return engine->options.script || (state->lesson.open && !state->playing);
}

/* Whether two selections have the same errors in all formats. */
static bool same_errors(const Verdict *one, const Verdict *other) {
    const Job *a = &one->job, *b = &other->job;
    return a->scene == b->scene && a->config.align == b->config.align &&
           a->config.kernel == b->config.kernel && a->channels == b->channels &&
           rig_state_equal(&a->rig, &b->rig) && a->scales_file == b->scales_file &&
           scales_dtype(a) == scales_dtype(b) && a->photo_features == b->photo_features &&
           operator_same_change(&a->sizes, &b->sizes) && one->time_s == other->time_s;
}

/* Marks the errors as stale. Errors of another scene, kernel or align are forgotten. */
static void mark_stale(Engine *engine, const Job *before, const Job *now) {
    LiveData *live = &engine->now.live;
    memset(engine->judged_gates, 0, sizeof engine->judged_gates);
    if (before->scene != now->scene || before->config.kernel != now->config.kernel ||
        before->config.align != now->config.align)
        live_forget_accuracy(live);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        LiveAccuracy *accuracy = &live->accuracy[dtype];
        accuracy->stale = accuracy->source != SOURCE_UNKNOWN;
    }
}

void engine_aim_accuracy(Engine *engine, const FrameInputs *inputs) {
    LiveData *live = &engine->now.live;
    Verdict *last = engine->verdicts, now = {.job = live->job, .time_s = -1};
    const bool reuses = !engine->options.script; /* a script judges every selection again */
    int count = engine->verdict_count, place = 0;
    if (judges_each(engine))
        now.time_s = live->job.time_s;
    if (count && same_errors(last, &now))
        return;
    memcpy(last->accuracy, live->accuracy, sizeof last->accuracy);
    memcpy(last->gates, engine->judged_gates, sizeof last->gates);
    engine->judged_s =
        judges_each(engine) ? inputs->features->time_s : inputs->scene->facts.judged_s;
    engine->accuracy_tag++;
    if (engine->judging)
        background_give_up(engine->judging);
    while (place < count && !(reuses && same_errors(last + place, &now)))
        place++;
    if (place < count) {
        now = last[place];
        memcpy(live->accuracy, now.accuracy, sizeof now.accuracy);
        memcpy(engine->judged_gates, now.gates, sizeof now.gates);
    } else
        mark_stale(engine, &last->job, &now.job);
    live->counters.stale = live->counters.source != SOURCE_UNKNOWN;
    place = place < VERDICTS ? place : VERDICTS - 1; /* the oldest verdict makes room */
    engine->verdict_count += place == count;
    memmove(last + 1, last, (size_t)place * sizeof *last);
    *last = now;
}
