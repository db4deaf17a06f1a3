#include "src/live/live_counters.h"

#include "src/run/counters.h"
#include "src/scene/problem.h"

static void fill(LiveCounters *live, const KernelConfig *config, const Counters *counters) {
    *live = (LiveCounters){.source = SOURCE_MEASURED,
                           .config = *config,
                           .dram_bytes = counters_dram_bytes(counters),
                           .l2_sectors = counters->value[COUNTER_L2_SECTORS],
                           .l1_sectors = counters->value[COUNTER_L1_SECTORS],
                           .issue_percent = counters->value[COUNTER_ISSUE],
                           .occupancy_percent = counters->value[COUNTER_OCCUPANCY]};
}

bool live_counters_take(const FrameInputs *parts, const KernelConfig *config,
                        LiveCounters *counters, Err *err) {
    HostProblem problem = {0};
    Session *session = NULL;
    CounterReader *reader = NULL;
    Counters counted;
    if (config->kernel->where != BEV_CUDA)
        return err_set(err, ERR_FAILED, "counters", "choose backend cuda", "only a GPU has them");
    bool ok = problem_encode(&problem, &parts->features->shape, config->dtype, config->align,
                             &parts->features->values, &parts->map->map, err) &&
              session_open_once(&session, config->kernel, &problem.view, err) &&
              counters_open(&reader, COUNTERS_LIVE, err) &&
              counters_read(reader, session, &counted, err);
    if (ok)
        fill(counters, config, &counted);
    counters_close(reader);
    session_close(session);
    problem_free(&problem);
    return ok;
}
