#include "src/run/sparsity.h"

#include "src/base/clock.h"
#include "src/base/units.h"
#include "src/run/recorded.h"
#include "src/run/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double sparsity_levels[SPARSITY_LEVELS] = {0, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.6, 0.9};

enum { TURNS = 25, MAP_TURNS = 10 };
static const double NOISE = 1.15; /* V4's median of its least: more is another program's doing */

static const BevKernel *skipping(const BevKernel *all) {
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->skips && !strcmp(bev_kernels[i]->skips, all->name))
            return bev_kernels[i];
    return NULL;
}

/* The least time of each step of a frame: other programs only add to it. */
typedef struct {
    double inside_us, map_us, prepare_us, ready_us;
} Steps;

/* What one level runs: V4, what leaves points out, and V4 on the map without them. */
typedef struct {
    const Workload *workload;
    const BevKernel *kernel;
    BevProblem all, inside, ready;
    Prune prune;
    Session *sessions[3];
} Frames;

static void note_time(double start, double *least_us) {
    *least_us = fmin(*least_us, clock_us() - start);
}

static bool run_timed(Session *session, double *least_us, Err *err) {
    double start = clock_us();
    bool ok = session_run(session, err);
    note_time(start, least_us);
    return ok;
}

/* The map of a frame, and what V4 prepares for it. */
static bool build_timed(const Frames *frames, Steps *least, Err *err) {
    BevProblem problem = frames->all;
    BevPlan *plan = NULL;
    Pruned pruned;
    double start = clock_us();
    if (!scatter_prune(&frames->all.map, &frames->workload->scene.shape,
                       frames->workload->features.depth, &frames->prune, &problem.map, &pruned,
                       err))
        return false;
    note_time(start, &least->map_us);
    start = clock_us();
    bool ok = frames->kernel->prepare(&problem, &plan, err);
    note_time(start, &least->prepare_us);
    frames->kernel->release(plan);
    scatter_free(&problem.map);
    return ok;
}

/* All in turns, so that a busy moment meets each alike. */
static bool time_frames(Frames *frames, Steps *least, double all_us[TURNS], Err *err) {
    const BevProblem *problems[] = {&frames->all, &frames->inside, &frames->ready};
    double *const least_us[] = {all_us, &least->inside_us, &least->ready_us};
    bool ok = true;
    *least = (Steps){INFINITY, INFINITY, INFINITY, INFINITY};
    for (int turn = 0; turn < TURNS; turn++)
        all_us[turn] = INFINITY;
    for (int i = 0; ok && i < 3; i++)
        ok = session_open(&frames->sessions[i], i == 1 ? skipping(frames->kernel) : frames->kernel,
                          problems[i], err);
    for (int turn = 0; ok && turn < TURNS; turn++) {
        ok = turn >= MAP_TURNS || build_timed(frames, least, err);
        for (int i = 0; ok && i < 3; i++)
            ok = run_timed(frames->sessions[i], least_us[i] + (i ? 0 : turn), err);
    }
    for (int i = 0; i < 3; i++)
        session_close(frames->sessions[i]);
    return ok;
}

/* Microseconds of a level, and of V4 in each turn. */
static bool measure_level(const Workload *workload, const BevProblem *problem, int level,
                          Sparsity *sparsity, double all_us[TURNS], Err *err) {
    const float most = (float)sparsity_levels[level];
    Frames frames = {.workload = workload,
                     .kernel = bev_default(BEV_CPU, BEV_FORWARD),
                     .all = *problem,
                     .inside = *problem,
                     .ready = *problem,
                     .prune = {.below = nextafterf(most, 1)}};
    Steps least;
    Pruned pruned;
    frames.inside.prune = most;
    if (!scatter_prune(&problem->map, &workload->scene.shape, workload->features.depth,
                       &frames.prune, &frames.ready.map, &pruned, err))
        return false;
    bool ok = time_frames(&frames, &least, all_us, err);
    scatter_free(&frames.ready.map);
    if (!ok)
        return false;
    sparsity->share[level] = 100.0 * (double)pruned.points_kept / (double)pruned.points;
    sparsity->inside[level] = least.inside_us;
    sparsity->compact[level] = least.map_us + least.prepare_us + least.ready_us;
    sparsity->ready[level] = least.ready_us;
    return true;
}

bool sparsity_measure(Workload *workload, BevDtype dtype, BevAlign align, Sparsity *sparsity,
                      Err *err) {
    HostProblem problem;
    double all_us[SPARSITY_LEVELS * TURNS], *next = all_us;
    if (!workload_problem(workload, dtype, align, &problem, err))
        return false;
    bool ok = problem.view.map.points > 0 ||
              err_set(err, ERR_FAILED, workload->scene.name, "", "no point falls into the grid");
    for (int i = 0; ok && i < SPARSITY_LEVELS; i++, next += TURNS)
        ok = measure_level(workload, &problem.view, i, sparsity, next, err);
    problem_free(&problem);
    if (!ok)
        return false;
    sort_ascending(all_us, SPARSITY_LEVELS * TURNS);
    for (int i = 0; i < SPARSITY_LEVELS; i++) {
        sparsity->inside[i] /= all_us[0];
        sparsity->compact[i] /= all_us[0];
        sparsity->ready[i] /= all_us[0];
    }
    sparsity->settled = all_us[SPARSITY_LEVELS * TURNS / 2] <= NOISE * all_us[0];
    snprintf(
        sparsity->source, sizeof sparsity->source,
        "Measured here, on the CPU, the least of %d in turns. A map in each frame: pruning, what "
        "cpu_v4 prepares, its launch.",
        TURNS);
    return true;
}

/* ---- recorded ---- */

/* The recorded median of a kernel, the map or the threshold at that level; level < 0: every point.
 * NaN: not recorded. */
static double recorded_us(const Recording *recording, const KernelConfig *like, const char *scene,
                          const char *kernel, int level) {
    char label[sizeof recording->rows->scene];
    snprintf(label, sizeof label, level > 0 ? "%.30s, pruned below %.9g" : "%.30s", scene,
             sparsity_levels[level > 0 ? level : 0]);
    for (int i = 0; i < recording->row_count; i++) {
        const RecordedRow *row = &recording->rows[i];
        if (!recorded_is_experiment(row) && !strcmp(row->scene, label) &&
            !strcmp(row->kernel, kernel) && !strcmp(row->dtype, bev_dtypes[like->dtype].name) &&
            !strcmp(row->align, bev_aligns[like->align].name) && !strcmp(row->cache, "warm"))
            return row->median_us;
    }
    return NAN;
}

/* Whether the recording has V4 and, at some level, a kernel that leaves points out. */
static bool recorded_pays(const Recording *recording, const KernelConfig *like, const char *scene,
                          Sparsity *sparsity) {
    double all_us = recorded_us(recording, like, scene, "v4", -1);
    bool any = false;
    for (int i = 0; i < SPARSITY_LEVELS; i++) {
        sparsity->inside[i] = recorded_us(recording, like, scene, "v4_skip", i) / all_us;
        sparsity->compact[i] = recorded_us(recording, like, scene, "v3_compact", i) / all_us;
        sparsity->ready[i] = i ? recorded_us(recording, like, scene, "v4", i) / all_us : NAN;
        any = any || isfinite(sparsity->inside[i]);
    }
    snprintf(sparsity->source, sizeof sparsity->source,
             "Recorded: %.120s. Compaction: v3_compact, all in a launch.", recording->label);
    return any;
}

/* Shares of the points of each level. */
static bool count_shares(Workload *workload, BevAlign align, Sparsity *sparsity, Err *err) {
    const BevMap *map = workload_map(workload, align, err);
    for (int i = 0; map && i < SPARSITY_LEVELS; i++) {
        const Prune prune = {.below = i ? sparsity_levels[i] : nextafterf(0, 1)};
        BevMap kept;
        Pruned pruned;
        if (!scatter_prune(map, &workload->scene.shape, workload->features.depth, &prune, &kept,
                           &pruned, err))
            return false;
        scatter_free(&kept);
        sparsity->share[i] = 100.0 * (double)pruned.points_kept / (double)pruned.points;
    }
    return map != NULL;
}

bool sparsity_recorded(Workload *workload, const char *scene, BevDtype dtype, BevAlign align,
                       const Gpu *gpu, Sparsity *sparsity, Err *err) {
    const KernelConfig like = {.dtype = dtype, .align = align};
    RecordedSet set;
    bool found = false;
    if (!recorded_load_samples(&set, err))
        return false;
    for (int i = 0; i < set.count && !found; i++) {
        const Gpu *its = gpu_of_device(set.recordings[i].label);
        found = its && !strcmp(its->title, gpu->title) &&
                recorded_pays(&set.recordings[i], &like, scene, sparsity);
    }
    recorded_free(&set);
    sparsity->settled = true;
    if (found)
        return count_shares(workload, align, sparsity, err);
    return err_set(err, ERR_FAILED, "plot sparsity",
                   "without --gpu it is measured here; samples/recorded/README.md says how to "
                   "record it",
                   "nothing recorded of %s on %s", scene, gpu->title);
}
