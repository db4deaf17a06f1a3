/* SPDX-License-Identifier: MIT */
/* Writes the articles' workflow for gather-scatter sums as findings. Its four steps: classify the
 * memory regime, remove redundant traffic, map the work to the GPU, validate. */
#include "src/cachesim/findings.h"

#include "kernels/clean.h"
#include "kernels/regime.h"
#include "src/base/kernel_config.h"
#include "src/cachesim/metrics.h"

#include <stdio.h>
#include <string.h>

/* The inputs of the steps. */
typedef struct {
    const MemoryModel *model;
    const PredictedKernel *kernel;
    const IntervalLengths *lengths;
    Prediction prediction;
    double l2_bytes;
    int gpu;
    const GpuEdit *edit; /* NULL: none */
    const WorkflowScene *scene;
    const BevKernel *row; /* the kernel's row, whose name the commands take */
} Facts;

static const char *const regime_texts[REGIME_COUNT] = {
    [REGIME_FITS] = "stays in L2",
    [REGIME_CONTESTED] = "fits barely",
    [REGIME_STREAMING] = "larger than L2, yet lookups may hit",
};

/* Step 1: compares the footprint with the L2. */
static void classify_regime(const Facts *facts, Finding *step) {
    double footprint = bev_footprint_total(facts->model->footprint);
    double gathered = bev_traffic_total(facts->model->gather), share = footprint / facts->l2_bytes;
    const char *regime = regime_texts[bev_regime(footprint, facts->l2_bytes)];
    TELL(step->text, "classify: footprint %s, %.0f %% of L2: %s",
         text_of_unit(UNIT_BYTES, footprint).text, 100 * share, regime);
    TELL(step->evidence, "gather traffic is %.1f times that; L2 hits %.1f %% of lookups (model)",
         gathered / footprint, 100 * facts->prediction.hit_rate);
}

/* Step 2 of pooling: finds bytes that are requested more than once. */
static void remove_repeats(const Facts *facts, Finding *step) {
    const BevTraffic *asked = &facts->kernel->requested;
    double footprint = bev_footprint_total(facts->model->footprint);
    double all = bev_traffic_total(*asked);
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

/* Step 2. In an operator the depths of a cell are equal, so their bytes are redundant. */
static void remove_traffic(const Facts *facts, Finding *step) {
    if (facts->scene->of == WORKFLOW_POOLING) {
        remove_repeats(facts, step);
        return;
    }
    const bool counts = facts->scene->of == WORKFLOW_COUNTING;
    const BevTraffic *asked = &facts->kernel->requested;
    double told = asked->depth + (counts ? asked->feat : 0), all = bev_traffic_total(*asked);
    TELL(step->text,
         "remove: the depths of a cell are alike%s: %.1f %% of the bytes asked for say nothing",
         counts ? ", all features are 1" : "", 100 * told / all);
    TELL(step->evidence, "%.2f of %.2f MB (model): a kernel of its own would %s", told * 1e-6,
         all * 1e-6, counts ? "count, and scale each count once" : "scale each sum once");
}

/* Returns a text about the form that V4 takes, and counts the replayed kernels. */
static const char *tiles_text(const MemoryModel *model, int *modelled) {
    const char *text = "V4 is not simulated here: not asked for, or not yet";
    *modelled = 0;
    for (int i = 0; i < model->kernel_count; i++) {
        const PredictedKernel *row = &model->kernels[i];
        *modelled += row->kernel != NULL;
        if (!row->kernel || row->kernel->access.owner != BEV_OWNS_TILE)
            continue;
        bool pieces = row->profile.counts.form && row->profile.counts.form->owner == BEV_OWNS_PIECE;
        text = pieces
                   ? "no columns that cells share: V4 takes pieces of cells, without tensor cores"
                   : "V4 finds columns that cells share: tiles on tensor cores";
    }
    return text;
}

/* Step 3: names the fastest kernel of the model, and the form that V4 takes. */
static void map_to_gpu(const Facts *facts, Finding *step) {
    Prediction least;
    int modelled;
    const char *tiles = tiles_text(facts->model, &modelled);
    const PredictedKernel *best = findings_fastest(facts->model, facts->gpu, facts->edit, &least);
    TELL(step->text, "map: longest cell %lld points, median %lld: %s%s, %s",
         (long long)facts->lengths->longest, (long long)facts->lengths->median,
         best ? best->title : "none", modelled > 1 ? " is the fastest of the model" : "",
         best ? text_of_unit(UNIT_US, least.latency_us).text : "n/a");
    TELL(step->evidence, "%s", tiles);
}

/* The counters that the Nsight Compute command reads, and its metrics that confirm or refute the
 * limiter: warps that could issue, the two reasons for which most warps wait, L1's sectors. */
static const Counter counted[] = {COUNTER_DRAM_READ, COUNTER_DRAM_WRITE, COUNTER_L2_SECTORS,
                                  COUNTER_L2_HITS,   COUNTER_L2_MISSES,  COUNTER_ISSUE,
                                  COUNTER_OCCUPANCY};
static const char of_limiter[] =
    "smsp__warps_eligible.avg.per_cycle_active,smsp__average_warps_issue_stalled_long_scoreboard_"
    "per_issue_active.ratio,smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio,"
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";

/* Says what Nsight shows if the limiter is right. The bounds hold for our kernels on an H200. */
static const char *expected_text(const Facts *facts) {
    const Prediction *p = &facts->prediction;
    switch (p->limiter) {
    case TERM_DEPENDENT_LOADS:
        return "issue active below 50 %, fewer than 1.5 warps eligible, long_scoreboard the "
               "longest stall";
    case TERM_ISSUE:
        return p->instructions_us < p->term_us[TERM_ISSUE]
                   ? "4 or more sectors a request, both stalls above 10"
                   : "issue active above 60 %, 3 or more warps eligible";
    case TERM_L2:
        return facts->row->access.sums
                   ? "issue active below 10 %, lg_throttle the longest stall: atomics queue"
                   : "hits near 100 %, long_scoreboard the longest stall";
    default:
        return "DRAM bytes over the time near the GPU's bandwidth";
    }
}

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
    for (size_t i = 0, used = 0; i < sizeof counted / sizeof *counted; i++)
        used += (size_t)snprintf(metrics + used, sizeof metrics - used, "%s,",
                                 counter_rows[counted[i]].names[0]);
    TELL(step->commands[0], "ncu --cache-control none --nvtx --nvtx-include %s/ --metrics %s%s %s",
         range, metrics, of_limiter, once);
    TELL(step->commands[1],
         "nsys profile -t cuda,nvtx -o once %s && nsys stats -r nvtx_kern_sum once.nsys-rep", once);
}

/* Step 4: says which counters to expect, and gives the commands that read them. */
static void validate_prediction(const Facts *facts, Finding *step) {
    const Prediction *p = &facts->prediction;
    TELL(step->text, "validate: gates first, then counters: expect L2 hits %.1f %%, DRAM %.2f MB",
         100 * p->hit_rate, prediction_dram_bytes(*p) * 1e-6);
    TELL(step->evidence,
         "verify, then regime --counters on a GPU (Nsight restores memory between passes: fewer "
         "hits); by the model DRAM reads %.2f MB and writes %.2f, L2 has %.2f million sectors; %s: "
         "%s",
         p->dram_read_bytes * 1e-6, p->dram_write_bytes * 1e-6, facts->kernel->l2_sectors * 1e-6,
         limit_names[p->limiter], expected_text(facts));
    write_profiler_commands(facts, step);
}

int workflow_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, const WorkflowScene *scene,
                Finding steps[WORKFLOW_STEPS]) {
    static void (*const each[WORKFLOW_STEPS])(const Facts *, Finding *) = {
        classify_regime, remove_traffic, map_to_gpu, validate_prediction};
    const Gpu on = model_gpu(model, gpu, edit);
    const PredictedKernel *predicted = model_of_kernel(model, kernel, &on);
    if (!predicted)
        return 0;
    const Facts facts = {.model = model,
                         .kernel = predicted,
                         .lengths = lengths,
                         .prediction = model_predict(model, predicted, gpu, edit),
                         .l2_bytes = on.l2_bytes,
                         .gpu = gpu,
                         .edit = edit,
                         .scene = scene,
                         .row = model_row(kernel)};
    for (int i = 0; i < WORKFLOW_STEPS; i++) {
        bool pools = scene->of == WORKFLOW_POOLING;
        steps[i] = (Finding){.lesson = pools ? "which-gpu" : "your-own-operator"};
        each[i](&facts, &steps[i]);
        /* Each text begins with its step, such as "classify: ". The brief text leaves it out. */
        snprintf(steps[i].brief, sizeof steps[i].brief, "%.79s", strstr(steps[i].text, ": ") + 2);
    }
    return WORKFLOW_STEPS;
}
