/* Times the kernels in turn, one short slice at a call, between the frames of the live display. */
#ifndef BEV_MEASURE_H
#define BEV_MEASURE_H

#include "src/live/pipeline.h"

typedef struct Measure Measure;

/* `where`: backends that run here. Kernels of others show what was recorded, if anything was.
 * `wake` is called from another thread when a slow launch is done. */
bool measure_open(Measure **measure, unsigned where, void (*wake)(void *context), void *context,
                  Err *err);
void measure_close(Measure *measure); /* accepts NULL */

/* From now on times kernels on what `parts` show. Where the problem is another one (format, align,
 * map, channels), all figures become stale until they are taken again; new contents of the same
 * shape change nothing. */
void measure_aim(Measure *measure, const FrameInputs *parts, const Job *job);

/* The pipeline has launched the selection anyway, which took this long. Beside a slow launch that
 * only counts where nothing better is known. */
void measure_observe(Measure *measure, double launch_us);

typedef enum { MEASURE_REST, MEASURE_MORE, MEASURE_NEWS } MeasureStep;

/* At most one encoding, one prepare step or one short row of launches. Launches that a picture
 * cannot wait for run on a thread of their own (lane.h), meanwhile nothing else is timed; beside
 * pictures (not `still`) they count as unsettled until they are repeated. REST: nothing to do now.
 * NEWS: a figure is there. A kernel that fails is not tried again on this problem; `err` then says
 * why, `failed` is set. */
MeasureStep measure_step(Measure *measure, bool still, bool *failed, Err *err);

/* Whether a launch of this choice, the selection's or the baseline's, would keep a key waiting, as
 * far as is known: on the CPU one that was never run would. */
bool measure_is_slow(Measure *measure, const KernelConfig *config);

/* The next slow launch is to be of this choice, the selection's or the baseline's, and to leave its
 * grid behind; NULL: none wanted. */
void measure_want_grid(Measure *measure, const KernelConfig *config);

/* Whether it is still to come. */
bool measure_owes_grid(Measure *measure);

/* The caller's share of it; NULL: not there (yet). */
PooledGrid *measure_take_grid(Measure *measure);

/* Whether the selection has a figure of its own. */
bool measure_knows_selection(const Measure *measure);

/* Whether a slow launch runs: what is timed meanwhile would be off. */
bool measure_busy(const Measure *measure);

/* Kernels and the baseline's latency. */
void measure_fill(const Measure *measure, LiveData *live);

#endif
