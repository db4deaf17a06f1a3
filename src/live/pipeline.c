/* SPDX-License-Identifier: MIT */
/* Later runs use again: tensors and session of a runner, and maps and grids of the pipeline. */
#include "src/live/pipeline.h"

#include "src/base/clock.h"
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/live/live_gpu.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- the inputs of a frame ------------------------------------------------------------------- */

FrameInputs frame_inputs_keep(const FrameInputs *inputs) {
    for (int i = 0; i < FRAME_INPUTS; i++)
        ref_keep(inputs->each[i]);
    return *inputs;
}

void frame_inputs_drop(FrameInputs *inputs) {
    for (int i = FRAME_INPUTS - 1; i >= 0; i--)
        ref_drop(inputs->each[i]);
    *inputs = (FrameInputs){.scene = NULL};
}

void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs) {
    FrameInputs kept = frame_inputs_keep(
        &(FrameInputs){.scene = inputs->scene, .features = inputs->features, .map = inputs->map});
    frame_inputs_drop(held);
    *held = kept;
}

BevProblem inputs_bare_problem(const FrameInputs *inputs, const KernelConfig *config) {
    return bev_bare_problem(&inputs->features->shape, &inputs->map->map, config->kernel->direction,
                            config->dtype, config->align);
}

const char *inputs_unsupported(const FrameInputs *inputs, const KernelConfig *config) {
    BevProblem problem = inputs_bare_problem(inputs, config);
    return bev_unsupported(config->kernel, &problem);
}

KernelConfig inputs_forward_config(const KernelConfig *config) {
    KernelConfig forward = *config;
    if (config->kernel->direction == BEV_BACKWARD)
        forward.kernel = bev_default(config->kernel->where, BEV_FORWARD);
    return forward;
}

void inputs_fill_frame(const FrameInputs *inputs, LiveFrame *frame) {
    const Fp64Grid *fp64 = inputs->fp64_original;
    const SeenFeatures *features = inputs->features;
    const Scene *scene = inputs_scene_at(features);
    *frame = (LiveFrame){
        .nx = features->shape.nx,
        .ny = features->shape.ny,
        .channels = features->shape.channels,
        .shape = features->shape,
        .pooled = inputs->pooled->values,
        .baseline = inputs->baseline ? inputs->baseline->values : NULL,
        .pooled_by = inputs->pooled->config.kernel,
        .baseline_by = inputs->baseline ? inputs->baseline->config.kernel : NULL,
        .fp64_original = fp64 ? fp64->values : NULL,
        .baseline_fp64 = fp64 ? fp64->values : NULL,
        .map = &inputs->map->map,
        .steps = inputs->steps ? &inputs->steps->steps : NULL,
        .baseline_map = inputs->baseline ? &inputs->baseline->map->map : NULL,
        .embedding = features->embedding.rows ? &features->embedding : NULL,
        .features = &features->values,
        .cameras = features->views.cameras ? &features->views
                   : features->photos.srgb ? &features->photos
                                           : NULL,
        .bars = scene->has_operator ? &inputs->map->bars : NULL,
        .rig = scene->has_rig ? &inputs->map->rig : NULL,
        .world = scene->has_world ? &scene->world : NULL,
        .photos = &scene->photos,
        .baseline_depth = inputs->baseline ? inputs->baseline->features->values.depth : NULL,
        .photo_features = scene->photo_features,
        .draft = features->draft || (inputs->baseline && inputs->baseline->features->draft),
        .time_s = features->time_s,
    };
    if (inputs->baseline && inputs->baseline->features->scene != inputs->scene) {
        const SceneFacts *other = &inputs->baseline->features->scene->facts;
        memcpy(frame->scene_name, inputs->scene->facts.name, sizeof frame->scene_name);
        memcpy(frame->other_name, other->name, sizeof frame->other_name);
    }
    const Gradients *made = inputs->gradients;
    if (made)
        frame->gradients =
            (LiveGradients){&made->loss, made->grad_depth, made->grad_feat, made->text};
}

/* ---- the session of a configuration ---------------------------------------------------------- */

void runner_clear(Runner *runner) {
    session_close(runner->session);
    problem_free(&runner->problem);
    ref_drop(runner->map);
    ref_drop(runner->features);
    *runner = (Runner){.session = NULL};
}

static bool same_shape(const BevShape *a, const BevShape *b) {
    return !memcmp(a, b, sizeof *a);
}

bool inputs_encode(HostProblem *problem, const SeenFeatures *features, const BuiltMap *map,
                   const KernelConfig *config, Err *err) {
    if (!problem_encode(problem, &features->shape, config->dtype, config->align, &features->values,
                        &map->map, err))
        return false;
    if (config->kernel->direction == BEV_FORWARD || problem_turn_backward(problem, err))
        return true;
    problem_free(problem);
    return false;
}

/* Encodes the values of `with`, unless the runner's problem has them already. Existing tensors of
 * the same size are used again. */
static bool runner_encode(Runner *runner, const FrameInputs *with, const KernelConfig *config,
                          Err *err) {
    const bool forward = config->kernel->direction == BEV_FORWARD;
    bool ok, encoded = runner->features != NULL;
    bool same_values = encoded && runner->features == with->features && runner->map == with->map;
    bool same_size = encoded && runner->config.dtype == config->dtype &&
                     runner->problem.view.direction == config->kernel->direction &&
                     same_shape(&runner->features->shape, &with->features->shape);
    if (same_values && same_size)
        return true;
    double begun = clock_us();
    if (same_size && forward) {
        runner->problem.view.align = config->align;
        runner->problem.view.map = with->map->map;
        ok = problem_update(&runner->problem, &with->features->values, err);
    } else {
        problem_free(&runner->problem);
        ok = forward && config->kernel->where == BEV_CUDA
                 ? problem_encode_for_gpu(&runner->problem, &with->features->shape, config->dtype,
                                          config->align, &with->features->values, &with->map->map,
                                          err)
                 : inputs_encode(&runner->problem, with->features, with->map, config, err);
    }
    runner->us[STAGE_ENCODE] += clock_us() - begun;
    FrameInputs held = {.features = runner->features, .map = runner->map};
    runner->features = ref_keep(with->features);
    runner->map = ref_keep(with->map);
    frame_inputs_drop(&held);
    return ok;
}

bool runner_goes_on(const Runner *runner, const FrameInputs *with, const KernelConfig *config) {
    return runner->session && runner->map == with->map &&
           kernel_config_equal(&runner->config, config) &&
           same_shape(&runner->features->shape, &with->features->shape);
}

bool runner_prepare(Runner *runner, const FrameInputs *with, const KernelConfig *config,
                    const GiveUp *give_up, Err *err) {
    bool goes_on = runner_goes_on(runner, with, config);
    if (goes_on && runner->features == with->features)
        return true;
    if (!goes_on || config->kernel->direction == BEV_BACKWARD) {
        session_close(runner->session);
        runner->session = NULL;
    }
    if (!runner_encode(runner, with, config, err) || given_up(give_up))
        return false;
    double encoded = clock_us();
    runner->config = *config;
    bool ok = runner->session
                  ? session_update(runner->session, err)
                  : session_open(&runner->session, config->kernel, &runner->problem.view, err);
    runner->us[STAGE_UPLOAD] += clock_us() - encoded;
    return ok;
}

bool runner_launch(const Runner *runner, double *us, double *busy_us, Err *err) {
    const TeamTime team = clock_team();
    double begun = clock_us();
    bool ok = session_run(runner->session, err);
    *us = clock_us() - begun;
    *busy_us = clock_team_since_us(team);
    return ok;
}

/* ---- grids ----------------------------------------------------------------------------------- */

static MemPool grids = MEM_POOL;

size_t inputs_grid_values(const BevShape *shape) {
    return (size_t)(shape->nx * shape->ny * shape->channels);
}

/* Bytes that the display holds for a value: two pooled grids, the FP64 grid, and the codes of two
 * runners. */
enum { SHOWN_BYTES = 4 + 4 + 8 + 4 + 4 };

bool inputs_fit(const BevShape *shape, const char *scene, Err *err) {
    double mb = (double)inputs_grid_values(shape) * SHOWN_BYTES / 1e6;
    return mb <= LIVE_BUDGET_MB ||
           err_set(err, ERR_FAILED, scene,
                   "choose fewer channels (--channels), or a command: snapshot, verify, bench",
                   "the display would take %.0f MB for its grids, of a budget of %d MB", mb,
                   LIVE_BUDGET_MB);
}

static void pooled_destroy(void *contents) {
    PooledGrid *pooled = contents;
    mem_pool_give(&grids, pooled->values,
                  inputs_grid_values(&pooled->features->shape) * sizeof *pooled->values);
    ref_drop(pooled->map);
    ref_drop(pooled->features);
}

/* Returns the scale of each tensor, and the smallest and largest scale of a feature channel. */
static LiveScales scales_of(const BevProblem *view) {
    LiveScales scales = {.known = true,
                         .dtype = view->dtype,
                         .tensor = {[BITS_FEATURES] = view->feat.scale,
                                    [BITS_DEPTH] = view->depth.scale,
                                    [BITS_OUTPUT] = view->out.scale},
                         .channel_least = 1,
                         .channel_most = 1};
    const float *channels = view->feat.channel_scales;
    for (int64_t c = 0; channels && c < view->shape.channels; c++) {
        scales.channel_least = c ? fminf(scales.channel_least, channels[c]) : channels[c];
        scales.channel_most = c ? fmaxf(scales.channel_most, channels[c]) : channels[c];
    }
    return scales;
}

PooledGrid *inputs_read_grid(Runner *runner, const FrameInputs *from, const KernelConfig *config,
                             Err *err) {
    const BevProblem *view = &runner->problem.view;
    PooledGrid *pooled = ref_new(sizeof *pooled, pooled_destroy);
    const void *codes;
    if (pooled) {
        pooled->features = ref_keep(from->features);
        pooled->map = ref_keep(from->map);
        pooled->config = *config;
        pooled->values =
            mem_pool_take(&grids, inputs_grid_values(&view->shape) * sizeof *pooled->values);
    }
    if (!pooled || !pooled->values)
        err_no_memory(err, "pooled grid", "choose a smaller scene");
    else if (session_output(runner->session, &codes, err)) {
        tensor_decode(&view->out, codes, pooled->values);
        pooled->footprint = bev_footprint(view);
        pooled->scales = scales_of(view);
        pooled->gather = bev_gather_traffic(view, bev_dtypes[view->out.dtype].bits);
        return pooled;
    }
    ref_drop(pooled);
    return NULL;
}

bool inputs_pool(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 const GiveUp *give_up, PooledGrid **pooled, Err *err) {
    bool ok = runner_prepare(runner, next, config, give_up, err) && !given_up(give_up);
    double start = clock_us();
    ok = ok && session_run(runner->session, err);
    double pooled_at = clock_us();
    if (ok) {
        runner->us[STAGE_POOL] += pooled_at - start;
        *pooled = inputs_read_grid(runner, next, config, err);
        runner->us[STAGE_READ] += clock_us() - pooled_at;
        ok = *pooled != NULL;
    }
    if (!ok)
        runner_clear(runner);
    return ok;
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

enum { OFFERS = 2 }; /* an offered grid for the selection, another for the baseline */
enum { OF_SELECTION, OF_BASELINE, OF_GRADIENTS, RUNNERS };
enum { PINNED_MAP = BEV_ALIGN_COUNT, MAPS };

struct Pipeline {
    FrameInputs inputs;         /* of the last frame */
    FrameInputs made;           /* the newest of each, those of runs that were given up included */
    PooledGrid *offers[OFFERS]; /* pooled elsewhere; newest first */
    Runner runners[RUNNERS];
    BuiltMap *maps[MAPS]; /* the last of each align, so that going back is free; and of a baseline
                             with a rig or a scene of its own */
    LoadedScene *other;   /* of a baseline that is another scene */
    MapBuilder builder;
    KernelConfig lacking; /* whose grid the last frame lacks; kernel NULL: none */
    uint64_t content, baseline_content, seen_content; /* see LiveFrame */
};

bool pipeline_open(Pipeline **pipeline, Err *err) {
    *pipeline = calloc(1, sizeof **pipeline);
    return *pipeline || err_no_memory(err, "pipeline", "choose a smaller scene");
}

void pipeline_close(Pipeline *pipeline) {
    if (!pipeline)
        return;
    for (int i = 0; i < RUNNERS; i++)
        runner_clear(&pipeline->runners[i]);
    for (int i = 0; i < MAPS; i++)
        ref_drop(pipeline->maps[i]);
    ref_drop(pipeline->other);
    for (int i = 0; i < OFFERS; i++)
        ref_drop(pipeline->offers[i]);
    map_builder_clear(&pipeline->builder);
    frame_inputs_drop(&pipeline->made);
    frame_inputs_drop(&pipeline->inputs);
    free(pipeline);
}

const FrameInputs *pipeline_inputs(const Pipeline *pipeline) {
    return &pipeline->inputs;
}

const KernelConfig *pipeline_lacks(const Pipeline *pipeline) {
    return pipeline->lacking.kernel ? &pipeline->lacking : NULL;
}

void pipeline_offer(Pipeline *pipeline, const FrameInputs *made) {
    if (made->gradients) {
        pipeline->made.gradients = ref_swap(pipeline->made.gradients, made->gradients);
        return;
    }
    ref_drop(pipeline->offers[1]);
    pipeline->offers[1] = pipeline->offers[0];
    pipeline->offers[0] = ref_keep(made->pooled);
}

bool pipeline_lacks_gradients(const Pipeline *pipeline) {
    return pipeline->inputs.pooled && pipeline->inputs.gradients &&
           pipeline->inputs.gradients->waits;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* A run of the pipeline, and the results of the run so far. */
typedef struct {
    Pipeline *pipeline;
    const PipelineNeeds *needs;
    SeenNeeds seen; /* the part of `needs` that is about features */
    FrameInputs next;
    double *us;                /* the times of the stages, in the selection's runner */
    const BevKernel *stood_in; /* the kernel that pooled in place of another; NULL: none did */
    KernelConfig lacking;      /* as in Pipeline */
    Err *err;
} Run;

/* Returns an existing grid of `config` on the features and the map of `with`, or NULL. */
static PooledGrid *find_grid(const Run *run, const FrameInputs *with, const KernelConfig *config) {
    const Pipeline *pipeline = run->pipeline;
    PooledGrid *const there[] = {run->next.pooled, pipeline->made.pooled, pipeline->made.baseline,
                                 pipeline->offers[0], pipeline->offers[1]};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        if (there[i] && there[i]->features == with->features && there[i]->map == with->map &&
            kernel_config_equal(&there[i]->config, config))
            return there[i];
    return NULL;
}

/* Finds or pools the grid of `config`, or of the kernel that stands in for it. */
static bool get_grid(Run *run, int runner, const FrameInputs *with, KernelConfig config,
                     const BevKernel *stand_in, PooledGrid **grid) {
    PooledGrid *there = find_grid(run, with, &config);
    if (!there && stand_in) {
        if (!run->lacking.kernel)
            run->lacking = config;
        run->stood_in = config.kernel = stand_in;
        there = find_grid(run, with, &config);
    }
    if (there) {
        *grid = ref_keep(there);
        return true;
    }
    return inputs_pool(&run->pipeline->runners[runner], with, &config, &run->needs->give_up, grid,
                       run->err);
}

/* Takes the scene of the baseline: the selection's, or another one, which is kept. */
static bool baseline_scene(Run *run, const char *path, const Job *baseline, FrameInputs *with) {
    LoadedScene **other = &run->pipeline->other;
    with->scene =
        inputs_scene(baseline->other ? *other : run->next.scene, path, baseline, true, run->err);
    if (with->scene && baseline->other)
        *other = ref_swap(*other, with->scene);
    return with->scene != NULL;
}

/* Takes the baseline's features: the selection's, or those of another scene, temperature, outlier
 * or scales. */
static bool baseline_features(Run *run, const Job *job, const Job *baseline, FrameInputs *with) {
    const PooledGrid *before = run->pipeline->made.baseline;
    const bool same_values = !job->other && baseline->temperature == job->temperature &&
                             baseline->outlier == job->outlier;
    const bool same_scales = baseline->scales == job->scales &&
                             baseline->scales_scene == job->scales_scene &&
                             scales_dtype(baseline) == scales_dtype(job);
    SeenFeatures *have = same_values && same_scales ? run->next.features
                         : before                   ? before->features
                                                    : NULL;
    with->features = inputs_features(have, with->scene, baseline, &run->seen, run->err);
    return with->features != NULL;
}

static bool find_map(Run *run, BuiltMap **have, const Job *job, FrameInputs *with) {
    MapMaker maker = map_builder_maker(&run->pipeline->builder, job->config.kernel->where);
    with->map = inputs_map(have, &maker, job, with->features, &run->needs->give_up, run->err);
    return with->map != NULL;
}

/* Takes the baseline's map: the selection's, or one of another align, scene or pinned rig. */
static bool baseline_map(Run *run, const Job *baseline, bool own_inputs, FrameInputs *with) {
    Pipeline *pipeline = run->pipeline;
    BuiltMap **have = &pipeline->maps[baseline->config.align];
    if (own_inputs)
        have = &pipeline->maps[PINNED_MAP];
    else if (baseline->config.align == run->next.map->align) {
        with->map = ref_keep(run->next.map);
        return true;
    }
    return find_map(run, have, baseline, with);
}

/* Makes the baseline's grid. For a baseline with inputs of its own no background launch is asked:
 * the stand-in's grid stays. */
static bool make_baseline(Run *run, State *state) {
    const Job *job = &state->job;
    if (!job->pool_baseline)
        return true;
    const Job baseline = job_of_baseline(job);
    const char *path = state->menu.scenes.names[baseline.scene];
    const bool own_inputs = job_inputs_differ(job);
    const KernelConfig lacking = run->lacking;
    FrameInputs with = {.scene = NULL};
    bool ok = baseline_scene(run, path, &baseline, &with) &&
              baseline_features(run, job, &baseline, &with);
    ok = ok && scene_check_same_grid(&run->next.features->shape, run->next.scene->facts.name,
                                     &with.features->shape, with.scene->facts.name, run->err);
    ok = ok && baseline_map(run, &baseline, own_inputs, &with) &&
         get_grid(run, OF_BASELINE, &with, baseline.config, run->needs->baseline_stand_in,
                  &run->next.baseline);
    if (own_inputs)
        run->lacking = lacking;
    frame_inputs_drop(&with);
    return ok;
}

/* Frees maps, offers and runners of scenes that are no longer shown. */
static void drop_other_scenes(Pipeline *pipeline, const LoadedScene *scene) {
    const LoadedScene *other = pipeline->other;
    for (int i = 0; i < MAPS; i++) {
        BuiltMap **map = &pipeline->maps[i];
        if (*map && (*map)->scene != scene && (*map)->scene != other)
            *map = ref_swap(*map, NULL);
    }
    for (int i = 0; i < OFFERS; i++) {
        PooledGrid **offer = &pipeline->offers[i];
        if (*offer && (*offer)->map->scene != scene && (*offer)->map->scene != other)
            *offer = ref_swap(*offer, NULL);
    }
    for (int i = 0; i < RUNNERS; i++) {
        const SeenFeatures *features = pipeline->runners[i].features;
        if (features && features->scene != scene && features->scene != other)
            runner_clear(&pipeline->runners[i]);
    }
}

/* Loads the scene. An align that the scene has no map for is replaced in the state. */
static bool make_scene(Run *run, State *state) {
    FrameInputs *made = &run->pipeline->made, *next = &run->next;
    const char *path = state->menu.scenes.names[state->job.scene];
    next->scene = inputs_scene(made->scene, path, &state->job, true, run->err);
    if (!next->scene)
        return false;
    if (next->scene != made->scene) {
        inputs_free_feature_memory();
        mem_pool_empty(&grids);
        inputs_free_fp64_memory();
    }
    unsigned aligns = next->scene->facts.aligns;
    kernel_config_make_valid(&state->job.config, aligns, NULL, 0);
    kernel_config_make_valid(&state->job.baseline, aligns, NULL, 0);
    return true;
}

/* Makes the features for the run, or reuses those of the last run. */
static bool make_features(Run *run, State *state) {
    Pipeline *pipeline = run->pipeline;
    FrameInputs *made = &pipeline->made, *next = &run->next;
    if (!state->job.other)
        pipeline->other = ref_swap(pipeline->other, NULL);
    drop_other_scenes(pipeline, next->scene);
    double start = clock_us();
    next->features =
        inputs_features(made->features, next->scene, &state->job, &run->seen, run->err);
    bool ok =
        next->features && inputs_fit(&next->features->shape, next->scene->scene.name, run->err);
    if (ok && next->features != made->features)
        next->features->took_us = clock_us() - start;
    if (ok && next->features != pipeline->inputs.features)
        run->us[STAGE_FEATURES] = next->features->took_us;
    return ok;
}

static bool make_map(Run *run, State *state) {
    Pipeline *pipeline = run->pipeline;
    bool ok = find_map(run, &pipeline->maps[state->job.config.align], &state->job, &run->next);
    if (ok && run->next.map != pipeline->inputs.map)
        run->us[STAGE_MAP] = run->next.map->took_us;
    return ok;
}

static bool make_grid(Run *run, State *state) {
    const KernelConfig config = inputs_forward_config(&state->job.config);
    if (config.kernel != state->job.config.kernel)
        run->stood_in = config.kernel;
    return get_grid(run, OF_SELECTION, &run->next, config, run->needs->stand_in, &run->next.pooled);
}

static bool make_fp64(Run *run, State *state) {
    (void)state;
    return !run->needs->fp64_original || inputs_fp64(run->pipeline->made.fp64_original,
                                                     &run->needs->give_up, &run->next, run->err);
}

/* Makes the gradients. Gradients that wait are asked for again until the background thread has
 * them. */
static bool make_gradients(Run *run, State *state) {
    Pipeline *pipeline = run->pipeline;
    Gradients *have = pipeline->made.gradients, **next = &run->next.gradients;
    const Job *job = &state->job;
    bool later = run->needs->gradients_later;
    if (job->config.kernel->direction == BEV_FORWARD)
        return true;
    if (inputs_gradients_fit(have, run->next.pooled, job) && (later || !have->waits)) {
        *next = ref_keep(have);
        return true;
    }
    if (!inputs_loss(&run->next, job, next, run->err))
        return false;
    Err told; /* in the text of the gradients */
    if (!later)
        inputs_gradients(&pipeline->runners[OF_GRADIENTS], *next, &told);
    return true;
}

static bool make_steps(Run *run, State *state) {
    return inputs_steps(run->pipeline->made.steps, state, &run->next, run->err);
}

/* ---- from one frame to the next -------------------------------------------------------------- */

static void replace_inputs(FrameInputs *inputs, FrameInputs with) {
    frame_inputs_drop(inputs);
    *inputs = with;
}

/* Keeps the inputs that a run made. Inputs that the run did not make stay those of earlier runs. */
static void keep_made_inputs(FrameInputs *made, const FrameInputs *next) {
    FrameInputs newest = *next;
    for (int i = 0; i < FRAME_INPUTS; i++)
        if (!newest.each[i])
            newest.each[i] = made->each[i];
    replace_inputs(made, frame_inputs_keep(&newest));
}

/* Fills the bytes that kernels touch, the scales, and the items that kernels own: cells, or
 * backward pixels, counted once for each map. */
static bool fill_memory(const FrameInputs *next, const KernelConfig *config, bool same_map,
                        LiveData *live, Err *err) {
    const PooledGrid *pooled = next->pooled;
    live->scales = pooled->scales;
    if (config->kernel->direction == BEV_BACKWARD) {
        live->memory = inputs_backward_memory(next, config);
        return (same_map && live->intervals.of_pixels) ||
               inputs_pixel_runs(next, &live->intervals, err);
    }
    live->memory =
        (LiveMemory){.known = true, .footprint = pooled->footprint, .gather = pooled->gather};
    live->intervals = next->map->intervals;
    return true;
}

/* Measures how far the objects have moved. Only faults of the cameras move them. */
static bool fill_objects(const FrameInputs *next, const Job *job, LiveObjects *objects, Err *err) {
    const Job baseline = job_of_baseline(job);
    const bool faults = job_has_faults(job) || (next->baseline && job_has_faults(&baseline));
    objects->known = faults && next->features->objects.count > 0;
    objects->compared =
        objects->known && next->baseline && next->baseline->features->objects.count > 0;
    if ((objects->known && !inputs_objects(next->pooled, objects->now)) ||
        (objects->compared && !inputs_objects(next->baseline, objects->baseline)))
        return err_no_memory(err, "objects", "choose a smaller scene");
    return true;
}

/* Publishes the run's results in the display's data, and keeps its inputs for the next run. */
static bool publish_run(const Run *run, const State *state, LiveData *live) {
    Pipeline *pipeline = run->pipeline;
    const FrameInputs *next = &run->next, *last = &pipeline->inputs;
    if (last->pooled != next->pooled || last->baseline != next->baseline)
        inputs_difference(next, &live->difference);
    pipeline->content += memcmp(last->each, next->each, sizeof last->each) != 0;
    pipeline->baseline_content += last->baseline != next->baseline;
    pipeline->seen_content +=
        last->features != next->features || last->gradients != next->gradients;
    bool same_map = last->map == next->map;
    replace_inputs(&pipeline->inputs, frame_inputs_keep(next));
    pipeline->lacking = run->lacking;
    live->serial = state->job.serial;
    live->job = state->job;
    live->stand_in = run->stood_in;
    if (!fill_memory(next, &state->job.config, same_map, live, run->err) ||
        !fill_objects(next, &state->job, &live->objects, run->err))
        return false;
    /* A stage without work in this run keeps its last time, which is marked stale. */
    for (int i = 0; i < STAGE_DRAW; i++)
        if (run->us[i] > 0)
            live->stages_us[i] = reading(run->us[i], SOURCE_MEASURED);
        else
            live->stages_us[i].stale |= run->us[STAGE_POOL] > 0;
    inputs_fill_frame(next, &live->frame);
    if (job_inputs_differ(&state->job))
        live->frame.baseline_fp64 = NULL;
    live->frame.content = pipeline->content;
    live->frame.baseline_content = pipeline->baseline_content;
    live->frame.seen_content = pipeline->seen_content;
    return inputs_probe(next, inputs_probe_cell(next, &state->job), &live->probe, run->err);
}

static const struct {
    const char *name;
    bool (*make)(Run *run, State *state);
} stages[] = {{"scene", make_scene},
              {"features", make_features},
              {"map", make_map},
              {"pooling", make_grid},
              {"pooling the baseline", make_baseline},
              {"FP64", make_fp64},
              {"steps", make_steps},
              {"gradients", make_gradients}};

PipelineEnd pipeline_run(Pipeline *pipeline, State *state, PipelineNeeds needs, LiveData *live,
                         Err *err) {
    enum { STAGES = sizeof stages / sizeof *stages };
    Run run = {.pipeline = pipeline,
               .needs = &needs,
               .seen = {needs.draft, .pictures = true, &needs.give_up},
               .us = pipeline->runners[OF_SELECTION].us,
               .err = err};
    PipelineEnd end = PIPELINE_DONE;
    memset(run.us, 0, sizeof pipeline->runners->us);
    for (int i = 0; i < STAGES && end == PIPELINE_DONE; i++) {
        if (needs.doing)
            atomic_store(needs.doing, stages[i].name);
        bool ok = stages[i].make(&run, state);
        const bool is_complete = ok && i + 1 == STAGES; /* too late to give up */
        if (!is_complete && given_up(&needs.give_up))
            end = PIPELINE_GIVEN_UP;
        else if (!ok)
            end = PIPELINE_FAILED;
    }
    if (end == PIPELINE_GIVEN_UP)
        keep_made_inputs(&pipeline->made, &run.next);
    if (end == PIPELINE_DONE) {
        replace_inputs(&pipeline->made, frame_inputs_keep(&run.next));
        if (!publish_run(&run, state, live))
            end = PIPELINE_FAILED;
    }
    frame_inputs_drop(&run.next);
    return end;
}
