/* SPDX-License-Identifier: MIT */
/* Times the kernels of the ladder one after the other: in short slices on the engine's thread, and
 * by jobs of the background thread where one launch takes longer than a key can wait. */
#pragma once

#include "src/live/timed_kernel.h"

typedef struct Measure Measure;

/* Opens the measurement. `where` has the backends that run here. Kernels of other backends show
 * what was recorded; those results are borrowed. */
bool measure_open(Measure **measure, unsigned where, const RecordedSet *recorded, Err *err);
void measure_close(Measure *measure); /* accepts NULL */

/* Times kernels on these inputs from now on. On another problem (format, align, map, channels) all
 * figures become stale until they are taken again; new values of the same shape change nothing.
 * The time of the pipeline's launch in `live` is no figure, but tells at once whether the kernel is
 * slow. `live` gets what was recorded of other kernels. */
void measure_aim(Measure *measure, const FrameInputs *inputs, const Job *job, LiveData *live);

/* Returns the job that pools the picture's grid of this configuration, the selection or the
 * baseline, and takes its result. While the world moves it runs once, to learn what it costs.
 * JOB_NONE: there is nothing to do. */
BackgroundJob measure_grid(Measure *measure, const KernelConfig *config, bool idle);
void measure_take_grid(Measure *measure, const BackgroundJob *job);

/* What to time: what the selection lacks (its figure, the baseline's figure); selection and
 * baseline in turns, until there are enough pairs; kernels without a figure; figures that have to
 * settle or are a second old. */
typedef enum { MEASURE_SELECTION, MEASURE_PAIRS, MEASURE_MISSING, MEASURE_AGAIN } MeasureScope;

/* Returns the kernel to time next, borrowed; NULL: nothing to do. A series that has begun comes
 * first. `idle`: nothing moves. */
TimedKernel *measure_next(Measure *measure, MeasureScope scope, bool idle);

/* Returns the job of a background launch, of a kernel that is slow, and its result. */
BackgroundJob measure_launch(Measure *measure, TimedKernel *timed);
void measure_take_launch(Measure *measure, const BackgroundJob *job, bool idle);

typedef enum { MEASURE_FAILED, MEASURE_MORE, MEASURE_NEWS } MeasureStep;

/* One slice of any other kernel of measure_next(), some milliseconds: its encoding, its prepare
 * step or a row of launches. NEWS: a figure is there. FAILED: `err` says why, and the kernel is not
 * tried again on this problem. */
MeasureStep measure_slice(Measure *measure, TimedKernel *timed, bool idle, Err *err);

/* Whether a launch of this configuration, the selection or the baseline, would keep a key waiting,
 * as far as is known. A CPU kernel that never ran would. */
bool measure_is_slow(Measure *measure, const KernelConfig *config);

/* Whether other programs take many of the cores, from now on: CPU kernels timed meanwhile are
 * unsettled. */
void measure_note_load(Measure *measure, bool machine_busy);

/* Whether a figure lacks samples, or its launches waited for a core. */
bool measure_is_unfinished(const Measure *measure);

/* Fills in the kernels, the baseline and the speed-up. */
void measure_fill(Measure *measure, LiveData *live);
