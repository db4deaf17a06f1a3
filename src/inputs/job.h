/* What to compute: one job for the display and for the commands. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/scales/cuts.h"
#include "src/scene/grid_loss.h"
#include "src/scene/operator/operator.h"
#include "src/scene/scatter.h"

/* By which scales formats are encoded: ideal, of the very frame, of INT8 features one a tensor or
 * one a channel; by a method of src/scales/cuts.h, calibrated on the scene, the same way; or by
 * those of a file. */
enum {
    SCALES_IDEAL,
    SCALES_CHANNEL,
    SCALES_METHODS,
    SCALES_CHANNEL_METHODS = SCALES_METHODS + SCALE_METHOD_COUNT,
    SCALES_FILE = SCALES_CHANNEL_METHODS + SCALE_METHOD_COUNT,
    SCALES_COUNT
};

/* What a job does to the scene's own map, depths and features: `temperature` of the depth
 * distribution, times the scene's own, 1 as rendered; `evenness` of the intervals, 0 to 1:
 * scatter_even(); the points that are left out: scatter_prune(); a factor of feature channel 0, 1
 * none; SCALES_IDEAL ..., and the scene of the menu that methods are calibrated on, NULL this one;
 * how points meet cells; bit i of the mask: camera i is clean. */
#define RIG_STATE                                                                                  \
    double temperature, evenness;                                                                  \
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

enum { LOSS_ALL = LOSS_COUNT }; /* beside the kinds of grid_loss.h: a loss on all cells */

/* Everything that decides the results: two equal jobs give equal results. */
typedef struct {
    uint64_t serial; /* grows with every change; the results of the job carry it */
    KernelConfig config;
    KernelConfig baseline; /* what speed-ups and comparisons refer to */
    bool pool_baseline;    /* a comparison is on: pool the baseline, too */
    int scene;             /* position in StateMenu.scenes */
    int other; /* 1 + position of the scene that the baseline pools, as the selection does; 0: the
                  same scene */
    int64_t channels;      /* 0: the scene's own */
    double time_s;         /* moment of the moving world, from 0 */
    union {
        struct {
            RIG_STATE
        };
        RigState rig; /* the same */
    };
    const char *scales_file;  /* the menu's; NULL: none */
    /* features are made from the photographs, of a world from its pictures */
    bool photo_features;
    OperatorChange sizes;     /* of an operator scene */
    int64_t probe_cell; /* the cell that is looked at, y * nx + x of the picture; -1: none */
    int slice;          /* what the picture shows of a grid with height: slice.h */
    int loss;           /* backward: a LossKind, of that cell, or LOSS_ALL */
    bool steps;         /* record the warps' steps on that cell; without a cell, on the longest
                           interval */
    const BevKernel *steps_kernels[2]; /* instead of the selection's, the baseline's; NULL: these */
    int64_t steps_block; /* the warps of this block in place of the cell's; -1: the cell's; */
    int steps_warp;      /* a single warp of the block; -1: all */
    bool baseline_pinned; /* false: `baseline` is the default, and its rig is that of the job */
    RigState baseline_rig; /* pinned: as the rig was then */
} Job;

/* The method of such scales, and whether INT8 features have one a channel. */
ScaleMethod scales_method(int scales);
static inline bool scales_by_channel(int scales) {
    return scales == SCALES_CHANNEL || (scales >= SCALES_CHANNEL_METHODS && scales < SCALES_FILE);
}

/* The format that the job's scales are chosen for; FP32 where it does not matter. */
BevDtype scales_dtype(const Job *job);

/* Whether the baseline's values have another origin than the selection's: another scene, or the rig
 * as it was pinned. */
bool job_inputs_differ(const Job *job);

/* The whole job that pools the baseline: another scene as the selection is pooled, or another
 * kernel, format, align or pinned rig on the selection's scene. */
Job job_of_baseline(const Job *job);

/* Whether the baseline was pinned with another rig than the job has now. */
bool job_rigs_differ(const Job *job);


/* A camera's faults in the job: ", dirty, yaw +3.0 deg". False and "": none. */
bool camera_faults(const Job *job, int camera, char *text, size_t size);

/* A scene as it is, with no comparison. */
Job job_plain(void);

/* The rig as the job changes it: how points meet cells, and where cameras are off. */
Rig job_rig(const Job *job, const Rig *rig);

/* Resets the job's cameras (clean, no calibration error), its temperature and its outlier (1). */
void job_repair(Job *job);

/* ---- what is known of its scene -------------------------------------------------------------- */

/* What the engine found when it loaded the scene. */
typedef struct {
    char name[64], title[128];
    int64_t nx, ny, channels; /* cells of the picture: of a slice, or as seen from the side */
    int64_t depth_bins;       /* of a pixel; 0: not loaded yet */
    bool has_rig;    /* its cameras are known: metres, switching them off, calibration errors */
    double moment_s;     /* of a clip: time between two moments; 0: no clip */
    int moments;         /* of a clip */
    bool photo_features; /* its features are made from photographs */
    bool has_truth;  /* boxes or LiDAR came with it */
    bool has_lidar;  /* a sweep came with it, or its world gives one */
    bool has_world;  /* rendered, not loaded: it moves; channels and temperature can be changed */
    unsigned aligns; /* bit mask: those with a map */
    bool has_operator; /* made by a rule (operator.h): no cameras; sizes and skew can be changed */
    OperatorSpec operator_spec;
    int camera_count;
    char cameras[RIG_MAX_CAMERAS][32];
    Grid grid; /* of the picture; valid where has_rig */
    int64_t cells_x, rows, slices; /* the grid, `rows` of one slice; slices 0 or 1: flat */
    Grid whole;                    /* where has_rig and there are slices: of the grid */
} SceneFacts;

/* Whether a camera may see the moment so much later: a clip has no moments before its first, and a
 * scene of one moment does not move. */
bool scene_allows_delay(const SceneFacts *scene, double delay_ms, Err *err);

/* A world or a clip; other scenes have one moment. */
static inline bool scene_moves(const SceneFacts *scene) {
    return scene->has_world || scene->moment_s > 0;
}

