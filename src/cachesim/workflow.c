/* The articles' workflow for an operator that gathers and scatters, as findings: classify the
 * memory regime, remove redundant traffic, map it to the GPU, validate. */
#include "src/cachesim/findings.h"

#include "kernels/regime.h"

#include <math.h>
#include <stdio.h>

enum { LESSON = 16 };

/* What the steps look at. */
typedef struct {
    const MemoryModel *model;
    const PredictedKernel *kernel;
    const IntervalLengths *lengths;
    Prediction prediction;
    double l2_bytes;
    int gpu;
    const GpuEdit *edit; /* NULL: none */
    bool counts;
} Facts;

static const char *const regime_texts[REGIME_COUNT] = {
    [REGIME_RESIDENT] = "stays in L2",
    [REGIME_CONTESTED] = "fits barely",
    [REGIME_STREAMING] = "bound by DRAM",
};

static void classify(const Facts *facts, Finding *step) {
    double footprint = bev_footprint_total(facts->model->footprint);
    double gathered = bev_traffic_total(facts->model->gather), share = footprint / facts->l2_bytes;
    const char *regime = regime_texts[bev_regime(footprint, facts->l2_bytes)];
    snprintf(step->text, sizeof step->text, "classify: footprint %.1f MB, %.0f %% of L2: %s",
             footprint * 1e-6, 100 * share, regime);
    snprintf(step->evidence, sizeof step->evidence,
             "gather traffic asks for it %.1f times; L2 hits %.1f %% of lookups (model)",
             gathered / footprint, 100 * facts->prediction.hit_rate);
}

/* By every rule of operator_kinds the depths of a cell are alike. */
static void remove_traffic(const Facts *facts, Finding *step) {
    const BevTraffic *asked = &facts->kernel->requested;
    double told = asked->depth + (facts->counts ? asked->feat : 0), all = bev_traffic_total(*asked);
    snprintf(step->text, sizeof step->text,
             "remove: the depths of a cell are alike%s: %.1f %% of the bytes asked for say nothing",
             facts->counts ? ", all features are 1" : "", 100 * told / all);
    snprintf(step->evidence, sizeof step->evidence,
             "%.2f of %.2f MB (model): a kernel of its own would %s", told * 1e-6, all * 1e-6,
             facts->counts ? "count, and scale each count once" : "scale each sum once");
}

static bool takes_pieces(const MemoryModel *model) {
    for (int i = 0; i < model->kernel_count; i++) {
        const PredictedKernel *row = &model->kernels[i];
        if (row->kernel && row->kernel->access.owner == BEV_OWNS_TILE)
            return row->profile.counts.form && row->profile.counts.form->owner == BEV_OWNS_PIECE;
    }
    return false;
}

static void map_to_gpu(const Facts *facts, Finding *step) {
    Prediction least;
    char us[24] = "n/a";
    const PredictedKernel *best = findings_fastest(facts->model, facts->gpu, facts->edit, &least);
    if (best)
        unit_text(UNIT_US, least.latency_us, us, sizeof us);
    snprintf(step->text, sizeof step->text,
             "map: longest cell %lld points, median %lld: %s is the fastest of the model, %s",
             (long long)facts->lengths->longest, (long long)facts->lengths->median,
             best ? best->title : "none", us);
    snprintf(step->evidence, sizeof step->evidence, "%s",
             takes_pieces(facts->model)
                 ? "no columns that cells share: V4 deals out pieces of cells, without tensor cores"
                 : "V4 finds columns that cells share: tiles on tensor cores");
}

static void validate(const Facts *facts, Finding *step) {
    const Prediction *p = &facts->prediction;
    snprintf(step->text, sizeof step->text,
             "validate: gates first, then counters: expect L2 hits %.1f %%, DRAM %.2f MB",
             100 * p->hit_rate, (p->dram_read_bytes + p->dram_write_bytes) * 1e-6);
    snprintf(step->evidence, sizeof step->evidence,
             "verify, then regime --counters on a GPU; by the model %s binds",
             term_names[p->binding]);
}

int workflow_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, bool counts, Finding steps[WORKFLOW_STEPS]) {
    static void (*const each[WORKFLOW_STEPS])(const Facts *, Finding *) = {classify, remove_traffic,
                                                                           map_to_gpu, validate};
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
                         .counts = counts};
    for (int i = 0; i < WORKFLOW_STEPS; i++) {
        steps[i] = (Finding){.lesson = LESSON};
        each[i](&facts, &steps[i]);
        snprintf(steps[i].brief, sizeof steps[i].brief, "%.79s", steps[i].text);
    }
    return WORKFLOW_STEPS;
}
