#include "src/live/model_job.h"

#include "src/base/background.h"
#include "src/base/ref.h"
#include "src/base/worker.h"

#include <stdlib.h>

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    ModelDepth depth;
} Aim;

struct ModelLane {
    Worker worker;
    void (*wake)(void *context);
    void *context;

    /* Under the lock. */
    bool hold;
    Aim aim;            /* map NULL: none yet */
    bool aimed;         /* since the thread last looked */
    bool first;         /* the selection was not walked yet */
    bool for_selection; /* the walk under way is; others give way to a new aim */
    bool other_problem; /* so that the walk under way is for nothing */
    bool measured;      /* ceilings of a GPU of the table, not yet looked at: */
    int gpu;
    Limits limits;
    MemoryModel *known; /* of `aim` */
    bool news;

    /* The thread's own. */
    LiveModel *live_model;
};

static void drop_aim(Aim *aim) {
    ref_drop(aim->features);
    ref_drop(aim->map);
    *aim = (Aim){.map = NULL};
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits while walks rest. */
static bool go_on(void *context) {
    ModelLane *lane = context;
    worker_lock(&lane->worker);
    while (lane->hold && !lane->worker.stop && !lane->other_problem)
        worker_wait(&lane->worker);
    bool gives_way = lane->aimed && !lane->for_selection;
    bool on = !lane->worker.stop && !lane->other_problem && !gives_way;
    worker_unlock(&lane->worker);
    return on;
}

/* Under the lock: tells what is known, unless another problem is wanted by now. */
static void publish(ModelLane *lane) {
    MemoryModel *known = live_model_known(lane->live_model);
    if (lane->other_problem || known == lane->known)
        return;
    ref_drop(lane->known);
    lane->known = ref_keep(known);
    lane->news = true;
    lane->wake(lane->context);
}

/* Called and returns under the lock. */
static void aim(ModelLane *lane) {
    Err ignored; /* without memory there is no model to show, which the views say */
    Aim aim = lane->aim;
    ref_keep(aim.features);
    ref_keep(aim.map);
    lane->aimed = lane->other_problem = false;
    worker_unlock(&lane->worker);
    live_model_aim(lane->live_model, &aim.features->shape, aim.map, &aim.config, &ignored);
    drop_aim(&aim);
    worker_lock(&lane->worker);
    publish(lane);
}

/* The same; false: nothing is missing. */
static bool walk(ModelLane *lane) {
    const TraceWatch watch = {.go_on = go_on, .context = lane};
    ModelDepth depth = lane->first ? DEPTH_SELECTION : lane->aim.depth;
    lane->for_selection = lane->first;
    worker_unlock(&lane->worker);
    bool more = live_model_step(lane->live_model, depth, &watch);
    worker_lock(&lane->worker);
    publish(lane);
    bool was_first = lane->first;
    lane->first = lane->first && (more || lane->aimed);
    return more || was_first;
}

/* The same. */
static void take_ceilings(ModelLane *lane) {
    Limits limits = lane->limits;
    int gpu = lane->gpu;
    lane->measured = false;
    worker_unlock(&lane->worker);
    live_model_measured(lane->live_model, gpu, &limits);
    worker_lock(&lane->worker);
    publish(lane);
}

static void wait_for_change(ModelLane *lane) {
    if (!lane->worker.stop && !lane->aimed && !lane->measured)
        worker_wait(&lane->worker);
}

static void *lane_main(void *argument) {
    ModelLane *lane = argument;
    stand_back();
    worker_lock(&lane->worker);
    while (!lane->worker.stop)
        if (lane->aimed)
            aim(lane);
        else if (lane->measured)
            take_ceilings(lane);
        else if (lane->hold || !walk(lane))
            wait_for_change(lane);
    worker_unlock(&lane->worker);
    return NULL;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool model_lane_open(ModelLane **out, void (*wake)(void *), void *context, Err *err) {
    ModelLane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return err_set(err, ERR_FAILED, "memory model", "", "out of memory");
    lane->wake = wake;
    lane->context = context;
    if (live_model_open(&lane->live_model, err) &&
        worker_start(&lane->worker, lane_main, lane, "memory model", err)) {
        *out = lane;
        return true;
    }
    live_model_close(lane->live_model);
    free(lane);
    return false;
}

void model_lane_close(ModelLane *lane) {
    if (!lane)
        return;
    worker_end(&lane->worker);
    drop_aim(&lane->aim);
    ref_drop(lane->known);
    live_model_close(lane->live_model);
    free(lane);
}

/* Features may differ in their values, as long as there are as many. */
static bool same_problem(const Aim *a, const Aim *b) {
    return a->map == b->map && a->features->shape.channels == b->features->shape.channels &&
           a->config.dtype == b->config.dtype && a->config.align == b->config.align;
}

void model_lane_aim(ModelLane *lane, SeenFeatures *features, BuiltMap *map,
                    const KernelConfig *config, ModelDepth depth) {
    Aim aim = {features, map, *config, depth};
    worker_lock(&lane->worker);
    bool same = lane->aim.map && same_problem(&lane->aim, &aim);
    bool as_before =
        same && kernel_config_equal(&lane->aim.config, config) && lane->aim.depth == depth;
    if (!as_before) {
        drop_aim(&lane->aim);
        ref_keep(features);
        ref_keep(map);
        lane->aim = aim;
        lane->aimed = lane->first = true;
        worker_tell(&lane->worker);
    }
    if (!same) {
        lane->other_problem = true;
        ref_drop(lane->known);
        lane->known = NULL;
        lane->news = true;
    }
    worker_unlock(&lane->worker);
}

void model_lane_measured(ModelLane *lane, int gpu, const Limits *limits) {
    worker_lock(&lane->worker);
    lane->measured = true;
    lane->gpu = gpu;
    lane->limits = *limits;
    worker_tell(&lane->worker);
    worker_unlock(&lane->worker);
}

bool model_lane_first(ModelLane *lane) {
    worker_lock(&lane->worker);
    bool first = lane->first;
    worker_unlock(&lane->worker);
    return first;
}

void model_lane_hold(ModelLane *lane, bool hold) {
    worker_lock(&lane->worker);
    if (lane->hold && !hold)
        worker_tell(&lane->worker);
    lane->hold = hold;
    worker_unlock(&lane->worker);
}

bool model_lane_take(ModelLane *lane, MemoryModel **model) {
    worker_lock(&lane->worker);
    bool news = lane->news;
    lane->news = false;
    *model = ref_keep(lane->known);
    worker_unlock(&lane->worker);
    return news;
}
