/* From a State to everything that a frame shows: scene, features, scatter map, pooled grid, FP64
 * grid, one cell looked at closely. Computes only what changed since the last call. It has no
 * threads of its own and measures nothing but the time of its stages, so that the live engine,
 * scripts and tests all run the same one. */
#pragma once

#include "src/live/moments.h"
#include "src/run/cuda/device.h"
#include "src/scene/scene.h"
#include "src/state/live_data.h"

#include <sys/stat.h>

/* ---- the inputs of a frame ------------------------------------------------------------------- */

/* Each of these is reference counted (src/base/ref.h): frames in which it is the same share it. It
 * does not change once it is made. */

typedef struct {
    int number; /* in StateMenu.scenes */
    OperatorChange sizes;
    Scene scene;
    SceneFacts facts;
    Moments *moments; /* of a clip; else NULL */
    bool is_file;     /* it has a regular file of its own, which was like this before it was read */
    struct stat file;
} LoadedScene;

typedef struct SeenFeatures SeenFeatures;
struct SeenFeatures {
    SeenFeatures *base; /* these with the depth of a training; NULL: they are as seen */
    LoadedScene *scene;
    Moment *moment; /* of a clip: the one whose tensors these are; else NULL */
    double time_s, temperature;
    bool draft; /* rendered with fewer rays */
    BevShape shape;
    Features values; /* borrowed from the scene where the scene has tensors */
    CameraViews views, photos; /* `photos` is borrowed from the scene */
    Embedding embedding; /* channels 0: the features are no embedding */
    double took_us;      /* to make */
};

/* The features as seen, without training. */
static inline SeenFeatures *features_base(SeenFeatures *features) {
    return features && features->base ? features->base : features;
}

/* What the cameras see, at a higher resolution than the features. */
typedef struct {
    LoadedScene *scene;
    double time_s;
    CameraViews views;
} SharpViews;

typedef struct {
    LoadedScene *scene;
    Moment *moment; /* of a clip: whose rig or map this is; else NULL */
    BevAlign align;
    double evenness;
    uint32_t camera_mask;
    CameraError errors[RIG_MAX_CAMERAS];
    Rig rig; /* as calibrated, errors included */
    BevMap map;
    Staging pinned; /* holds the arrays of a map that the GPU built */
    bool borrowed;  /* the map is the scene's own */
    LiveIntervals intervals;
    OperatorBars bars; /* of an operator scene */
    double took_us;    /* to build */
} BuiltMap;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    float *values;   /* (cell, c); NULL where there are */
    BevTensor codes; /* the output as the kernel left it: of a large grid on the CPU; owned */
    BevFootprint footprint;
    BevTraffic gather, own;
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values;        /* (cell, c); NULL of a large grid, whose rows are computed from */
    int32_t *interval_of; /* [cell]; -1: none */
} Fp64Grid;

/* A loss on some cells of a pooled grid, and the gradients that a kernel computes from it. */
typedef struct {
    PooledGrid *pooled;  /* NULL: it is large, and there are none */
    KernelConfig config; /* goes backward */
    int kind;            /* LossKind, or LOSS_ALL */
    int64_t cell;                 /* of the grid; */
    int64_t probe_cell; int slice; /* it was behind this one of the picture */
    GridLoss loss; /* empty of LOSS_ALL, and where there is none */
    float *grad_depth, *grad_feat;
    bool waits;     /* they are still to be computed */
    char text[300]; /* why there are none */
} Gradients;

/* Where a training stands (live_trainer.h), and what it is of. */
typedef struct {
    SeenFeatures *base; /* whose depth it began at */
    BuiltMap *map;
    KernelConfig forward, backward;
    uint64_t run;           /* of the job */
    float *target;          /* (cell, c): the grid of the true depth; reference counted */
    SeenFeatures *features; /* with the depth of the last step that was kept; NULL: none yet */
    LiveTraining shown;
} Training;

/* The recorded steps, and what they were recorded of. */
typedef struct {
    LiveSteps steps;
    BuiltMap *map;
    BevShape shape;
    KernelConfig config, baseline; /* baseline.kernel NULL: none */
    const BevKernel *kernels[2]; /* instead of theirs; NULL: theirs */
    int64_t probe_cell, block; /* -1: none */
    int warp;
    BevGpuFacts gpu; /* V3 takes one of its forms by it */
} RecordedSteps;

enum { FRAME_INPUTS = 10 };

typedef union {
    struct {
        LoadedScene *scene;
        SeenFeatures *features;
        SharpViews *views; /* NULL: show the views of `features` */
        BuiltMap *map;
        PooledGrid *pooled, *baseline;
        Fp64Grid *fp64_original;
        RecordedSteps *steps;
        Gradients *gradients; /* NULL: forward */
        Training *training;   /* NULL: the job asks for none */
    };
    void *each[FRAME_INPUTS]; /* the same, for what is done to all of them */
} FrameInputs;

/* Adds an owner to each input; removes one from each and zeroes the struct. */
FrameInputs frame_inputs_keep(const FrameInputs *inputs);
void frame_inputs_drop(FrameInputs *inputs);

/* ---- the pipeline ---------------------------------------------------------------------------- */

typedef struct Pipeline Pipeline;

typedef struct {
    bool fp64_original; /* the picture needs the FP64 grid */
    bool draft;         /* use fewer rays: the world is moving, and the next frame comes soon */
    bool sharp;         /* render the camera views at a higher resolution as well */
    /* Pool in place of the selection and of the baseline where their own grid is not there yet.
     * NULL: each pools itself. */
    const BevKernel *stand_in, *baseline_stand_in;
    bool gradients_later; /* leave them to pipeline_lacks_gradients: the kernel is slow */
    GiveUp give_up; /* asked between the stages and within the long ones */
    _Atomic(const char *) *doing; /* set to the name of the stage in hand; NULL: nobody asks */
} PipelineNeeds;

/* What a run made before it was given up is kept for the next run. */
typedef enum { PIPELINE_FAILED, PIPELINE_GIVEN_UP, PIPELINE_DONE } PipelineEnd;

bool pipeline_open(Pipeline **pipeline, Err *err);
void pipeline_close(Pipeline *pipeline); /* accepts NULL */

/* Fills what depends on the job into `live`: the job itself, memory, intervals, stage times, probe,
 * frame; the measured figures stay. live->frame borrows from pipeline_inputs(), which hold until
 * the next run; keep them to have them longer. Unless the run ends with PIPELINE_DONE, `live` still
 * shows the last good frame. An align of the selection or the baseline that the scene has no map for
 * is replaced in *state by one that it has. */
PipelineEnd pipeline_run(Pipeline *pipeline, State *state, PipelineNeeds needs,
                         LiveData *live, Err *err);

/* The inputs of the last frame, borrowed. */
const FrameInputs *pipeline_inputs(const Pipeline *pipeline);

/* The configuration whose grid the last frame lacks because another kernel stood in; NULL: none. */
const KernelConfig *pipeline_lacks(const Pipeline *pipeline);

/* Whether the last frame lacks its gradients, and the next run gets them, as for a grid. */
bool pipeline_lacks_gradients(const Pipeline *pipeline);
void pipeline_offer_gradients(Pipeline *pipeline, Gradients *gradients);

/* Whether the training of the last frame has fewer steps than its job asks for, and goes on; the next
 * run gets one that has gone on, as for a grid. */
bool pipeline_lacks_training(const Pipeline *pipeline, const Job *job);
void pipeline_offer_training(Pipeline *pipeline, Training *training);

/* Gives the next run a grid that was pooled elsewhere; it is used where it fits. Takes over the
 * caller's reference. */
void pipeline_offer(Pipeline *pipeline, PooledGrid *grid);

/* Makes the next run load the scene again, because its file has changed. */
void pipeline_forget_scene(Pipeline *pipeline);
