/* The accuracy job: the three gates of one kernel in one format, on the inputs of a frame. */
#include "src/accuracy/fp64.h"
#include "src/accuracy/verify.h"
#include "src/live/background_job.h"

#include <math.h>
#include <stdlib.h>

static LiveVerdict live_verdict(GateVerdict verdict) {
    return verdict == GATE_PASS ? LIVE_PASS : verdict == GATE_FAIL ? LIVE_FAIL : LIVE_SKIP;
}

static void fill(LiveAccuracy *accuracy, const VerifyRow *row) {
    *accuracy = (LiveAccuracy){
        .source = SOURCE_MEASURED,
        .gate_a = live_verdict(row->kernel.verdict),
        .gate_b = live_verdict(row->format_verdict),
        .gate_c = row->adjoint.verdict == GATE_FAIL ? LIVE_FAIL : live_verdict(row->exact.verdict),
        .atol_1e2 = row->format.atol_1e2 ? LIVE_PASS : LIVE_FAIL,
        .max_abs = row->format.max_abs,
        .rel_l2 = row->format.rel_l2,
        .cosine = row->format.cosine,
        .nan_count = row->format.nan_count + row->kernel.nan_both,
        .inf_count = row->format.inf_count,
        .worst_cell = row->format.worst_cell,
        .output = row->config.kernel->direction == BEV_BACKWARD ? row->format.output : NULL,
    };
}

/* grad_out is that of `bevscope verify`, whatever the display shows. */
static bool verify_backward(Workload *workload, const KernelConfig *config, VerifyRow *row,
                            Err *err) {
    double *fp64_original = workload_draw_grad_out(workload, err)
                                ? fp64_gradients_of(workload, config->align, err)
                                : NULL;
    bool ok = fp64_original && verify_one(workload, config, fp64_original, row, err);
    free(fp64_original);
    free(workload->grad_out);
    return ok;
}

/* Values of a part of a large grid: the gates take some 50 bytes for each. */
static const int64_t PART_VALUES = 1 << 20;

/* Runs the gates on a workload that borrows all it has from the inputs, and is never closed. */
static bool verify(const FrameInputs *inputs, const KernelConfig *config, const GiveUp *give_up,
                   VerifyRow *row, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    Workload workload = {.scene = inputs->scene->scene, .features = inputs->features->values};
    workload.scene.shape = *shape;
    workload.scene.has_rig = true;
    workload.scene.has_map = false;
    workload.maps[config->align] = inputs->map->map;
    workload.map_us[config->align] = 1;
    if (config->kernel->direction == BEV_BACKWARD)
        return verify_backward(&workload, config, row, err);
    if (inputs_large(shape, inputs->map)) {
        int64_t rows = PART_VALUES / (shape->nx * shape->channels);
        return verify_in_parts(&workload, config, rows ? rows : 1, give_up, row, err);
    }
    double *fp64_original =
        malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof *fp64_original);
    if (!fp64_original)
        return inputs_no_memory("accuracy", err);
    fp64_pool(shape, &inputs->map->map, &inputs->features->values, fp64_original);
    bool ok = verify_one(&workload, config, fp64_original, row, err);
    free(fp64_original);
    return ok;
}

bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         const GiveUp *give_up, LiveAccuracy *accuracy, Err *err) {
    VerifyRow row;
    *accuracy = (LiveAccuracy){.worst_cell = -1};
    /* Gradients are judged whole: those of a large grid would break the memory budget. */
    if (config->kernel->direction == BEV_BACKWARD &&
        inputs_large(&inputs->features->shape, inputs->map)) {
        *accuracy = (LiveAccuracy){SOURCE_MEASURED, false, LIVE_SKIP, LIVE_SKIP, LIVE_SKIP, LIVE_SKIP,
                                   NAN, NAN, NAN, .worst_cell = -1};
        return true;
    }
    if (!verify(inputs, config, give_up, &row, err))
        return false;
    if (!row.skipped[0])
        fill(accuracy, &row);
    return true;
}
