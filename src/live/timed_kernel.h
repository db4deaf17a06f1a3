/* SPDX-License-Identifier: MIT */
/* A kernel that the live display times, at the selection's format and align. A pinned baseline is
 * timed at its own format and align. Holds the latest samples and the figures of these samples. */
#pragma once

#include "src/live/background_job.h"
#include "src/run/recorded.h"

enum {
    TIMED_KERNEL_SAMPLES = 20,  /* so many samples complete a series */
    TIMED_KERNEL_FIRST_NEWS = 5 /* so many samples give a first figure */
};

typedef struct {
    KernelConfig config;
    LiveKernel live;
    struct {
        double us;
        bool waited; /* the launch waited for a core that another program had */
    } samples[TIMED_KERNEL_SAMPLES];
    int count;
    bool complete;     /* there are enough samples of this problem */
    bool failed;       /* the kernel cannot run this problem */
    bool disturbed;    /* pictures were made while the samples were taken */
    double cost_us;    /* the time of the last launch; 0: unknown */
    double own_bytes;  /* bytes of a launch by the traffic model; 0: not computed */
    uint64_t turn;     /* the number of its last turn among all kernels; 0: none yet */
    double done_ms;    /* when the figure was complete last; 0: not yet */
    double settled_ms; /* when a certain figure was complete last, with no picture made meanwhile */
} TimedKernel;

/* Begins another problem: there is no sample, and figures become stale. The time of a launch is
 * estimated from the last problem: four times as long if every point now goes to four cells. */
void timed_kernel_restart(TimedKernel *timed, const KernelConfig *config);

/* Adds a sample. The latest TIMED_KERNEL_SAMPLES are kept. `waited`: the launch waited for cores
 * that other programs had, and `us` is the CPU time of the launch's threads. */
void timed_kernel_add_sample(TimedKernel *timed, double us, bool waited);

/* Whether most samples waited. Their figure is unsettled. */
bool timed_kernel_waited(const TimedKernel *timed);

/* Publishes median and percentiles of the samples, or of a series that was timed elsewhere. Both
 * are warm series. `own_bytes`: the bytes of a launch by the traffic model; 0: unknown. */
void timed_kernel_publish_samples(TimedKernel *timed, double own_bytes);
void timed_kernel_publish(TimedKernel *timed, const Timing *timing, double own_bytes);

/* Adds a launch of the background thread. Launches while rendering (`disturbed`) are dropped once
 * there is an undisturbed launch. machine_busy: other programs had cores. */
void timed_kernel_add_launch(TimedKernel *timed, const BackgroundJob *job, bool disturbed,
                             bool machine_busy);

/* Counts a turn of the kernel, and notes when it ended. */
void timed_kernel_done(TimedKernel *timed);

/* Whether the kernel has a median of this problem. */
bool timed_kernel_has_figure(const TimedKernel *timed);

/* Whether the kernel must be timed again. `idle`: nothing moves. */
bool timed_kernel_due(const TimedKernel *timed, bool idle);

/* Whether a launch at this align takes longer than a key can wait, or was never tried. The
 * background thread launches slow kernels. */
bool timed_kernel_is_slow(const TimedKernel *timed, BevAlign align);
bool timed_kernel_needs_background(const TimedKernel *timed); /* the same at its own align */

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The speed-up of the selection over the baseline. The two are timed in turns, so that a machine
 * that is slow for a while is slow for both. */
enum { PAIRS_ENOUGH = 5, PAIRS_KEPT = 15 };

typedef struct {
    double ratios[PAIRS_KEPT]; /* baseline over selection, the oldest first */
    int count;
    double half_us;        /* the first time of a pair; 0: no pair is half done */
    bool half_is_baseline; /* half_us is of the baseline */
    bool told;             /* a ratio was shown: a ratio stays, though doubtful at times */
} Pairs;

/* Adds a time of the baseline or of the selection. A time of each in a row is a pair and makes a
 * ratio. Of two times of the same kernel in a row the newer one counts. */
void pairs_add(Pairs *pairs, bool is_baseline, double us);

/* Fills in median, range and number of the ratios. If the ratios scatter, the median is doubtful.
 * False: there are fewer ratios than PAIRS_ENOUGH, or all ratios so far, fewer than PAIRS_KEPT,
 * scatter. Then only their number is filled in, and whether they scatter. */
bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup);

/* ---- recorded figures ------------------------------------------------------------------------ */

/* The recorded results of a scene with this number of channels. */
typedef struct {
    const RecordedSet *set;
    const char *scene; /* its name; "": no recording has it */
    int64_t channels;
    const char *like; /* the configuration that has the same map; "": none */
} RecordedScene;

/* Returns the recorded scene of these inputs: none where their map is not the scene's own, as with
 * a calibration error. */
RecordedScene recorded_scene(const RecordedSet *set, const FrameInputs *inputs);

/* Fills in the recorded figures of live->kernel with warm caches. Others become unknown. */
void timed_kernel_show_recorded(RecordedScene of, BevDtype dtype, BevAlign align, LiveKernel *live);

/* Fills the ratio of the recorded medians of the job's baseline and selection. Unknown: no
 * recording has both. A kernel beside itself has 1. */
void timed_kernel_recorded_speedup(RecordedScene of, const Job *job, LiveSpeedup *speedup);

/* Fills live->elsewhere with the recorded figures of kernels that are not timed here. */
void timed_kernel_fill_elsewhere(RecordedScene of, const KernelConfig *config, LiveData *live);

/* As timed_kernel_show_recorded, for a kernel that is not timed yet. Without a recording the
 * measurement of an earlier problem stays. */
void timed_kernel_stand_in(RecordedScene of, const KernelConfig *config, LiveKernel *live);

/* Fills in recorded figures of the job's kernels, its baseline and their speed-up: for scripts and
 * figures, which measure nothing. */
void timed_kernel_fill_recorded(const RecordedSet *set, const FrameInputs *inputs, const Job *job,
                                LiveData *live);
