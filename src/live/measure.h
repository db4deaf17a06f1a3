/* SPDX-License-Identifier: MIT */
/* Times the kernels of the ladder one after the other, in short slices on the engine's thread. A
 * kernel whose launch takes longer than a key can wait is timed on the background thread. */
#pragma once

#include "src/live/timed_kernel.h"

typedef struct Measure Measure;

/* Opens the measurement. `where` has the backends that run here. Kernels of other backends show
 * figures of `recorded`, which is borrowed. */
bool measure_open(Measure **measure, unsigned where, const RecordedSet *recorded, Err *err);
void measure_close(Measure *measure); /* accepts NULL */

/* Times kernels on these inputs from now on. On another problem (format, align, map, channels) all
 * figures become stale until they are measured again. New values of the same shape change nothing.
 * The time of the pipeline's launch in `live` is not shown, but tells whether the kernel is slow.
 * `live` receives the recorded figures of other kernels. */
void measure_aim(Measure *measure, const FrameInputs *inputs, const Job *job, LiveData *live);

/* measure_grid returns the job that pools the picture's grid of this configuration, which is the
 * selection or the baseline. JOB_NONE: there is nothing to do. While the world moves the job runs
 * only once, to learn the time of a launch. measure_take_grid takes the job's result. */
BackgroundJob measure_grid(Measure *measure, const KernelConfig *config, bool idle);
void measure_take_grid(Measure *measure, const BackgroundJob *job);

typedef enum {
    MEASURE_SELECTION, /* selection and baseline, until both have a figure */
    MEASURE_PAIRS,     /* selection and baseline in turns, until there are enough pairs */
    MEASURE_MISSING,   /* kernels without a figure */
    MEASURE_AGAIN      /* all kernels: figures that have to settle, or are a second old */
} MeasureScope;

/* Returns the kernel to time next, borrowed. NULL: there is nothing to do. A series that has begun
 * comes first. `idle`: nothing moves. */
TimedKernel *measure_next(Measure *measure, MeasureScope scope, bool idle);

/* measure_launch returns the job of a background launch of a slow kernel. measure_take_launch takes
 * the job's result. */
BackgroundJob measure_launch(Measure *measure, TimedKernel *timed);
void measure_take_launch(Measure *measure, const BackgroundJob *job, bool idle);

typedef enum { MEASURE_FAILED, MEASURE_MORE, MEASURE_NEWS } MeasureStep;

/* Works for some milliseconds on the timing of a fast kernel that measure_next() returned. The
 * first call encodes the problem, later calls launch the kernel in a row. NEWS: a figure is there.
 * FAILED: the kernel is not tried again on this problem. */
MeasureStep measure_slice(Measure *measure, TimedKernel *timed, bool idle, Err *err);

/* Whether a launch of this configuration, the selection or the baseline, may keep a key waiting. A
 * CPU kernel that never ran counts as slow. */
bool measure_is_slow(Measure *measure, const KernelConfig *config);

/* Notes whether other programs take many of the cores. Figures of CPU kernels that are timed
 * meanwhile are unsettled. */
void measure_note_load(Measure *measure, bool machine_busy);

/* Whether a figure lacks samples, or its launches waited for a core. */
bool measure_is_unfinished(const Measure *measure);

/* Fills in the kernels, the baseline and the speed-up. */
void measure_fill(Measure *measure, LiveData *live);
