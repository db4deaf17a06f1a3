/* SPDX-License-Identifier: MIT */
/* The accuracy job: the three gates of one kernel in one format, on the inputs of a frame. */
#include "src/accuracy/verify.h"
#include "src/live/background_job.h"

#include <stdlib.h>

/* The gates take 50 bytes of a value, and seconds of a large grid: the display leaves larger ones
 * unjudged. `bevscope verify` judges all. */
enum { JUDGED_VALUES = 12 << 20 };

static LiveVerdict live_verdict(GateVerdict verdict) {
    return verdict == GATE_PASS ? LIVE_PASS : verdict == GATE_FAIL ? LIVE_FAIL : LIVE_SKIP;
}

/* Copies a judged row of verify into the figures of the display. */
static void fill(LiveAccuracy *accuracy, const VerifyRow *row) {
    *accuracy = (LiveAccuracy){
        .source = SOURCE_MEASURED,
        .gate_a = live_verdict(row->kernel.verdict),
        .gate_b = live_verdict(row->format_verdict),
        .gate_c = row->adjoint.verdict == GATE_FAIL ? LIVE_FAIL : live_verdict(row->exact.verdict),
        .atol_1e2 = row->format.atol_1e2 ? LIVE_PASS : LIVE_FAIL,
        .max_abs = row->format.max_abs,
        .largest = row->format.largest,
        .rel_l2 = row->format.rel_l2,
        .rel_l2_limit = row->format.slack * gate_b_limits[row->config.dtype].rel_l2,
        .channels_l2 = row->format.channels_l2,
        .cosine = row->format.cosine,
        .nan_count = row->format.nan_count,
        .inf_count = row->format.inf_count,
        .left_out = row->format.left_out,
        .worst_cell = row->format.worst_cell,
        .output = row->config.kernel->direction == BEV_BACKWARD ? row->format.output : NULL,
    };
}

/* grad_out is that of `bevscope verify`, whatever the display shows. */
static bool set_grad_out(HostProblem *problem, float **values, Err *err) {
    *values = random_grad_out(&problem->view.shape, GRAD_OUT_SEED);
    return *values ? problem_set_grad_out(problem, *values, err)
                   : inputs_no_memory("accuracy", err);
}

static bool verify(const FrameInputs *inputs, const KernelConfig *config, VerifyRow *row,
                   Err *err) {
    HostProblem problem = {0};
    float *grad_out = NULL;
    bool ok = inputs_encode(&problem, inputs->features, inputs->map, config, err) &&
              (config->kernel->direction == BEV_FORWARD ||
               set_grad_out(&problem, &grad_out, err)) &&
              verify_one(&problem, config->kernel, row, err);
    problem_free(&problem);
    free(grad_out);
    return ok;
}

bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         LiveAccuracy *accuracy, Err *err) {
    VerifyRow row;
    const BevShape *shape = &inputs->features->shape;
    const double time_s = inputs->features->time_s;
    *accuracy = (LiveAccuracy){.worst_cell = -1, .time_s = time_s};
    if (shape->nx * shape->ny * shape->channels > JUDGED_VALUES) {
        *accuracy = live_unjudged(time_s);
        return true;
    }
    if (!verify(inputs, config, &row, err))
        return false;
    if (!row.skipped[0])
        fill(accuracy, &row);
    accuracy->time_s = time_s;
    return true;
}
