/* SPDX-License-Identifier: MIT */
#include "src/cachesim/findings.h"

#include "kernels/clean.h"
#include "src/base/kernel_config.h"
#include "src/cachesim/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_GAIN = 1.05;      /* a finding with a smaller gain is left out */
static const double REPEATED = 1.5;         /* index bytes read / index bytes in the map */
static const double LEAST_SECTOR_USE = 0.5; /* a larger used share of a sector is no finding */

/* The inputs of the rules that find costs, and of the steps of the workflow. */
typedef struct {
    const MemoryModel *model;
    const PredictedKernel *kernel;
    const IntervalLengths *lengths;
    Prediction prediction;
    int gpu;
    const GpuEdit *edit;        /* NULL: none */
    double l2_bytes;            /* the L2 size of the changed GPU */
    const BevKernel *row;       /* the kernel's row, whose name the commands take */
    const WorkflowScene *scene; /* the workflow's scene; NULL outside of a workflow */
    int found;                  /* the number of findings of the rules so far */
} Facts;

/* Fills in the facts. False: the kernel has not been replayed. */
static bool find_facts(const MemoryModel *model, const BevKernel *kernel, int gpu,
                       const GpuEdit *edit, const IntervalLengths *lengths, Facts *facts) {
    const Gpu changed_gpu = model_gpu(model, gpu, edit);
    const PredictedKernel *predicted = model_of_kernel(model, kernel, &changed_gpu);
    if (predicted)
        *facts = (Facts){.model = model,
                         .kernel = predicted,
                         .lengths = lengths,
                         .prediction = model_predict(model, predicted, gpu, edit),
                         .gpu = gpu,
                         .edit = edit,
                         .l2_bytes = changed_gpu.l2_bytes,
                         .row = model_row(kernel)};
    return predicted != NULL;
}

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

/* Texts about a limiter: what would shorten its time, which lesson explains it, and which figures
 * of Nsight confirm it. The bounds of these figures hold for our kernels on an H200. */
typedef struct {
    const char *remedy, *lesson, *expected;
} Cost;
static const char stalls_on_loads[] = "issue active below 50 %, fewer than 1.5 warps eligible, "
                                      "long_scoreboard the longest stall";
static const char dram_is_busy[] = "DRAM bytes over the time near the GPU's bandwidth";
static const Cost
    long_interval = {"cutting the longest interval", "even-or-skewed:longest", stalls_on_loads},
    many_steps = {"fewer steps in turn", "occupancy:latency", stalls_on_loads},
    many_lines = {"touching fewer lines of L1", "layout:coalescing",
                  "4 or more sectors a request, both stalls above 10"},
    many_instructions = {"fewer instructions a point", "which-gpu:terms",
                         "issue active above 60 %, 3 or more warps eligible"},
    additions = {"fewer additions in L2", "lost-updates:atomics",
                 "issue active below 10 %, lg_throttle the longest stall: atomics queue"},
    many_requests = {"asking L2 for fewer bytes", "whose-bytes:requests",
                     "hits near 100 %, long_scoreboard the longest stall"},
    repeated_reads = {"keeping in L2 what is read again", "whose-bytes:l2", dram_is_busy},
    huge_output = {"an output in fewer bits", "the-price-of-a-format", dram_is_busy},
    evicted_output = {"an output that stays in L2", "the-price-of-a-format", dram_is_busy};

static Cost cost_of_limiter(const Facts *facts) {
    const Prediction *p = &facts->prediction;
    switch (p->limiter) {
    case TERM_DEPENDENT_LOADS:
        return waits_for_interval(facts->kernel->kernel) ? long_interval : many_steps;
    case TERM_ISSUE: /* the time of the touched L1 lines, or of the instructions if it is longer */
        return p->instructions_us < p->term_us[TERM_ISSUE] ? many_lines : many_instructions;
    case TERM_L2:
        return facts->kernel->kernel->access.sums ? additions : many_requests;
    default: /* DRAM */
        if (p->dram_read_bytes >= 0.1 * p->dram_write_bytes)
            return repeated_reads;
        return facts->model->footprint.out > facts->l2_bytes ? huge_output : evicted_output;
    }
}

/* Writes the figures behind the limiter: facts about the limiter, then the two longest terms.
 * `next` is the longest term besides the limiter. */
static void write_term_evidence(const Facts *facts, int next, Finding *finding) {
    const Prediction *p = &facts->prediction;
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

LimitReason findings_reason(const PredictedKernel *kernel, const Prediction *prediction,
                            int64_t longest, char *text, size_t size) {
    const LatencyTerm term = prediction->limiter;
    const char *name = limit_names[term];
    if (!limiter_stands_out(prediction))
        snprintf(text, size, "limited by %s and %s", term_names[term],
                 term_names[next_longest_term(prediction)]);
    else if (term == TERM_DEPENDENT_LOADS && !waits_for_interval(kernel->kernel))
        snprintf(text, size, "%s: a warp waits %lld times", name,
                 (long long)kernel->profile.counts.longest);
    else if (term == TERM_DEPENDENT_LOADS && longest) {
        snprintf(text, size, "%s: cells of up to %lld points", name, (long long)longest);
        return REASON_LONG_CELLS;
    } else if (term == TERM_L2 && kernel->kernel->access.sums) {
        snprintf(text, size, "%s: atomics", name);
        return REASON_ATOMICS;
    } else
        snprintf(text, size, "%s", name);
    return REASON_OTHER;
}

/* Finds the longest term of the latency. Its gain is the latency over that without the term. */
static void find_limiter(const Facts *facts, Finding *finding) {
    const Prediction *p = &facts->prediction;
    if (!limiter_stands_out(p))
        return;
    finding->gain = gain_with_term(p, p->limiter, 0);
    const Cost cost = cost_of_limiter(facts);
    finding->lesson = cost.lesson;
    /* The terms overlap: the latency without the limiter is more than the difference of the two. */
    const ShortText all = text_of_unit(UNIT_US, p->latency_us);
    const ShortText without = text_of_unit(UNIT_US, p->latency_us / finding->gain);
    TELL(finding->text, "%s (%s %s); latency %s: %s would give up to %.1f times",
         limit_names[p->limiter], term_names[p->limiter],
         text_of_unit(UNIT_US, p->term_us[p->limiter]).text, all.text, cost.remedy, finding->gain);
    TELL(finding->brief, "%s; %s, %s if %s were free", limit_names[p->limiter], all.text,
         without.text, term_names[p->limiter]);
    TELL(finding->advice, "%s", cost.remedy);
    write_term_evidence(facts, next_longest_term(p), finding);
}

/* Finds indices that are read several times. Their cost is a share of the L2 term. */
static void find_repeated_indices(const Facts *facts, Finding *finding) {
    const Prediction *p = &facts->prediction;
    double once = facts->model->gather.index, read = facts->kernel->rank_bytes;
    if (!(once > 0) || read < REPEATED * once)
        return;
    double share_left = 1 - (read - once) / bev_traffic_total(facts->kernel->requested);
    finding->gain = gain_with_term(p, TERM_L2, p->term_us[TERM_L2] * share_left);
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
    const Prediction *p = &facts->prediction;
    const char *remedy =
        facts->kernel->kernel->channels_first ? "channels last" : "wider loads of a row";
    Prediction other = *p;
    double use = facts->kernel->sector_use;
    if (!(use > 0) || use >= LEAST_SECTOR_USE)
        return;
    double feature_share =
        facts->kernel->requested.feat / bev_traffic_total(facts->kernel->requested);
    double share_left = 1 - feature_share * (1 - use);
    other.term_us[TERM_L2] *= share_left;
    other.term_us[TERM_ISSUE] = fmax(other.term_us[TERM_ISSUE] * share_left, p->instructions_us);
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
    const Prediction *p = &facts->prediction;
    const BevAccess *access = &facts->kernel->kernel->access;
    const bool clears = access->clears || access->sums != BEV_SUMS_OWNED;
    const char *other_launches = clears ? " and clear" : "";
    if (facts->kernel->profile.encoded > 0)
        other_launches = ", clear and encoding";
    /* Without another finding, a launch that is shorter than the limiter is not worth a finding. */
    if (facts->found == 0 && p->launch_us < p->term_us[p->limiter])
        return;
    finding->gain = p->latency_us / (p->latency_us - p->launch_us);
    finding->lesson = "measuring-honestly:launch";
    const ShortText own = text_of_unit(UNIT_US, p->launch_us);
    const ShortText all = text_of_unit(UNIT_US, p->latency_us);
    TELL(finding->text, "launch%s take%s %s of %s: without, at most %.1f times", other_launches,
         clears ? "" : "s", own.text, all.text, finding->gain);
    TELL(finding->advice, "fewer launches and clears");
    TELL(finding->brief, "launch %s of %s, %.1f times to gain", own.text, all.text, finding->gain);
    TELL(finding->evidence, "%s; the kernel itself %.1f us (model)",
         clears ? "a launch before or after the kernel" : "one launch",
         p->latency_us - p->launch_us);
}

/* Finds empty cells of a grid with height. Most kernels write zeros to all of them. */
static void find_empty_slices(const Facts *facts, Finding *finding) {
    const Prediction *p = &facts->prediction;
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
    for (const PredictedKernel *row = model_next(model, NULL); row; row = model_next(model, row)) {
        const Prediction p = model_predict(model, row, gpu, edit);
        const bool is_faster = !best || p.latency_us < prediction->latency_us;
        if (is_faster && !row->kernel->wrong_on_purpose) {
            best = row;
            *prediction = p;
        }
    }
    return best;
}

/* Finds the correct kernel with the shortest predicted latency, if it is another one. */
static void find_faster_kernel(const Facts *facts, Finding *finding) {
    Prediction least;
    const PredictedKernel *best = findings_fastest(facts->model, facts->gpu, facts->edit, &least);
    if (!best || !(least.latency_us < facts->prediction.latency_us))
        return;
    finding->gain = facts->prediction.latency_us / least.latency_us;
    finding->lesson = "which-gpu:terms";
    const ShortText us = text_of_unit(UNIT_US, least.latency_us);
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
    Facts facts;
    if (kernel->wrong_on_purpose || !find_facts(model, kernel, gpu, edit, lengths, &facts))
        return 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        apply_rule(rules[i], &facts, findings);
    qsort(findings, (size_t)facts.found, sizeof *findings, compare_gains);
    apply_rule(find_faster_kernel, &facts, findings);
    return facts.found;
}

/* ---- the articles' workflow for gather-scatter sums ------------------------------------------ */

static const char *const regime_texts[REGIME_COUNT] = {
    [REGIME_FITS] = "stays in L2",
    [REGIME_CONTESTED] = "fits barely",
    [REGIME_STREAMING] = "larger than L2, yet lookups may hit",
};

/* Writes the step "classify": compares the footprint with the size of the L2. */
static void classify_regime(const Facts *facts, Finding *step) {
    double footprint = bev_footprint_total(facts->model->footprint);
    double gathered = bev_traffic_total(facts->model->gather), share = footprint / facts->l2_bytes;
    const char *regime = regime_texts[bev_regime(footprint, facts->l2_bytes)];
    TELL(step->text, "classify: footprint %s, %.0f %% of L2: %s",
         text_of_unit(UNIT_BYTES, footprint).text, 100 * share, regime);
    TELL(step->evidence, "gather traffic is %.1f times that; L2 hits %.1f %% of lookups (model)",
         gathered / footprint, 100 * facts->prediction.hit_rate);
}

/* Writes the step "remove", which names redundant bytes. In pooling, bytes that are requested more
 * than once are redundant. In an operator the depths of a cell are equal, so their bytes are. */
static void remove_traffic(const Facts *facts, Finding *step) {
    const BevTraffic *asked = &facts->kernel->requested;
    const double all = bev_traffic_total(*asked);
    const double footprint = bev_footprint_total(facts->model->footprint);
    const bool counts = facts->scene->of == WORKFLOW_COUNTING;
    const double redundant = asked->depth + (counts ? asked->feat : 0);
    if (facts->scene->of != WORKFLOW_POOLING) {
        TELL(step->text,
             "remove: the depths of a cell are alike%s: %.1f %% of the bytes asked for say nothing",
             counts ? ", all features are 1" : "", 100 * redundant / all);
        TELL(step->evidence, "%.2f of %.2f MB (model): a kernel of its own would %s",
             redundant * 1e-6, all * 1e-6,
             counts ? "count, and scale each count once" : "scale each sum once");
        return;
    }
    TELL(step->text, "remove: %s asks for %s, %.1f times the footprint", facts->kernel->title,
         text_of_unit(UNIT_BYTES, all).text, all / footprint);
    TELL(
        step->evidence,
        "features %.1f %% of it, depths %.1f %%, ranks, owners and weights %.1f %%, output %.1f %% "
        "(model)",
        100 * asked->feat / all, 100 * asked->depth / all,
        100 * (asked->index + asked->weight) / all,
        100 * (asked->out_read + asked->out_write) / all);
}

/* Returns a text about the form that V4 takes: tiles of cells, or pieces of cells. */
static const char *v4_form_text(const MemoryModel *model) {
    const PredictedKernel *row = model_next(model, NULL);
    while (row && row->kernel->access.owner != BEV_OWNS_TILE)
        row = model_next(model, row);
    if (!row)
        return "V4 is not simulated here: not asked for, or not yet";
    const BevAccess *form = row->profile.counts.form;
    if (form && form->owner == BEV_OWNS_PIECE)
        return "no columns that cells share: V4 takes pieces of cells, without tensor cores";
    return "V4 finds columns that cells share: tiles on tensor cores";
}

/* Writes the step "map", which maps the work to the GPU: the cells' lengths, the kernel that the
 * model finds fastest, and whether V4 takes tiles or pieces. */
static void map_to_gpu(const Facts *facts, Finding *step) {
    Prediction least;
    const PredictedKernel *best = findings_fastest(facts->model, facts->gpu, facts->edit, &least);
    const PredictedKernel *first = model_next(facts->model, NULL);
    const bool compared = first && model_next(facts->model, first);
    TELL(step->text, "map: longest cell %lld points, median %lld: %s%s, %s",
         (long long)facts->lengths->longest, (long long)facts->lengths->median,
         best ? best->title : "none", compared ? " is the fastest of the model" : "",
         best ? text_of_unit(UNIT_US, least.latency_us).text : "n/a");
    TELL(step->evidence, "%s", v4_form_text(facts->model));
}

/* The counters that the Nsight Compute command reads. */
static const Counter ncu_counters[] = {COUNTER_DRAM_READ, COUNTER_DRAM_WRITE, COUNTER_L2_SECTORS,
                                       COUNTER_L2_HITS,   COUNTER_L2_MISSES,  COUNTER_ISSUE,
                                       COUNTER_OCCUPANCY};
/* Metrics that confirm or refute the limiter: warps that could issue, the two reasons for which
 * most warps wait, and L1's sectors. */
static const char limiter_metrics[] =
    "smsp__warps_eligible.avg.per_cycle_active,smsp__average_warps_issue_stalled_long_scoreboard_"
    "per_issue_active.ratio,smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio,"
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";

/* Writes the two commands that measure with Nsight what the model predicts. Both launch the kernel
 * once, in an NVTX range of its own. */
static void write_profiler_commands(const Facts *facts, Finding *step) {
    const KernelConfig config = {facts->row, facts->model->dtype, facts->model->align};
    char once[240], name[128], range[128], metrics[640] = "";
    if (!clean_for_shell(facts->scene->name, name, sizeof name))
        TELL(name, "SCENE");
    TELL(once, "bevscope bench %s --kernel %s --dtype %s --align %s --once", name, facts->row->name,
         bev_dtypes[config.dtype].name, bev_aligns[config.align].name);
    kernel_config_range(&config, facts->scene->name, range, sizeof range);
    for (size_t i = 0; i < sizeof ncu_counters / sizeof *ncu_counters; i++)
        text_add(metrics, sizeof metrics, "%s,", counter_rows[ncu_counters[i]].names[0]);
    TELL(step->commands[0], "ncu --cache-control none --nvtx --nvtx-include %s/ --metrics %s%s %s",
         range, metrics, limiter_metrics, once);
    TELL(step->commands[1],
         "nsys profile -t cuda,nvtx -o once %s && nsys stats -r nvtx_kern_sum once.nsys-rep", once);
}

/* Writes the step "validate": the counters to expect, and the commands that read them. */
static void validate_prediction(const Facts *facts, Finding *step) {
    const Prediction *p = &facts->prediction;
    TELL(step->text, "validate: gates first, then counters: expect L2 hits %.1f %%, DRAM %.2f MB",
         100 * p->hit_rate, prediction_dram_bytes(*p) * 1e-6);
    TELL(step->evidence,
         "verify, then regime --counters on a GPU (Nsight restores memory between passes: fewer "
         "hits); by the model DRAM reads %.2f MB and writes %.2f, L2 has %.2f million sectors; %s: "
         "%s",
         p->dram_read_bytes * 1e-6, p->dram_write_bytes * 1e-6, facts->kernel->l2_sectors * 1e-6,
         limit_names[p->limiter], cost_of_limiter(facts).expected);
    write_profiler_commands(facts, step);
}

int workflow_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, const WorkflowScene *scene,
                Finding steps[WORKFLOW_STEPS]) {
    static void (*const write_step[WORKFLOW_STEPS])(const Facts *, Finding *) = {
        classify_regime, remove_traffic, map_to_gpu, validate_prediction};
    Facts facts;
    if (!find_facts(model, kernel, gpu, edit, lengths, &facts))
        return 0;
    facts.scene = scene;
    for (int i = 0; i < WORKFLOW_STEPS; i++) {
        bool pools = scene->of == WORKFLOW_POOLING;
        steps[i] = (Finding){.lesson = pools ? "which-gpu" : "your-own-operator"};
        write_step[i](&facts, &steps[i]);
        /* Each text begins with its step, such as "classify: ". The brief text leaves it out. */
        snprintf(steps[i].brief, sizeof steps[i].brief, "%.79s", strstr(steps[i].text, ": ") + 2);
    }
    return WORKFLOW_STEPS;
}
