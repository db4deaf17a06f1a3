/* One thing that the live display times: a rung at the selection's format, or the baseline at its
 * own; its latest samples and the figures that follow from them. */
#ifndef BEV_TIMED_KERNEL_H
#define BEV_TIMED_KERNEL_H

#include "src/live/background_launch.h"
#include "src/run/session.h"
#include "src/state/live_data.h"

enum {
    RUNG_SAMPLES = 20,  /* before a median counts as settled */
    RUNG_FIRST_NEWS = 5 /* a first figure is shown after so many */
};

typedef struct {
    Choice choice;
    LiveKernel live;
    double samples_us[RUNG_SAMPLES];
    int count;      /* of the samples above */
    bool complete;  /* for the problem aimed at */
    bool failed;    /* on it */
    bool disturbed; /* pictures were made while the samples were taken */
    double cost_us; /* of the last launch; 0: unknown */
    double done_ms; /* when it was complete last; 0: not yet */
} TimedRung;

/* No sample any more; figures become stale. What a launch costs stays: it will be much the same, or
 * four times as much where every point goes to four cells. */
void rung_restart(TimedRung *rung, const Choice *choice);

/* Samples anew, none of them beside pictures. */
void rung_begin(TimedRung *rung);

/* Keeps the latest RUNG_SAMPLES. */
void rung_add_sample(TimedRung *rung, double us);

/* Median and percentiles of the samples, or of a series that was timed elsewhere. `own_bytes`: that
 * a launch moves by its own model; 0: unknown. */
void rung_publish_samples(TimedRung *rung, double own_bytes);
void rung_publish(TimedRung *rung, const Timing *timing, double own_bytes);

/* A sample of the lane. Those taken beside pictures (`disturbed`) give way to those taken alone. */
void rung_add_lane_sample(TimedRung *rung, const LaneSample *sample, bool disturbed);

/* Complete as of now: the median goes into the history. */
void rung_done(TimedRung *rung);

/* Whether it has a median of this problem. */
bool rung_has_figure(const TimedRung *rung);

/* Whether it is to be timed again; `still`: nothing moves. */
bool rung_due(const TimedRung *rung, bool still);

/* Whether nobody can wait for a launch, at this align, or that is not known yet. */
bool rung_is_slow(const TimedRung *rung, BevAlign align);

/* The same at its own. */
bool rung_needs_lane(const TimedRung *rung);

#endif
