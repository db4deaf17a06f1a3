/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/base/progress.h"
#include "src/run/bench.h"

#include <math.h>
#include <sys/stat.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

#include <nvtx3/nvToolsExt.h>
#endif

const char *const cache_names[] = {[CACHE_WARM] = "warm", [CACHE_COLD] = "cold"};
const char *const where_names[] = {[BEV_CPU] = "cpu", [BEV_CUDA] = "cuda"};

/* The state of bench_run. The baseline is that of the problem's direction and stage: forward V2. */
typedef struct {
    const BenchPlan *plan;
    const HostProblem *problem;                /* the current problem */
    BenchRow row;                              /* the next row to be emitted */
    BevProblem v2_problem[BEV_CUDA + 1];       /* the problem as the baseline gets it */
    Session *v2[BEV_CUDA + 1];                 /* the baseline; NULL: none */
    Timing last[BEV_CUDA + 1][CACHE_COLD + 1]; /* the baseline's latest timing */
    void (*emit)(const BenchRow *, void *);
    void *context;
} Bench;

/* ---- timing ---------------------------------------------------------------------------------- */

/* Times the baseline once more. It takes few samples, because every row needs this. */
static bool time_baseline(Bench *bench, BevWhere where, CacheState cache, Err *err) {
    TimingOptions options = timing_quick;
    options.single = bench->plan->timing.single;
    return !bench->v2[where] ||
           session_time(bench->v2[where], cache, &options, &bench->last[where][cache], err);
}

/* Computes the speed-up of the row that was just timed. V2 was timed before the row, and is timed
 * again after the row. If another program came or went in between, the two timings differ, and the
 * baseline counts as not settled. V2 is its own baseline. */
static bool compare_with_baseline(Bench *bench, Err *err) {
    BenchRow *row = &bench->row;
    BevWhere where = row->config.kernel->where;
    Timing *last = &bench->last[where][row->cache], before = *last;
    row->baseline = (Timing){0};
    row->speedup = NAN;
    if (!bench->v2[where])
        return true;
    if (row->config.kernel == bev_baseline(where, row->config.kernel->direction))
        row->baseline = *last = row->timing;
    else if (time_baseline(bench, where, row->cache, err))
        row->baseline = timing_join(&before, last);
    else
        return false;
    row->speedup = timing_ratio(&row->baseline, &row->timing);
    return true;
}

/* Times the row with each cache state of the plan, and emits a row for each. */
static bool time_caches(Bench *bench, Session *session, Err *err) {
    BenchRow *row = &bench->row;
    for (int cache = CACHE_WARM; cache <= CACHE_COLD; cache++) {
        if (!(bench->plan->caches & 1u << cache))
            continue;
        row->cache = (CacheState)cache;
        if (!session_time(session, row->cache, &bench->plan->timing, &row->timing, err) ||
            !compare_with_baseline(bench, err))
            return false;
        double median_us = row->timing.median_us;
        row->effective_gb_s = median_us > 0 ? row->traffic_mb * 1e3 / median_us : 0;
        bench->emit(row, bench->context);
    }
    return true;
}

/* Returns the problem as the kernel gets it. A view transform's kernel writes channels first if it
 * can, because the next network takes channels first. */
static BevProblem problem_for(const Bench *bench, const BevKernel *kernel) {
    BevProblem problem = bench->problem->view;
    const bool channels_first = problem.stage == BEV_VIEW && kernel->writes_first;
    problem.out_samples = channels_first ? 1 : 0; /* 0: channels last */
    return problem;
}

/* Whether the kernel has the direction and the stage of the problem. */
static bool computes(const BevKernel *kernel, const BevProblem *problem) {
    return kernel->direction == problem->direction && kernel->stage == problem->stage;
}

/* Returns the baseline row of the problem's stage and direction. NULL: there is none. */
static const BevKernel *baseline_of(const BevProblem *problem, BevWhere where) {
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *row = bev_kernels[i];
        if (row->is_baseline && row->where == where && computes(row, problem))
            return row;
    }
    return NULL;
}

/* Launches twice. The second launch is in an NVTX range, for Nsight Compute and Nsight Systems. */
static bool launch_in_range(Bench *bench, Session *session, Err *err) {
    bool ok = session_run(session, err);
#ifdef HAVE_CUDA
    BenchRow *row = &bench->row;
    kernel_config_range(&row->config, row->scene, row->range, sizeof row->range);
    nvtxRangePushA(row->range);
#endif
    ok = ok && session_run(session, err);
#ifdef HAVE_CUDA
    nvtxRangePop();
#endif
    if (ok)
        bench->emit(&bench->row, bench->context);
    return ok;
}

/* Times one kernel on the current problem. A kernel that refuses the problem is a skipped row. */
static bool time_kernel(Bench *bench, const BevKernel *kernel, Err *err) {
    const BevProblem given = problem_for(bench, kernel), *problem = &given;
    BenchRow *row = &bench->row;
    Session *session = NULL;
    row->config = (KernelConfig){kernel, problem->dtype, problem->align};
    row->points = problem->map.points;
    row->intervals = problem->map.intervals;
    progress_part(kernel_config_label(&row->config).text);
    if (!session_open_or_skip(&session, kernel, problem, row->skipped, err))
        return false;
    if (row->skipped[0]) {
        bench->emit(row, bench->context);
        return true;
    }
    row->traffic_mb = bev_traffic_total(bev_traffic(kernel, problem)) * 1e-6;
    row->footprint_mb = bev_footprint_total(bev_footprint(problem)) * 1e-6;
    bool ok = bench->plan->once ? launch_in_range(bench, session, err)
                                : session_prepare_us(session, &row->prepare_us, err) &&
                                      time_caches(bench, session, err);
    progress_done(1);
    session_close(session);
    return ok;
}

/* Opens V2 on every device of the plan and times it a first time. */
static bool open_baselines(Bench *bench, Err *err) {
    const BenchPlan *plan = bench->plan;
    bool ok = true;
    for (int where = BEV_CPU; ok && where <= BEV_CUDA; where++) {
        const BevKernel *baseline = baseline_of(&bench->problem->view, (BevWhere)where);
        char refused[REFUSAL_SIZE];
        if (!baseline || !(plan->where & 1u << where))
            continue;
        bench->v2_problem[where] = problem_for(bench, baseline);
        ok = session_open_or_skip(&bench->v2[where], baseline, &bench->v2_problem[where], refused,
                                  err);
        for (int cache = CACHE_WARM; ok && cache <= CACHE_COLD; cache++)
            if (plan->caches & 1u << cache)
                ok = time_baseline(bench, (BevWhere)where, (CacheState)cache, err);
    }
    return ok;
}

static bool time_kernels(Bench *bench, Err *err) {
    bool ok = bench->plan->once || open_baselines(bench, err);
    for (int i = 0; ok && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (plan_selects(bench->plan, kernel) && computes(kernel, &bench->problem->view))
            ok = time_kernel(bench, kernel, err);
    }
    for (int where = BEV_CPU; where <= BEV_CUDA; where++) {
        session_close(bench->v2[where]);
        bench->v2[where] = NULL;
    }
    return ok;
}

static bool time_problem(void *context, const char *scene, Workload *workload,
                         const HostProblem *problem, Err *err) {
    Bench *bench = context;
    const BevProblem *view = &problem->view;
    bench->problem = problem;
    bench->row = (BenchRow){.scene = scene,
                            .channels = view->shape.channels,
                            .pruned = workload->maps[view->align]->intervals.pruned,
                            .map_us = workload->maps[view->align]->took_us};
    return time_kernels(bench, err);
}

bool bench_run(const BenchPlan *plan, void (*row)(const BenchRow *, void *), void *context,
               Err *err) {
    Bench bench = {.plan = plan, .emit = row, .context = context};
    return plan_each_problem(plan, time_problem, &bench, err);
}

/* ---- the problems of a plan ------------------------------------------------------------------ */

/* Returns whether the plan has problems of a direction and a stage. */
static bool has_problems(const BenchPlan *plan, BevDirection direction, BevStage stage) {
    unsigned directions = plan->directions ? plan->directions : 1u << BEV_FORWARD;
    unsigned stages = plan->stages ? plan->stages : 1u << BEV_POOL;
    return directions >> direction & stages >> stage & 1;
}

bool plan_selects(const BenchPlan *plan, const BevKernel *kernel) {
    const bool in_build = kernel->launch != NULL, on_device = plan->where >> kernel->where & 1;
    const bool named = !plan->kernels || plan->kernels & kernel_bit(kernel);
    return in_build && on_device && named && has_problems(plan, kernel->direction, kernel->stage);
}

/* Begins the progress of a moment, in which each kernel has a row for each format and align. */
static void begin_progress(const BenchPlan *plan, int scene, int moment, int moments) {
    const double all = plan->scene_count * moments, done = scene * moments + moment;
    progress_step(plan->scenes[scene], done / all, (done + 1) / all);
    for (const BevKernel *const *row = bev_kernels; *row; row++)
        if (plan_selects(plan, *row))
            progress_expect(__builtin_popcount(plan->dtypes & (*row)->dtypes) *
                            __builtin_popcount(plan->aligns & (*row)->aligns));
}

/* Visits the problems of a moment, in every stage, direction, align and format of the plan. */
static bool visit_problems(const BenchPlan *plan, const char *label, Workload *workload,
                           PlanVisit *visit, void *context, Err *err) {
    enum { EACH = BEV_ALIGN_COUNT * BEV_DTYPE_COUNT }; /* problems of a stage and direction */
    bool ok = true;
    for (int i = 0; ok && i < BEV_STAGE_COUNT * BEV_DIRECTION_COUNT * EACH; i++) {
        const BevDtype dtype = i % BEV_DTYPE_COUNT;
        const BevAlign align = i / BEV_DTYPE_COUNT % BEV_ALIGN_COUNT;
        const BevDirection direction = i / EACH % BEV_DIRECTION_COUNT;
        const BevStage stage = i / EACH / BEV_DIRECTION_COUNT;
        const bool backward = direction == BEV_BACKWARD, view = stage == BEV_VIEW;
        const unsigned dtypes = backward || view ? scaleless_dtypes : ~0u;
        const bool in_plan = has_problems(plan, direction, stage) && plan->aligns >> align & 1 &&
                             plan->dtypes >> dtype & 1;
        if (!in_plan || !(dtypes >> dtype & 1) || !workload_has_align(workload, align))
            continue;
        HostProblem problem = {0};
        ok = backward ? workload_problem_backward(workload, dtype, align, &problem, err)
                      : workload_problem(workload, dtype, align, &problem, err);
        ok = ok && (!view || problem_turn_view(&problem, err)) &&
             visit(context, label, workload, &problem, err);
        problem_free(&problem);
    }
    return ok;
}

/* Whether the scene may have several moments. Their number is known once the scene is open. */
static bool may_have_moments(const BenchPlan *plan, const char *scene) {
    struct stat status;
    if (plan->moments)
        return plan->moments > 1;
    return stat(scene, &status) == 0 && S_ISDIR(status.st_mode); /* a clip */
}

/* Returns the number of moments of a scene that the plan wants and the scene has. */
static int count_moments(const BenchPlan *plan, const Workload *workload) {
    const int there = workload_moments(workload);
    const int all = workload->loaded->scene.clip ? there : 1;
    const int wanted = plan->moments ? plan->moments : all;
    return wanted < there ? wanted : there;
}

/* Visits the wanted moment of this number. Wanted moments are spread evenly over a clip. */
static bool visit_moment(const BenchPlan *plan, const char *scene, Workload *workload, int moment,
                         PlanVisit *visit, void *context, Err *err) {
    char label[300];
    const int there = workload_moments(workload);
    const int wanted = plan->moments ? plan->moments : count_moments(plan, workload);
    if (workload->loaded->scene.clip && there > wanted)
        moment = (int)((int64_t)moment * there / wanted);
    workload_label(&workload->job, scene, label, sizeof label);
    workload->grad_file = plan->grad_file;
    return workload_move(workload, moment, err) &&
           visit_problems(plan, label, workload, visit, context, err);
}

/* Visits the wanted moments of a scene. A moment that fails closes the scene, and the next moment
 * opens it again. */
static bool visit_scene(const BenchPlan *plan, int number, PlanVisit *visit, void *context,
                        Err *err) {
    const char *scene = plan->scenes[number];
    const PlanMoments *each = plan->each;
    const bool several_moments = may_have_moments(plan, scene);
    bool ok = true;
    Workload workload = {.loaded = NULL};
    for (int moment = 0, count = 1; ok && moment < count; moment++) {
        Err failed = {0};
        const bool wanted = !each || each->wants(each->context, number, moment);
        const bool tells_count = several_moments && moment == 0;
        if (!wanted && !tells_count)
            continue;
        bool done = workload.loaded || workload_open(&workload, scene, &plan->job, &failed);
        if (done && several_moments)
            count = count_moments(plan, &workload);
        begin_progress(plan, number, moment, count);
        if (done && wanted)
            done = visit_moment(plan, scene, &workload, moment, visit, context, &failed);
        if (!done)
            workload_close(&workload);
        if (wanted && each) {
            ok = each->ends(each->context, number, moment, done ? NULL : &failed, err);
        } else if (wanted && !done) {
            *err = failed;
            ok = false;
        }
    }
    workload_close(&workload);
    return ok;
}

bool plan_each_problem(const BenchPlan *plan, PlanVisit *visit, void *context, Err *err) {
    bool ok = true;
    for (int i = 0; ok && i < plan->scene_count; i++)
        ok = visit_scene(plan, i, visit, context, err);
    return ok;
}
