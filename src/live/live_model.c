/* SPDX-License-Identifier: MIT */
#include "src/live/live_model.h"

#include "src/base/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 8 };
enum { SAMPLE = 33 }; /* an estimate replays one multiprocessor in SAMPLE */

/* Problems with the same key have the same access traces. Values do not change a trace. A key has
 * no padding. */
typedef struct {
    uint64_t map_hash;
    BevShape shape;
    BevDtype dtype;
    BevAlign align;
} ProblemKey;

typedef struct {
    ProblemKey key;
    MemoryModel *model;               /* owned; NULL: the place is free */
    unsigned failed[BEV_DTYPE_COUNT]; /* kernels whose replay failed: bits by traced_place() */
    uint64_t used;                    /* the value of `selections` at the last selection */
} KnownProblem;

struct LiveModel {
    KnownProblem problems[PROBLEMS];
    KnownProblem *now; /* the selected problem; NULL: none yet */
    BuiltMap *map;     /* the map of `now` */
    uint64_t map_hash;
    uint64_t selections; /* the number of selections so far */
    const RecordedSet *recorded;
    bool read_limits;                 /* read_limits() was called */
    Limits limits[MODEL_GPUS];        /* by row of gpus[] */
    FigureSource sources[MODEL_GPUS]; /* whether the limits are recorded or measured */
    Networks networks;
    const BevKernel *kernel; /* the kernel to simulate first */
    KernelSet wanted;        /* bits by place in bev_kernels[] */
};

ModelDepth live_model_depth(const State *state) {
    if (state->chart == CHART_NONE)
        return DEPTH_SELECTION;
    return charts[state->chart].replays == REPLAYS_FORMATS ? DEPTH_FORMATS : DEPTH_KERNELS;
}

bool live_model_open(LiveModel **live_model, const RecordedSet *recorded, Err *err) {
    *live_model = calloc(1, sizeof **live_model);
    if (!*live_model)
        return err_no_memory(err, "memory model", "");
    (*live_model)->recorded = recorded;
    return true;
}

void live_model_close(LiveModel *live_model) {
    if (!live_model)
        return;
    for (int i = 0; i < PROBLEMS; i++)
        ref_drop(live_model->problems[i].model);
    ref_drop(live_model->map);
    free(live_model);
}

MemoryModel *live_model_known(const LiveModel *live_model) {
    return live_model->now ? live_model->now->model : NULL;
}

/* ---- which problem --------------------------------------------------------------------------- */

/* Returns the place of the problem. A new problem gets the place unused for longest, cleared. */
static KnownProblem *place_of(LiveModel *live_model, const ProblemKey *key) {
    KnownProblem *oldest = live_model->problems;
    for (KnownProblem *p = oldest; p < live_model->problems + PROBLEMS; p++) {
        if (p->model && !memcmp(&p->key, key, sizeof *key))
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    ref_drop(oldest->model);
    *oldest = (KnownProblem){.key = *key};
    return oldest;
}

/* Returns a problem without values: traces do not depend on values. */
static BevProblem problem_of(const LiveModel *live_model, BevDtype dtype) {
    const ProblemKey *key = &live_model->now->key;
    return bev_bare_problem(&key->shape, &live_model->map->map, BEV_FORWARD, dtype, key->align);
}

static MemoryModel *new_model(void) {
    return ref_new(sizeof(MemoryModel), NULL);
}

/* Reads the recorded limits and the networks at the first call. The first picture must not wait for
 * their files. */
static void read_limits(LiveModel *live_model) {
    if (live_model->read_limits)
        return;
    live_model->read_limits = true;
    Err ignored; /* the chart of networks then says that it has none */
    networks_open(NULL, &live_model->networks, &ignored);
    for (int i = 0; i < gpu_count; i++) {
        live_model->limits[i] = recorded_limits(live_model->recorded, &gpus[i]);
        live_model->sources[i] = SOURCE_RECORDED;
    }
}

/* Begins a memory model of the problem, before any kernel is replayed. False: no memory. */
static bool begin_model(LiveModel *live_model, Err *err) {
    KnownProblem *now = live_model->now;
    const BevProblem problem = problem_of(live_model, now->key.dtype);
    now->model = new_model();
    if (!now->model)
        return err_no_memory(err, "memory model", "");
    model_begin(now->model, &problem, gpus, gpu_count);
    read_limits(live_model);
    now->model->networks = live_model->networks;
    now->model->timelines = recorded_timelines(live_model->recorded);
    for (int i = 0; i < gpu_count; i++)
        model_set_ceilings(now->model, i, &live_model->limits[i], live_model->sources[i]);
    return true;
}

bool live_model_aim(LiveModel *live_model, const BevShape *shape, BuiltMap *map,
                    const KernelConfig *config, KernelSet wanted, Err *err) {
    if (live_model->map != map) {
        live_model->map = ref_swap(live_model->map, map);
        live_model->map_hash = scatter_hash(&map->map);
    }
    live_model->wanted = wanted;
    const ProblemKey key = {live_model->map_hash, *shape, config->dtype, config->align};
    live_model->kernel = config->kernel;
    live_model->now = place_of(live_model, &key);
    live_model->now->used = ++live_model->selections;
    if (live_model->now->model || begin_model(live_model, err))
        return true;
    live_model->now = NULL;
    return false;
}

/* Replaces the model of a problem by a copy that may be changed: frames share the old model. NULL:
 * there is no model, or no memory for the copy. */
static MemoryModel *renew_model(KnownProblem *p) {
    MemoryModel *next = p->model ? new_model() : NULL;
    if (!next)
        return NULL;
    *next = *p->model;
    ref_drop(p->model);
    return p->model = next;
}

void live_model_measured(LiveModel *live_model, int gpu, const Limits *limits) {
    read_limits(live_model);
    live_model->limits[gpu] = *limits;
    live_model->sources[gpu] = SOURCE_MEASURED;
    for (KnownProblem *p = live_model->problems; p < live_model->problems + PROBLEMS; p++) {
        MemoryModel *model = renew_model(p);
        if (model)
            model_set_ceilings(model, gpu, limits, SOURCE_MEASURED);
    }
}

/* ---- what is missing ------------------------------------------------------------------------- */

/* A replay to do. */
typedef struct {
    const BevKernel *kernel;
    BevDtype dtype;
    bool estimate;
} Replay;

/* Whether the kernel lacks a replay, or a complete replay where an estimate is too little. */
static bool is_missing(const KnownProblem *now, const BevKernel *kernel, BevDtype dtype,
                       bool estimate) {
    const ModelFormat *format = &now->model->formats[dtype];
    const int place = traced_place(kernel);
    if (place < 0 || now->failed[dtype] >> place & 1)
        return false;
    const PredictedKernel *known = dtype == now->model->dtype     ? &now->model->kernels[place]
                                   : kernel == bev_v3()->large_l2 ? &format->large_l2
                                   : kernel == bev_v3()->small_l2 ? &format->small_l2
                                                                  : &format->other;
    return known->kernel != kernel || (known->estimate && !estimate);
}

/* Whether the kernel lacks a replay, which `replay` then describes. V3 is replayed as its two
 * forms. */
static bool wants_replay(const KnownProblem *now, const BevKernel *kernel, Replay *replay) {
    if (kernel && kernel->large_l2)
        return wants_replay(now, kernel->large_l2, replay) ||
               wants_replay(now, kernel->small_l2, replay);
    replay->kernel = kernel;
    return kernel && is_missing(now, kernel, replay->dtype, replay->estimate);
}

/* Whether a kernel with a bar on the screen lacks a replay, which `replay` then describes. Of
 * several kernels takes the last of the table, which is the fastest. */
static bool wants_bar_replay(const KnownProblem *now, Replay *replay) {
    const BevKernel *last = NULL;
    for (int i = 0; bev_kernels[i]; i++)
        if (story_tells(bev_kernels[i]) && wants_replay(now, bev_kernels[i], replay))
            last = bev_kernels[i];
    return last && wants_replay(now, last, replay);
}

bool live_model_tells(const LiveModel *live_model) {
    Replay replay = {.estimate = true};
    if (!live_model->now)
        return false;
    replay.dtype = live_model->now->key.dtype;
    return !wants_bar_replay(live_model->now, &replay);
}

/* Chooses the next replay from the end of the table: the fastest kernels also have the shortest
 * traces. */
static bool next_replay(const LiveModel *live_model, ModelDepth depth, Replay *replay) {
    const KnownProblem *now = live_model->now;
    *replay = (Replay){.dtype = now->key.dtype, .estimate = true};
    if (wants_bar_replay(now, replay) || wants_replay(now, model_row(live_model->kernel), replay))
        return true;
    replay->estimate = false;
    if (depth <= DEPTH_PRUNED)
        return false;
    if (wants_replay(now, model_row(live_model->kernel), replay))
        return true;
    for (int i = 0; bev_kernels[i]; i++)
        if (live_model->wanted >> i & 1 && wants_replay(now, model_row(bev_kernels[i]), replay))
            return true;
    if (wants_replay(now, model_row(bev_baseline(BEV_CPU, BEV_FORWARD)), replay) ||
        wants_bar_replay(now, replay))
        return true;
    for (int i = now->model->kernel_count - 1; depth >= DEPTH_KERNELS && i >= 0; i--)
        if (wants_replay(now, traced_kernel(i), replay))
            return true;
    for (int i = 0; depth >= DEPTH_FORMATS && i < BEV_DTYPE_COUNT; i++) {
        replay->dtype = (BevDtype)i;
        if (wants_replay(now, model_row(live_model->kernel), replay))
            return true;
    }
    return false;
}

/* ---- a replay -------------------------------------------------------------------------------- */

/* Whether the caller has ended the replay early. */
static bool was_ended(const TraceWatch *watch) {
    return watch && watch->go_on && !watch->go_on(watch->context);
}

/* Returns the complete replay of a kernel on the problem. NULL: there is none. */
static const Profile *whole_replay(const KnownProblem *p, const BevKernel *kernel) {
    const PredictedKernel *known = p->model ? &p->model->kernels[traced_place(kernel)] : NULL;
    return known && known->kernel && !known->estimate ? &known->profile : NULL;
}

/* Refines an estimate by a complete replay of the same kernel. The best replay is on the same map
 * in another format, the next best on another map in the same format, selected last. */
static void refine_estimate(const LiveModel *live_model, Profile *profile) {
    const ProblemKey *now = &live_model->now->key;
    const KnownProblem *other_map = NULL;
    for (const KnownProblem *p = live_model->problems; p < live_model->problems + PROBLEMS; p++) {
        ProblemKey other_dtype = p->key, same_map = p->key;
        other_dtype.dtype = now->dtype;
        same_map.map_hash = now->map_hash;
        const Profile *whole = whole_replay(p, profile->kernel);
        if (whole && !memcmp(&other_dtype, now, sizeof *now)) {
            profile_refine(profile, whole);
            return;
        }
        if (whole && !memcmp(&same_map, now, sizeof *now) &&
            (!other_map || p->used > other_map->used))
            other_map = p;
    }
    if (other_map)
        profile_resemble(profile, whole_replay(other_map, profile->kernel));
}

bool live_model_step(LiveModel *live_model, ModelDepth depth, const TraceWatch *watch) {
    Replay replay;
    Err err; /* not reported: views show n/a for a kernel that cannot be replayed */
    if (!live_model->now || !next_replay(live_model, depth, &replay))
        return false;
    const BevProblem problem = problem_of(live_model, replay.dtype);
    TraceWatch sampled = watch ? *watch : (TraceWatch){0};
    sampled.sample = replay.estimate && replay.kernel->access.owner != BEV_OWNS_TILE ? SAMPLE : 0;
    watch = &sampled;
    Profile profile = {.kernel = NULL};
    MemoryModel *next = NULL;
    if (!bev_refuses(replay.kernel, &problem) &&
        profile_make(replay.kernel, &problem, watch, &profile, &err))
        next = renew_model(live_model->now);
    if (next && profile.estimate)
        refine_estimate(live_model, &profile);
    if (next)
        model_add(next, &problem, &profile);
    else if (!was_ended(watch))
        live_model->now->failed[replay.dtype] |= 1u << traced_place(replay.kernel);
    profile_free(&profile);
    return true;
}

/* ---- without light points -------------------------------------------------------------------- */

static const double LIGHT = 1e-3; /* a point of a smaller probability changes almost nothing */

/* Replays a kernel on the pruned problem. V3 is replayed in both forms, because some GPUs take one
 * form and some the other. */
static bool add_pruned(MemoryModel *model, const BevProblem *problem, const BevKernel *kernel,
                       const TraceWatch *watch) {
    Profile profile;
    Err ignored; /* without these latencies nothing is advised */
    if (kernel->large_l2)
        return add_pruned(model, problem, kernel->small_l2, watch) &&
               add_pruned(model, problem, kernel->large_l2, watch);
    if (!profile_make(kernel, problem, watch, &profile, &ignored))
        return false;
    model_add(model, problem, &profile);
    profile_free(&profile);
    return true;
}

/* Fills in the ladder's latencies on a pruned map. */
static bool fill_pruned(const KnownProblem *now, const BevMap *map, const TraceWatch *watch,
                        PrunedModel *pruned) {
    const ProblemKey *key = &now->key;
    const BevProblem problem =
        bev_bare_problem(&key->shape, map, BEV_FORWARD, key->dtype, key->align);
    const BevKernel *ladder[BEV_RUNGS];
    const int count = bev_ladder(BEV_CUDA, BEV_FORWARD, ladder);
    MemoryModel *model = new_model();
    bool ok = model != NULL;
    if (ok)
        model_begin(model, &problem, gpus, gpu_count);
    for (int i = 0; i < count && ok; i++) {
        if (bev_refuses(ladder[i], &problem))
            continue;
        PrunedKernel *one = &pruned->kernels[pruned->count++];
        ok = add_pruned(model, &problem, ladder[i], watch);
        one->kernel = ladder[i];
        for (int gpu = 0; gpu < gpu_count && ok; gpu++)
            one->latency_us[gpu] =
                model_of_kernel(model, ladder[i], &gpus[gpu])->predicted[gpu].latency_us;
    }
    ref_drop(model);
    return ok;
}

bool live_model_prune(LiveModel *live_model, const SeenFeatures *features, bool again,
                      const TraceWatch *watch) {
    KnownProblem *now = live_model->now;
    const BevMap *whole = &live_model->map->map;
    const Prune prune = {.below = LIGHT};
    PrunedModel found = {.tried = true, .below = LIGHT, .time_s = features->time_s};
    Pruned pruned;
    BevMap map = {.points = 0};
    Err ignored; /* without memory nothing is advised */
    if (!now || !now->model || (now->model->pruned.tried && !again))
        return false;
    bool ended_early = false;
    const bool made = prune_is_off(&live_model->map->prune) &&
                      scatter_prune(whole, &now->key.shape, features->values.depth, &prune, &map,
                                    &pruned, &ignored);
    if (made && map.points > 0 && map.points < whole->points) {
        found.share = 1 - (double)map.points / (double)whole->points;
        bool ok = fill_pruned(now, &map, watch, &found);
        ended_early = !ok && was_ended(watch);
        found.count = ok ? found.count : 0;
    }
    scatter_free(&map);
    if (ended_early)
        return false;
    MemoryModel *next = renew_model(now);
    if (next)
        next->pruned = found;
    return next != NULL;
}

/* ---- the race of kernels --------------------------------------------------------------------- */

static void destroy_race(void *contents) {
    LiveRace *race = contents;
    race_free(&race->race);
    ref_drop(race->map);
}

LiveRace *live_race_new(const State *state, const FrameInputs *inputs, const LiveData *live) {
    LiveRace *race = ref_new(sizeof *race, destroy_race);
    if (!race)
        return NULL;
    *race = (LiveRace){.map = ref_keep(inputs->map),
                       .shape = inputs->features->shape,
                       .dtype = state->job.config.dtype,
                       .align = state->job.config.align,
                       .gpu = state->gpu,
                       .edit = state->edit};
    for (int i = 0; i < RACE_KERNELS && race_kernel(i); i++) {
        const RecordedOnGpu *recorded =
            story_recorded(state, live_known_kernel(live, race_kernel(i)));
        race->known_us[i] = recorded ? recorded->us : NAN;
    }
    return race;
}

bool live_race_same(const LiveRace *a, const LiveRace *b) {
    return a && b && a->map == b->map && !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           a->dtype == b->dtype && a->align == b->align && a->gpu == b->gpu &&
           !memcmp(&a->edit, &b->edit, sizeof a->edit);
}

bool live_race_make(LiveRace *race, const MemoryModel *model, Err *err) {
    const BevProblem problem =
        bev_bare_problem(&race->shape, &race->map->map, BEV_FORWARD, race->dtype, race->align);
    race->made =
        race_make(model, &problem, race->gpu, &race->edit, race->known_us, &race->race, err);
    return race->made;
}
