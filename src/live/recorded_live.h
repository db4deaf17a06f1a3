/* Recorded figures for the display, on machines that cannot run a kernel. */
#ifndef BEV_RECORDED_LIVE_H
#define BEV_RECORDED_LIVE_H

#include "src/run/recorded.h"
#include "src/state/live_data.h"

/* Fills in what was recorded of kernel->kernel, warm, on a scene with so many channels; unknown
 * where nothing was. */
void recorded_show(const RecordedSet *set, const char *scene, int64_t channels, BevDtype dtype,
                   BevAlign align, LiveKernel *row);

#endif
