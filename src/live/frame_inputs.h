/* What a frame shows, in parts: each is shared by the frames in which it is the same (shared.h) and
 * does not change once it is made. */
#ifndef BEV_FRAME_INPUTS_H
#define BEV_FRAME_INPUTS_H

#include "src/live/map_builder.h"
#include "src/state/live_data.h"
#include "src/scene/scene.h"

typedef struct {
    int number; /* in StateMenu.scenes */
    Scene scene;
    SceneFacts facts;
} LoadedScene;

typedef struct {
    LoadedScene *scene;
    double time_s, temperature;
    bool draft;
    BevShape shape;
    Features values; /* borrowed from the scene where that has tensors */
    CameraViews views;
    Embedding embedding; /* channels 0: the features are no embedding */
    double took_us;      /* to make */
} SeenFeatures;

/* What the cameras see, sharper than the features. */
typedef struct {
    LoadedScene *scene;
    double time_s;
    CameraViews views;
} SharpViews;

typedef struct {
    LoadedScene *scene;
    BevAlign align;
    uint32_t camera_mask;
    CameraError errors[RIG_MAX_CAMERAS];
    Rig rig; /* as calibrated, errors included */
    BevMap map;
    Staging pinned; /* holds the arrays of a map that the GPU built */
    bool borrowed; /* it is the scene's own */
    LiveIntervals intervals;
    double took_us; /* to build */
} BuiltMap;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    float *values; /* (cell, c) */
    BevFootprint footprint;
    BevTraffic gather, own;
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values; /* (cell, c) */
} Fp64Grid;

typedef struct {
    LoadedScene *scene;
    SeenFeatures *features;
    SharpViews *views; /* NULL: those of the features must do */
    BuiltMap *map;
    PooledGrid *pooled, *baseline;
    Fp64Grid *fp64_original;
} FrameInputs;

/* Lets go of all of them; one more owner of each. */
void frame_inputs_drop(FrameInputs *parts);
FrameInputs frame_inputs_keep(const FrameInputs *parts);

#endif
