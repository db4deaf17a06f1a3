#include "src/bench/pipeline.h"

#include "src/bench/parts_make.h"
#include "src/bench/shared.h"
#include "src/model/clock.h"

#include <stdlib.h>

struct Pipeline {
    FrameParts parts;
    Runner runners[2];               /* the selection's and the baseline's */
    BuiltMap *maps[BEV_ALIGN_COUNT]; /* the last of each: going back to one is free */
    MapBuilder builder;
    bool forget_scene;
    uint64_t content, baseline_content, seen_content; /* of the parts */
};

bool pipeline_open(Pipeline **pipeline, Err *err) {
    *pipeline = calloc(1, sizeof **pipeline);
    return *pipeline || no_memory("pipeline", err);
}

void pipeline_close(Pipeline *pipeline) {
    if (!pipeline)
        return;
    for (int i = 0; i < 2; i++)
        runner_clear(&pipeline->runners[i]);
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        shared_drop(pipeline->maps[align]);
    map_builder_clear(&pipeline->builder);
    frame_parts_drop(&pipeline->parts);
    free(pipeline);
}

const FrameParts *pipeline_parts(const Pipeline *pipeline) {
    return &pipeline->parts;
}

void pipeline_forget_scene(Pipeline *pipeline) {
    pipeline->forget_scene = true;
}

/* The baseline may use another align, hence another map; it is kept with its grid. */
static bool want_baseline(Pipeline *pipeline, const Job *job, FrameParts *next, StageTimes *times,
                          Err *err) {
    if (!job->pool_baseline)
        return true;
    if (choice_equal(&job->baseline, &job->choice)) {
        next->baseline = shared_keep(next->pooled);
        return true;
    }
    Job other = *job;
    other.choice = job->baseline;
    FrameParts with = {.scene = next->scene, .features = next->features};
    PooledGrid *have = pipeline->parts.baseline;
    bool ok = true;
    if (job->baseline.align == job->choice.align)
        with.map = shared_keep(next->map);
    else
        ok = want_map(&pipeline->maps[other.choice.align], &pipeline->builder, &other, &with, err);
    ok = ok && want_pooled(&pipeline->runners[1], have, &with, &job->baseline, &next->baseline,
                           times, err);
    shared_drop(with.map);
    return ok;
}

static bool run_stages(Pipeline *pipeline, const State *state, PipelineNeeds needs,
                       FrameParts *next, StageTimes *times, Err *err) {
    const Job *job = &state->job;
    const FrameParts *have = &pipeline->parts;
    bool forget = pipeline->forget_scene;
    pipeline->forget_scene = false;
    if (!want_scene(forget ? NULL : have->scene, state, next, err))
        return false;
    double start = clock_us();
    if (!want_features(have->features, job, needs.draft, next, err) ||
        !want_views(have->views, needs.sharp, next, err))
        return false;
    double seen = clock_us();
    if (!want_map(&pipeline->maps[job->choice.align], &pipeline->builder, job, next, err))
        return false;
    if (next->features != have->features)
        times->us[STAGE_FEATURES] = seen - start;
    if (next->map != have->map)
        times->us[STAGE_MAP] = clock_us() - seen;
    StageTimes aside = {{0}}; /* the panel shows the selection, not what it is compared to */
    return want_pooled(&pipeline->runners[0], have->pooled, next, &job->choice, &next->pooled,
                       times, err) &&
           want_baseline(pipeline, job, next, &aside, err) &&
           (!needs.truth || want_truth(have->truth, next, err));
}

static bool same_parts(const FrameParts *a, const FrameParts *b) {
    return a->scene == b->scene && a->features == b->features && a->views == b->views &&
           a->map == b->map && a->pooled == b->pooled && a->baseline == b->baseline &&
           a->truth == b->truth;
}

static void count_changes(Pipeline *pipeline, const FrameParts *next) {
    const FrameParts *last = &pipeline->parts;
    pipeline->content += !same_parts(last, next);
    pipeline->baseline_content += last->baseline != next->baseline;
    pipeline->seen_content += last->features != next->features || last->views != next->views;
}

static void fill_frame(const FrameParts *parts, LiveFrame *frame) {
    const SeenFeatures *features = parts->features;
    const Scene *scene = &parts->scene->scene;
    *frame = (LiveFrame){
        .nx = features->shape.nx,
        .ny = features->shape.ny,
        .channels = features->shape.channels,
        .pooled = parts->pooled->values,
        .baseline = parts->baseline ? parts->baseline->values : NULL,
        .truth = parts->truth ? parts->truth->values : NULL,
        .map = &parts->map->map,
        .embedding = features->embedding.rows ? &features->embedding : NULL,
        .features = &features->values,
        .cameras = parts->views              ? &parts->views->views
                   : features->views.cameras ? &features->views
                                             : NULL,
        .rig = scene->has_rig ? &parts->map->rig : NULL,
        .world = scene->has_world ? &scene->world : NULL,
        .time_s = features->time_s,
    };
}

/* Stages that this run did not need keep the time they last took, which is none of this frame's. */
static void fill_stages(const StageTimes *times, LiveData *live) {
    for (int i = 0; i < STAGE_DRAW; i++)
        if (times->us[i] > 0)
            live->stages_us[i] = reading(times->us[i], SOURCE_MEASURED);
        else if (times->us[STAGE_POOL] > 0)
            live->stages_us[i].stale = true;
}

bool pipeline_run(Pipeline *pipeline, const State *state, PipelineNeeds needs, LiveData *live,
                  Err *err) {
    FrameParts next = {.scene = NULL};
    StageTimes times = {{0}};
    if (!run_stages(pipeline, state, needs, &next, &times, err)) {
        frame_parts_drop(&next);
        return false;
    }
    count_changes(pipeline, &next);
    frame_parts_drop(&pipeline->parts);
    pipeline->parts = next;
    live->serial = state->job.serial;
    live->job = state->job;
    live->memory =
        (LiveMemory){true, next.pooled->footprint, next.pooled->gather, next.pooled->own};
    live->intervals = next.map->intervals;
    fill_stages(&times, live);
    fill_frame(&next, &live->frame);
    live->frame.content = pipeline->content;
    live->frame.baseline_content = pipeline->baseline_content;
    live->frame.seen_content = pipeline->seen_content;
    return probe_cell(&next, state->job.probe_cell, &live->probe, err);
}
