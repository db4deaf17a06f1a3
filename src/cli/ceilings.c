#include "src/cli/ceilings.h"

#include "config.h"

#include <string.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

/* Once for all charts of a page. A device that does not work is for other commands to complain
 * about: charts need none. */
static const Limits *measured(const Options *options, const Gpu *gpu) {
    static DeviceInfo info;
    static Limits limits;
    static enum { UNKNOWN, NO, YES } here;
    if (here == UNKNOWN) {
        bool allowed = strcmp(options->device, "cpu") != 0;
        here = allowed && device_open(0, NULL) && device_info(&info, NULL) &&
                       probe_limits(PROBE_ALL, &limits, NULL)
                   ? YES
                   : NO;
    }
    return here == YES && gpu_of_device(info.name) == gpu_find(gpu->name) ? &limits : NULL;
}
#else
static const Limits *measured(const Options *options, const Gpu *gpu) {
    (void)options, (void)gpu;
    return NULL;
}
#endif

Limits ceilings_of(const Options *options, const LabGpus *known, const Gpu *gpu,
                   FigureSource *source) {
    const Limits *here = gpu_find(gpu->name) ? measured(options, gpu) : NULL;
    Limits limits = here ? *here : recorded_limits(&known->recorded, gpu);
    *source = here ? SOURCE_MEASURED : limits_any(&limits) ? SOURCE_RECORDED : SOURCE_UNKNOWN;
    return limits;
}
