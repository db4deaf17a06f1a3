#include "src/state/prediction_text.h"


#include <math.h>
#include <stdio.h>
#include <string.h>

const ModelRung *prediction_rung(const State *state, const LiveData *live) {
    const BevVariant *variant = live->job.choice.variant;
    return live->model && variant ? model_of_variant(live->model, variant, state->gpu, state->l2)
                                  : NULL;
}

const Prediction *prediction_of(const State *state, const ModelRung *rung) {
    return &rung->predicted[state->gpu][state->l2];
}

void prediction_gpu(const State *state, char *text, size_t size) {
    const Gpu *gpu = &gpus[state->gpu];
    if (state->l2)
        snprintf(text, size, "%s with %.0f MB of L2", gpu->title,
                 model_l2_bytes(gpu, state->l2) / (1 << 20));
    else
        snprintf(text, size, "%s", gpu->title);
}

void prediction_latency(const State *state, const LiveData *live, char *text, size_t size) {
    const ModelRung *rung = prediction_rung(state, live);
    char on[64], us[32];
    prediction_gpu(state, on, sizeof on);
    if (!rung) {
        snprintf(text, size, "%s on %s: n/a", live->job.choice.variant->title, on);
        return;
    }
    const Prediction *p = prediction_of(state, rung);
    figure_text(UNIT_US, p->latency_us, us, sizeof us);
    snprintf(text, size, "%s on %s: %s, %s binds", rung->title, on, us, part_names[p->binding]);
}

void prediction_memory(const State *state, const LiveData *live, char *text, size_t size) {
    const ModelRung *rung = prediction_rung(state, live);
    char bytes[32];
    if (!rung) {
        snprintf(text, size, "L2 hits n/a");
        return;
    }
    const Prediction *p = prediction_of(state, rung);
    unit_text(UNIT_BYTES, p->dram_read_bytes + p->dram_write_bytes, bytes, sizeof bytes);
    snprintf(text, size, "L2 hits %.1f %% of reads, DRAM %s, %.1f sectors a request",
             100 * p->hit_rate, bytes, rung->sectors_per_request);
}

void prediction_origin(const LiveData *live, char *text, size_t size) {
    const BevVariant *variant = live->job.choice.variant;
    if (variant->where == BEV_CPU)
        snprintf(text, size, "Model, L2 warm. The CPU runs %s: its CUDA twin is meant.",
                 variant->title);
    else
        snprintf(text, size, "Model, L2 warm.");
}
