/* SPDX-License-Identifier: MIT */
#include "src/cachesim/findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LEAST_GAIN = 1.05;      /* a finding with a smaller gain is left out */
static const double REPEATED = 1.5;         /* index bytes read / index bytes in the map */
static const double LEAST_SECTOR_USE = 0.5; /* a larger used share of a sector is no finding */

/* The inputs of the rules below. */
typedef struct {
    const MemoryModel *model;
    const PredictedKernel *kernel;
    const Prediction *prediction;
    const IntervalLengths *lengths;
    int gpu;
    const GpuEdit *edit; /* NULL: none */
    double l2_bytes;     /* of the changed GPU */
    int found;           /* findings of the rules before */
} Facts;

/* Returns the gain in latency if the kernel had the latency terms of `other`. */
static double gain_with_terms(const Prediction *prediction, const Prediction *other) {
    return prediction->latency_us / predict_latency_us(other);
}

/* Returns the gain in latency if one latency term took `us` microseconds. */
static double gain_with_term(const Prediction *prediction, LatencyTerm term, double us) {
    Prediction other = *prediction;
    other.term_us[term] = us;
    return gain_with_terms(prediction, &other);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Each rule fills an empty finding, or leaves it empty. A finding counts if its gain is at least
 * LEAST_GAIN. */
typedef void Rule(const Facts *facts, Finding *finding);

/* Whether one warp, or the threads of one cell, add all points of an interval. */
static bool waits_for_interval(const BevKernel *kernel) {
    BevOwner owner = kernel->access.owner;
    return owner == BEV_OWNS_INTERVAL || owner == BEV_OWNS_CELL;
}

/* Whether the issue term is the time of the touched L1 lines, not that of the instructions. */
static bool limited_by_l1_lines(const Prediction *prediction) {
    return prediction->instructions_us < prediction->term_us[TERM_ISSUE];
}

/* Returns what would make the limiter shorter. */
static const char *remedy_text(const Facts *facts) {
    const Prediction *p = facts->prediction;
    switch (p->limiter) {
    case TERM_DEPENDENT_LOADS:
        return waits_for_interval(facts->kernel->kernel) ? "cutting the longest interval"
                                                         : "fewer steps in turn";
    case TERM_DRAM: /* where most bytes are written, L2 holds the inputs, but not the output */
        return p->dram_read_bytes >= 0.1 * p->dram_write_bytes ? "keeping in L2 what is read again"
               : facts->model->footprint.out > facts->l2_bytes ? "an output in fewer bits"
                                                               : "an output that stays in L2";
    case TERM_L2:
        return facts->kernel->kernel->access.sums ? "fewer additions in L2"
                                                  : "asking L2 for fewer bytes";
    default:
        return limited_by_l1_lines(p) ? "touching fewer lines of L1" : "fewer instructions a point";
    }
}

/* Writes the figures behind the limiter: its own facts, then the two longest terms. */
static void write_term_evidence(const Facts *facts, int next, Finding *finding) {
    const Prediction *p = facts->prediction;
    const IntervalLengths *lengths = facts->lengths;
    char more[96] = "";
    if (p->limiter == TERM_DEPENDENT_LOADS && lengths->longest &&
        waits_for_interval(facts->kernel->kernel))
        TELL(more, "longest interval %lld points, median %lld (counted); ",
             (long long)lengths->longest, (long long)lengths->median);
    else if (p->limiter == TERM_DRAM)
        TELL(more, "DRAM reads %.1f MB, writes %.1f; footprint %.0f %% of L2 (model); ",
             p->dram_read_bytes * 1e-6, p->dram_write_bytes * 1e-6,
             100 * bev_footprint_total(facts->model->footprint) / facts->l2_bytes);
    else if (p->limiter == TERM_L2)
        TELL(more, "%.2f million sectors at L2 (model); ", facts->kernel->l2_sectors * 1e-6);
    TELL(finding->evidence, "%s%s %.1f us, next %s %.1f us (model)", more, term_names[p->limiter],
         p->term_us[p->limiter], term_names[next], p->term_us[next]);
}

/* Returns the page of the lesson that explains the limiter. */
static const char *lesson_of_limiter(const Facts *facts) {
    switch (facts->prediction->limiter) {
    case TERM_DEPENDENT_LOADS:
        return waits_for_interval(facts->kernel->kernel) ? "even-or-skewed:longest"
                                                         : "occupancy:latency";
    case TERM_ISSUE:
        return limited_by_l1_lines(facts->prediction) ? "layout:coalescing" : "which-gpu:terms";
    case TERM_L2:
        return facts->kernel->kernel->access.sums ? "lost-updates:atomics" : "whose-bytes:requests";
    default:
        return "whose-bytes:l2";
    }
}

/* Returns the longest term besides the limiter. */
static int next_longest_term(const Prediction *p) {
    int next = p->limiter ? 0 : 1;
    for (int term = 0; term < TERM_COUNT; term++)
        if (term != (int)p->limiter && p->term_us[term] > p->term_us[next])
            next = term;
    return next;
}

/* Whether the limiter is clearly longer than the next term. */
static bool limiter_stands_out(const Prediction *p) {
    return gain_with_term(p, p->limiter, p->term_us[next_longest_term(p)]) >= LEAST_GAIN;
}

void findings_reason(const PredictedKernel *kernel, const Prediction *prediction, int64_t longest,
                     char *text, size_t size) {
    const LatencyTerm term = prediction->limiter;
    const char *name = limit_names[term];
    if (!limiter_stands_out(prediction))
        snprintf(text, size, "%s and %s alike", term_names[term],
                 term_names[next_longest_term(prediction)]);
    else if (term == TERM_DEPENDENT_LOADS && !waits_for_interval(kernel->kernel))
        snprintf(text, size, "%s: a warp waits %lld times", name,
                 (long long)kernel->profile.counts.longest);
    else if (term == TERM_DEPENDENT_LOADS && longest)
        snprintf(text, size, "%s: one cell of %lld points", name, (long long)longest);
    else
        snprintf(text, size, "%s%s", name,
                 term == TERM_L2 && kernel->kernel->access.sums ? ": atomics" : "");
}

/* Finds the longest term of the latency. Its gain is the latency over that without the term. */
static void find_limiter(const Facts *facts, Finding *finding) {
    const Prediction *p = facts->prediction;
    if (!limiter_stands_out(p))
        return;
    finding->gain = gain_with_term(p, p->limiter, 0);
    finding->lesson = lesson_of_limiter(facts);
    /* The terms overlap: the latency without the limiter is more than the difference of the two. */
    const UnitText all = text_of_unit(UNIT_US, p->latency_us);
    const UnitText without = text_of_unit(UNIT_US, p->latency_us / finding->gain);
    TELL(finding->text, "%s (%s %s); latency %s: %s would give up to %.1f times",
         limit_names[p->limiter], term_names[p->limiter],
         text_of_unit(UNIT_US, p->term_us[p->limiter]).text, all.text, remedy_text(facts),
         finding->gain);
    TELL(finding->brief, "%s; %s, %s if %s were free", limit_names[p->limiter], all.text,
         without.text, term_names[p->limiter]);
    TELL(finding->advice, "%s", remedy_text(facts));
    write_term_evidence(facts, next_longest_term(p), finding);
}

/* Finds indices that are read several times. Their cost is a share of the L2 term. */
static void find_repeated_indices(const Facts *facts, Finding *finding) {
    const Prediction *p = facts->prediction;
    double once = facts->model->gather.index, read = facts->kernel->rank_bytes;
    if (!(once > 0) || read < REPEATED * once)
        return;
    double rest = 1 - (read - once) / bev_traffic_total(facts->kernel->requested);
    finding->gain = gain_with_term(p, TERM_L2, p->term_us[TERM_L2] * rest);
    finding->lesson = "ten-times-the-indices:tiles";
    TELL(finding->text,
         "indices are read %.1f times: all channels of a point together would give %.1f times",
         read / once, finding->gain);
    TELL(finding->brief, "indices are read %.1f times, %.1f times to gain", read / once,
         finding->gain);
    TELL(finding->advice, "all channels of a point together");
    TELL(finding->evidence, "%.2f MB of indices for %.2f MB (model)", read * 1e-6, once * 1e-6);
}

/* Finds features that use little of their sectors. Full use would save L2 bytes and L1 lines. */
static void find_wasted_sectors(const Facts *facts, Finding *finding) {
    const Prediction *p = facts->prediction;
    const char *remedy =
        facts->kernel->kernel->channels_first ? "channels last" : "wider loads of a row";
    Prediction other = *p;
    double use = facts->kernel->sector_use;
    if (!(use > 0) || use >= LEAST_SECTOR_USE)
        return;
    double features = facts->kernel->requested.feat / bev_traffic_total(facts->kernel->requested);
    double rest = 1 - features * (1 - use);
    other.term_us[TERM_L2] *= rest;
    other.term_us[TERM_ISSUE] = fmax(other.term_us[TERM_ISSUE] * rest, p->instructions_us);
    finding->gain = gain_with_terms(p, &other);
    finding->lesson = "layout:coalescing";
    TELL(finding->text, "%.0f %% of each feature sector is used: %s would give at least %.1f times",
         100 * use, remedy, finding->gain);
    TELL(finding->advice, "%s", remedy);
    TELL(finding->brief, "%.0f %% of a sector used, %.1f times to gain", 100 * use, finding->gain);
    TELL(finding->evidence, "%.1f sectors of 32 bytes a request of features (model)",
         facts->kernel->sectors_per_request);
}

/* Finds launches that take a large share of the latency: the kernel's own, clears, encoding. */
static void find_launch_cost(const Facts *facts, Finding *finding) {
    const Prediction *p = facts->prediction;
    const BevAccess *access = &facts->kernel->kernel->access;
    bool more = access->clears || access->sums != BEV_SUMS_OWNED;
    /* Without another finding, a launch that is shorter than the limiter is not worth a finding. */
    if (facts->found == 0 && p->launch_us < p->term_us[p->limiter])
        return;
    finding->gain = p->latency_us / (p->latency_us - p->launch_us);
    finding->lesson = "measuring-honestly:launch";
    const UnitText own = text_of_unit(UNIT_US, p->launch_us);
    const UnitText all = text_of_unit(UNIT_US, p->latency_us);
    TELL(finding->text, "launch%s take%s %s of %s: without, at most %.1f times",
         facts->kernel->profile.encoded > 0 ? ", clear and encoding"
         : more                             ? " and clear"
                                            : "",
         more ? "" : "s", own.text, all.text, finding->gain);
    TELL(finding->advice, "fewer launches and clears");
    TELL(finding->brief, "launch %s of %s, %.1f times to gain", own.text, all.text, finding->gain);
    TELL(finding->evidence, "%s; the kernel itself %.1f us (model)",
         more ? "a launch before or after the kernel" : "one launch", p->latency_us - p->launch_us);
}

/* Finds empty cells of a grid with height. Most kernels write zeros to all of them. */
static void find_empty_slices(const Facts *facts, Finding *finding) {
    const Prediction *p = facts->prediction;
    const IntervalLengths *lengths = facts->lengths;
    const BevAccess *access = &facts->kernel->kernel->access;
    if (lengths->slices <= 1 || lengths->cells <= 0 || access->sums || access->clears)
        return; /* kernels with sums in memory write filled cells only; a clear is a launch cost */
    double empty = 1 - (double)lengths->filled / (double)lengths->cells;
    double out = facts->kernel->requested.out_write,
           all = bev_traffic_total(facts->kernel->requested);
    Prediction other = *p;
    other.term_us[TERM_L2] *= 1 - empty * out / all;
    other.term_us[TERM_DRAM] *= 1 - empty * out / all;
    finding->gain = gain_with_terms(p, &other);
    finding->lesson = "the-bytes-that-nobody-needs:empty";
    TELL(finding->text,
         "%lld slices, %.0f %% of the cells get no point: writing only the others would give %.1f "
         "times",
         (long long)lengths->slices, 100 * empty, finding->gain);
    TELL(finding->advice, "writing only cells with points");
    TELL(finding->brief, "%.0f %% of the cells empty, %.1f times to gain", 100 * empty,
         finding->gain);
    TELL(finding->evidence,
         "height: %lld of %lld cells filled, median %lld points (counted); %.0f of %.0f MB are "
         "output (model)",
         (long long)lengths->filled, (long long)lengths->cells, (long long)lengths->median,
         out * 1e-6, all * 1e-6);
}

const PredictedKernel *findings_fastest(const MemoryModel *model, int gpu, const GpuEdit *edit,
                                        Prediction *prediction) {
    const PredictedKernel *best = NULL;
    for (int i = 0; i < model->kernel_count; i++) {
        const PredictedKernel *other = &model->kernels[i];
        if (!other->kernel || other->kernel->wrong_on_purpose)
            continue;
        Prediction p = model_predict(model, other, gpu, edit);
        if (best && !(p.latency_us < prediction->latency_us))
            continue;
        best = other;
        *prediction = p;
    }
    return best;
}

/* Finds the correct kernel with the shortest predicted latency, if it is another one. */
static void find_faster_kernel(const Facts *facts, Finding *finding) {
    Prediction least;
    const PredictedKernel *best = findings_fastest(facts->model, facts->gpu, facts->edit, &least);
    if (!best || !(least.latency_us < facts->prediction->latency_us))
        return;
    finding->gain = facts->prediction->latency_us / least.latency_us;
    finding->lesson = "which-gpu:terms";
    const UnitText us = text_of_unit(UNIT_US, least.latency_us);
    TELL(finding->text, "%s takes %s here: %.1f times", best->title, us.text, finding->gain);
    finding->faster = best->kernel;
    TELL(finding->advice, "%s to %s", facts->kernel->title, best->title);
    TELL(finding->brief, "%s takes %s, %.1f times to gain", best->title, us.text, finding->gain);
    TELL(finding->evidence, "%s there: %s %.1f us (model)", limit_names[least.limiter],
         term_names[least.limiter], least.term_us[least.limiter]);
}

/* ---- all findings ---------------------------------------------------------------------------- */

static int compare_gains(const void *a, const void *b) {
    double difference = ((const Finding *)b)->gain - ((const Finding *)a)->gain;
    return (difference > 0) - (difference < 0);
}

/* Applies a rule, and counts its finding if the gain is large enough. */
static void apply_rule(Rule *rule, Facts *facts, Finding findings[FINDINGS_MAX]) {
    Finding *finding = &findings[facts->found];
    *finding = (Finding){.gain = 0};
    rule(facts, finding);
    facts->found += finding->gain >= LEAST_GAIN;
}

int findings_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, Finding findings[FINDINGS_MAX]) {
    static Rule *const rules[] = {find_limiter, find_repeated_indices, find_wasted_sectors,
                                  find_launch_cost, find_empty_slices};
    const Gpu on = model_gpu(model, gpu, edit);
    const PredictedKernel *predicted = model_of_kernel(model, kernel, &on);
    if (!predicted || kernel->wrong_on_purpose)
        return 0;
    const Prediction prediction = model_predict(model, predicted, gpu, edit);
    Facts facts = {model, predicted, &prediction, lengths, gpu, edit, on.l2_bytes, 0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        apply_rule(rules[i], &facts, findings);
    qsort(findings, (size_t)facts.found, sizeof *findings, compare_gains);
    apply_rule(find_faster_kernel, &facts, findings);
    return facts.found;
}
