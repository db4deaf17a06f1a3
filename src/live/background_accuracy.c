/* SPDX-License-Identifier: MIT */
/* The accuracy job: the three gates of one kernel in one format, on the inputs of a frame. */
#include "src/accuracy/fp64.h"
#include "src/base/ref.h"
#include "src/live/background_job.h"

#include <math.h>
#include <stdlib.h>

/* The gates take 50 bytes for each value, and seconds for a large grid. The display does not judge
 * larger grids; `bevscope verify` does. */
enum { JUDGED_VALUES = 12 << 20 };

static LiveVerdict live_verdict(GateVerdict verdict) {
    return verdict == GATE_PASS ? LIVE_PASS : verdict == GATE_FAIL ? LIVE_FAIL : LIVE_SKIP;
}

/* Copies a judged row of verify into the figures of the display. */
static void fill_accuracy(LiveAccuracy *accuracy, const VerifyRow *row) {
    *accuracy = (LiveAccuracy){
        .source = SOURCE_MEASURED,
        .gate_b = live_verdict(row->format_verdict),
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

void judge_clear(Judge *judge) {
    gates_close(judge->gates);
    problem_free(&judge->problem);
    free(judge->grad_out);
    ref_drop(judge->features);
    ref_drop(judge->map);
    *judge = (Judge){.gates = NULL};
}

/* Returns the largest change of an output by pruned points. 0: nothing is pruned, or the kernel
 * does not pool. */
static double prune_change(const FrameInputs *inputs, const KernelConfig *config) {
    const bool pools =
        config->kernel->direction == BEV_FORWARD && config->kernel->stage == BEV_POOL;
    const double change = pools ? fp64_prune_change(inputs->map, inputs->features) : NAN;
    return isfinite(change) ? change : 0;
}

/* Sets the random grad_out of `bevscope verify`, which need not be the loss that is shown. */
static bool set_grad_out(Judge *judge, Err *err) {
    judge->grad_out = random_grad_out(&judge->problem.view.shape, GRAD_OUT_SEED);
    return judge->grad_out ? problem_set_grad_out(&judge->problem, judge->grad_out, err)
                           : err_no_memory(err, "accuracy", "choose a smaller scene");
}

/* Whether the judge has FP64 references of these inputs. */
static bool is_ready(const Judge *judge, const FrameInputs *inputs, const KernelConfig *config) {
    const BevProblem *view = &judge->problem.view;
    return judge->gates && judge->features == inputs->features && judge->map == inputs->map &&
           view->dtype == config->dtype && view->align == config->align &&
           view->direction == config->kernel->direction && view->stage == config->kernel->stage;
}

/* Makes the judge's FP64 references of these inputs. */
static bool make_ready(Judge *judge, const FrameInputs *inputs, const KernelConfig *config,
                       Err *err) {
    if (is_ready(judge, inputs, config))
        return true;
    judge_clear(judge);
    judge->features = ref_keep(inputs->features);
    judge->map = ref_keep(inputs->map);
    bool ok = inputs_encode(&judge->problem, inputs->features, inputs->map, config, err) &&
              (config->kernel->direction == BEV_FORWARD || set_grad_out(judge, err));
    judge->gates = ok ? gates_open(&judge->problem, err) : NULL;
    judge->prune_change = ok ? prune_change(inputs, config) : 0;
    return judge->gates != NULL;
}

bool judge_accuracy(Judge *judge, const FrameInputs *inputs, const KernelConfig *config,
                    GateSet gates, const GiveUp *give_up, LiveAccuracy *accuracy, Err *err) {
    VerifyRow row = {.scene = ""};
    const BevShape *shape = &inputs->features->shape;
    const double time_s = inputs->features->time_s;
    *accuracy = (LiveAccuracy){.worst_cell = -1, .time_s = time_s};
    if (shape->nx * shape->ny * shape->channels > JUDGED_VALUES) {
        *accuracy = live_unjudged(time_s);
        return true;
    }
    if (!make_ready(judge, inputs, config, err) ||
        !gates_judge(judge->gates, config->kernel, gates, give_up, &row, err))
        return false;
    const bool judged = !row.skipped[0];
    if (judged && gates & GATE_B) {
        fill_accuracy(accuracy, &row);
        accuracy->prune_change = judge->prune_change;
    }
    if (judged && gates & GATE_A)
        accuracy->gate_a = live_verdict(row.kernel.verdict);
    if (judged && gates & GATE_C)
        accuracy->gate_c =
            row.adjoint.verdict == GATE_FAIL ? LIVE_FAIL : live_verdict(row.exact.verdict);
    accuracy->time_s = time_s;
    return true;
}

bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         LiveAccuracy *accuracy, Err *err) {
    Judge judge = {.gates = NULL};
    bool ok = judge_accuracy(&judge, inputs, config, GATES_ALL, NULL, accuracy, err);
    judge_clear(&judge);
    return ok;
}
