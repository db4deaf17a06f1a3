/* SPDX-License-Identifier: MIT */
/* When a kernel of the live display is timed again, what its figure is, and that of pairs of
 * kernels: by the scripts of tests/live/scripts. */
#include "src/base/clock.h"
#include "src/live/timed_kernel.h"
#include "tests/support/golden.h"

#include <math.h>
#include <pthread.h>

static const BevKernel row = {.name = "v", .where = BEV_CPU};

static TimedKernel fresh_kernel(void) {
    TimedKernel timed = {.cost_us = 0};
    KernelConfig config = {.kernel = &row};
    timed_kernel_restart(&timed, &config);
    return timed;
}

#define RECORDED(kernel_, dtype_, median_us_)                                                      \
    {                                                                                              \
        .scene = "canonical", .kernel = kernel_, .dtype = dtype_, .align = "nearest",              \
        .cache = "warm", .median_us = median_us_, .p95_us = median_us_ + 1,                        \
        .p99_us = median_us_ + 2                                                                   \
    }

static TimedKernel timed;
static LiveData data;
static Pairs pairs;

static void begin(void) {
    timed = fresh_kernel();
    data = (LiveData){.timed = true};
    data.job.config.kernel = timed.live.kernel = timed.config.kernel;
    pairs = (Pairs){.count = 0};
}

static void add_launch(double us, double busy_us, const char *how) {
    const BackgroundJob job = {.launch_us = us, .busy_us = busy_us};
    timed_kernel_add_launch(&timed, &job, !strcmp(how, "beside"), !strcmp(how, "others"));
}

static void show_recorded(const char *scene) {
    RecordedRow results[] = {RECORDED("v", "fp32", 70)};
    Recording recording = {.label = "a machine", .rows = results, .row_count = 1};
    const RecordedSet set = {&recording, 1};
    const KernelConfig config = timed.config;
    timed_kernel_stand_in((RecordedScene){&set, scene, 80, ""}, &config, &timed.live);
}

/* Carries out the line of a script of pairs. False: it is none. */
static bool pairing(const char *op, const char *word, double a, double b) {
    const int times = (int)atof(word);
    if (!strcmp(op, "forget"))
        pairs = (Pairs){.count = 0};
    else if (!strcmp(op, "half"))
        pairs_add(&pairs, !strcmp(word, "baseline"), a);
    else if (!strcmp(op, "pair")) {
        pairs_add(&pairs, false, atof(word));
        pairs_add(&pairs, true, a);
    } else if (!strcmp(op, "pairs") || !strcmp(op, "scatter"))
        for (int i = 0; i < times; i++) {
            bool scatters = *op == 's';
            pairs_add(&pairs, false, scatters ? 10 : a);
            pairs_add(&pairs, true, scatters ? 20 << i % 3 : b);
        }
    else
        return false;
    return true;
}

static void write_speedup(FILE *text, const char *name, const Reading *speedup) {
    if (speedup->source)
        fprintf(text, "    %s %.3g%s\n", name, speedup->value,
                speedup->doubtful ? ", doubtful" : "");
    else
        fprintf(text, "    %s n/a\n", name);
}

static void timing(const char *op, const char *word, double number, const char *how) {
    const double value = atof(word);
    const KernelConfig config = timed.config;
    if (!strcmp(op, "restart"))
        timed_kernel_restart(&timed, &config);
    else if (!strcmp(op, "cost"))
        timed.cost_us = value;
    else if (!strcmp(op, "launch"))
        add_launch(value, number, how);
    else if (!strcmp(op, "fill"))
        for (int i = 0; i < 100 && !timed.complete; i++)
            add_launch(value, value, how);
    else if (!strcmp(op, "publish"))
        timed_kernel_publish(&timed, &(Timing){.median_us = value, .settled = how[0] != '\0'}, 1e6);
    else if (!strcmp(op, "beside"))
        timed.disturbed = value != 0;
    else if (!strcmp(op, "later")) {
        timed.done_ms -= 1e3 * value;
        timed.settled_ms -= 1e3 * value;
    } else if (!strcmp(op, "recorded"))
        show_recorded(word);
    else if (!strcmp(op, "script"))
        data.timed = value == 0;
    else if (!strcmp(op, "ratio"))
        data.speedup.ratio = reading(value, SOURCE_RECORDED);
    else if (!strcmp(op, "baseline")) {
        data.baseline.median_us =
            reading(value, strcmp(how, "recorded") ? SOURCE_MEASURED : SOURCE_RECORDED);
        data.baseline.unsettled = !strcmp(how, "unsettled");
        strcpy(data.baseline.recorded_on, strcmp(how, "recorded") ? "" : "a machine");
    } else if (!strcmp(op, "row")) {
        timed.count = timed.disturbed = 0;
        for (int i = 0; i < TIMED_KERNEL_SAMPLES; i++)
            timed_kernel_add_sample(&timed, value, false);
        timed_kernel_publish_samples(&timed, 0);
        timed.complete = true;
    }
    if (!strcmp(op, "row") || !strcmp(op, "done"))
        timed_kernel_done(&timed);
}

static void play(const char *line, FILE *text) {
    char op[16], word[16] = "", how[16] = "";
    double a = 0, b = 0;
    sscanf(line, "%15s %15s %lf %lf", op, word, &a, &b);
    const char *last = strrchr(line, ' ');
    if (last && last[1] >= 'a' && strcmp(last + 1, word) != 0)
        snprintf(how, sizeof how, "%s", last + 1);
    if (pairing(op, word, a, b)) {
        LiveSpeedup speedup = {.pairs = 0};
        bool filled = pairs_fill(&pairs, &speedup);
        fprintf(text, "    %d pairs%s%s", speedup.pairs, filled ? "" : ": not enough",
                speedup.scatter ? ", they scatter" : "");
        if (filled)
            fprintf(text, ", %.3g to %.3g", speedup.least, speedup.most);
        fputs("\n", text);
        write_speedup(text, "ratio", &speedup.ratio);
        return;
    }
    timing(op, word, a, how);
    const Reading latency = live_latency(&data, &timed.live);
    const Reading speedup = live_speedup(&data, &timed.live);
    if (latency.source)
        fprintf(text, "    %g us%s%s%s%s, marked \"%s\"", latency.value,
                latency.stale ? ", stale" : "", latency.doubtful ? ", doubtful" : "",
                timed.live.single ? ", single launches" : "",
                timed.live.beside_pictures ? ", beside a picture" : "", ladder_mark(&timed.live));
    else
        fputs("    no figure", text);
    fprintf(text, "; %d samples%s; due: alone %s, beside a picture %s%s\n", timed.count,
            timed.complete ? ", complete" : "", timed_kernel_due(&timed, true) ? "yes" : "no",
            timed_kernel_due(&timed, false) ? "yes" : "no",
            timed_kernel_needs_background(&timed) ? "; in the background" : "");
    if (data.baseline.median_us.source)
        write_speedup(text, "speed-up", &speedup);
}

TAP_SUITE(timed_kernel_scripts) {
    check_scripts("live", "ops", begin, play);
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

/* Each of the two was recorded, on machines of its own; later both on one. */
TAP_SUITE(timed_kernel_recorded_speedup) {
    const BevKernel fast = {.name = "fast"}, slow = {.name = "slow"};
    const Job job = {.config = {&fast, BEV_FP16, BEV_NEAREST},
                     .baseline = {&slow, BEV_FP16, BEV_NEAREST}};
    RecordedRow rows[] = {RECORDED("fast", "fp16", 10), RECORDED("slow", "fp16", 30)};
    Recording recordings[] = {{.label = "one", .rows = rows, .row_count = 1},
                              {.label = "other", .rows = rows + 1, .row_count = 1},
                              {.label = "both", .rows = rows, .row_count = 2}};
    RecordedScene of = {NULL, "canonical", 80, ""};
    LiveSpeedup speedup = {.pairs = 0};
    of.set = &(RecordedSet){recordings, 2};
    timed_kernel_recorded_speedup(of, &job, &speedup);
    tap_ok(!speedup.ratio.source, "figures of two machines make no ratio");
    of.set = &(RecordedSet){recordings, 3};
    timed_kernel_recorded_speedup(of, &job, &speedup);
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
