/* SPDX-License-Identifier: MIT */
/* One kernel that the live display times: at the selection's format and align, or the baseline at
 * its own. Holds the latest samples and the figures that follow from them. */
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
        bool waited; /* for a core that another program had */
    } samples[TIMED_KERNEL_SAMPLES];
    int count;
    bool complete;     /* there are enough samples of this problem */
    bool failed;       /* it cannot run this problem */
    bool disturbed;    /* pictures were made while the samples were taken */
    double cost_us;    /* of the last launch; 0: unknown */
    double own_bytes;  /* of a launch by the kernel's traffic model; 0: not computed */
    uint64_t turn;     /* number of its last turn among all kernels; 0: none yet */
    double done_ms;    /* when it was complete last; 0: not yet */
    double settled_ms; /* when its figure settled last, undisturbed */
} TimedKernel;

/* Begins another problem: there is no sample, and figures become stale. What a launch costs is
 * estimated from the last problem: four times as much where every point goes to four cells. */
void timed_kernel_restart(TimedKernel *timed, const KernelConfig *config);

/* Keeps the latest TIMED_KERNEL_SAMPLES. A sample that `waited` for cores that other programs had
 * is the time of its threads by their CPU clocks. */
void timed_kernel_add_sample(TimedKernel *timed, double us, bool waited);

/* Whether most samples waited. Their figure is unsettled. */
bool timed_kernel_waited(const TimedKernel *timed);

/* Publishes median and percentiles of the samples, or of a series that was timed elsewhere; both
 * are warm series. `own_bytes`: what a launch moves by the kernel's traffic model; 0: unknown. */
void timed_kernel_publish_samples(TimedKernel *timed, double own_bytes);
void timed_kernel_publish(TimedKernel *timed, const Timing *timing, double own_bytes);

/* Adds a launch of the background thread. Launches while rendering (`disturbed`) give way to
 * undisturbed ones. machine_busy: other programs had cores. */
void timed_kernel_add_launch(TimedKernel *timed, const BackgroundJob *job, bool disturbed,
                             bool machine_busy);

/* Notes the time, and that the kernel had its turn. */
void timed_kernel_done(TimedKernel *timed);

/* Whether it has a median of this problem. */
bool timed_kernel_has_figure(const TimedKernel *timed);

/* Whether to time it again; `idle`: nothing moves. */
bool timed_kernel_due(const TimedKernel *timed, bool idle);

/* Whether a launch at this align takes longer than a key can wait, or was never tried. Such a
 * kernel is launched by the background thread. */
bool timed_kernel_is_slow(const TimedKernel *timed, BevAlign align);
bool timed_kernel_needs_background(const TimedKernel *timed); /* the same at its own align */

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

/* Fills in what was recorded of live->kernel, with warm caches; unknown where nothing was. */
void timed_kernel_show_recorded(RecordedScene of, BevDtype dtype, BevAlign align, LiveKernel *live);

/* Fills the ratio of the recorded medians of the job's baseline and selection. Unknown: no
 * recording has both. A kernel beside itself has 1. */
void timed_kernel_recorded_speedup(RecordedScene of, const Job *job, LiveSpeedup *speedup);

/* Fills live->elsewhere with what was recorded of the kernels that are not timed here. */
void timed_kernel_fill_elsewhere(RecordedScene of, const KernelConfig *config, LiveData *live);

/* As timed_kernel_show_recorded, for a kernel that is not timed yet. Without a recording the
 * measurement of an earlier problem stays. */
void timed_kernel_stand_in(RecordedScene of, const KernelConfig *config, LiveKernel *live);

/* Fills in the job's kernels, its baseline and their speed-up with what was recorded: for scripts
 * and figures, which measure nothing. */
void timed_kernel_fill_recorded(const RecordedSet *set, const FrameInputs *inputs, const Job *job,
                                LiveData *live);
