/* SPDX-License-Identifier: MIT */
/* When a kernel of the live display is timed again. */
#include "src/base/clock.h"
#include "src/live/pairs.h"
#include "src/live/timed_kernel.h"
#include "src/state/live_text.h"
#include "tests/support/tap.h"

#include <math.h>
#include <pthread.h>

enum { MANY = 100 };

static const BevKernel row = {.name = "v", .where = BEV_CPU};

static TimedKernel fresh_kernel(void) {
    TimedKernel timed = {.cost_us = 0};
    KernelConfig config = {.kernel = &row};
    timed_kernel_restart(&timed, &config);
    return timed;
}

/* Adds background launches until the kernel is complete, or MANY; returns how many it took. */
static int fill(TimedKernel *timed, double us, bool disturbed) {
    BackgroundJob job = {.launch_us = us, .busy_us = us};
    int taken = 0;
    for (; taken < MANY && !timed->complete; taken++)
        timed_kernel_add_launch(timed, &job, disturbed, false);
    return taken;
}

TAP_SUITE(timed_kernel_background) {
    TimedKernel timed = fresh_kernel();
    tap_ok(timed_kernel_due(&timed, true) && timed_kernel_due(&timed, false),
           "a kernel without a figure is due");
    timed.cost_us = 50e3;
    tap_ok(timed_kernel_needs_background(&timed),
           "one that takes 50 ms is launched in the background");
    tap_ok(fill(&timed, 50e3, true) < MANY, "samples beside pictures complete it");
    tap_ok(timed.live.beside_pictures && timed.live.unsettled,
           "the figure says so, and is not to be quoted");
    tap_ok(!timed_kernel_due(&timed, false), "which will do while they go on");
    tap_ok(timed_kernel_due(&timed, true), "but not once they stand");
    timed_kernel_add_launch(&timed, &(BackgroundJob){.launch_us = 40e3, .busy_us = 40e3}, false,
                            false);
    tap_ok(timed.count == 1 && !timed.complete, "the first sample taken alone is the only one");
    fill(&timed, 40e3, false);
    tap_ok(!timed_kernel_due(&timed, true) && timed.live.median_us.value == 40e3,
           "and with others like it all that is wanted");
    tap_ok(timed.live.single && !timed.live.unsettled,
           "a figure of single launches says so");
}

/* Another program had the cores: a launch took three times as long as its threads worked. */
TAP_SUITE(timed_kernel_busy_machine) {
    TimedKernel timed = fresh_kernel();
    const BackgroundJob waits = {.launch_us = 120e3, .busy_us = 40e3},
                        works = {.launch_us = 41e3, .busy_us = 40e3};
    for (int i = 0; i < 5; i++)
        timed_kernel_add_launch(&timed, i % 2 ? &waits : &works, false, false);
    tap_ok(timed.complete && !timed.live.unsettled && !strcmp(ladder_mark(&timed.live), "s"),
           "two of five launches waited: the median is of the others");
    timed_kernel_restart(&timed, &timed.config);
    fill(&timed, 40e3, false);
    tap_ok(!timed.live.unsettled, "none waited: settled");
    timed_kernel_restart(&timed, &timed.config);
    for (int i = 0; i < 5; i++)
        timed_kernel_add_launch(&timed, &waits, false, false);
    tap_ok(timed.complete && timed.live.unsettled && !strcmp(ladder_mark(&timed.live), "?"),
           "all waited, equally long: unsettled");
    timed.cost_us = 50e3;
    timed.done_ms -= 60e3;
    tap_ok(timed_kernel_due(&timed, true), "and timed again, long as the launch is");
    for (int i = 0; i < 5; i++)
        timed_kernel_add_launch(&timed, &works, false, false);
    timed.done_ms -= 60e3;
    tap_ok(!timed.live.unsettled && timed.live.median_us.value == 41e3 &&
               !timed_kernel_due(&timed, true),
           "until its launches have the cores");
    timed_kernel_restart(&timed, &timed.config);
    for (int i = 0; i < 5; i++)
        timed_kernel_add_launch(&timed, &works, false, true);
    tap_ok(timed.live.unsettled && timed_kernel_waited(&timed),
           "other programs have cores: unsettled, whatever the threads' time says");
}

/* Refreshes beside pictures, or that have not settled, leave a settled figure as it is. */
TAP_SUITE(timed_kernel_settled_stays) {
    TimedKernel timed = fresh_kernel();
    const Timing good = {.median_us = 10, .settled = true}, worse = {.median_us = 16},
                 other = {.median_us = 11, .settled = true};
    timed_kernel_publish(&timed, &worse, 1e6);
    tap_ok(timed.live.median_us.value == 16 && timed.live.unsettled, "a first figure is shown");
    timed_kernel_publish(&timed, &good, 1e6);
    tap_ok(timed.live.median_us.value == 10 && !timed.live.unsettled, "a settled one replaces it");
    timed_kernel_publish(&timed, &worse, 1e6);
    tap_ok(timed.live.median_us.value == 10 && !timed.live.unsettled,
           "and stays where the next has not settled");
    timed.disturbed = true;
    timed_kernel_publish(&timed, &other, 1e6);
    tap_ok(timed.live.median_us.value == 10, "or pictures were made beside it");
    timed.disturbed = false;
    timed_kernel_publish(&timed, &other, 1e6);
    tap_ok(timed.live.median_us.value == 11, "until another has settled alone");
    timed.settled_ms -= 60e3;
    timed_kernel_publish(&timed, &worse, 1e6);
    tap_ok(timed.live.median_us.value == 16, "or much time has passed");
    const KernelConfig config = {.kernel = &row};
    const Timing slower = {.median_us = 14, .settled = true};
    timed_kernel_publish(&timed, &good, 1e6);
    timed_kernel_done(&timed);
    timed.settled_ms -= 60e3;
    timed_kernel_publish(&timed, &slower, 1e6);
    tap_ok(timed.live.median_us.value == 14 && timed.live.unsettled,
           "one much slower than the fastest so far has not settled, steady as it is");
    timed_kernel_publish(&timed, &good, 1e6);
    timed_kernel_restart(&timed, &config);
    timed_kernel_publish(&timed, &worse, 1e6);
    tap_ok(timed.live.median_us.value == 16, "or the problem is another");
}

/* The calling thread waits while the others work, as where another program holds its core. */
TAP_SUITE(timed_kernel_team_time) {
    const double work_us = 30e3;
    const char *name = "work that other threads of the team do counts";
    TeamTime begun = clock_team();
    pthread_t caller = pthread_self();
    int helpers = 0;
#pragma omp parallel reduction(+ : helpers)
    {
        double start_us = clock_thread_us();
        bool helps = !pthread_equal(pthread_self(), caller);
        helpers += helps;
        while (helps && clock_thread_us() - start_us < work_us)
            ;
    }
    if (helpers == 0)
        tap_skip(name, "one thread");
    else
        tap_ok(clock_team_since_us(begun) >= work_us * helpers / (helpers + 1), "%s", name);
}

TAP_SUITE(timed_kernel_from_background_to_row) {
    TimedKernel timed = fresh_kernel();
    timed.cost_us = 11e3;
    fill(&timed, 11e3, true);
    timed.cost_us = 9e3;
    tap_ok(!timed_kernel_needs_background(&timed) && timed_kernel_due(&timed, true),
           "faster than was thought: due in a row");
    timed.count = 0;
    timed.disturbed = false;
    for (int i = 0; i < TIMED_KERNEL_SAMPLES; i++)
        timed_kernel_add_sample(&timed, 9e3);
    timed_kernel_publish_samples(&timed, 0);
    timed.complete = true;
    timed_kernel_done(&timed);
    tap_ok(!timed_kernel_due(&timed, true), "a row is taken alone: then it rests");
    tap_ok(timed.live.median_us.value == 9e3 && !timed.live.single,
           "with the row's median, as of a warm series");
}

/* The protocol of a latency stands beside it, and under the table. */
TAP_SUITE(timed_kernel_marks) {
    LiveKernel kernels[] = {{.single = false}, {.single = true}, {.beside_pictures = true}};
    Ladder ladder = {.count = 3};
    char marks[4] = "", note[96];
    for (int i = 0; i < ladder.count; i++) {
        kernels[i].median_us = reading(1, SOURCE_MEASURED);
        ladder.kernels[i] = &kernels[i];
        strcat(marks, ladder_mark(&kernels[i]));
    }
    ladder_note(&ladder, false, note, sizeof note);
    tap_ok(!strcmp(marks, "sb") &&
               !strcmp(note, "measured, s single launches, b while rendering: noisy"),
           "marks say how it was timed");
    kernels[1].unsettled = true;
    ladder_note(&ladder, true, note, sizeof note);
    tap_ok(!strcmp(ladder_mark(&kernels[1]), "?") &&
               !strcmp(note, "measured, b while rendering: noisy, ? CPU busy"),
           "and why it is not to be quoted");
}

#define RECORDED(kernel_, dtype_, median_us_)                                                      \
    {                                                                                              \
        .scene = "canonical", .kernel = kernel_, .dtype = dtype_, .align = "nearest",              \
        .cache = "warm", .median_us = median_us_, .p95_us = median_us_ + 1,                        \
        .p99_us = median_us_ + 2                                                                   \
    }

TAP_SUITE(timed_kernel_stand_in) {
    RecordedRow results[] = {RECORDED("v", "fp32", 70)};
    Recording recording = {.label = "a machine", .rows = results, .row_count = 1};
    const RecordedSet set = {&recording, 1};
    TimedKernel timed = fresh_kernel();
    const KernelConfig config = timed.config;
    timed.live.kernel = config.kernel;
    timed_kernel_stand_in((RecordedScene){&set, "canonical", 80}, &config, &timed.live);
    LiveData live = {.timed = true, .baseline.median_us = reading(140, SOURCE_RECORDED)};
    strcpy(live.baseline.recorded_on, "a machine");
    Reading latency = live_latency(&live, &timed.live), speedup = live_speedup(&live, &timed.live);
    tap_ok(latency.value == 70 && latency.doubtful && !strcmp(ladder_mark(&timed.live), "r"),
           "a recorded figure stands in, marked");
    tap_ok(!timed_kernel_has_figure(&timed) && timed_kernel_due(&timed, true),
           "and the kernel is still to be timed");
    tap_ok(speedup.value == 2 && speedup.doubtful, "its speed-up is doubtful");
    live.timed = false;
    tap_ok(!live_speedup(&live, &timed.live).doubtful, "but not in a script, which times nothing");
    live.timed = true;
    for (int i = 0; i < TIMED_KERNEL_SAMPLES; i++)
        timed_kernel_add_sample(&timed, 35);
    timed_kernel_publish_samples(&timed, 0);
    latency = live_latency(&live, &timed.live);
    tap_ok(latency.value == 35 && !latency.doubtful && !ladder_mark(&timed.live)[0],
           "the measured one replaces it");
    tap_ok(!live_speedup(&live, &timed.live).source,
           "a measured figure is not divided by a recorded one");
    live.baseline = (LiveKernel){.median_us = reading(70, SOURCE_MEASURED)};
    speedup = live_speedup(&live, &timed.live);
    tap_ok(speedup.value == 2 && !speedup.doubtful, "that of two measured ones is not");
    live.baseline.unsettled = true;
    tap_ok(live_speedup(&live, &timed.live).doubtful, "unless one of them has not settled");
    live.job.config.kernel = config.kernel;
    live.speedup.ratio = reading(3, SOURCE_RECORDED);
    speedup = live_speedup(&live, &timed.live);
    tap_ok(speedup.value == 2 && speedup.source == SOURCE_MEASURED,
           "no recorded ratio beside measured medians, but theirs");
    timed_kernel_restart(&timed, &config);
    timed_kernel_stand_in((RecordedScene){&set, "large", 80}, &config, &timed.live);
    tap_ok(timed.live.median_us.value == 35 && timed.live.median_us.stale,
           "where nothing was recorded the old figure stays, stale");
    timed_kernel_stand_in((RecordedScene){&set, "canonical", 80}, &config, &timed.live);
    timed_kernel_stand_in((RecordedScene){&set, "large", 80}, &config, &timed.live);
    tap_ok(!timed.live.median_us.source, "but no recorded one of another problem");
}

/* Selection and baseline in turns on a machine that halves its speed now and then. */
TAP_SUITE(timed_kernel_pairs) {
    Pairs pairs = {.count = 0};
    LiveSpeedup speedup = {.pairs = 0};
    for (int i = 0; i < 4; i++) {
        double slow = i % 2 ? 2 : 1;
        pairs_add(&pairs, false, 10 * slow);
        pairs_add(&pairs, true, (30 + i) * slow);
    }
    tap_ok(!pairs_fill(&pairs, &speedup) && speedup.pairs == 4 && !speedup.ratio.source,
           "four pairs are not enough");
    pairs_add(&pairs, true, 1000);
    pairs_add(&pairs, true, 40);
    pairs_add(&pairs, false, 10);
    tap_ok(pairs_fill(&pairs, &speedup) && fabs(speedup.ratio.value - 3.2) < 1e-9 &&
               speedup.least == 3 && speedup.most == 4 && speedup.pairs == 5 && !speedup.scatter,
           "five are: their median, range and number; of two figures of one side the newer counts");
    for (int i = 0; i < 2 * PAIRS_KEPT; i++)
        pairs_add(&pairs, i % 2, i % 2 ? 20 : 10);
    tap_ok(pairs_fill(&pairs, &speedup) && speedup.ratio.value == 2 && speedup.most == 2 &&
               speedup.pairs == PAIRS_KEPT,
           "old pairs make room");
    for (int i = 0; i < PAIRS_KEPT; i++) {
        pairs_add(&pairs, false, 10);
        pairs_add(&pairs, true, 20 << i % 3);
    }
    tap_ok(pairs_fill(&pairs, &speedup) && speedup.ratio.value == 4 && speedup.ratio.doubtful,
           "ratios that scatter leave their median doubtful");
    Pairs first = {.count = 0};
    speedup = (LiveSpeedup){.pairs = 0};
    for (int i = 0; i < PAIRS_KEPT; i++) {
        tap_need(!pairs_fill(&first, &speedup) && !speedup.ratio.source, "no median so far");
        pairs_add(&first, false, 10);
        pairs_add(&first, true, 20 << i % 3);
    }
    tap_ok(speedup.scatter && pairs_fill(&first, &speedup) && speedup.ratio.doubtful,
           "first ratios that scatter have none, until there are no more to wait for");
}

/* Each of the two was recorded, on machines of its own; later both on one. */
TAP_SUITE(timed_kernel_recorded_speedup) {
    const BevKernel fast = {.name = "fast"}, slow = {.name = "slow"};
    const Job job = {.config = {&fast, BEV_FP16, BEV_NEAREST},
                     .baseline = {&slow, BEV_FP16, BEV_NEAREST}};
    RecordedRow rows[] = {RECORDED("fast", "fp16", 10), RECORDED("slow", "fp16", 30)};
    Recording recordings[] = {{.label = "one", .rows = rows, .row_count = 1},
                              {.label = "other", .rows = rows + 1, .row_count = 1},
                              {.label = "both", .rows = rows, .row_count = 2}};
    LiveSpeedup speedup = {.pairs = 0};
    timed_kernel_recorded_speedup((RecordedScene){&(RecordedSet){recordings, 2}, "canonical", 80},
                                  &job, &speedup);
    tap_ok(!speedup.ratio.source, "figures of two machines make no ratio");
    timed_kernel_recorded_speedup((RecordedScene){&(RecordedSet){recordings, 3}, "canonical", 80},
                                  &job, &speedup);
    tap_ok(speedup.ratio.value == 3 && speedup.ratio.source == SOURCE_RECORDED &&
               !strcmp(speedup.recorded_on, "both"),
           "the machine that has both does");
    const LiveData live = {.timed = true, .speedup = speedup};
    char text[64];
    speedup_origin(&live, text, sizeof text);
    tap_ok(!strcmp(text, "recorded on both"), "and stands in until there are pairs");
    LiveData xeon = live;
    strcpy(xeon.speedup.recorded_on, "Intel(R) Xeon(R) Processor, 2 threads, 2026-11-22");
    speedup_origin(&xeon, text, sizeof text);
    tap_ok(!strcmp(text, "recorded on Intel Xeon"), "the machine is named: %s", text);
}

/* Each reason is short enough for a row of the table on a terminal of 80 columns. */
TAP_SUITE(timed_kernel_reasons) {
    const BevKernel kernel = {.name = "v", .dtypes = 1u << BEV_FP16};
    LiveKernel live_row = {.kernel = &kernel};
    LiveData live = {.timed = false};
    const struct {
        bool timed, busy, being_timed, failed;
        const char *skipped;
        Unknown unknown;
        const char *reason;
    } cases[] = {
        {false, false, false, false, NULL, UNKNOWN_LATENCY, "not recorded"},
        {true, false, false, false, NULL, UNKNOWN_LATENCY, "waits for its turn"},
        {true, true, false, false, NULL, UNKNOWN_LATENCY, "waits: CPU busy"},
        {true, true, true, false, NULL, UNKNOWN_LATENCY, "being timed"},
        {true, true, true, true, NULL, UNKNOWN_LATENCY, "failed on this problem"},
        {true, false, false, false, "needs a GPU", UNKNOWN_LATENCY, "needs a GPU"},
        {true, false, false, false, NULL, UNKNOWN_ACCURACY, "not in this kernel"},
        {true, false, false, false, NULL, UNKNOWN_MODEL, "waits for the simulation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        live.timed = cases[i].timed;
        live.machine_busy = cases[i].busy;
        live_row.being_timed = cases[i].being_timed;
        live_row.failed = cases[i].failed;
        live_row.skipped = cases[i].skipped;
        const char *reason = unknown_reason(cases[i].unknown, &live, &live_row, BEV_FP8);
        tap_ok(!strcmp(reason, cases[i].reason), "n/a says why: %s", reason);
    }
    tap_ok(
        !strcmp(unknown_reason(UNKNOWN_ACCURACY, &live, &live_row, BEV_FP16), "waits for its turn"),
        "a format that the kernel has waits");
}
