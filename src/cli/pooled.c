#include "src/cli/selection.h"

#include "kernels/codec.h"

#include <stdlib.h>

static bool run_once(Pooled *pooled, LatencyWanted latency, Err *err) {
    const BevProblem *view = &pooled->problem.view;
    Session *session = NULL;
    Timing timing = {0};
    bool ok = session_open(&session, pooled->config.kernel, view, err) &&
              session_poison(session, err) && session_run(session, err) &&
              session_read(session, pooled->codes, err);
    if (ok && latency == LATENCY_MEASURED) {
        ok = session_time(session, CACHE_WARM, &timing_quick, &timing, err);
        pooled->latency_us = timing.median_us;
    }
    session_close(session);
    return ok;
}

static bool decode(Pooled *pooled, Err *err) {
    BevTensor out = pooled->problem.view.out;
    pooled->values = malloc((size_t)(out.rows * out.row_len) * sizeof *pooled->values);
    if (!pooled->values)
        return err_set(err, ERR_FAILED, "output", "choose a smaller grid", "out of memory");
    out.data = pooled->codes;
    bev_tensor_decode(&out, 0, out.rows, pooled->values);
    return true;
}

bool pooled_run(Pooled *pooled, Workload *workload, const char *scene, KernelConfig config,
                LatencyWanted latency, const RecordedSet *recorded, Err *err) {
    *pooled = (Pooled){.config = config};
    if (!workload_problem(workload, config.dtype, config.align, &pooled->problem, err))
        return false;
    const BevTensor *out = &pooled->problem.view.out;
    pooled->codes = malloc(bev_code_bytes(out->dtype, out->rows, out->row_len));
    if (!pooled->codes)
        return err_set(err, ERR_FAILED, "output", "choose a smaller grid", "out of memory");
    if (!run_once(pooled, latency, err) || !decode(pooled, err))
        return false;
    const Recording *from;
    const RecordedRow *row =
        latency == LATENCY_RECORDED
            ? recorded_find(recorded, scene, pooled->problem.view.shape.channels, &config,
                            CACHE_WARM, &from)
            : NULL;
    if (row) {
        pooled->latency_us = row->median_us;
        pooled->latency_recorded = true;
    }
    return true;
}

void pooled_free(Pooled *pooled) {
    problem_free(&pooled->problem);
    free(pooled->codes);
    free(pooled->values);
    *pooled = (Pooled){0};
}
