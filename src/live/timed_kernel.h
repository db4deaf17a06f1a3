/* One thing that the live display times: a kernel at the selection's format, or the baseline at its
 * own; its latest samples and the figures that follow from them. */
#ifndef BEV_TIMED_KERNEL_H
#define BEV_TIMED_KERNEL_H

#include "src/live/background_launch.h"
#include "src/run/session.h"
#include "src/state/live_data.h"

enum {
    TIMED_KERNEL_SAMPLES = 20,  /* before a median counts as settled */
    TIMED_KERNEL_FIRST_NEWS = 5 /* a first figure is shown after so many */
};

typedef struct {
    KernelConfig config;
    LiveKernel live;
    double samples_us[TIMED_KERNEL_SAMPLES];
    int count;      /* of the samples above */
    bool complete;  /* for the problem aimed at */
    bool failed;    /* on it */
    bool disturbed; /* pictures were made while the samples were taken */
    double cost_us; /* of the last launch; 0: unknown */
    double done_ms; /* when it was complete last; 0: not yet */
} TimedKernel;

/* No sample any more; figures become stale. What a launch costs stays: it will be much the same, or
 * four times as much where every point goes to four cells. */
void timed_kernel_restart(TimedKernel *timed, const KernelConfig *config);

/* Samples anew, none of them beside pictures. */
void timed_kernel_begin(TimedKernel *timed);

/* Keeps the latest TIMED_KERNEL_SAMPLES. */
void timed_kernel_add_sample(TimedKernel *timed, double us);

/* Median and percentiles of the samples, or of a series that was timed elsewhere. `own_bytes`: that
 * a launch moves by its own model; 0: unknown. */
void timed_kernel_publish_samples(TimedKernel *timed, double own_bytes);
void timed_kernel_publish(TimedKernel *timed, const Timing *timing, double own_bytes);

/* A sample of the lane. Those taken beside pictures (`disturbed`) give way to those taken alone. */
void timed_kernel_add_lane_sample(TimedKernel *timed, const LaneSample *sample, bool disturbed);

/* Complete as of now: the median goes into the history. */
void timed_kernel_done(TimedKernel *timed);

/* Whether it has a median of this problem. */
bool timed_kernel_has_figure(const TimedKernel *timed);

/* Whether it is to be timed again; `still`: nothing moves. */
bool timed_kernel_due(const TimedKernel *timed, bool still);

/* Whether nobody can wait for a launch, at this align, or that is not known yet. */
bool timed_kernel_is_slow(const TimedKernel *timed, BevAlign align);

/* The same at its own. */
bool timed_kernel_needs_lane(const TimedKernel *timed);

#endif
