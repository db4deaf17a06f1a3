/* From a State to everything a frame shows: scene, features, map, pooled output, truth, one cell
 * looked at closely. Computes only what changed since the last call. No threads of its own, no
 * measurements but the stages' times: the live engine, scripts and tests run the same one. */
#ifndef BEV_PIPELINE_H
#define BEV_PIPELINE_H

#include "src/model/live.h"
#include "src/model/scene.h"

/* ---- parts, shared by the frames in which they are the same (shared.h) -------------------------
 */

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
    bool borrowed; /* it is the scene's own */
    LiveIntervals intervals;
} BuiltMap;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    Choice choice;
    float *values; /* (cell, c) */
    BevFootprint footprint;
    BevTraffic gather, own;
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values; /* (cell, c) */
} TruthGrid;

typedef struct {
    LoadedScene *scene;
    SeenFeatures *features;
    SharpViews *views; /* NULL: those of the features must do */
    BuiltMap *map;
    PooledGrid *pooled, *baseline;
    TruthGrid *truth;
} FrameParts;

void frame_parts_drop(FrameParts *parts);
FrameParts frame_parts_keep(const FrameParts *parts);

/* ---- the pipeline
 * --------------------------------------------------------------------------------- */

typedef struct Pipeline Pipeline;

typedef struct {
    bool truth; /* FP64 is needed for the picture */
    bool draft; /* fewer rays: the world is moving, and the next frame comes soon */
    bool sharp; /* camera views worth looking at */
} PipelineNeeds;

bool pipeline_open(Pipeline **pipeline, Err *err);
void pipeline_close(Pipeline *pipeline); /* accepts NULL */

/* Fills what depends on the job into `live` (the job itself, memory, intervals, stages, probe,
 * frame); figures of measurements stay. live->frame borrows from pipeline_parts, which hold until
 * the next run; keep them to have them longer. On failure `live` still shows the last good frame.
 */
bool pipeline_run(Pipeline *pipeline, const State *state, PipelineNeeds needs, LiveData *live,
                  Err *err);

const FrameParts *pipeline_parts(const Pipeline *pipeline);

/* Reads the scene again next time: its file has changed. */
void pipeline_forget_scene(Pipeline *pipeline);

#endif
