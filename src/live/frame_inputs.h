/* The inputs of a frame. Each input is reference counted (src/base/ref.h): frames with the same
 * input share it. An input does not change once it is made. */
#pragma once

#include "src/live/moments.h"
#include "src/run/cuda/device.h"
#include "src/scene/objects.h"
#include "src/scene/scene.h"
#include "src/state/live_data.h"

#include <sys/stat.h>

typedef struct Calibration Calibration; /* inputs_scales.c */

typedef struct {
    int number; /* in StateMenu.scenes */
    const char *path;         /* as scene_load takes it; borrowed from there */
    Calibration *calibration; /* of the engine's thread; NULL: none yet */
    OperatorChange sizes;
    Scene scene;
    SceneFacts facts;
    Moments *moments; /* of a clip; else NULL */
    bool is_file;     /* the scene has a regular file of its own, with this state before the scene
                         was read */
    struct stat file;
} LoadedScene;

typedef struct {
    LoadedScene *scene;
    Moment *moment; /* of a clip: the one whose tensors these are; else NULL */
    double time_s, temperature, outlier;
    int scales;               /* of the job; values.scales has the ranges, which `ranges` owns */
    const char *scales_scene; /* of the job */
    BevDtype scales_dtype;    /* that they were chosen for */
    ScaleRanges *ranges;      /* NULL: ideal */
    bool draft; /* rendered with fewer rays */
    double delays_s[RIG_MAX_CAMERAS]; /* of a world or a clip: of each camera */
    uint8_t *own_srgb; /* photographs of a clip, where cameras are delayed; NULL: the moment's */
    BevShape shape;
    Features values;           /* borrowed from the scene where it has these tensors */
    CameraViews views, photos; /* `photos` is borrowed from the scene */
    Objects objects;     /* of that moment */
    Embedding embedding; /* channels 0: the features are no embedding */
    double took_us;      /* to make */
} SeenFeatures;

/* What the cameras see, at a higher resolution than the features. */
typedef struct {
    LoadedScene *scene;
    double time_s, delays_s[RIG_MAX_CAMERAS];
    CameraViews views;
} SharpViews;

typedef struct BuiltMap {
    LoadedScene *scene;
    Moment *moment; /* of a clip: whose rig or map this is; else NULL */
    BevAlign align;
    double evenness;
    Prune prune;
    SeenFeatures *pruned_by; /* the depths that decided; NULL: nothing is pruned */
    struct BuiltMap *whole;  /* where points are pruned: the map before that */
    uint32_t camera_mask;
    CameraError errors[RIG_MAX_CAMERAS];
    Rig rig; /* as calibrated, errors included */
    BevMap map;
    Staging pinned; /* holds the arrays of a map that the GPU built */
    bool borrowed;  /* the map is the scene's own */
    bool changed;   /* cameras are not as calibrated, or points were pruned, or intervals made even */
    LiveIntervals intervals;
    OperatorBars bars; /* of an operator scene */
    double took_us;    /* to build */
} BuiltMap;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    float *values; /* (cell, c) */
    BevFootprint footprint;
    LiveScales scales;
    BevTraffic gather, own;
    ObjectBand objects[OBJECT_BANDS]; /* where the features have objects */
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values; /* (cell, c) */
} Fp64Grid;

/* A loss on some cells of a pooled grid, and the gradients that a kernel computes from it. */
typedef struct {
    PooledGrid *pooled;
    KernelConfig config; /* goes backward */
    int kind;            /* LossKind, or LOSS_ALL */
    int64_t cell;                 /* of the grid; */
    int64_t probe_cell; int slice; /* cell of the picture in front of it */
    GridLoss loss; /* empty of LOSS_ALL, and where there is none */
    float *grad_depth, *grad_feat;
    bool waits;     /* the gradients are still to be computed */
    char text[300]; /* why there are none */
} Gradients;

/* The recorded steps, and their subject. */
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

enum { FRAME_INPUTS = 9 };

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
    };
    void *each[FRAME_INPUTS]; /* the same, for what is done to all of them */
} FrameInputs;

/* Adds an owner to each input; removes one from each and zeroes the struct. */
FrameInputs frame_inputs_keep(const FrameInputs *inputs);
void frame_inputs_drop(FrameInputs *inputs);

/* Holds scene, features and map of `inputs` in place of those held before. */
void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs);
