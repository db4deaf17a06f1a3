#include "src/live/background_launch.h"

#include "src/base/background.h"
#include "src/live/frame_inputs_internal.h"
#include "src/base/ref.h"
#include "src/base/worker.h"
#include "src/base/clock.h"

#include <stdlib.h>

/* A first launch finds cold caches and fresh memory; a longer one hardly notices. */
static const double WARM_UP_US = 100e3;

typedef enum { LANE_FREE, LANE_ASKED, LANE_DONE } LaneState;

struct Lane {
    Worker worker;
    void (*wake)(void *context);
    void *context;

    /* Under the lock. */
    LaneState state;
    bool forget;

    /* The lane's while a sample is asked for, the caller's otherwise. */
    SeenFeatures *features;
    BuiltMap *map;
    bool wants_grid;
    LaneSample sample;

    /* The lane's own: what was run last, ready to run again. */
    HostProblem problem;
    SeenFeatures *problem_features;
    BuiltMap *problem_map;
    KernelConfig problem_choice;
    Session *session;
};

/* ---- one launch ------------------------------------------------------------------------------ */

static void clear(Lane *lane) {
    session_close(lane->session);
    problem_free(&lane->problem);
    ref_drop(lane->problem_map);
    ref_drop(lane->problem_features);
    lane->session = NULL;
    lane->problem_map = NULL;
    lane->problem_features = NULL;
}

/* Other values of the same shape take as long. */
static bool is_ready(const Lane *lane) {
    return lane->session && lane->problem_map == lane->map &&
           kernel_config_equal(&lane->problem_choice, &lane->sample.config) &&
           lane->problem_features->shape.channels == lane->features->shape.channels;
}

static bool launch(Lane *lane, LaneSample *sample, Err *err) {
    double begun = clock_us(), busy = clock_thread_us();
    bool ok = session_run(lane->session, err);
    sample->launch_us = clock_us() - begun;
    sample->busy_us = clock_thread_us() - busy;
    return ok;
}

static bool prepare(Lane *lane, Err *err) {
    const KernelConfig *config = &lane->sample.config;
    clear(lane);
    lane->problem_map = ref_keep(lane->map);
    lane->problem_features = ref_keep(lane->features);
    lane->problem_choice = *config;
    return problem_encode(&lane->problem, &lane->features->shape, config->dtype, config->align,
                          &lane->features->values, &lane->map->map, err) &&
           session_open(&lane->session, config->kernel, &lane->problem.view, err);
}

/* A grid is one of these very values. */
static bool refresh(Lane *lane, Err *err) {
    if (!lane->wants_grid || lane->problem_features == lane->features)
        return true;
    if (!problem_update(&lane->problem, &lane->features->values, err) ||
        !session_update(lane->session, err))
        return false;
    ref_drop(lane->problem_features);
    lane->problem_features = ref_keep(lane->features);
    return true;
}

static bool read_grid(Lane *lane, Err *err) {
    const FrameInputs from = {.features = lane->features, .map = lane->map};
    LaneSample *sample = &lane->sample;
    sample->grid = read_pooled(lane->session, &lane->problem, &from, &sample->config, err);
    return sample->grid;
}

static bool run(Lane *lane, Err *err) {
    LaneSample *sample = &lane->sample;
    bool fresh = !is_ready(lane);
    if (!(fresh ? prepare(lane, err) : refresh(lane, err)))
        return false;
    sample->prepare_us = session_prepare_us(lane->session);
    sample->own_bytes = bev_traffic_total(bev_traffic(sample->config.kernel, &lane->problem.view));
    return launch(lane, sample, err) &&
           (!fresh || sample->launch_us > WARM_UP_US || launch(lane, sample, err)) &&
           (!lane->wants_grid || read_grid(lane, err));
}

static void answer(Lane *lane) {
    lane->sample.failed = !run(lane, &lane->sample.err);
    if (lane->sample.failed)
        clear(lane);
    ref_drop(lane->map);
    ref_drop(lane->features);
    lane->map = NULL;
    lane->features = NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *lane_main(void *argument) {
    Lane *lane = argument;
    stand_back();
    worker_lock(&lane->worker);
    while (!lane->worker.stop) {
        if (lane->forget) {
            lane->forget = false;
            clear(lane);
        }
        if (lane->state != LANE_ASKED) {
            worker_wait(&lane->worker);
            continue;
        }
        worker_unlock(&lane->worker);
        answer(lane);
        dismiss_team();
        worker_lock(&lane->worker);
        lane->state = LANE_DONE;
        lane->wake(lane->context);
    }
    worker_unlock(&lane->worker);
    return NULL;
}

bool lane_open(Lane **out, void (*wake)(void *), void *context, Err *err) {
    Lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return err_set(err, ERR_FAILED, "measure", "", "out of memory");
    lane->wake = wake;
    lane->context = context;
    if (!worker_start(&lane->worker, lane_main, lane, "measure", err)) {
        free(lane);
        return false;
    }
    *out = lane;
    return true;
}

void lane_close(Lane *lane) {
    if (!lane)
        return;
    worker_end(&lane->worker);
    clear(lane);
    ref_drop(lane->sample.grid);
    ref_drop(lane->map);
    ref_drop(lane->features);
    free(lane);
}

bool lane_ask(Lane *lane, SeenFeatures *features, BuiltMap *map, const KernelConfig *config,
              bool grid) {
    worker_lock(&lane->worker);
    bool free_now = lane->state == LANE_FREE;
    if (free_now) {
        lane->features = ref_keep(features);
        lane->map = ref_keep(map);
        lane->sample = (LaneSample){.config = *config};
        lane->wants_grid = grid;
        lane->state = LANE_ASKED;
        worker_tell(&lane->worker);
    }
    worker_unlock(&lane->worker);
    return free_now;
}

bool lane_take(Lane *lane, LaneSample *sample) {
    worker_lock(&lane->worker);
    bool done = lane->state == LANE_DONE;
    if (done) {
        *sample = lane->sample;
        lane->sample.grid = NULL;
        lane->state = LANE_FREE;
    }
    worker_unlock(&lane->worker);
    return done;
}

void lane_forget(Lane *lane) {
    worker_lock(&lane->worker);
    lane->forget = true;
    worker_tell(&lane->worker);
    worker_unlock(&lane->worker);
}

bool lane_busy(Lane *lane) {
    worker_lock(&lane->worker);
    bool busy = lane->state == LANE_ASKED;
    worker_unlock(&lane->worker);
    return busy;
}
