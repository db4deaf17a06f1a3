#include "src/cachesim/trace_internal.h"

bool stream_walk(const StreamRung *rung, const BevProblem *problem, const StreamWatch *watch,
                 StreamCounts *counts, Reuse **reuse, Err *err) {
    Memory memory = {.rung = rung,
                     .problem = problem,
                     .counts = counts,
                     .one_in = watch ? watch->one_in : 0};
    *counts = (StreamCounts){.form = rung};
    bool (*walk)(Memory *, bool, const StreamWatch *, Err *) =
        rung->owner == OWN_TILE ? tiles_walk : owners_walk;
    bool ok = walk(&memory, reuse != NULL, watch, err);
    memory_stop(&memory);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
