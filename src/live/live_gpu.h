/* SPDX-License-Identifier: MIT */
/* The GPU's part of LiveData: its facts, its sensors, its read and copy bandwidths, its hardware
 * counters. Facts that cannot be found out stay unknown; in builds without CUDA all of them. */
#pragma once

#include "src/cachesim/limits.h"
#include "src/live/inputs.h"
#include "src/run/session.h"

typedef struct LiveGpu LiveGpu;

/* Opens the facts about the device in use; call it on the thread that runs kernels. NULL: there is
 * no device. */
LiveGpu *live_gpu_open(void);
void live_gpu_close(LiveGpu *gpu); /* accepts NULL */

/* Measures the ceilings: bandwidths within the L2 and far beyond it, FP32, tensor cores. Takes a
 * tenth of a second. Returns those of the GPU in row `*row` of gpus[]; NULL: none were measured, or
 * the table has no row for this GPU. */
const Limits *live_gpu_probe(LiveGpu *gpu, int *row);

/* Takes over NVML's newest facts: whether there are any since the last call. */
bool live_gpu_refresh(LiveGpu *gpu);

/* Fills in all that is known; `memory` decides which ceiling applies. */
void live_gpu_describe(const LiveGpu *gpu, const LiveMemory *memory, LiveDevice *device);

/* Fills in registers and theoretical occupancy of the session's launches. */
void live_gpu_kernel(Session *session, LiveKernel *row);

/* Pools `inputs` a few times and reads the hardware counters, in one pass of up to a second. Call
 * it on the thread that runs kernels, while no other does. On failure `counters` is unchanged. */
bool live_gpu_count(const FrameInputs *inputs, const KernelConfig *config, LiveCounters *counters,
                    Err *err);
