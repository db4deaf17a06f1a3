/* Slow on purpose: eight faults of performance, planted in the default kernel of the model. A fault
 * changes the modelled terms, or how a frame is measured; none changes a sum. */
#pragma once

#include "src/cachesim/findings.h"

enum { SLOW_COUNT = 8 };

/* What can be seen of a frame: the terms of the kernel, its counters, and the timeline. */
typedef struct {
    Prediction prediction; /* L2 warm, unless that is the fault */
    double l2_sectors;
    int warps;        /* on a multiprocessor, at most; 0: not limited by a fault */
    int launches;     /* before the kernel, in each frame */
    double before_us; /* which they take */
    double kernel_us;
    double idle_us; /* of the GPU, until the next frame */
    double frame_us;
} SlowView;

typedef struct {
    const char *name;    /* in scripts: "cold-caches" */
    const char *title;   /* "cold caches" */
    const char *symptom; /* where it is seen */
    const char *why;     /* what happens, and the repair */
} SlowFault;

extern const SlowFault slow_faults[SLOW_COUNT];

/* The place of that name; -1: there is none. */
int slow_find(const char *name);

/* The fault behind a letter, 0 for A: another order for another seed. */
int slow_behind(int letter, uint64_t seed);

/* The kernel that the faults are planted in, the CUDA twin of the CPU's default, which every build
 * has; NULL: not replayed (yet). */
const PredictedKernel *slow_kernel(const MemoryModel *model, const Gpu *gpu);

/* A frame of that kernel with the fault; -1: without. */
SlowView slow_view(const MemoryModel *model, const PredictedKernel *kernel, int gpu,
                   const GpuEdit *edit, const IntervalLengths *lengths, int fault);
