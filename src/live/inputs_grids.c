/* SPDX-License-Identifier: MIT */
/* Pools grids from features and a map: by a kernel in a format and an align, and in FP64. Probes
 * one cell of both grids. */
#include "kernels/codec.h"
#include "kernels/regime.h"
#include "src/accuracy/fp64.h"
#include "src/base/clock.h"
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

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

static MemPool grids = MEM_POOL, fp64_grids = MEM_POOL;

void inputs_free_grid_memory(void) {
    mem_pool_empty(&grids);
    mem_pool_empty(&fp64_grids);
}

/* Returns the number of values of one grid, (cell, c). */
static size_t grid_values(const BevShape *shape) {
    return (size_t)(shape->nx * shape->ny * shape->channels);
}

/* Bytes that the display holds for a value: two pooled grids, the FP64 grid, and the codes of two
 * runners. */
enum { SHOWN_BYTES = 4 + 4 + 8 + 4 + 4 };

bool inputs_fit(const BevShape *shape, const char *scene, Err *err) {
    double mb = (double)grid_values(shape) * SHOWN_BYTES / 1e6;
    return mb <= LIVE_BUDGET_MB ||
           err_set(err, ERR_FAILED, scene,
                   "choose fewer channels (--channels), or a command: snapshot, verify, bench",
                   "the display would take %.0f MB for its grids, of a budget of %d MB", mb,
                   LIVE_BUDGET_MB);
}

static void pooled_destroy(void *contents) {
    PooledGrid *pooled = contents;
    mem_pool_give(&grids, pooled->values,
                  grid_values(&pooled->features->shape) * sizeof *pooled->values);
    ref_drop(pooled->map);
    ref_drop(pooled->features);
}

bool inputs_objects(const PooledGrid *pooled, ObjectBand bands[OBJECT_BANDS]) {
    const SeenFeatures *features = pooled->features;
    const Objects *objects = &features->objects;
    ObjectError *errors = calloc((size_t)objects->count + 1, sizeof *errors);
    const Rig right = inputs_rig_at(features);
    bool ok = errors && objects_measure(objects, &right, &pooled->map->rig, &pooled->map->map,
                                        features->values.depth, errors);
    if (ok)
        objects_bands(errors, objects->count, bands);
    free(errors);
    return ok;
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
        pooled->values = mem_pool_take(&grids, grid_values(&view->shape) * sizeof *pooled->values);
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

/* ---- FP64 ------------------------------------------------------------------------------------ */

static void fp64_destroy(void *contents) {
    Fp64Grid *grid = contents;
    mem_pool_give(&fp64_grids, grid->values,
                  grid_values(&grid->features->shape) * sizeof *grid->values);
    ref_drop(grid->map);
    ref_drop(grid->features);
}

bool inputs_fp64(Fp64Grid *have, const GiveUp *give_up, FrameInputs *next, Err *err) {
    if (have && have->features == next->features && have->map == next->map) {
        next->fp64_original = ref_keep(have);
        return true;
    }
    const BevShape *shape = &next->features->shape;
    Fp64Grid *grid = next->fp64_original = ref_new(sizeof *grid, fp64_destroy);
    if (grid) {
        grid->features = ref_keep(next->features);
        grid->map = ref_keep(next->map);
        grid->values = mem_pool_take(&fp64_grids, grid_values(shape) * sizeof *grid->values);
    }
    if (!grid || !grid->values)
        return err_no_memory(err, "FP64 grid", "choose a smaller scene");
    if (fp64_pool(shape, &next->map->map, &next->features->values, give_up, grid->values))
        return true;
    ref_drop(next->fp64_original);
    next->fp64_original = NULL;
    return false;
}

/* ---- one cell -------------------------------------------------------------------------------- */

int64_t inputs_probe_cell(const FrameInputs *inputs, const Job *job) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    Slice slice = slice_of(shape, job->slice);
    int64_t cell = job->probe_cell;
    if (cell < 0 || cell >= slice.nx * slice.ny)
        return -1;
    return slice_strongest(&slice, cell, map, shape->channels,
                           inputs->pooled ? inputs->pooled->values : NULL);
}

static int heavier_first(const void *a, const void *b) {
    const LiveContribution *x = a, *y = b;
    float left = x->depth * x->weight, right = y->depth * y->weight;
    return (left < right) - (left > right);
}

/* Returns what a point of the map adds to its cell: its pixel, bin, depth and weight. */
static LiveContribution contribution(const FrameInputs *inputs, int64_t point) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    int32_t rank = map->ranks_depth[point];
    StepPixel pixel = step_pixel(shape, rank);
    return (LiveContribution){
        .w = (int32_t)pixel.w,
        .h = (int32_t)pixel.h,
        .depth_bin = (int32_t)pixel.bin,
        .camera = (int)pixel.camera,
        .depth = inputs->features->values.depth[rank],
        .weight = map->weights ? map->weights[point] : 1,
    };
}

/* Counts the cell's points by camera, and finds the range of their depth bins. Lists the heaviest
 * contributions. A cell can have more points than the list holds. */
static bool list_contributions(const FrameInputs *inputs, LiveProbe *probe, Err *err) {
    const BevMap *map = &inputs->map->map;
    LiveContribution *all = malloc((size_t)probe->points * sizeof *all);
    if (!all)
        return err_no_memory(err, "cell", "choose a smaller scene");
    memset(probe->of_camera, 0, sizeof probe->of_camera);
    probe->bin_least = INT_MAX;
    probe->bin_most = 0;
    for (int64_t i = 0; i < probe->points; i++) {
        all[i] = contribution(inputs, map->interval_starts[probe->interval] + i);
        if (all[i].camera < RIG_MAX_CAMERAS)
            probe->of_camera[all[i].camera]++;
        probe->bin_least = MIN(probe->bin_least, all[i].depth_bin);
        probe->bin_most = MAX(probe->bin_most, all[i].depth_bin);
    }
    qsort(all, (size_t)probe->points, sizeof *all, heavier_first);
    probe->contribution_count = (int)MIN(probe->points, LIVE_MAX_CONTRIBUTIONS);
    memcpy(probe->contributions, all, (size_t)probe->contribution_count * sizeof *all);
    free(all);
    return true;
}

/* Compares the probed cell with FP64, and finds the channel that differs most. The values of a cell
 * are Euclidean norms over its channels. */
static bool compare_with_fp64(const FrameInputs *inputs, LiveProbe *probe, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    const float *got = inputs->pooled->values + probe->cell * shape->channels;
    double *want = calloc((size_t)shape->channels, sizeof *want);
    if (!want)
        return err_no_memory(err, "cell", "choose a smaller scene");
    if (probe->interval >= 0)
        fp64_pool_interval(shape, &inputs->map->map, &inputs->features->values, probe->interval,
                           want);
    double value = 0, fp64_original = 0, worst = -1;
    for (int64_t c = 0; c < shape->channels; c++) {
        value += (double)got[c] * got[c];
        fp64_original += want[c] * want[c];
        double difference = fabs(got[c] - want[c]);
        if (difference > worst || isnan(difference)) {
            worst = isnan(difference) ? INFINITY : difference;
            probe->channel = c;
            probe->channel_value = got[c];
            probe->channel_fp64 = want[c];
        }
    }
    probe->value = sqrt(value);
    probe->fp64_original = sqrt(fp64_original);
    free(want);
    return true;
}

bool inputs_probe(const FrameInputs *inputs, int64_t cell, LiveProbe *probe, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    probe->cell = cell >= 0 && cell < shape->nx * shape->ny ? cell : -1;
    probe->interval = -1;
    probe->points = probe->contribution_count = 0;
    if (probe->cell < 0)
        return true;
    probe->interval = map_interval_of(&inputs->map->map, cell);
    if (probe->interval >= 0) {
        probe->points = inputs->map->map.interval_lengths[probe->interval];
        if (!list_contributions(inputs, probe, err))
            return false;
    }
    return compare_with_fp64(inputs, probe, err);
}
