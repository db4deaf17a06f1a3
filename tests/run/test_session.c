/* SPDX-License-Identifier: MIT */
/* Sessions: poison, run, read, later values, times, whatever the number of threads; and the guard.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/run/backend.h"
#include "tests/support/guard.h"
#include "tests/support/judged.h"
#include "tests/support/later.h"
#include "tests/support/test_kernel.h"

#include <math.h>
#include <time.h>
#include <omp.h>

static CaseData data;
static Err error; /* why a step failed */

/* ---- kernels of the test's own -------------------------------------------------------------- */

enum { NAP_US = 2000 };

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000}, NULL);
}

LAUNCH(sleep_launch) {
    nap();
    return true;
}

static int prepares;

PREPARE(sleep_prepare) {
    *plan = NULL;
    prepares++;
    nap();
    return true;
}

static void no_release(BevPlan *plan) {
    (void)plan;
}

PREPARE(failing_prepare) {
    return err_set(err, ERR_FAILED, "test", "", "no plan today");
}

static int idle_launches;

LAUNCH(idle_launch) {
    idle_launches++;
    return true;
}

/* The first launch takes long, as if another program had used the core. */
LAUNCH(interrupted_launch) {
    if (idle_launches++ == 0)
        nap();
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool all_bytes(const unsigned char *bytes, size_t count, unsigned char value) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return count > 0;
}

static void poison_and_run(Session *session, void *codes) {
    session_poison(session, &error);
    session_run(session, &error);
    session_read(session, codes, &error);
}

static void test_run(const HostProblem *problem) {
    size_t count = bev_tensor_bytes(&problem->view.out);
    unsigned char *codes = malloc(count), *again = malloc(count);
    Guarded guarded;
    Session *session = NULL;
    tap_ok(guard_init(&guarded, &problem->view) &&
               session_open(&session, bev_kernel_find("cpu_v3"), &guarded.view, &error),
           "a session opens");
    tap_need(session != NULL, error.what);
    session_poison(session, &error);
    session_read(session, codes, &error);
    tap_ok(all_bytes(codes, count, 0xff), "poison is in every byte of the output");
    session_run(session, &error);
    session_read(session, codes, &error);
    int64_t nans = 0;
    for (int64_t i = 0; i < data.shape.nx * data.shape.ny * data.shape.channels; i++)
        nans += isnan(((float *)codes)[i]);
    tap_ok(nans == 0, "a run leaves none of it");
    poison_and_run(session, again);
    tap_ok(!memcmp(codes, again, count), "two runs give the same bits");
    tap_ok(!guard_changed(&guarded) && !guard_broken(&guarded), "inputs are untouched");
    session_close(session);
    session_close(NULL);
    guard_free(&guarded);
    free(codes);
    free(again);
}

static void test_update(BevDtype dtype) {
    CaseData later = data;
    later.features = later_features(&data.shape, &data.features);
    HostProblem problem = case_problem(&data, dtype, BEV_NEAREST);
    HostProblem fresh = case_problem(&later, dtype, BEV_NEAREST);
    int good = 0, tried = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        if (bev_kernels[i]->where != BEV_CPU || !bev_kernels[i]->deterministic ||
            bev_unsupported(bev_kernels[i], &fresh.view))
            continue;
        judged_run(bev_kernels[i], &fresh.view);
        good += updated_gives(bev_kernels[i], &problem, &data.features, &later.features,
                              fresh.view.out.data, &error);
        tried++;
    }
    tap_ok(tried >= 3 && good == tried,
           "%s: later values give the bits of a fresh session, %d of %d kernels",
           bev_dtypes[dtype].name, good, tried);
    problem_free(&problem);
    problem_free(&fresh);
    free(later.features.depth);
    free(later.features.feat);
}

/* A change of any input is noticed, under its name; the output may change. */
static void test_every_input_guarded(const HostProblem *problem) {
    Guarded guarded;
    int missed = 0, tried = 0, inputs = 0;
    bool ok = guard_init(&guarded, &problem->view);
    for (int i = 0; ok && i < guarded.count; i++) {
        size_t count = guarded.buffers[i].bytes;
        bool input = strcmp(guarded.buffers[i].name, "out") != 0;
        inputs += input;
        for (size_t at = 0; at < count; at += count / 5 + 1, tried++) {
            unsigned char *byte = guarded.buffers[i].memory + GUARD_BYTES + at;
            *byte ^= 0x10;
            const char *changed = guard_changed(&guarded);
            missed += input ? changed != guarded.buffers[i].name : changed != NULL;
            *byte ^= 0x10;
        }
    }
    tap_ok(ok && inputs == 8 && tried > 30 && missed == 0 && !guard_changed(&guarded),
           "%d changes in all eight arrays noticed, %d missed", tried, missed);
    guard_free(&guarded);
}

static void test_threads(void) {
    const char *const names[] = {"cpu_v2_bevdet", "cpu_v2_do", "cpu_v3", "cpu_v4"};
    int before = omp_get_max_threads(), different = 0, runs = 0;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        HostProblem problem = case_problem(&data, (BevDtype)dtype, BEV_NEAREST);
        size_t count = bev_tensor_bytes(&problem.view.out);
        void *first = malloc(count), *codes = malloc(count);
        for (int i = 0; i < 4; i++)
            for (int threads = 1; threads <= 5; threads += 2) {
                Session *session;
                omp_set_num_threads(threads);
                if (!session_open(&session, bev_kernel_find(names[i]), &problem.view, &error))
                    continue;
                omp_set_num_threads(threads + 1);                 /* between prepare and launch */
                bool begins = threads == 1 && (i == 0 || i == 3); /* V4 adds in another order */
                poison_and_run(session, begins ? first : codes);
                different += !begins && memcmp(first, codes, count);
                runs++;
                session_close(session);
            }
        free(first);
        free(codes);
        problem_free(&problem);
    }
    omp_set_num_threads(before);
    tap_ok(runs == 12 * BEV_DTYPE_COUNT && different == 0,
           "1, 3 and 5 threads give the same bits, and V2, V2+DO and V3 those of each other");
}

static void test_refusals(const HostProblem *problem) {
    BevKernel kernel = TEST_KERNEL("test", .launch = idle_launch);
    Session *session = (Session *)&kernel;
    kernel.dtypes = 0;
    tap_ok(!session_open(&session, &kernel, &problem->view, &error) && !session &&
               error.kind == ERR_FAILED && error.what[0],
           "an unsupported format is refused: %s", error.what);
    kernel = TEST_KERNEL("test", .launch = idle_launch);
    kernel.prepare = failing_prepare;
    kernel.release = no_release;
    tap_ok(!session_open(&session, &kernel, &problem->view, &error) && !session &&
               !strcmp(error.what, "no plan today"),
           "a failing prepare step is reported");
}

static void test_summary(void) {
    enum { N = 100 };
    double samples[N];
    for (int i = 0; i < N; i++)
        samples[i] = 1 + (i * 37) % N; /* 1 to 100, shuffled */
    Timing t = {.inner = 3};
    timing_summarize(samples, N, 0.15, &t);
    tap_ok(t.median_us == 50 && t.p95_us == 95 && t.p99_us == 99 && t.min_us == 1 && t.noise == 1 &&
               t.samples == N && t.inner == 3,
           "median, percentiles and noise by nearest rank");
    for (int i = 0; i < N; i++)
        samples[i] = i < N / 2 ? 10 : 12;
    timing_summarize(samples, N, 0.15, &t);
    bool drifted = !t.settled;
    for (int i = 0; i < N; i++)
        samples[i] = i % 2 ? 10 : 12;
    timing_summarize(samples, N, 0.15, &t);
    tap_ok(drifted && t.settled, "halves that differ have not settled, mixed samples have");
    for (int i = 0; i < N; i++)
        samples[i] = i == N / 3 ? 1 : 4000;
    timing_summarize(samples, N, 0.15, &t);
    tap_ok(!t.settled && t.min_us == 1 && t.noise == 0,
           "equal samples far above the least one have not settled, either");
    samples[0] = 7;
    timing_summarize(samples, 1, 0.15, &t);
    tap_ok(t.median_us == 7 && t.p99_us == 7 && t.noise == 0 && t.samples == 1,
           "one sample is a summary too");
}

/* A session of a kernel of the test's own, and its time with these options. */
static Session *timed(BevKernel *kernel, const HostProblem *problem, const TimingOptions *options,
                      Timing *timing) {
    Session *session;
    idle_launches = prepares = 0;
    tap_need(session_open(&session, kernel, &problem->view, &error), error.what);
    tap_need(session_time(session, CACHE_WARM, options, timing, &error), error.what);
    return session;
}

static void test_time(const HostProblem *problem) {
    const TimingOptions options = {.samples = 8, .min_warm_ms = 1, .max_s = 1};
    BevKernel kernel = TEST_KERNEL("test", .launch = sleep_launch);
    kernel.prepare = sleep_prepare;
    kernel.release = no_release;
    Timing warm, cold;
    double prepare_us = 0, again_us = 0;
    Session *session = timed(&kernel, problem, &options, &warm);
    tap_ok(prepares == 1, "a sleeper opens, and prepares once");
    bool ok = session_time(session, CACHE_COLD, &options, &cold, &error);
    tap_ok(session_prepare_us(session, &prepare_us, &error) && prepare_us >= NAP_US &&
               prepares <= 3,
           "prepare took %.0f us of %d asleep", prepare_us, NAP_US);
    int taken = prepares;
    tap_ok(session_prepare_us(session, &again_us, &error) && again_us == prepare_us &&
               prepares == taken,
           "asked again, the same figure without another run");
    tap_ok(warm.median_us >= NAP_US && warm.inner == 1 && warm.samples >= 5 &&
               warm.min_us <= warm.median_us && warm.median_us <= warm.p95_us &&
               warm.p95_us <= warm.p99_us,
           "warm: %.0f us of %d asleep", warm.median_us, NAP_US);
    tap_ok(ok && cold.median_us >= NAP_US && cold.min_us < 10 * NAP_US,
           "cold: flushing is not counted (%.0f us)", cold.min_us);
    session_close(session);
}

static void test_short_launches(const HostProblem *problem) {
    const TimingOptions options = {.samples = 10, .min_warm_ms = 1, .max_s = 1};
    BevKernel kernel = TEST_KERNEL("test", .launch = idle_launch);
    Timing t;
    double prepare_us;
    Session *session = timed(&kernel, problem, &options, &t);
    tap_ok(t.inner > 10 && t.median_us < 1 && idle_launches > t.inner * t.samples &&
               session_prepare_us(session, &prepare_us, &error) && prepare_us == 0,
           "launches too short for the clock are timed %d at a time", t.inner);
    session_close(session);
    kernel = TEST_KERNEL("test", .launch = interrupted_launch);
    session_close(timed(&kernel, problem, &options, &t));
    tap_ok(t.inner > 10 && t.median_us < 1 && t.samples == options.samples,
           "one interrupted in the warm-up is timed like any other, %d launches at a time",
           t.inner);
}

static void test_time_limit(const HostProblem *problem) {
    const TimingOptions options = {.samples = 1000000, .min_warm_ms = 1, .max_s = 0.05};
    BevKernel kernel = TEST_KERNEL("test", .launch = sleep_launch);
    Timing t;
    session_close(timed(&kernel, problem, &options, &t));
    tap_ok(t.samples >= 5 && t.samples < 100, "past max_s it stops at %d samples", t.samples);
}

TAP_SUITE(session) {
    data = open_case("ragged_c83", BEV_NEAREST, 1, 1);
    HostProblem fp32 = case_problem(&data, BEV_FP32, BEV_NEAREST),
                nvfp4 = case_problem(&data, BEV_NVFP4, BEV_NEAREST);
    test_run(&fp32);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        test_update((BevDtype)dtype);
    test_every_input_guarded(&nvfp4);
    test_threads();
    test_refusals(&fp32);
    test_summary();
    test_time(&fp32);
    test_short_launches(&fp32);
    test_time_limit(&fp32);
    problem_free(&fp32);
    problem_free(&nvfp4);
    case_free(&data);
}
