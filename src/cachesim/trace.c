#include "src/cachesim/trace_internal.h"

const char *const trace_arrays[TRACE_ARRAY_COUNT] = {
    [TRACE_FEAT] = "features", [TRACE_DEPTH] = "depth",    [TRACE_RANKS] = "ranks",
    [TRACE_OWNERS] = "owners", [TRACE_WEIGHT] = "weights", [TRACE_OUT] = "output",
    [TRACE_SUMS] = "sums",
};

const BevKernel *traced_kernel(int place) {
    int count = 0;
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->access.owner && count++ == place)
            return bev_kernels[i];
    return NULL;
}

int traced_place(const BevKernel *kernel) {
    int place = 0;
    while (traced_kernel(place) && traced_kernel(place) != kernel)
        place++;
    return traced_kernel(place) ? place : -1;
}

/* ---- replay ---------------------------------------------------------------------------------- */

bool trace_replay(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err) {
    Memory memory = {.kernel = kernel,
                     .access = &kernel->access,
                     .problem = problem,
                     .counts = counts,
                     .with_reuse = reuse != NULL,
                     .watch = watch,
                     .recorder = watch ? watch->recorder : NULL,
                     .scheduler = watch ? watch->scheduler : NULL};
    *counts = (TraceCounts){.form = &kernel->access};
    bool tiles = kernel->access.owner == BEV_OWNS_TILE;
    bool ok = (tiles ? tiles_replay : owners_replay)(&memory, err);
    memory_stop(&memory);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
