/* SPDX-License-Identifier: MIT */
/* The GPU's part of LiveData: facts, sensors, read and copy bandwidths, hardware counters. In
 * builds without CUDA all facts stay unknown. */
#pragma once

#include "src/cachesim/limits.h"
#include "src/live/inputs.h"
#include "src/run/session.h"

typedef struct LiveGpu LiveGpu;

/* Opens the facts about the device in use; call it on the thread that runs kernels. NULL: there is
 * no device. */
LiveGpu *live_gpu_open(void);
void live_gpu_close(LiveGpu *gpu); /* accepts NULL */

/* Measures the ceilings: bandwidths of the L2 and of DRAM, FP32, tensor cores. Takes a tenth of a
 * second. Returns the ceilings, and in *row the GPU's row of gpus[]. NULL: nothing was measured, or
 * the table has no row for this GPU. */
const Limits *live_gpu_probe(LiveGpu *gpu, int *row);

/* Reads NVML's newest facts. Returns whether there are new ones since the last call. */
bool live_gpu_refresh(LiveGpu *gpu);

/* Fills in all known facts. The footprint in `memory` decides which bandwidth is the ceiling. */
void live_gpu_describe(const LiveGpu *gpu, const LiveMemory *memory, LiveDevice *device);

/* Fills in registers and theoretical occupancy of the session's launches. */
void live_gpu_kernel(Session *session, LiveKernel *row);

/* Pools `inputs` a few times and reads the hardware counters, in one pass of up to a second. Call
 * this on the thread that runs kernels, while nothing else uses the GPU. After a failure `counters`
 * is unchanged. */
bool live_gpu_count(const FrameInputs *inputs, const KernelConfig *config, LiveCounters *counters,
                    Err *err);

/* ---- scatter maps that the GPU builds, in pinned memory of the host -------------------------- */

/* Device memory that is kept for the next maps of the same size, for each align. A zeroed
 * MapBuilder is empty. */
typedef struct {
    struct ScatterGpu *gpu[BEV_ALIGN_COUNT];
    BevShape shape;
} MapBuilder;

/* Returns a maker that builds maps on the GPU, if the kernel of `where` runs there. */
MapMaker map_builder_maker(MapBuilder *builder, BevWhere where);
void map_builder_clear(MapBuilder *builder);
