#include "src/cachesim/trace_internal.h"

bool trace_replay(const AccessPattern *pattern, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err) {
    Memory memory = {.pattern = pattern,
                     .problem = problem,
                     .counts = counts,
                     .one_in = watch ? watch->one_in : 0};
    *counts = (TraceCounts){.form = pattern};
    bool (*walk)(Memory *, bool, const TraceWatch *, Err *) =
        pattern->owner == OWN_TILE ? tiles_walk : owners_walk;
    bool ok = walk(&memory, reuse != NULL, watch, err);
    memory_stop(&memory);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
