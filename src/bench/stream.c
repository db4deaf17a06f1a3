#include "src/bench/stream_walks.h"

bool stream_walk(const StreamRung *rung, const BevProblem *problem, const StreamWatch *watch,
                 StreamCounts *counts, Reuse **reuse, Err *err) {
    Memory memory = {.rung = rung, .problem = problem, .counts = counts};
    *counts = (StreamCounts){0};
    bool ok = owners_walk(&memory, reuse != NULL, watch, err);
    memory_stop(&memory);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
