#include "src/live/live_counters.h"

#include "src/run/counters.h"
#include "src/scene/problem.h"

static void fill(LiveCounters *live, const Choice *choice, const Counters *counters) {
    *live = (LiveCounters){.source = SOURCE_MEASURED,
                           .choice = *choice,
                           .dram_bytes = counters_dram_bytes(counters),
                           .l2_sectors = counters->value[COUNTER_L2_SECTORS],
                           .l1_sectors = counters->value[COUNTER_L1_SECTORS],
                           .issue_percent = counters->value[COUNTER_ISSUE],
                           .occupancy_percent = counters->value[COUNTER_OCCUPANCY]};
}

bool live_counters_take(const FrameParts *parts, const Choice *choice, LiveCounters *counters,
                        Err *err) {
    HostProblem problem = {0};
    Session *session = NULL;
    CounterReader *reader = NULL;
    Counters counted;
    if (choice->variant->where != BEV_CUDA)
        return err_set(err, ERR_FAILED, "counters", "choose backend cuda", "only a GPU has them");
    bool ok = problem_encode(&problem, &parts->features->shape, choice->dtype, choice->align,
                             &parts->features->values, &parts->map->map, err) &&
              session_open_once(&session, choice->variant, &problem.view, err) &&
              counters_open(&reader, COUNTERS_LIVE, err) &&
              counters_read(reader, session, &counted, err);
    if (ok)
        fill(counters, choice, &counted);
    counters_close(reader);
    session_close(session);
    problem_free(&problem);
    return ok;
}
