/* SPDX-License-Identifier: MIT */
#include "src/cachesim/trace_internal.h"

#include "kernels/regime.h"

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

/* ---- a sample of the multiprocessors --------------------------------------------------------- */

static void scale_count(TraceCount *count, double factor) {
    *count = (TraceCount){factor * count->bytes, factor * count->requests, factor * count->sectors};
}

/* A sample has too few additions to tell which slice of the L2 is the busiest. On canonical the
 * busiest slice has so many times the additions of the mean slice. */
static const double BUSIEST = 1.2;

/* Scales the sums of the sampled multiprocessors to the whole GPU. The longest interval is that of
 * the map, which the sample may have missed. */
static void scale_counts(TraceCounts *counts, const BevProblem *problem, double factor) {
    double *const sums[] = {&counts->atomics,  &counts->steps,      &counts->l2_sectors,
                            &counts->l2_reads, &counts->l2_partial, &counts->additions};
    for (int array = 0; array < TRACE_ARRAY_COUNT; array++) {
        scale_count(&counts->read[array], factor);
        scale_count(&counts->write[array], factor);
    }
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] *= factor;
    counts->busiest = BUSIEST * counts->additions;
    bool whole = counts->form->owner == BEV_OWNS_INTERVAL || counts->form->owner == BEV_OWNS_CELL;
    if (!whole || counts->longest <= 0)
        return;
    const int64_t longest = bev_longest_interval(&problem->map);
    const double longer = (double)longest / (double)counts->slowest;
    TraceWaits *const waits[] = {&counts->indices, &counts->values};
    for (int i = 0; i < 2; i++)
        *waits[i] =
            (TraceWaits){(int32_t)(longer * waits[i]->beyond), (int32_t)(longer * waits[i]->first)};
    counts->longest = counts->slowest = longest;
}

/* ---- replay ---------------------------------------------------------------------------------- */

bool trace_replay(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err) {
    Memory memory = {.kernel = kernel,
                     .access = &kernel->access,
                     .problem = problem,
                     .counts = counts,
                     .with_reuse = reuse != NULL,
                     .watch = watch ? *watch : (TraceWatch){0},
                     .sample = watch && watch->sample > 1 ? watch->sample : 1};
    *counts = (TraceCounts){.form = &kernel->access};
    bool tiles = kernel->access.owner == BEV_OWNS_TILE;
    bool ok = (tiles ? tiles_replay : owners_replay)(&memory, err);
    memory_stop(&memory);
    if (ok && memory.sample > 1)
        scale_counts(counts, problem, memory.sample);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
