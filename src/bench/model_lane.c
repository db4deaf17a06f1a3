#include "src/bench/model_lane.h"

#include "src/bench/background.h"
#include "src/bench/shared.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    Choice choice;
    ModelDepth depth;
} Aim;

struct ModelLane {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*wake)(void *context);
    void *context;

    /* Under the lock. */
    bool stop, hold;
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
    shared_drop(aim->features);
    shared_drop(aim->map);
    *aim = (Aim){.map = NULL};
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits while walks rest. */
static bool go_on(void *context) {
    ModelLane *lane = context;
    pthread_mutex_lock(&lane->lock);
    while (lane->hold && !lane->stop && !lane->other_problem)
        pthread_cond_wait(&lane->changed, &lane->lock);
    bool gives_way = lane->aimed && !lane->for_selection;
    bool on = !lane->stop && !lane->other_problem && !gives_way;
    pthread_mutex_unlock(&lane->lock);
    return on;
}

/* Under the lock: tells what is known, unless another problem is wanted by now. */
static void publish(ModelLane *lane) {
    MemoryModel *known = live_model_known(lane->live_model);
    if (lane->other_problem || known == lane->known)
        return;
    shared_drop(lane->known);
    lane->known = shared_keep(known);
    lane->news = true;
    lane->wake(lane->context);
}

/* Called and returns under the lock. */
static void aim(ModelLane *lane) {
    Err ignored; /* without memory there is no model to show, which the views say */
    Aim aim = lane->aim;
    shared_keep(aim.features);
    shared_keep(aim.map);
    lane->aimed = lane->other_problem = false;
    pthread_mutex_unlock(&lane->lock);
    live_model_aim(lane->live_model, &aim.features->shape, aim.map, &aim.choice, &ignored);
    drop_aim(&aim);
    pthread_mutex_lock(&lane->lock);
    publish(lane);
}

/* The same; false: nothing is missing. */
static bool walk(ModelLane *lane) {
    const StreamWatch watch = {.go_on = go_on, .context = lane};
    ModelDepth depth = lane->first ? DEPTH_SELECTION : lane->aim.depth;
    lane->for_selection = lane->first;
    pthread_mutex_unlock(&lane->lock);
    bool more = live_model_step(lane->live_model, depth, &watch);
    pthread_mutex_lock(&lane->lock);
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
    pthread_mutex_unlock(&lane->lock);
    live_model_measured(lane->live_model, gpu, &limits);
    pthread_mutex_lock(&lane->lock);
    publish(lane);
}

static void wait_for_change(ModelLane *lane) {
    if (!lane->stop && !lane->aimed && !lane->measured)
        pthread_cond_wait(&lane->changed, &lane->lock);
}

static void *lane_main(void *argument) {
    ModelLane *lane = argument;
    stand_back();
    pthread_mutex_lock(&lane->lock);
    while (!lane->stop)
        if (lane->aimed)
            aim(lane);
        else if (lane->measured)
            take_ceilings(lane);
        else if (lane->hold || !walk(lane))
            wait_for_change(lane);
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool model_lane_open(ModelLane **out, void (*wake)(void *), void *context, Err *err) {
    ModelLane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return err_set(err, ERR_FAILED, "memory model", "", "out of memory");
    lane->wake = wake;
    lane->context = context;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->changed, NULL);
    bool ok = live_model_open(&lane->live_model, err);
    if (ok && pthread_create(&lane->thread, NULL, lane_main, lane))
        ok = err_set(err, ERR_FAILED, "memory model", "", "no thread");
    if (ok) {
        *out = lane;
        return true;
    }
    live_model_close(lane->live_model);
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
    return false;
}

void model_lane_close(ModelLane *lane) {
    if (!lane)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->stop = true;
    pthread_cond_signal(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    pthread_join(lane->thread, NULL);
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
    drop_aim(&lane->aim);
    shared_drop(lane->known);
    live_model_close(lane->live_model);
    free(lane);
}

/* Features may differ in their values, as long as there are as many. */
static bool same_problem(const Aim *a, const Aim *b) {
    return a->map == b->map && a->features->shape.channels == b->features->shape.channels &&
           a->choice.dtype == b->choice.dtype && a->choice.align == b->choice.align;
}

void model_lane_aim(ModelLane *lane, SeenFeatures *features, BuiltMap *map, const Choice *choice,
                    ModelDepth depth) {
    Aim aim = {features, map, *choice, depth};
    pthread_mutex_lock(&lane->lock);
    bool same = lane->aim.map && same_problem(&lane->aim, &aim);
    bool as_before = same && choice_equal(&lane->aim.choice, choice) && lane->aim.depth == depth;
    if (!as_before) {
        drop_aim(&lane->aim);
        shared_keep(features);
        shared_keep(map);
        lane->aim = aim;
        lane->aimed = lane->first = true;
        pthread_cond_signal(&lane->changed);
    }
    if (!same) {
        lane->other_problem = true;
        shared_drop(lane->known);
        lane->known = NULL;
        lane->news = true;
    }
    pthread_mutex_unlock(&lane->lock);
}

void model_lane_measured(ModelLane *lane, int gpu, const Limits *limits) {
    pthread_mutex_lock(&lane->lock);
    lane->measured = true;
    lane->gpu = gpu;
    lane->limits = *limits;
    pthread_cond_signal(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
}

bool model_lane_first(ModelLane *lane) {
    pthread_mutex_lock(&lane->lock);
    bool first = lane->first;
    pthread_mutex_unlock(&lane->lock);
    return first;
}

void model_lane_hold(ModelLane *lane, bool hold) {
    pthread_mutex_lock(&lane->lock);
    if (lane->hold && !hold)
        pthread_cond_signal(&lane->changed);
    lane->hold = hold;
    pthread_mutex_unlock(&lane->lock);
}

bool model_lane_take(ModelLane *lane, MemoryModel **model) {
    pthread_mutex_lock(&lane->lock);
    bool news = lane->news;
    lane->news = false;
    *model = shared_keep(lane->known);
    pthread_mutex_unlock(&lane->lock);
    return news;
}
