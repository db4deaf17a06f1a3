/* SPDX-License-Identifier: MIT */
#include "src/cli/bench.h"

#include "src/base/json_fields.h"
#include "src/run/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BARS = 400, GROUP_TEXT = 400 };

typedef enum { FASTER, SAME, SLOWER, VERDICT_COUNT } Verdict;
static const char *const verdict_words[VERDICT_COUNT] = {"faster", "within noise", "slower"};

struct Against {
    const Options *options;
    json_t *root;
    double fail; /* the slow-down that --fail allows, 0.05; INFINITY: any */
    /* rows in the old file; the rest counts only settled rows */
    int found, compared, slower, failed;
    char worst[300]; /* the worst row that fails */
    double worst_ratio, longest;
    int bar_count;
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][GROUP_TEXT];
};

/* ---- the old file ---------------------------------------------------------------------------- */

static bool parse_fail_limit(const char *text, double *fail, Err *err) {
    char *end;
    *fail = INFINITY;
    if (!text)
        return true;
    double percent = strtod(text, &end);
    *fail = percent / 100;
    return (end != text && (!*end || !strcmp(end, "%")) && percent >= 0 && percent <= 1000) ||
           err_set(err, ERR_USAGE, "--fail", "such as 5%", "'%s' is no percentage", text);
}

/* Returns the number under a key. NaN: there is none. */
static double number_at(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Whether the file has a row with a latency on backend `where`. */
static bool has_rows(const json_t *root, BevWhere where) {
    size_t i;
    json_t *row;
    const char *on;
    json_array_foreach(json_object_get(root, "results"), i,
                       row) if ((on = json_string_value(json_object_get(row, "where"))) &&
                                !strcmp(on, where_names[where]) &&
                                isfinite(number_at(row, "median_us")) &&
                                isfinite(number_at(row, "noise"))) return true;
    return false;
}

/* Refuses recorded figures of another machine or of another number of threads. */
static bool check_machine(const json_t *root, const BenchPlan *plan, const char *path, Err *err) {
    const json_t *old = json_object_get(root, "machine");
    Machine here;
    bool shared = false;
    machine_read(&here);
    for (int where = BEV_CPU; where <= BEV_CUDA; where++) {
        bool cuda = where == BEV_CUDA;
        const char *then = json_string_value(json_object_get(old, cuda ? "gpu" : "cpu"));
        const char *now = cuda ? here.gpu : here.cpu;
        bool same_threads = cuda || number_at(old, "threads") == here.threads;
        if (!(plan->where & 1u << where) || !has_rows(root, (BevWhere)where))
            continue;
        if (!then || strcmp(then, now) || !same_threads)
            return err_set(err, ERR_USAGE, path, "figures of two machines are not compared",
                           "measured on %s%s, but this is %s", then ? then : "n/a",
                           same_threads ? "" : " with other threads", now);
        shared = true;
    }
    return shared || err_set(err, ERR_USAGE, path, "name one that bench --format json wrote here",
                             "no latency of this device in it");
}

static bool check_source(const json_t *root, const BenchPlan *plan, const char *path, Err *err) {
    const char *timing = json_string_value(json_object_get(root, "timing"));
    bool single = timing && !strcmp(timing, "single");
    if (!has_rows(root, BEV_CPU) && !has_rows(root, BEV_CUDA))
        return err_set(err, ERR_USAGE, path, recorded_hint,
                       "no latency that bench measured, with its noise, in it");
    return single == plan->timing.single ||
           err_set(err, ERR_USAGE, path, single ? "add --single" : "leave --single out",
                   "its figures are of %s", single ? "single launches" : "launches in a row");
}

bool against_open(const Options *options, const BenchPlan *plan, Against **out, Err *err) {
    const char *path = options->against;
    *out = NULL;
    if (!path && (options->fail || options->png))
        return err_set(err, ERR_USAGE, options->fail ? "--fail" : "--png", "add --against OLD.json",
                       "there is nothing to compare with");
    if (!path)
        return true;
    Against *against = calloc(1, sizeof *against);
    if (!against)
        return err_set(err, ERR_FAILED, "bench", "", "out of memory");
    against->options = options;
    bool ok = parse_fail_limit(options->fail, &against->fail, err);
    ok = ok && (against->root = fields_load(path, RECORDED_MAX_BYTES, recorded_hint, err));
    ok = ok && check_source(against->root, plan, path, err) &&
         check_machine(against->root, plan, path, err);
    if (ok)
        *out = against;
    else
        against_close(against);
    return ok;
}

void against_close(Against *against) {
    if (against)
        json_decref(against->root);
    free(against);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_bar(Against *against, const BenchRow *row, Verdict verdict, double ratio,
                    double noise, double old_us) {
    int n = against->bar_count;
    char noise_text[32], old_text[32];
    if (n == MAX_BARS)
        return;
    PlotBar *bar = &against->bars[against->bar_count++];
    char *group = against->groups[n];
    snprintf(group, GROUP_TEXT, "%.300s, %s, %s, %s", row->scene,
             bev_dtypes[row->config.dtype].title, bev_aligns[row->config.align].name,
             cache_names[row->cache]);
    *bar = (PlotBar){.group = n && !strcmp(against->groups[n - 1], group) ? NULL : group,
                     .label = row->config.kernel->title,
                     .strong = verdict == SLOWER};
    bar->parts[verdict] = ratio;
    report_number(noise_text, sizeof noise_text, noise, 2);
    report_number(old_text, sizeof old_text, old_us, 4);
    snprintf(bar->text, sizeof bar->text, "%.3f ± %s, was %s µs", ratio, noise_text, old_text);
}

void against_add(Against *against, Report *report, const BenchRow *row) {
    static const char *const keys[] = {"scene", "kernel",   "dtype",  "align",
                                       "cache", "channels", "points", NULL};
    if (!against)
        return;
    const json_t *rows = json_object_get(against->root, "results");
    const json_t *old = row->skipped[0] ? NULL : report_join(report, rows, keys);
    const Timing then = {.median_us = number_at(old, "median_us"),
                         .noise = number_at(old, "noise"),
                         .settled = json_is_true(json_object_get(old, "settled"))};
    bool found = then.median_us > 0 && isfinite(then.noise);
    double ratio = found ? timing_ratio(&row->timing, &then) : NAN;
    double noise = fmax(then.noise, row->timing.noise);
    bool known = isfinite(ratio);
    Verdict verdict = !known || fabs(ratio - 1) <= noise ? SAME : ratio > 1 ? SLOWER : FASTER;
    bool fails = verdict == SLOWER && ratio - 1 > against->fail;
    if (known)
        add_bar(against, row, verdict, ratio, noise, then.median_us);
    against->found += found;
    against->compared += known;
    against->slower += verdict == SLOWER;
    against->longest = fmax(against->longest, ratio);
    against->failed += fails;
    if (fails && ratio > against->worst_ratio) {
        against->worst_ratio = ratio;
        snprintf(against->worst, sizeof against->worst, "%.200s, %s, %s: %.3f times", row->scene,
                 row->config.kernel->name, bev_dtypes[row->config.dtype].name, ratio);
    }
    report_add(report, "old_us", "old us", 4, cell_if(found, cell_real(then.median_us)));
    report_add(report, "old_noise", "old noise", 2, cell_if(found, cell_real(then.noise)));
    report_add(report, "ratio", "new/old", 4, cell_if(known, cell_real(ratio)));
    report_add(report, "ratio_noise", "+-", 2, cell_if(known, cell_real(noise)));
    report_add(report, "against", "against", 0,
               cell_text(known   ? verdict_words[verdict]
                         : found ? "not settled"
                                 : NULL));
    report_add(report, "against_passed", NULL, 0, cell_if(known, cell_bool(!fails)));
}

/* ---- the figure and the gate ----------------------------------------------------------------- */

static bool draw_ratios(const Against *against, Err *err) {
    char title[100], subtitle[300];
    snprintf(title, sizeof title, "%d of %d latencies are longer than before", against->slower,
             against->compared);
    snprintf(subtitle, sizeof subtitle, "against %.200s, both measured", against->options->against);
    PlotMark one = {.x = 1, .label = "as before", .strong = true};
    ChartSpec spec = {.title = title,
                      .subtitle = subtitle,
                      .note =
                          "Ratio of medians; shorter is faster. ±: the larger noise of the two, "
                          "interquartile range over median. Within it nothing is said.",
                      .x = {"new / old", false, 0, fmax(1.2, 1.3 * against->longest), NULL},
                      .part_names = verdict_words,
                      .part_count = VERDICT_COUNT,
                      .bars = against->bars,
                      .bar_count = against->bar_count,
                      .marks = &one,
                      .mark_count = 1};
    return output_chart(against->options, &spec, against->options->png, err);
}

bool against_judge(const Against *against, Err *err) {
    if (!against)
        return true;
    if (!against->found)
        return err_set(err, ERR_GATE, against->options->against, "time the same scenes and kernels",
                       "no row of it was measured again");
    if (against->options->png && !draw_ratios(against, err))
        return false;
    if (against->compared < against->found)
        fprintf(
            stderr,
            "bevscope: bench: %d of %d rows did not settle, here or in the old file, perhaps as "
            "other programs ran: nothing is said of them\n",
            against->found - against->compared, against->found);
    return !against->failed ||
           err_set(err, ERR_GATE, "bench", "",
                   "%d of %d rows are slower by more than %g%% and noise, the worst %s",
                   against->failed, against->compared, 100 * against->fail, against->worst);
}
