#include "src/state/prediction_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const PredictedKernel *prediction_kernel(const State *state, const LiveData *live) {
    const BevKernel *kernel = live->job.config.kernel;
    return live->model && kernel ? model_of_kernel(live->model, kernel, state->gpu, state->l2)
                                 : NULL;
}

const Prediction *prediction_of(const State *state, const PredictedKernel *predicted) {
    return &predicted->predicted[state->gpu][state->l2];
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
    const PredictedKernel *predicted = prediction_kernel(state, live);
    char on[64], us[32];
    prediction_gpu(state, on, sizeof on);
    if (!predicted) {
        snprintf(text, size, "%s on %s: n/a", live->job.config.kernel->title, on);
        return;
    }
    const Prediction *p = prediction_of(state, predicted);
    figure_text(UNIT_US, p->latency_us, us, sizeof us);
    snprintf(text, size, "%s on %s: %s, %s binds", predicted->title, on, us,
             term_names[p->binding]);
}

void prediction_sectors(const PredictedKernel *predicted, char *text, size_t size) {
    const char *format = isfinite(predicted->sectors_per_request) ? "%.1f sectors a request"
                                                                  : "n/a sectors a request";
    snprintf(text, size, format, predicted->sectors_per_request);
}

void prediction_memory(const State *state, const LiveData *live, char *text, size_t size) {
    const PredictedKernel *predicted = prediction_kernel(state, live);
    char bytes[32], sectors[48];
    if (!predicted) {
        snprintf(text, size, "L2 hits n/a");
        return;
    }
    const Prediction *p = prediction_of(state, predicted);
    unit_text(UNIT_BYTES, p->dram_read_bytes + p->dram_write_bytes, bytes, sizeof bytes);
    prediction_sectors(predicted, sectors, sizeof sectors);
    snprintf(text, size, "L2 hits %.1f %% of reads, DRAM %s, %s", 100 * p->hit_rate, bytes,
             sectors);
}

void prediction_origin(const LiveData *live, char *text, size_t size) {
    const BevKernel *kernel = live->job.config.kernel;
    if (kernel->where == BEV_CPU)
        snprintf(text, size, "Model, L2 warm. The CPU runs %s: its CUDA twin is meant.",
                 kernel->title);
    else
        snprintf(text, size, "Model, L2 warm.");
}
