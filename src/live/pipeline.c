#include "src/live/pipeline.h"

#include "src/live/frame_inputs_internal.h"
#include "src/base/ref.h"
#include "src/base/clock.h"

#include <stdlib.h>

enum { OFFERS = 2 }; /* one for the selection, one for the baseline */

struct Pipeline {
    FrameInputs parts; /* of the last frame */
    FrameInputs made;  /* the newest of each kind, those of runs that were given up included */
    PooledGrid *offers[OFFERS];      /* newest first */
    Runner runners[2];               /* the selection's and the baseline's */
    BuiltMap *maps[BEV_ALIGN_COUNT]; /* of this scene, the last of each: going back is free */
    MapBuilder builder;
    bool forget_scene;
    bool lacks;
    KernelConfig lacking;                             /* where `lacks` */
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
        ref_drop(pipeline->maps[align]);
    for (int i = 0; i < OFFERS; i++)
        ref_drop(pipeline->offers[i]);
    map_builder_clear(&pipeline->builder);
    frame_inputs_drop(&pipeline->made);
    frame_inputs_drop(&pipeline->parts);
    free(pipeline);
}

const FrameInputs *pipeline_parts(const Pipeline *pipeline) {
    return &pipeline->parts;
}

void pipeline_forget_scene(Pipeline *pipeline) {
    pipeline->forget_scene = true;
}

const KernelConfig *pipeline_lacks(const Pipeline *pipeline) {
    return pipeline->lacks ? &pipeline->lacking : NULL;
}

void pipeline_offer(Pipeline *pipeline, PooledGrid *grid) {
    ref_drop(pipeline->offers[OFFERS - 1]);
    for (int i = OFFERS - 1; i > 0; i--)
        pipeline->offers[i] = pipeline->offers[i - 1];
    pipeline->offers[0] = grid;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* One run on its way: what it has made so far. */
typedef struct {
    Pipeline *pipeline;
    const PipelineNeeds *needs;
    FrameInputs next;
    StageTimes times;
    const BevKernel *stood_in; /* NULL: nobody did */
    bool lacks;
    KernelConfig lacking;
    Err *err;
} Run;

static bool grid_fits(const PooledGrid *grid, const FrameInputs *with, const KernelConfig *config) {
    return grid && grid->features == with->features && grid->map == with->map &&
           kernel_config_equal(&grid->config, config);
}

/* A grid of `choice` on features and map of `with` that is there already, or NULL. */
static PooledGrid *find_grid(const Run *run, const FrameInputs *with, const KernelConfig *config) {
    const Pipeline *pipeline = run->pipeline;
    PooledGrid *const there[] = {run->next.pooled, pipeline->made.pooled, pipeline->made.baseline,
                                 pipeline->offers[0], pipeline->offers[1]};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        if (grid_fits(there[i], with, config))
            return there[i];
    return NULL;
}

/* Pools `choice`, or who stands in for it, on features and map of `with`. */
static bool want_grid(Run *run, int runner, const FrameInputs *with, KernelConfig config,
                      const BevKernel *stand_in, PooledGrid **grid, StageTimes *times) {
    PooledGrid *there = find_grid(run, with, &config);
    if (!there && stand_in) {
        if (!run->lacks)
            run->lacking = config;
        run->lacks = true;
        run->stood_in = config.kernel = stand_in;
        there = find_grid(run, with, &config);
    }
    if (there) {
        *grid = ref_keep(there);
        return true;
    }
    return make_pooled(&run->pipeline->runners[runner], with, &config, grid, times, run->err);
}

/* The baseline may use another align, hence another map; it is kept with its grid. */
static bool want_baseline(Run *run, const Job *job) {
    Pipeline *pipeline = run->pipeline;
    Job other = *job;
    other.config = job->baseline;
    FrameInputs with = {.scene = run->next.scene, .features = run->next.features};
    StageTimes aside = {{0}}; /* the panel shows the selection, not what it is compared to */
    bool ok = true;
    if (job->baseline.align == job->config.align)
        with.map = ref_keep(run->next.map);
    else
        ok = want_map(&pipeline->maps[other.config.align], &pipeline->builder, &other, &with,
                      run->err);
    ok = ok && want_grid(run, 1, &with, job->baseline, run->needs->baseline_stand_in,
                         &run->next.baseline, &aside);
    ref_drop(with.map);
    return ok;
}

/* What was kept for going back to it belongs to another scene: maps of several sizes add up. */
static void leave_others(Pipeline *pipeline, const LoadedScene *scene) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (pipeline->maps[align] && pipeline->maps[align]->scene != scene) {
            ref_drop(pipeline->maps[align]);
            pipeline->maps[align] = NULL;
        }
    for (int i = 0; i < OFFERS; i++)
        if (pipeline->offers[i] && pipeline->offers[i]->map->scene != scene) {
            ref_drop(pipeline->offers[i]);
            pipeline->offers[i] = NULL;
        }
    for (int i = 0; i < 2; i++)
        if (pipeline->runners[i].features && pipeline->runners[i].features->scene != scene)
            runner_clear(&pipeline->runners[i]);
}

static bool want_seen(Run *run, const State *state) {
    Pipeline *pipeline = run->pipeline;
    FrameInputs *made = &pipeline->made, *next = &run->next;
    bool forget = pipeline->forget_scene;
    pipeline->forget_scene = false;
    if (!want_scene(forget ? NULL : made->scene, state, next, run->err))
        return false;
    if (next->scene != made->scene) {
        features_change_size();
        grids_change_size();
    }
    leave_others(pipeline, next->scene);
    double start = clock_us();
    const GiveUp *give_up = &run->needs->give_up;
    bool ok =
        want_features(made->features, &state->job, run->needs->draft, give_up, next, run->err) &&
        want_views(made->views, run->needs->sharp, give_up, next, run->err);
    if (ok && next->features != made->features)
        next->features->took_us = clock_us() - start;
    if (ok && next->features != pipeline->parts.features)
        run->times.us[STAGE_FEATURES] = next->features->took_us;
    return ok;
}

static bool want_points(Run *run, const State *state) {
    Pipeline *pipeline = run->pipeline;
    const Job *job = &state->job;
    double start = clock_us();
    bool ok =
        want_map(&pipeline->maps[job->config.align], &pipeline->builder, job, &run->next, run->err);
    if (ok && !run->next.map->took_us)
        run->next.map->took_us = clock_us() - start;
    if (ok && run->next.map != pipeline->parts.map)
        run->times.us[STAGE_MAP] = run->next.map->took_us;
    return ok;
}

static bool want_selection(Run *run, const State *state) {
    return want_grid(run, 0, &run->next, state->job.config, run->needs->stand_in, &run->next.pooled,
                     &run->times);
}

static bool want_comparison(Run *run, const State *state) {
    return !state->job.pool_baseline || want_baseline(run, &state->job);
}

static bool want_exact(Run *run, const State *state) {
    (void)state;
    return !run->needs->fp64_original ||
           want_fp64(run->pipeline->made.fp64_original, &run->next, run->err);
}

static PipelineEnd run_stages(Run *run, const State *state) {
    static bool (*const stages[])(Run *, const State *) = {want_seen, want_points, want_selection,
                                                           want_comparison, want_exact};
    enum { STAGES = sizeof stages / sizeof *stages };
    const PipelineNeeds *needs = run->needs;
    for (int i = 0; i < STAGES; i++) {
        if (!stages[i](run, state))
            return given_up(&needs->give_up) ? PIPELINE_GIVEN_UP : PIPELINE_FAILED;
        if (i + 1 < STAGES && given_up(&needs->give_up))
            return PIPELINE_GIVEN_UP;
    }
    return PIPELINE_DONE;
}

/* ---- from one frame to the next -------------------------------------------------------------- */

static void replace(FrameInputs *parts, FrameInputs with) {
    frame_inputs_drop(parts);
    *parts = with;
}

static void *newest(void *now, void *before) {
    return ref_keep(now ? now : before);
}

/* Of a run that was given up; what it did not come to stays as it was. */
static void keep_made(FrameInputs *made, const FrameInputs *next) {
    const FrameInputs both = {
        .scene = ref_keep(next->scene),
        .features = newest(next->features, made->features),
        .views = ref_keep(next->views),
        .map = newest(next->map, made->map),
        .pooled = newest(next->pooled, made->pooled),
        .baseline = newest(next->baseline, made->baseline),
        .fp64_original = newest(next->fp64_original, made->fp64_original),
    };
    replace(made, both);
}

static bool same_parts(const FrameInputs *a, const FrameInputs *b) {
    return a->scene == b->scene && a->features == b->features && a->views == b->views &&
           a->map == b->map && a->pooled == b->pooled && a->baseline == b->baseline &&
           a->fp64_original == b->fp64_original;
}

static void count_changes(Pipeline *pipeline, const FrameInputs *next) {
    const FrameInputs *last = &pipeline->parts;
    pipeline->content += !same_parts(last, next);
    pipeline->baseline_content += last->baseline != next->baseline;
    pipeline->seen_content += last->features != next->features || last->views != next->views;
}

static void fill_frame(const FrameInputs *parts, LiveFrame *frame) {
    const SeenFeatures *features = parts->features;
    const Scene *scene = &parts->scene->scene;
    *frame = (LiveFrame){
        .nx = features->shape.nx,
        .ny = features->shape.ny,
        .channels = features->shape.channels,
        .pooled = parts->pooled->values,
        .baseline = parts->baseline ? parts->baseline->values : NULL,
        .fp64_original = parts->fp64_original ? parts->fp64_original->values : NULL,
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

static bool show(Pipeline *pipeline, const Run *run, const State *state, LiveData *live, Err *err) {
    const FrameInputs *next = &run->next;
    count_changes(pipeline, next);
    replace(&pipeline->parts, frame_inputs_keep(next));
    pipeline->lacks = run->lacks;
    pipeline->lacking = run->lacking;
    live->serial = state->job.serial;
    live->job = state->job;
    live->stand_in = run->stood_in;
    live->memory =
        (LiveMemory){true, next->pooled->footprint, next->pooled->gather, next->pooled->own};
    live->intervals = next->map->intervals;
    fill_stages(&run->times, live);
    fill_frame(next, &live->frame);
    live->frame.content = pipeline->content;
    live->frame.baseline_content = pipeline->baseline_content;
    live->frame.seen_content = pipeline->seen_content;
    return probe_cell(next, state->job.probe_cell, &live->probe, err);
}

PipelineEnd pipeline_run(Pipeline *pipeline, const State *state, PipelineNeeds needs,
                         LiveData *live, Err *err) {
    Run run = {.pipeline = pipeline, .needs = &needs, .err = err};
    PipelineEnd end = run_stages(&run, state);
    if (end == PIPELINE_GIVEN_UP)
        keep_made(&pipeline->made, &run.next);
    if (end == PIPELINE_DONE) {
        replace(&pipeline->made, frame_inputs_keep(&run.next));
        if (!show(pipeline, &run, state, live, err))
            end = PIPELINE_FAILED;
    }
    frame_inputs_drop(&run.next);
    return end;
}
