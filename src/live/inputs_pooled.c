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
    shared_drop(runner->map);
    shared_drop(runner->features);
    *runner = (Runner){.session = NULL};
}

static bool runner_fits(const Runner *runner, const FrameParts *next, const Choice *choice) {
    return runner->session && runner->features == next->features && runner->map == next->map &&
           choice_equal(&runner->choice, choice);
}

/* What the runner's problem holds from now on. */
static void runner_show(Runner *runner, const FrameParts *next) {
    SeenFeatures *features = shared_keep(next->features);
    BuiltMap *map = shared_keep(next->map);
    shared_drop(runner->features);
    shared_drop(runner->map);
    runner->features = features;
    runner->map = map;
}

static bool same_shape(const BevShape *a, const BevShape *b) {
    return !memcmp(a, b, sizeof *a);
}

/* The same kernel and map at a later moment: only values change, in place. */
static bool runner_can_update(const Runner *runner, const FrameParts *next, const Choice *choice) {
    return runner->session && runner->map == next->map && choice_equal(&runner->choice, choice) &&
           same_shape(&runner->features->shape, &next->features->shape);
}

static bool runner_update(Runner *runner, const FrameParts *next, double out_largest,
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
static bool encode_again(Runner *runner, const FrameParts *next, const Choice *choice,
                         double out_largest, Err *err) {
    runner->problem.view.align = choice->align;
    runner->problem.view.map = next->map->map;
    return problem_update_known(&runner->problem, &next->features->values, out_largest, err);
}

static bool encode_anew(Runner *runner, const FrameParts *next, const Choice *choice,
                        double out_largest, Err *err) {
    const ProblemHints hints = {out_largest, .out_elsewhere = choice->variant->where == BEV_CUDA};
    problem_free(&runner->problem);
    return problem_encode_knowing(&runner->problem, &next->features->shape, choice->dtype,
                                  choice->align, &next->features->values, &next->map->map, hints,
                                  err);
}

/* Another kernel on the same values needs a session of its own, nothing else. */
static bool runner_encode(Runner *runner, const FrameParts *next, const Choice *choice,
                          double out_largest, StageTimes *times, Err *err) {
    session_close(runner->session);
    runner->session = NULL;
    bool encoded = runner->features != NULL;
    bool same_values = encoded && runner->features == next->features && runner->map == next->map;
    bool same_size = encoded && runner->choice.dtype == choice->dtype &&
                     same_shape(&runner->features->shape, &next->features->shape);
    if (same_values && same_size)
        return true;
    double start = clock_us();
    bool ok = same_size ? encode_again(runner, next, choice, out_largest, err)
                        : encode_anew(runner, next, choice, out_largest, err);
    times->us[STAGE_ENCODE] += clock_us() - start;
    runner_show(runner, next);
    return ok;
}

static bool runner_prepare(Runner *runner, const FrameParts *next, const Choice *choice,
                           double out_largest, StageTimes *times, Err *err) {
    if (runner_fits(runner, next, choice))
        return true;
    if (runner_can_update(runner, next, choice))
        return runner_update(runner, next, out_largest, times, err);
    if (!runner_encode(runner, next, choice, out_largest, times, err))
        return false;
    double encoded = clock_us();
    runner->choice = *choice;
    bool ok = session_open_once(&runner->session, choice->variant, &runner->problem.view, err);
    times->us[STAGE_UPLOAD] += clock_us() - encoded;
    return ok;
}

/* ---- grids ----------------------------------------------------------------------------------- */

static Recycler grids = RECYCLER, exact_grids = RECYCLER;

void grids_change_size(void) {
    recycle_empty(&grids);
    recycle_empty(&exact_grids);
}

/* Values of one grid, (cell, c). */
static size_t grid_values(const BevShape *shape) {
    return (size_t)(shape->nx * shape->ny * shape->channels);
}

static void pooled_destroy(void *contents) {
    PooledGrid *pooled = contents;
    recycle_give(&grids, pooled->values,
                 grid_values(&pooled->features->shape) * sizeof *pooled->values);
    shared_drop(pooled->map);
    shared_drop(pooled->features);
}

static PooledGrid *pooled_new(const FrameParts *from, const Choice *choice) {
    PooledGrid *pooled = shared_new(sizeof *pooled, pooled_destroy);
    if (!pooled)
        return NULL;
    pooled->features = shared_keep(from->features);
    pooled->map = shared_keep(from->map);
    pooled->choice = *choice;
    pooled->values =
        recycle_take(&grids, grid_values(&from->features->shape) * sizeof *pooled->values);
    return pooled;
}

PooledGrid *read_pooled(Session *session, const HostProblem *problem, const FrameParts *from,
                        const Choice *choice, Err *err) {
    const BevProblem *view = &problem->view;
    PooledGrid *pooled = pooled_new(from, choice);
    bool ok = (pooled && pooled->values) || no_memory("pooled grid", err);
    const void *codes;
    if (!ok || !session_output(session, &codes, err)) {
        shared_drop(pooled);
        return NULL;
    }
    problem_output(view, codes, pooled->values);
    pooled->footprint = bev_footprint(view);
    pooled->gather = bev_gather_traffic(view, bev_dtypes[view->out.dtype].bits);
    pooled->own = choice->variant->bytes(view);
    return pooled;
}

static bool pool(Runner *runner, const FrameParts *next, const Choice *choice, PooledGrid **pooled,
                 StageTimes *times, Err *err) {
    double start = clock_us();
    if (!session_run(runner->session, err))
        return false;
    double pooled_at = clock_us();
    times->us[STAGE_POOL] += pooled_at - start;
    *pooled = read_pooled(runner->session, &runner->problem, next, choice, err);
    times->us[STAGE_READ] += clock_us() - pooled_at;
    return *pooled;
}

bool make_pooled(Runner *runner, const FrameParts *next, const Choice *choice, double out_largest,
                 PooledGrid **pooled, StageTimes *times, Err *err) {
    if (runner_prepare(runner, next, choice, out_largest, times, err) &&
        pool(runner, next, choice, pooled, times, err))
        return true;
    runner_clear(runner);
    return false;
}

/* ---- truth ----------------------------------------------------------------------------------- */

static void truth_destroy(void *contents) {
    TruthGrid *truth = contents;
    recycle_give(&exact_grids, truth->values,
                 grid_values(&truth->features->shape) * sizeof *truth->values);
    shared_drop(truth->map);
    shared_drop(truth->features);
}

bool want_truth(TruthGrid *have, FrameParts *next, Err *err) {
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
    truth->values = recycle_take(&exact_grids, grid_values(shape) * sizeof *truth->values);
    if (!truth->values)
        return no_memory("FP64 grid", err);
    truth_pool(shape, &next->map->map, &next->features->values, truth->values);
    return true;
}
