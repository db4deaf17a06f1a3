#include "src/bench/pipeline.h"

#include "src/bench/session.h"
#include "src/bench/shared.h"
#include "src/bench/truth.h"
#include "src/model/calibration.h"
#include "src/model/clock.h"
#include "src/model/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An encoded problem and the session that runs it: what a choice needs besides the parts. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    Choice choice;
    HostProblem problem;
    Session *session;
} Runner;

struct Pipeline {
    FrameParts parts;
    Runner runners[2];               /* the selection's and the baseline's */
    BuiltMap *maps[BEV_ALIGN_COUNT]; /* the last of each: going back to one is free */
    bool forget_scene;
    uint64_t content, baseline_content, seen_content; /* of the parts */
};

static bool no_memory(const char *where, Err *err) {
    return err_set(err, ERR_FAILED, where, "choose a smaller scene", "out of memory");
}

/* ---- parts --------------------------------------------------------------------------------------
 */

void frame_parts_drop(FrameParts *parts) {
    shared_drop(parts->truth);
    shared_drop(parts->baseline);
    shared_drop(parts->pooled);
    shared_drop(parts->map);
    shared_drop(parts->views);
    shared_drop(parts->features);
    shared_drop(parts->scene);
    *parts = (FrameParts){.scene = NULL};
}

FrameParts frame_parts_keep(const FrameParts *parts) {
    return (FrameParts){
        .scene = shared_keep(parts->scene),
        .features = shared_keep(parts->features),
        .views = shared_keep(parts->views),
        .map = shared_keep(parts->map),
        .pooled = shared_keep(parts->pooled),
        .baseline = shared_keep(parts->baseline),
        .truth = shared_keep(parts->truth),
    };
}

/* ---- scene
 * ---------------------------------------------------------------------------------------- */

static void scene_destroy(void *contents) {
    LoadedScene *loaded = contents;
    scene_free(&loaded->scene);
}

static bool has_own_map(const Scene *scene, BevAlign align) {
    return scene->has_map && (align == BEV_NEAREST) == (scene->map.weights == NULL);
}

static void fill_facts(LoadedScene *loaded) {
    const Scene *scene = &loaded->scene;
    SceneFacts *facts = &loaded->facts;
    snprintf(facts->name, sizeof facts->name, "%s", scene->name);
    snprintf(facts->title, sizeof facts->title, "%s", scene->title);
    facts->nx = scene->shape.nx;
    facts->ny = scene->shape.ny;
    facts->channels = scene->channels;
    facts->has_rig = scene->has_rig;
    facts->has_world = scene->has_world;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (scene->has_rig || has_own_map(scene, (BevAlign)align))
            facts->aligns |= 1u << align;
    facts->camera_count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < facts->camera_count; i++)
        memcpy(facts->cameras[i], scene->rig.cameras[i].name, sizeof facts->cameras[i]);
    if (scene->has_rig)
        facts->grid = scene->rig.grid;
}

static bool want_scene(Pipeline *pipeline, const State *state, FrameParts *next, Err *err) {
    LoadedScene *current = pipeline->parts.scene;
    int number = state->job.scene;
    if (current && current->number == number && !pipeline->forget_scene) {
        next->scene = shared_keep(current);
        return true;
    }
    LoadedScene *loaded = shared_new(sizeof *loaded, scene_destroy);
    if (!loaded)
        return no_memory("scene", err);
    next->scene = loaded;
    loaded->number = number;
    pipeline->forget_scene = false;
    if (!scene_load(state->menu.scenes.names[number], &loaded->scene, err))
        return false;
    fill_facts(loaded);
    return true;
}

/* ---- features
 * ------------------------------------------------------------------------------------- */

static void features_destroy(void *contents) {
    SeenFeatures *seen = contents;
    if (seen->scene->scene.has_world)
        features_free(&seen->values);
    camera_views_free(&seen->views);
    embedding_free(&seen->embedding);
    shared_drop(seen->scene);
}

static bool look(SeenFeatures *seen, Err *err) {
    const Scene *scene = &seen->scene->scene;
    if (!scene->has_world) {
        seen->values = scene->tensors;
        return true;
    }
    return embedding_init(&seen->embedding, seen->shape.channels, scene->seed, err) &&
           features_render(&scene->rig, &scene->world, seen->shape.channels, scene->seed,
                           seen->temperature, seen->time_s,
                           seen->draft ? sub_rays_draft : sub_rays_full, &seen->values,
                           &seen->views, err);
}

static bool want_features(const Pipeline *pipeline, const Job *job, bool draft, FrameParts *next,
                          Err *err) {
    const Scene *scene = &next->scene->scene;
    SeenFeatures want = {.scene = next->scene, .shape = scene->shape};
    if (scene->has_world) {
        want.time_s = job->time_s;
        want.temperature = scene->temperature * job->temperature;
        want.shape.channels = job->channels ? job->channels : scene->channels;
        want.draft = draft;
    }
    const SeenFeatures *have = pipeline->parts.features;
    if (have && have->scene == want.scene && have->time_s == want.time_s &&
        have->temperature == want.temperature && have->shape.channels == want.shape.channels &&
        (want.draft || !have->draft)) {
        next->features = shared_keep(pipeline->parts.features);
        return true;
    }
    next->features = shared_new(sizeof want, features_destroy);
    if (!next->features)
        return no_memory("features", err);
    *next->features = want;
    shared_keep(want.scene);
    return look(next->features, err);
}

/* ---- camera views -------------------------------------------------------------------------------
 */

enum { SHARPER = 4 }; /* times the feature map, each way */

static void views_destroy(void *contents) {
    SharpViews *sharp = contents;
    camera_views_free(&sharp->views);
    shared_drop(sharp->scene);
}

static bool want_views(const Pipeline *pipeline, bool sharp, FrameParts *next, Err *err) {
    const Scene *scene = &next->scene->scene;
    SharpViews *have = pipeline->parts.views;
    if (have && have->scene == next->scene && have->time_s == next->features->time_s) {
        next->views = shared_keep(have);
        return true;
    }
    if (!sharp || !scene->has_world)
        return true;
    next->views = shared_new(sizeof *next->views, views_destroy);
    if (!next->views)
        return no_memory("camera views", err);
    next->views->scene = shared_keep(next->scene);
    next->views->time_s = next->features->time_s;
    return camera_views_render(&scene->rig, &scene->world, SHARPER * scene->rig.frustum.feat_h,
                               SHARPER * scene->rig.frustum.feat_w, next->features->time_s,
                               &next->views->views, err);
}

/* ---- map
 * --------------------------------------------------------------------------------------------- */

static void map_destroy(void *contents) {
    BuiltMap *built = contents;
    if (!built->borrowed)
        scatter_free(&built->map);
    shared_drop(built->scene);
}

static bool same_errors(const BuiltMap *a, const BuiltMap *b) {
    for (int i = 0; i < a->rig.camera_count; i++)
        if (a->errors[i].yaw_deg != b->errors[i].yaw_deg ||
            a->errors[i].pitch_deg != b->errors[i].pitch_deg ||
            a->errors[i].height_m != b->errors[i].height_m)
            return false;
    return true;
}

static bool as_calibrated(const BuiltMap *built) {
    for (int i = 0; i < built->rig.camera_count; i++)
        if (!camera_error_is_zero(&built->errors[i]) || !(built->camera_mask >> i & 1))
            return false;
    return true;
}

static bool build(BuiltMap *built, Err *err) {
    const Scene *scene = &built->scene->scene;
    built->borrowed = has_own_map(scene, built->align) && as_calibrated(built);
    if (built->borrowed)
        built->map = scene->map;
    else if (!scene->has_rig)
        return err_set(err, ERR_FAILED, scene->name, "export the scene with its calibration",
                       "its index arrays have no map for %s", bev_aligns[built->align].title);
    else {
        for (int i = 0; i < built->rig.camera_count; i++)
            camera_bend(&built->rig.cameras[i], &built->errors[i]);
        if (!scatter_build(&built->rig, built->align, built->camera_mask, &built->map, err))
            return false;
    }
    live_intervals(&built->intervals, &built->map, scene->shape.nx * scene->shape.ny);
    return true;
}

static bool want_map(Pipeline *pipeline, const Job *job, FrameParts *next, Err *err) {
    const Scene *scene = &next->scene->scene;
    BuiltMap want = {.scene = next->scene, .align = job->choice.align};
    if (scene->has_rig) {
        want.rig = scene->rig;
        want.camera_mask = job->camera_mask;
        memcpy(want.errors, job->camera_errors, sizeof want.errors);
    }
    BuiltMap **kept = &pipeline->maps[want.align];
    const BuiltMap *have = *kept;
    if (have && have->scene == want.scene && have->camera_mask == want.camera_mask &&
        same_errors(have, &want)) {
        next->map = shared_keep(*kept);
        return true;
    }
    next->map = shared_new(sizeof want, map_destroy);
    if (!next->map)
        return no_memory("map", err);
    *next->map = want;
    shared_keep(want.scene);
    if (!build(next->map, err))
        return false;
    shared_drop(*kept);
    *kept = shared_keep(next->map);
    return true;
}

/* ---- pooling
 * ------------------------------------------------------------------------------------------ */

static void runner_clear(Runner *runner) {
    session_close(runner->session);
    problem_free(&runner->problem);
    shared_drop(runner->map);
    shared_drop(runner->features);
    *runner = (Runner){.session = NULL};
}

/* Stage times of one run; a stage that was not needed took no time. */
typedef struct {
    double us[STAGE_COUNT];
} StageTimes;

static bool runner_fits(const Runner *runner, const FrameParts *next, const Choice *choice) {
    return runner->session && runner->features == next->features && runner->map == next->map &&
           choice_equal(&runner->choice, choice);
}

/* The same kernel on a later moment: on the CPU only values change, in place. */
static bool runner_can_update(const Runner *runner, const FrameParts *next, const Choice *choice) {
    return runner->session && choice->variant->where == BEV_CPU && runner->map == next->map &&
           choice_equal(&runner->choice, choice) &&
           runner->features->shape.channels == next->features->shape.channels;
}

static bool runner_update(Runner *runner, const FrameParts *next, StageTimes *times, Err *err) {
    double start = clock_us();
    bool ok = problem_update(&runner->problem, &next->features->values, err);
    times->us[STAGE_ENCODE] += clock_us() - start;
    shared_drop(runner->features);
    runner->features = shared_keep(next->features);
    return ok;
}

/* Another kernel on the same values needs a session of its own, nothing else; another format of
 * them no second calibration. */
static bool runner_encode(Runner *runner, const FrameParts *next, const Choice *choice,
                          StageTimes *times, Err *err) {
    session_close(runner->session);
    runner->session = NULL;
    bool same = runner->features == next->features && runner->map == next->map &&
                runner->problem.view.out.data;
    if (same && runner->choice.dtype == choice->dtype)
        return true;
    double out_largest = same ? runner->problem.out_largest : NAN;
    runner_clear(runner);
    runner->features = shared_keep(next->features);
    runner->map = shared_keep(next->map);
    double start = clock_us();
    bool ok =
        problem_encode_known(&runner->problem, &next->features->shape, choice->dtype, choice->align,
                             &next->features->values, &next->map->map, out_largest, err);
    times->us[STAGE_ENCODE] += clock_us() - start;
    return ok;
}

static bool runner_prepare(Runner *runner, const FrameParts *next, const Choice *choice,
                           StageTimes *times, Err *err) {
    if (runner_fits(runner, next, choice))
        return true;
    if (runner_can_update(runner, next, choice))
        return runner_update(runner, next, times, err);
    if (!runner_encode(runner, next, choice, times, err))
        return false;
    double encoded = clock_us();
    runner->choice = *choice;
    bool ok = session_open_once(&runner->session, choice->variant, &runner->problem.view, err);
    times->us[STAGE_UPLOAD] += clock_us() - encoded;
    return ok;
}

/* A GPU's output is elsewhere; a CPU kernel wrote it where problem_output reads. */
static bool runner_read(Runner *runner, float *values, Err *err) {
    BevProblem *view = &runner->problem.view;
    if (runner->choice.variant->where != BEV_CPU &&
        !session_read(runner->session, view->out.data, err))
        return false;
    problem_output(view, values);
    return true;
}

static void pooled_destroy(void *contents) {
    PooledGrid *pooled = contents;
    free(pooled->values);
    shared_drop(pooled->map);
    shared_drop(pooled->features);
}

static PooledGrid *pooled_new(const FrameParts *next, const Choice *choice) {
    const BevShape *shape = &next->features->shape;
    PooledGrid *pooled = shared_new(sizeof *pooled, pooled_destroy);
    if (!pooled)
        return NULL;
    pooled->features = shared_keep(next->features);
    pooled->map = shared_keep(next->map);
    pooled->choice = *choice;
    pooled->values = malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof(float));
    return pooled;
}

static bool pool(Runner *runner, PooledGrid *pooled, StageTimes *times, Err *err) {
    double start = clock_us();
    if (!session_run(runner->session, err))
        return false;
    double pooled_at = clock_us();
    times->us[STAGE_POOL] += pooled_at - start;
    if (!runner_read(runner, pooled->values, err))
        return false;
    times->us[STAGE_READ] += clock_us() - pooled_at;
    const BevProblem *view = &runner->problem.view;
    pooled->footprint = bev_footprint(view);
    pooled->gather = bev_gather_traffic(view, bev_dtypes[view->out.dtype].bits);
    pooled->own = pooled->choice.variant->bytes(view);
    return true;
}

static bool want_pooled(Runner *runner, PooledGrid *have, const FrameParts *next,
                        const Choice *choice, PooledGrid **pooled, StageTimes *times, Err *err) {
    if (have && have->features == next->features && have->map == next->map &&
        choice_equal(&have->choice, choice)) {
        *pooled = shared_keep(have);
        return true;
    }
    *pooled = pooled_new(next, choice);
    if (!*pooled || !(*pooled)->values)
        return no_memory("pooled grid", err);
    if (runner_prepare(runner, next, choice, times, err) && pool(runner, *pooled, times, err))
        return true;
    runner_clear(runner);
    return false;
}

/* ---- truth
 * ---------------------------------------------------------------------------------------------- */

static void truth_destroy(void *contents) {
    TruthGrid *truth = contents;
    free(truth->values);
    shared_drop(truth->map);
    shared_drop(truth->features);
}

static bool want_truth(const Pipeline *pipeline, FrameParts *next, Err *err) {
    TruthGrid *have = pipeline->parts.truth;
    if (have && have->features == next->features && have->map == next->map) {
        next->truth = shared_keep(have);
        return true;
    }
    const BevShape *shape = &next->features->shape;
    TruthGrid *truth = shared_new(sizeof *truth, truth_destroy);
    if (!truth)
        return no_memory("FP64 grid", err);
    next->truth = truth;
    truth->features = shared_keep(next->features);
    truth->map = shared_keep(next->map);
    truth->values = malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof(double));
    if (!truth->values)
        return no_memory("FP64 grid", err);
    truth_pool(shape, &next->map->map, &next->features->values, truth->values);
    return true;
}

/* ---- one cell
 * --------------------------------------------------------------------------------------------- */

static int heavier_first(const void *a, const void *b) {
    const LiveContribution *x = a, *y = b;
    float left = x->depth * x->weight, right = y->depth * y->weight;
    return (left < right) - (left > right);
}

static LiveContribution contribution(const FrameParts *parts, int64_t point) {
    const BevShape *shape = &parts->features->shape;
    const BevMap *map = &parts->map->map;
    int64_t rank = map->ranks_depth[point];
    LiveContribution one = {
        .w = (int32_t)(rank % shape->feat_w),
        .h = (int32_t)(rank / shape->feat_w % shape->feat_h),
        .depth_bin = (int32_t)(rank / (shape->feat_w * shape->feat_h) % shape->depth_bins),
        .camera = (int)(rank / (shape->feat_w * shape->feat_h * shape->depth_bins)),
        .depth = parts->features->values.depth[rank],
        .weight = map->weights ? map->weights[point] : 1,
    };
    return one;
}

/* A cell can hold more points than the list: the heaviest stay. */
static bool list_contributions(const FrameParts *parts, LiveProbe *probe, Err *err) {
    const BevMap *map = &parts->map->map;
    LiveContribution *all = malloc((size_t)probe->points * sizeof *all);
    if (!all)
        return no_memory("cell", err);
    for (int64_t i = 0; i < probe->points; i++)
        all[i] = contribution(parts, map->interval_starts[probe->interval] + i);
    qsort(all, (size_t)probe->points, sizeof *all, heavier_first);
    probe->contribution_count =
        (int)(probe->points < LIVE_MAX_CONTRIBUTIONS ? probe->points : LIVE_MAX_CONTRIBUTIONS);
    memcpy(probe->contributions, all, (size_t)probe->contribution_count * sizeof *all);
    free(all);
    return true;
}

static bool compare_with_truth(const FrameParts *parts, LiveProbe *probe, Err *err) {
    const BevShape *shape = &parts->features->shape;
    const float *got = parts->pooled->values + probe->cell * shape->channels;
    double *want = calloc((size_t)shape->channels, sizeof *want);
    if (!want)
        return no_memory("cell", err);
    if (probe->interval >= 0)
        truth_pool_interval(shape, &parts->map->map, &parts->features->values, probe->interval,
                            want);
    double value = 0, truth = 0, worst = -1;
    for (int64_t c = 0; c < shape->channels; c++) {
        value += (double)got[c] * got[c];
        truth += want[c] * want[c];
        double difference = fabs(got[c] - want[c]);
        if (difference > worst || isnan(difference)) {
            worst = isnan(difference) ? INFINITY : difference;
            probe->channel = c;
            probe->channel_value = got[c];
            probe->channel_truth = want[c];
        }
    }
    probe->value = sqrt(value);
    probe->truth = sqrt(truth);
    free(want);
    return true;
}

static bool probe_cell(const FrameParts *parts, int64_t cell, LiveProbe *probe, Err *err) {
    const BevShape *shape = &parts->features->shape;
    probe->cell = cell >= 0 && cell < shape->nx * shape->ny ? cell : -1;
    probe->interval = -1;
    probe->points = probe->contribution_count = 0;
    if (probe->cell < 0)
        return true;
    probe->interval = map_interval_of(&parts->map->map, cell);
    if (probe->interval >= 0) {
        probe->points = parts->map->map.interval_lengths[probe->interval];
        if (!list_contributions(parts, probe, err))
            return false;
    }
    return compare_with_truth(parts, probe, err);
}

/* ---- all of it
 * ---------------------------------------------------------------------------------------------- */

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
    Job other = *job;
    other.choice = job->baseline;
    FrameParts with = {.scene = next->scene, .features = next->features};
    PooledGrid *have = pipeline->parts.baseline;
    bool ok = true;
    if (job->baseline.align == job->choice.align)
        with.map = shared_keep(next->map);
    else
        ok = want_map(pipeline, &other, &with, err);
    ok = ok && want_pooled(&pipeline->runners[1], have, &with, &job->baseline, &next->baseline,
                           times, err);
    shared_drop(with.map);
    return ok;
}

static bool run_stages(Pipeline *pipeline, const State *state, PipelineNeeds needs,
                       FrameParts *next, StageTimes *times, Err *err) {
    const Job *job = &state->job;
    if (!want_scene(pipeline, state, next, err))
        return false;
    double start = clock_us();
    if (!want_features(pipeline, job, needs.draft, next, err) ||
        !want_views(pipeline, needs.sharp, next, err))
        return false;
    double seen = clock_us();
    if (!want_map(pipeline, job, next, err))
        return false;
    if (next->features != pipeline->parts.features)
        times->us[STAGE_FEATURES] = seen - start;
    if (next->map != pipeline->parts.map)
        times->us[STAGE_MAP] = clock_us() - seen;
    StageTimes aside = {
        {0}}; /* the pipeline panel shows the selection, not what it is compared to */
    return want_pooled(&pipeline->runners[0], pipeline->parts.pooled, next, &job->choice,
                       &next->pooled, times, err) &&
           want_baseline(pipeline, job, next, &aside, err) &&
           (!needs.truth || want_truth(pipeline, next, err));
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
