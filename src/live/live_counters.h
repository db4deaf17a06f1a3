/* The hardware counters of the selection, when somebody asks for them in the live display. */
#ifndef BEV_LIVE_COUNTERS_H
#define BEV_LIVE_COUNTERS_H

#include "src/live/pipeline.h"

/* Pools `parts` some times with `choice` and counts, in one pass; takes up to a second. For the
 * thread that runs kernels, while no other does. On failure `counters` stays as it was. */
bool live_counters_take(const FrameInputs *parts, const KernelConfig *config,
                        LiveCounters *counters, Err *err);

#endif
