/* The grid that a choice of kernel, format and align makes of features and map, and the same in
 * FP64. */
#include "src/live/frame_inputs_internal.h"

#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/accuracy/fp64.h"
#include "src/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the session of a choice ----------------------------------------------------------------- */

void runner_clear(Runner *runner) {
    session_close(runner->session);
    problem_free(&runner->problem);
    ref_drop(runner->map);
    ref_drop(runner->features);
    *runner = (Runner){.session = NULL};
}

static bool runner_fits(const Runner *runner, const FrameInputs *next, const KernelConfig *config) {
    return runner->session && runner->features == next->features && runner->map == next->map &&
           kernel_config_equal(&runner->config, config);
}

/* What the runner's problem holds from now on. */
static void runner_show(Runner *runner, const FrameInputs *next) {
    SeenFeatures *features = ref_keep(next->features);
    BuiltMap *map = ref_keep(next->map);
    ref_drop(runner->features);
    ref_drop(runner->map);
    runner->features = features;
    runner->map = map;
}

static bool same_shape(const BevShape *a, const BevShape *b) {
    return !memcmp(a, b, sizeof *a);
}

/* The same kernel and map at a later moment: only values change, in place. */
static bool runner_can_update(const Runner *runner, const FrameInputs *next,
                              const KernelConfig *config) {
    return runner->session && runner->map == next->map &&
           kernel_config_equal(&runner->config, config) &&
           same_shape(&runner->features->shape, &next->features->shape);
}

static bool runner_update(Runner *runner, const FrameInputs *next, double out_largest,
                          StageTimes *times, Err *err) {
    double start = clock_us();
    bool ok = problem_update_known(&runner->problem, &next->features->values, out_largest, err);
    double encoded = clock_us();
    ok = ok && session_update(runner->session, err);
    times->us[STAGE_ENCODE] += encoded - start;
    times->us[STAGE_UPLOAD] += clock_us() - encoded;
    runner_show(runner, next);
    return ok;
}

/* Other values, perhaps with another map, into tensors that have their size. */
static bool encode_again(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                         double out_largest, Err *err) {
    runner->problem.view.align = config->align;
    runner->problem.view.map = next->map->map;
    return problem_update_known(&runner->problem, &next->features->values, out_largest, err);
}

static bool encode_anew(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                        double out_largest, Err *err) {
    const ProblemHints hints = {out_largest, .out_elsewhere = config->kernel->where == BEV_CUDA};
    problem_free(&runner->problem);
    return problem_encode_knowing(&runner->problem, &next->features->shape, config->dtype,
                                  config->align, &next->features->values, &next->map->map, hints,
                                  err);
}

/* Another kernel on the same values needs a session of its own, nothing else. */
static bool runner_encode(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                          double out_largest, StageTimes *times, Err *err) {
    session_close(runner->session);
    runner->session = NULL;
    bool encoded = runner->features != NULL;
    bool same_values = encoded && runner->features == next->features && runner->map == next->map;
    bool same_size = encoded && runner->config.dtype == config->dtype &&
                     same_shape(&runner->features->shape, &next->features->shape);
    if (same_values && same_size)
        return true;
    double start = clock_us();
    bool ok = same_size ? encode_again(runner, next, config, out_largest, err)
                        : encode_anew(runner, next, config, out_largest, err);
    times->us[STAGE_ENCODE] += clock_us() - start;
    runner_show(runner, next);
    return ok;
}

static bool runner_prepare(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                           double out_largest, StageTimes *times, Err *err) {
    if (runner_fits(runner, next, config))
        return true;
    if (runner_can_update(runner, next, config))
        return runner_update(runner, next, out_largest, times, err);
    if (!runner_encode(runner, next, config, out_largest, times, err))
        return false;
    double encoded = clock_us();
    runner->config = *config;
    bool ok = session_open_once(&runner->session, config->kernel, &runner->problem.view, err);
    times->us[STAGE_UPLOAD] += clock_us() - encoded;
    return ok;
}

/* ---- grids ----------------------------------------------------------------------------------- */

static MemPool grids = MEM_POOL, exact_grids = MEM_POOL;

void grids_change_size(void) {
    mem_pool_empty(&grids);
    mem_pool_empty(&exact_grids);
}

/* Values of one grid, (cell, c). */
static size_t grid_values(const BevShape *shape) {
    return (size_t)(shape->nx * shape->ny * shape->channels);
}

static void pooled_destroy(void *contents) {
    PooledGrid *pooled = contents;
    mem_pool_give(&grids, pooled->values,
                  grid_values(&pooled->features->shape) * sizeof *pooled->values);
    ref_drop(pooled->map);
    ref_drop(pooled->features);
}

static PooledGrid *pooled_new(const FrameInputs *from, const KernelConfig *config) {
    PooledGrid *pooled = ref_new(sizeof *pooled, pooled_destroy);
    if (!pooled)
        return NULL;
    pooled->features = ref_keep(from->features);
    pooled->map = ref_keep(from->map);
    pooled->config = *config;
    pooled->values =
        mem_pool_take(&grids, grid_values(&from->features->shape) * sizeof *pooled->values);
    return pooled;
}

PooledGrid *read_pooled(Session *session, const HostProblem *problem, const FrameInputs *from,
                        const KernelConfig *config, Err *err) {
    const BevProblem *view = &problem->view;
    PooledGrid *pooled = pooled_new(from, config);
    bool ok = (pooled && pooled->values) || no_memory("pooled grid", err);
    const void *codes;
    if (!ok || !session_output(session, &codes, err)) {
        ref_drop(pooled);
        return NULL;
    }
    problem_output(view, codes, pooled->values);
    pooled->footprint = bev_footprint(view);
    pooled->gather = bev_gather_traffic(view, bev_dtypes[view->out.dtype].bits);
    pooled->own = bev_traffic(config->kernel, view);
    return pooled;
}

static bool pool(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 PooledGrid **pooled, StageTimes *times, Err *err) {
    double start = clock_us();
    if (!session_run(runner->session, err))
        return false;
    double pooled_at = clock_us();
    times->us[STAGE_POOL] += pooled_at - start;
    *pooled = read_pooled(runner->session, &runner->problem, next, config, err);
    times->us[STAGE_READ] += clock_us() - pooled_at;
    return *pooled;
}

bool make_pooled(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 double out_largest, PooledGrid **pooled, StageTimes *times, Err *err) {
    if (runner_prepare(runner, next, config, out_largest, times, err) &&
        pool(runner, next, config, pooled, times, err))
        return true;
    runner_clear(runner);
    return false;
}

/* ---- truth ----------------------------------------------------------------------------------- */

static void truth_destroy(void *contents) {
    Fp64Grid *fp64_original = contents;
    mem_pool_give(&exact_grids, fp64_original->values,
                  grid_values(&fp64_original->features->shape) * sizeof *fp64_original->values);
    ref_drop(fp64_original->map);
    ref_drop(fp64_original->features);
}

bool want_fp64(Fp64Grid *have, FrameInputs *next, Err *err) {
    if (have && have->features == next->features && have->map == next->map) {
        next->fp64_original = ref_keep(have);
        return true;
    }
    const BevShape *shape = &next->features->shape;
    Fp64Grid *fp64_original = ref_new(sizeof *fp64_original, truth_destroy);
    if (!fp64_original)
        return no_memory("FP64 grid", err);
    next->fp64_original = fp64_original;
    fp64_original->features = ref_keep(next->features);
    fp64_original->map = ref_keep(next->map);
    fp64_original->values =
        mem_pool_take(&exact_grids, grid_values(shape) * sizeof *fp64_original->values);
    if (!fp64_original->values)
        return no_memory("FP64 grid", err);
    fp64_pool(shape, &next->map->map, &next->features->values, fp64_original->values);
    return true;
}
