#include "src/live/recorded_live.h"

#include <math.h>
#include <stdio.h>

static Reading known(double value) {
    return isfinite(value) ? reading(value, SOURCE_RECORDED) : (Reading){.value = 0};
}

/* Of the recorded machine, for what the row touches. */
static double ceiling_gbps(const Recording *from, const RecordedRow *row) {
    const Gpu *gpu = gpu_of_device(from->label);
    return gpu ? limits_ceiling_gbps(&from->limits, row->footprint_mb * 1e6, gpu->l2_bytes) : NAN;
}

void recorded_show(const RecordedSet *set, const char *scene, int64_t channels, BevDtype dtype,
                   BevAlign align, LiveKernel *kernel) {
    const KernelConfig config = {kernel->kernel, dtype, align};
    const Recording *from = NULL;
    const RecordedRow *row = recorded_find(set, scene, channels, &config, CACHE_WARM, &from);
    kernel->median_us = known(row ? row->median_us : NAN);
    kernel->p95_us = known(row ? row->p95_us : NAN);
    kernel->p99_us = known(row ? row->p99_us : NAN);
    kernel->effective_gbps = known(row ? row->effective_gbps : NAN);
    kernel->ceiling_gbps = known(row ? ceiling_gbps(from, row) : NAN);
    snprintf(kernel->recorded_on, sizeof kernel->recorded_on, "%.*s",
             (int)sizeof kernel->recorded_on - 1, row ? from->label : "");
}
