/* SPDX-License-Identifier: MIT */
/* Tables of many kernels: the baseline of a speed-up is measured beside each row and judged as the
 * row is; a kernel that refuses a problem is a skipped row. With a table of the test's own kernels
 * in place of kernels/variants.c. */
#include "src/accuracy/verify.h"
#include "src/base/clock.h"
#include "src/run/bench.h"
#include "tests/support/scenes.h"
#include "tests/support/test_kernel.h"

#include <math.h>
#include <time.h>

static const double FAST_US = 50, SLOW_US = 3000;
static bool disturbed; /* as if another program had the cores: V2 takes as long as that */
static int slow_launches;

static void spend(double us) {
    for (double end = clock_us() + us; clock_us() < end;)
        ;
}

LAUNCH(launch_v2) {
    slow_launches += disturbed;
    spend(disturbed ? SLOW_US : FAST_US);
    return true;
}

/* The other program ends with the first launch of another kernel. */
LAUNCH(launch) {
    disturbed = false;
    spend(FAST_US);
    return true;
}

PREPARE(refuse) {
    return err_set(err, ERR_USAGE, "picky", "use another kernel", "does not like this map");
}

PREPARE(no_memory) {
    return err_set(err, ERR_FAILED, "greedy", "", "out of memory");
}

static void release(BevPlan *plan) {
    (void)plan;
}

static BevTraffic traffic(const BevProblem *problem) {
    (void)problem;
    return (BevTraffic){.feat = 1000};
}

#define ROW(name_, ...)                                                                            \
    static const BevKernel kernel_##name_ = TEST_KERNEL(#name_, .bytes = traffic, __VA_ARGS__)
ROW(first, .launch = launch);
ROW(v2, .launch = launch_v2, .is_baseline = true);
ROW(picky, .launch = launch, .prepare = refuse, .release = release);
ROW(second, .launch = launch);
ROW(greedy, .launch = launch, .prepare = no_memory, .release = release);

const BevKernel *const bev_kernels[] = {&kernel_first, &kernel_v2, &kernel_picky, &kernel_second,
                                        NULL};

const BevKernel *bev_kernel_find(const char *name) {
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcmp(bev_kernels[i]->name, name))
            return bev_kernels[i];
    return NULL;
}

static const char *const toy[] = {"toy"};
static BenchPlan toy_plan = {.scenes = toy,
                                   .scene_count = 1,
                                   .where = 1u << BEV_CPU,
                                   .dtypes = 1u << BEV_FP32,
                                   .aligns = 1u << BEV_NEAREST,
                                   .caches = 1u << CACHE_WARM,
                                   .timing = {.samples = 20, .min_warm_ms = 1, .max_s = 0.5}};

enum { MOST_ROWS = 8 };
static BenchRow rows[MOST_ROWS];
static int row_count;

static void keep_row(const BenchRow *row, void *context) {
    (void)context;
    if (row_count < MOST_ROWS)
        rows[row_count++] = *row;
}

static const BenchRow *row_of(const BevKernel *kernel) {
    for (int i = 0; i < row_count; i++)
        if (rows[i].config.kernel == kernel)
            return &rows[i];
    return NULL;
}

/* Whether the ratio is that of the medians; on a busy machine, where they did not settle, none. */
static bool stands(const BenchRow *row) {
    double ratio = row->baseline.median_us / row->timing.median_us;
    return row->baseline.settled && row->timing.settled ? fabs(ratio - row->speedup) < 1e-9
                                                        : isnan(row->speedup);
}

static void test_bench(void) {
    Err err = {0};
    disturbed = true;
    toy_plan.job = job_plain();
    bool ok = bench_run(&toy_plan, keep_row, NULL, &err);
    if (!tap_ok(ok && row_count == 4 && slow_launches > 5, "bench: four rows, V2 slow at first: %s",
                err.what))
        return;
    const BenchRow *first = row_of(&kernel_first), *second = row_of(&kernel_second),
                   *v2 = row_of(&kernel_v2), *picky = row_of(&kernel_picky);
    tap_ok(isnan(first->speedup) && !first->baseline.settled,
           "where V2 was slow and is not any more it did not settle, and there is no ratio");
    tap_ok(second->baseline.median_us < SLOW_US / 3,
           "the next row has a baseline of its own time");
    tap_ok(second->baseline.samples >= 10 && isfinite(second->baseline.noise) && stands(second),
           "it is measured, and the ratio stands on what is shown");
    tap_ok(stands(v2) && v2->baseline.median_us == v2->timing.median_us,
           "V2's own row is its own baseline");
    tap_ok(strstr(picky->skipped, "does not like this map") && !second->skipped[0],
           "a kernel that refuses the map is a skipped row with its reason: %s", picky->skipped);
}

/* A team that waits for a core: time passes, and nobody of this process computes. */
LAUNCH(launch_waiting) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

ROW(waiting, .launch = launch_waiting);

static void test_waiting(void) {
    Timing timing = {0};
    Session *session;
    Err err = {0};
    OpenProblem *opened = open_problem("toy", BEV_FP32, BEV_NEAREST, 0, BEV_FORWARD);
    bool ok = session_open(&session, &kernel_waiting, opened->view, &err) &&
              session_time(session, CACHE_WARM, &toy_plan.timing, &timing, &err);
    tap_ok(ok && timing.median_us >= 1000 && !timing.settled,
           "launches that wait for a core, however evenly, did not settle: %.0f us",
           timing.median_us);
    session_close(session);
    close_problem(opened);
}

static void test_join(void) {
    Timing a = {.median_us = 10, .settled = true, .drift_limit = 0.15, .samples = 5}, b = a;
    b.median_us = 11;
    tap_ok(timing_join(&a, &b).settled && timing_join(&a, &b).median_us == 10.5 &&
               timing_join(&a, &b).samples == 10,
           "two timings that agree are one");
    b.median_us = 12;
    tap_ok(!timing_join(&a, &b).settled && timing_join(&a, &b).median_us == 10,
           "two that differ did not settle, and the faster one counts");
    b.median_us = 10;
    b.settled = false;
    tap_ok(!timing_join(&a, &b).settled, "nor where one of them did not");
}

static int judged, failed, skipped;

static void count_row(const VerifyRow *row, void *context) {
    (void)context;
    judged += !row->skipped[0];
    failed += !row->skipped[0] && !row->passed;
    skipped += strstr(row->skipped, "does not like this map") != NULL;
}

static void test_verify(void) {
    Err err = {0};
    bool ok = verify_run(&toy_plan, count_row, NULL, &err);
    tap_ok(ok && judged == 3 && skipped == 1 && failed == 3,
           "verify: the kernel that refuses is skipped, the others are judged: %s", err.what);
    Session *session;
    char reason[REFUSAL_SIZE];
    OpenProblem *opened = open_problem("toy", BEV_FP32, BEV_NEAREST, 0, BEV_FORWARD);
    tap_ok(!session_open_or_skip(&session, &kernel_greedy, opened->view, reason, &err) &&
               err.kind == ERR_FAILED && !reason[0],
           "a lack of memory is no refusal: %s", err.what);
    close_problem(opened);
}

TAP_SUITE(bench) {
    test_bench();
    test_join();
    test_waiting();
    test_verify();
}
