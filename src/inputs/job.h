/* SPDX-License-Identifier: MIT */
/* A job: what to compute, for the display and for the commands. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/scales/cuts.h"
#include "src/scene/grid_loss.h"
#include "src/scene/operator/operator.h"
#include "src/scene/scatter.h"

/* The scales that encode the formats.
 *   IDEAL, CHANNEL            each frame's own; CHANNEL: INT8 features have one for each channel
 *   METHODS                   calibrated on a scene, by each method of src/scales/cuts.h
 *   CHANNEL_METHODS           calibrated in the same way; INT8 features have one for each channel
 *   FILE                      those of a file */
enum {
    SCALES_IDEAL,
    SCALES_CHANNEL,
    SCALES_METHODS,
    SCALES_CHANNEL_METHODS = SCALES_METHODS + SCALE_METHOD_COUNT,
    SCALES_FILE = SCALES_CHANNEL_METHODS + SCALE_METHOD_COUNT,
    SCALES_COUNT
};

/* The changes that a job makes to the scene's own map, depths and features. `temperature`
 * multiplies the scene's temperature of the depth distribution; 1 changes nothing. `balance`, 0 to
 * 1, balances the intervals (scatter_even), and `prune` leaves points out (scatter_prune).
 * `outlier` multiplies feature channel 0. `scales` is SCALES_..., and `scales_scene` the scene to
 * calibrate on; NULL: the job's scene. `rounding` says how points meet cells. Bit i of
 * `camera_mask` is 0 if camera i drops out. */
#define RIG_STATE                                                                                  \
    double temperature, balance;                                                                   \
    Prune prune;                                                                                   \
    double outlier;                                                                                \
    int scales;                                                                                    \
    const char *scales_scene;                                                                      \
    GridRounding rounding;                                                                         \
    uint32_t camera_mask;                                                                          \
    CameraError camera_errors[RIG_MAX_CAMERAS];
typedef struct {
    RIG_STATE
} RigState;

bool rig_state_equal(const RigState *a, const RigState *b);

enum { LOSS_ALL = LOSS_COUNT }; /* a loss on all cells, beside the kinds of grid_loss.h */

/* Everything that decides the results: two equal jobs give equal results. */
typedef struct {
    uint64_t serial; /* grows with every change; results carry the serial of their job */
    KernelConfig config;
    KernelConfig baseline; /* speed-ups and comparisons refer to it */
    bool pool_baseline;    /* a comparison is on: the baseline is pooled too */
    int scene;             /* index in StateMenu.scenes */
    int other; /* 1 + index of the scene that the baseline pools with the selection's kernel; 0: the
                  same scene */
    int64_t channels; /* 0: the scene's own number */
    double time_s;    /* time in the world or clip, from 0 */
    union {
        struct {
            RIG_STATE
        };
        RigState rig; /* the same fields by one name */
    };
    const char *scales_file; /* borrowed from the menu; NULL: none */
    /* features are made from photographs, in a world from its cameras' pictures */
    bool photo_features;
    OperatorChange sizes; /* of an operator scene */
    int64_t probe_cell;   /* the pinned cell, y * nx + x of the picture; -1: none */
    int slice;            /* slice of a grid with height that the picture shows (slice.h) */
    int loss;             /* backward: a LossKind on the pinned cell, or LOSS_ALL */
    bool steps; /* record the warps' steps on the pinned cell, or on the longest interval */
    const BevKernel *steps_kernels[2]; /* kernels to record; NULL: the selection's, the
                                          baseline's */
    int64_t steps_block;               /* record the warps of this block; -1: those of the cell */
    int steps_warp;                    /* record one warp of the block; -1: all */
    bool baseline_pinned;              /* false: `baseline` is the default, with the job's rig */
    RigState baseline_rig;             /* the rig when the baseline was pinned */
} Job;

/* Returns the method of one of SCALES_... SCALE_MAX: it has none. */
ScaleMethod scales_method(int scales);

/* Whether INT8 features get a scale for each channel. */
static inline bool scales_by_channel(int scales) {
    return scales == SCALES_CHANNEL || (scales >= SCALES_CHANNEL_METHODS && scales < SCALES_FILE);
}

/* Returns the format that the job's ranges are chosen for. FP32: the format does not matter. */
BevDtype scales_dtype(const Job *job);

/* Whether the baseline was pinned with another rig than the job's. */
static inline bool job_rigs_differ(const Job *job) {
    return job->baseline_pinned && !rig_state_equal(&job->baseline_rig, &job->rig);
}

/* Whether the baseline pools other inputs than the selection: another scene, or a pinned rig. */
static inline bool job_inputs_differ(const Job *job) {
    return job->other || job_rigs_differ(job);
}

/* Returns the job that pools the baseline: the selection's kernel on another scene, or the
 * baseline's kernel and rig on the selection's scene. */
Job job_of_baseline(const Job *job);

/* Writes a camera's faults in the job: ", dropout, yaw +3.0 deg". Returns false if it has none. */
bool camera_faults(const Job *job, int camera, char *text, size_t size);

/* Whether any camera has a fault. */
bool job_has_faults(const Job *job);

/* Returns the job of an unchanged scene, without a comparison. */
Job job_plain(void);

/* Returns `rig` with the job's rounding of points to cells and the cameras' errors. */
Rig job_rig(const Job *job, const Rig *rig);

/* Resets the job's cameras (no dropout, no calibration error), temperature (1) and outlier (1). */
void job_repair(Job *job);

/* ---- what is known of its scene -------------------------------------------------------------- */

/* Facts of the loaded scene. */
typedef struct {
    char name[64], title[128];
    int64_t nx, ny, channels; /* nx, ny: cells of the picture, that is of a slice or a side view */
    int64_t depth_bins;       /* bins of a pixel; 0: not loaded yet */
    bool has_rig;        /* the cameras are known: metres, dropout and calibration errors exist */
    double moment_s;     /* time between two moments of a clip; 0: no clip */
    int moments;         /* number of moments of a clip */
    bool photo_features; /* the features are made from photographs */
    bool has_truth;      /* boxes or LiDAR came with the scene */
    bool has_lidar;      /* a LiDAR sweep came with the scene, or the world makes one */
    bool has_world;      /* the scene is rendered and moves; channels and temperature can change */
    double loop_s;       /* its motion repeats after this time; 0: never */
    double judged_s;     /* the moment of the scene at which the display judges errors */
    unsigned aligns;     /* bit mask of the aligns that have a map */
    bool has_operator; /* made by a rule (operator.h), without cameras; sizes and skew can change */
    OperatorSpec operator_spec;
    int camera_count;
    char cameras[RIG_MAX_CAMERAS][32];
    Grid grid;                     /* grid of the picture; valid if has_rig */
    int64_t cells_x, rows, slices; /* cells of the grid; `rows` of one slice; 0 or 1 slices: flat */
    Grid whole;                    /* the whole grid; valid if has_rig and slices > 1 */
} SceneFacts;

/* Whether a camera may be delayed by delay_ms: in a world, or in a clip by less than its length. */
bool scene_allows_delay(const SceneFacts *scene, double delay_ms, Err *err);

/* Whether the scene is a world or a clip. Other scenes have one moment. */
static inline bool scene_moves(const SceneFacts *scene) {
    return scene->has_world || scene->moment_s > 0;
}
