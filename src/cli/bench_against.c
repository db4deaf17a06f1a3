/* SPDX-License-Identifier: MIT */
#include "src/cli/records.h"
#include "src/run/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BARS = 400, GROUP_TEXT = 400 };

typedef enum { FASTER, SAME, SLOWER, VERDICT_COUNT } Verdict;
static const char *const verdict_words[VERDICT_COUNT] = {"faster", "within noise", "slower"};

struct Against {
    const Options *options;
    json_t *head; /* of the old file; its first rows say which devices it is of */
    json_t *rows; /* the old rows, by against_key */
    unsigned where;
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

/* Writes what two rows share that are compared. */
static void row_key(const json_t *row, char key[512]) {
    snprintf(key, 512, "%s/%s/%s/%s/%s/%.0f/%.0f", row_text(row, "scene"), row_text(row, "kernel"),
             row_text(row, "dtype"), row_text(row, "align"), row_text(row, "cache"),
             row_number(row, "channels"), row_number(row, "points"));
}

/* Keeps the latencies of the old file. */
static bool load_rows(Against *against, const char *path, Err *err) {
    RecordFile file;
    bool ok = record_file_open(&file, path, err);
    against->head = json_incref(file.head);
    for (; ok && file.record; ok = ok && record_file_next(&file, err)) {
        size_t i;
        json_t *row;
        char key[512];
        json_array_foreach(json_object_get(file.record, "results"), i, row) {
            bool cuda = !strcmp(row_text(row, "where"), where_names[BEV_CUDA]);
            if (!isfinite(row_number(row, "median_us")) || !isfinite(row_number(row, "noise")))
                continue;
            row_key(row, key);
            against->where |= 1u << (cuda ? BEV_CUDA : BEV_CPU);
            json_object_set(against->rows, key, row);
        }
    }
    record_file_close(&file);
    return ok &&
           (against->where || err_set(err, ERR_USAGE, path, recorded_hint,
                                      "no latency that bench measured, with its noise, in it"));
}

bool against_check(const Against *against, const json_t *machine, unsigned where, bool single,
                   Err *err) {
    if (!against)
        return true;
    const char *path = against->options->against;
    const json_t *old = json_object_get(against->head, "machine");
    bool was_single = !strcmp(row_text(against->head, "timing"), "single");
    if (was_single != single)
        return err_set(err, ERR_USAGE, path, was_single ? "add --single" : "leave --single out",
                       "its figures are of %s",
                       was_single ? "single launches" : "launches in a row");
    for (int on = BEV_CPU; on <= BEV_CUDA; on++) {
        bool cuda = on == BEV_CUDA, shared = where & against->where & 1u << on;
        const char *then = row_text(old, cuda ? "gpu" : "cpu");
        const char *now = row_text(machine, cuda ? "gpu" : "cpu");
        bool same_threads = cuda || row_number(old, "threads") == row_number(machine, "threads");
        if (shared && (!then[0] || strcmp(then, now) || !same_threads))
            return err_set(err, ERR_USAGE, path, "figures of two machines are not compared",
                           "measured on %s%s, but this is %s", then[0] ? then : "n/a",
                           same_threads ? "" : " with other threads", now[0] ? now : "n/a");
    }
    return where & against->where ||
           err_set(err, ERR_USAGE, path, "name one that bench --format json wrote here",
                   "no latency of this device in it");
}

bool against_open(const Options *options, Against **out, Err *err) {
    const char *path = options->against;
    *out = NULL;
    if (!path && (options->fail || options->png))
        return err_set(err, ERR_USAGE, options->fail ? "--fail" : "--png", "add --against OLD.json",
                       "there is nothing to compare with");
    if (!path)
        return true;
    Against *against = *out = calloc(1, sizeof *against);
    if (!against || !(against->rows = json_object()))
        return err_no_memory(err, "bench", "");
    against->options = options;
    return parse_fail_limit(options->fail, &against->fail, err) && load_rows(against, path, err);
}

void against_close(Against *against) {
    if (against) {
        json_decref(against->head);
        json_decref(against->rows);
    }
    free(against);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_bar(Against *against, const json_t *row, Verdict verdict, double ratio,
                    double noise, double old_us) {
    int n = against->bar_count;
    char noise_text[32], old_text[32];
    if (n == MAX_BARS)
        return;
    PlotBar *bar = &against->bars[against->bar_count++];
    char *group = against->groups[n];
    const BevKernel *kernel = bev_kernel_find(row_text(row, "kernel"));
    int dtype = choices_find(CHOICE_DTYPE, row_text(row, "dtype"));
    snprintf(group, GROUP_TEXT, "%.300s, %s, %s, %s", row_text(row, "scene"),
             dtype < 0 ? "" : bev_dtypes[dtype].title, row_text(row, "align"),
             row_text(row, "cache"));
    *bar = (PlotBar){.group = n && !strcmp(against->groups[n - 1], group) ? NULL : group,
                     .label = kernel ? kernel->title : "?",
                     .strong = verdict == SLOWER};
    bar->parts[verdict] = ratio;
    report_number(noise_text, sizeof noise_text, noise, 2);
    report_number(old_text, sizeof old_text, old_us, 4);
    snprintf(bar->text, sizeof bar->text, "%.3f ± %s, was %s µs", ratio, noise_text, old_text);
}

void against_columns(Report *report) {
    static const ReportColumn columns[] = {{"old_us", "old us", 4},   {"old_noise", "old noise", 2},
                                           {"ratio", "new/old", 4},   {"ratio_noise", "+-", 2},
                                           {"against", "against", 0}, {"against_passed", NULL, 0}};
    report_columns(report, columns, sizeof columns / sizeof *columns);
}

static Timing timing_of(const json_t *row) {
    return (Timing){.median_us = row_number(row, "median_us"),
                    .noise = row_number(row, "noise"),
                    .settled = json_is_true(json_object_get(row, "settled"))};
}

bool against_row(Against *against, json_t *row) {
    char key[512];
    if (!against)
        return true;
    row_key(row, key);
    const Timing now = timing_of(row), then = timing_of(json_object_get(against->rows, key));
    bool found = then.median_us > 0 && now.median_us > 0;
    double ratio = found ? timing_ratio(&now, &then) : NAN;
    double noise = fmax(then.noise, now.noise);
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
    if (fails) {
        char line[sizeof against->worst];
        snprintf(line, sizeof line, "%.200s, %.32s, %.16s: %.3f times", row_text(row, "scene"),
                 row_text(row, "kernel"), row_text(row, "dtype"), ratio);
        json_object_set_new(row, "failures", json_pack("[s]", line));
        if (ratio > against->worst_ratio)
            memcpy(against->worst, line, sizeof line);
        against->worst_ratio = fmax(against->worst_ratio, ratio);
    }
    if (found) {
        json_object_set_new(row, "old_us", json_real(then.median_us));
        json_object_set_new(row, "old_noise", json_real(then.noise));
        json_object_set_new(row, "against",
                            json_string(known ? verdict_words[verdict] : "not settled"));
    }
    if (known) {
        json_object_set_new(row, "ratio", json_real(ratio));
        json_object_set_new(row, "ratio_noise", json_real(noise));
        json_object_set_new(row, "against_passed", json_boolean(!fails));
    }
    return !fails;
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
