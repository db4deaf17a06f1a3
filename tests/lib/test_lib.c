/* SPDX-License-Identifier: MIT */
/* libbevpool on the CPU: the bits of the program's own kernels, maps of calibrations, threads, and
 * memory that stays flat. Layouts and gradients: test_lib_layouts.c; bad input:
 * test_lib_refuses.c. With the argument "threads" threads alone, for the thread sanitizer. */
#include "src/scene/scatter.h"
#include "tests/lib/lib_case.h"
#include "tests/support/judged.h"
#include "tests/support/memory.h"
#include "tests/support/scenes.h"

#include <pthread.h>

/* A kernel of the library and of the program on one problem. */
static bool same_bits(const BevKernel *kernel, HostProblem *host) {
    Err err;
    BevpoolMap *map = map_of(host, BEVPOOL_CPU);
    BevpoolPlan *plan = plan_of(host, map, kernel->name, 0);
    bevpool_map_destroy(map); /* the plan keeps it */
    BevpoolCall call = lib_call(host, plan);
    fine(bevpool_run(plan, &call, &error), "a launch");
    bool same = problem_pool(kernel, &host->view, &err) && lib_same_output(&call, &host->view);
    lib_call_free(&call);
    bevpool_plan_destroy(plan);
    return same;
}

static void test_bits(void) {
    Err err;
    for (int k = 0; bevpool_kernel_name(BEVPOOL_CPU, BEVPOOL_FORWARD, k); k++) {
        const BevKernel *kernel =
            bev_kernel_find(bevpool_kernel_name(BEVPOOL_CPU, BEVPOOL_FORWARD, k));
        int compared = 0, differ = 0;
        for (int number = 0; number < case_count() && kernel->deterministic; number++) {
            Case c = case_at(number);
            CaseData data;
            BevAlign align = number % 2 ? BEV_BILINEAR : BEV_NEAREST;
            if (c.config || !case_build(&c, align, 1, 7, &data, &err))
                continue;
            for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
                HostProblem host = case_problem(&data, (BevDtype)dtype, align);
                differ += !same_bits(kernel, &host);
                compared++;
                problem_free(&host);
            }
            case_free(&data);
        }
        if (kernel->deterministic)
            tap_ok(compared > 20 && !differ, "%s: %d problems, %d differ from the program's kernel",
                   kernel->name, compared, differ);
    }
}

/* Whether sample `b` of a map of two equal rigs is `one`, moved. */
static bool is_sample(const BevpoolArrays *all, const BevMap *one, const BevShape *shape, int b) {
    int64_t feats = shape->cameras * shape->feat_h * shape->feat_w;
    bool same = true;
    for (int64_t t = 0; t < one->points; t++) {
        int64_t at = b * one->points + t;
        same = same && all->ranks_bev[at] == one->ranks_bev[t] + b * shape->nx * shape->ny &&
               all->ranks_feat[at] == one->ranks_feat[t] + b * feats &&
               all->ranks_depth[at] == one->ranks_depth[t] + b * feats * shape->depth_bins &&
               (!one->weights || all->weights[at] == one->weights[t]);
    }
    for (int64_t i = 0; i < one->intervals; i++)
        same = same && all->interval_starts[b * one->intervals + i] ==
                           one->interval_starts[i] + b * one->points;
    return same;
}

enum { B = 2 }; /* samples */

static void test_rigs(const char *name) {
    Err err;
    Scene *scene = load_scene(name);
    BevpoolCamera cameras[RIG_MAX_CAMERAS];
    BevpoolRig rigs[B];
    lib_rig_from(&scene->rig, cameras, &rigs[0]);
    rigs[1] = rigs[0];
    BevShape shape = rig_shape(&scene->rig, 1);
    for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
        BevpoolMap *map = NULL;
        BevpoolArrays arrays;
        BevpoolShape its;
        BevMap one;
        fine(bevpool_map_from_rigs(&map, rigs, B, align, BEVPOOL_CPU, &error), "a map of rigs");
        fine(bevpool_map_arrays(map, &arrays, &error), "its arrays");
        fine(bevpool_map_shape(map, &its, &error), "its shape");
        need(scatter_build(&scene->rig, (BevAlign)align, ~0u, NULL, &one, &err), &err);
        tap_ok(arrays.points == B * one.points && arrays.intervals == B * one.intervals &&
                   its.nz == shape.nz && its.ny * its.nz == shape.ny && one.points > 0 &&
                   is_sample(&arrays, &one, &shape, 0) && is_sample(&arrays, &one, &shape, 1),
               "%s, two calibrations, %s: %lld points, as the program finds them", name,
               bev_aligns[align].name, (long long)arrays.points);
        scatter_free(&one);
        bevpool_map_destroy(map);
    }
    drop_scene(scene);
}

enum { THREADS = 8, ROUNDS = 40 };

typedef struct {
    HostProblem *host;
    BevpoolMap *map;
    BevpoolPlan *plan; /* NULL: the thread makes its own */
    bool same;
} Launches;

static void *run_rounds(void *context) {
    Launches *job = context;
    BevpoolPlan *plan = job->plan;
    BevpoolOptions options = {.size = sizeof options,
                              .channels = job->host->view.shape.channels,
                              .dtype = (int32_t)job->host->view.dtype};
    job->same = plan || bevpool_plan_create(&plan, job->map, &options, NULL) == BEVPOOL_OK;
    for (int i = 0; job->same && i < ROUNDS; i++) {
        BevpoolCall call = lib_call(job->host, plan);
        job->same = bevpool_run(plan, &call, NULL) == BEVPOOL_OK &&
                    lib_same_output(&call, &job->host->view);
        lib_call_free(&call);
    }
    if (!job->plan)
        bevpool_plan_destroy(plan);
    return NULL;
}

static void run_threads(HostProblem *host, BevpoolMap *map, BevpoolPlan *plan, const char *what) {
    pthread_t threads[THREADS];
    Launches jobs[THREADS];
    bool same = true;
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (Launches){host, map, plan, false};
        tap_need(!pthread_create(&threads[i], NULL, run_rounds, &jobs[i]), "a thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        same = same && jobs[i].same;
    }
    tap_ok(same, "8 threads, %s: each launch gives the same bits", what);
}

/* FP16, so that launches decode into their workspace. */
static void small_problem(CaseData *data, HostProblem *host) {
    Err err;
    *data = open_case("one_point", BEV_NEAREST, 1, 7);
    *host = case_problem(data, BEV_FP16, BEV_NEAREST);
    need(problem_pool(bev_kernel_find("cpu_v4"), &host->view, &err), &err);
}

static void test_threads(void) {
    CaseData data;
    HostProblem host;
    small_problem(&data, &host);
    BevpoolMap *map = map_of(&host, BEVPOOL_CPU);
    BevpoolPlan *plan = plan_of(&host, map, NULL, 0);
    tap_ok(!strcmp(bevpool_plan_kernel(plan), "cpu_v4"), "the best kernel of the CPU is cpu_v4");
    run_threads(&host, map, NULL, "a plan each");
    run_threads(&host, map, plan, "one plan");
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
    problem_free(&host);
    case_free(&data);
}

enum { WARM_LIVES = 500, MOST_KB = 512 };

static void live(const HostProblem *host, BevpoolCall *call) {
    BevpoolMap *map = map_of(host, BEVPOOL_CPU);
    BevpoolPlan *plan = plan_of(host, map, NULL, 0);
    bevpool_map_destroy(map);
    if (!call->size)
        *call = lib_call(host, plan);
    fine(bevpool_run(plan, call, &error), "a launch");
    bevpool_plan_destroy(plan);
}

static void test_lives(int lives) {
    CaseData data;
    HostProblem host;
    small_problem(&data, &host);
    BevpoolCall call = {0};
    for (int i = 0; i < WARM_LIVES; i++)
        live(&host, &call);
    long mark = memory_mark();
    for (int i = WARM_LIVES; i < lives; i++)
        live(&host, &call);
    long grown = memory_growth_kb(mark);
    if (MEMORY_MEASURED)
        tap_ok(grown < MOST_KB, "%d times a map, a plan, a launch: %ld kB more", lives, grown);
    else
        tap_ok(true, "%d times a map, a plan, a launch # SKIP no memory to measure", lives);
    lib_call_free(&call);
    problem_free(&host);
    case_free(&data);
}

TAP_SUITE(lib) {
    test_bits();
    test_rigs("toy");
    test_rigs("occupancy");
    test_lives(2500);
}

TAP_HARD_SUITE(lib_lives) {
    test_lives(10000);
}

TAP_SUITE(lib_threads) {
    test_threads();
}
