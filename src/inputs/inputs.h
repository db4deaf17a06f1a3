/* The way from a job to what a kernel is given: scene, features, camera views, scatter map.
 * Commands and the display go it. Each input is reference counted (src/base/ref.h) and does not
 * change once it is made. A function that makes one is given the input made before, `have` (NULL:
 * none), and gives that again where it is still valid. */
#pragma once

#include "src/base/give_up.h"
#include "src/inputs/job.h"
#include "src/inputs/moments.h"
#include "src/scene/objects.h"
#include "src/scene/scene.h"

#include <sys/stat.h>

/* Fills `err` for a failed allocation; returns false. */
bool inputs_no_memory(const char *where, Err *err);

/* ---- the scene ------------------------------------------------------------------------------- */

typedef struct Calibration Calibration; /* calibration.c */

typedef struct {
    char *path;               /* as scene_load takes it */
    Calibration *calibration; /* of the engine's thread; NULL: none yet */
    OperatorChange sizes;
    bool photo_features;
    Scene scene; /* of a clip its first moment */
    SceneFacts facts;
    Moments *moments; /* of a clip; else NULL */
    bool is_file;     /* the scene has a regular file of its own, with this state before the scene
                         was read */
    struct stat file;
} LoadedScene;

/* The job's scene, at `path`. `ahead`: the moments of a clip are loaded before they are asked for.
 * NULL: failed. */
LoadedScene *inputs_scene(LoadedScene *have, const char *path, const Job *job, bool ahead,
                          Err *err);

/* Whether the scene's file has a map of this align. */
bool scene_has_map(const Scene *scene, BevAlign align);

/* ---- what the cameras see -------------------------------------------------------------------- */

typedef struct {
    LoadedScene *scene;
    Moment *moment; /* of a clip: the one whose tensors these are; NULL: the scene's own */
    double time_s, temperature, outlier;
    int scales;               /* of the job; values.scales has the ranges */
    const char *scales_scene; /* of the job */
    BevDtype scales_dtype;    /* that they were chosen for */
    ScaleRanges *ranges;      /* NULL: ideal */
    bool draft;    /* rendered with fewer rays */
    bool pictures; /* with the views and objects below */
    double delays_s[RIG_MAX_CAMERAS]; /* of a world or a clip: of each camera */
    uint8_t *own_srgb; /* photographs of a clip, where cameras are delayed; NULL: the moment's */
    BevShape shape;
    Features values;           /* borrowed from the scene where it has these tensors */
    CameraViews views, photos; /* `photos` is borrowed from the scene or `taken` */
    Photos taken;        /* of a world, where its features are made from them */
    Objects objects;     /* of that moment */
    Embedding embedding; /* channels 0: the features are no embedding */
    double took_us;      /* to make */
} SeenFeatures;

/* How the features are wanted: with fewer rays; with views of a world and its true objects. */
typedef struct {
    bool draft, pictures;
    const GiveUp *give_up; /* NULL: never */
} SeenNeeds;

/* The features of the job's moment, with its temperature, outlier, scales and delays. NULL: failed,
 * or given up, which leaves `err` as it is. */
SeenFeatures *inputs_features(SeenFeatures *have, LoadedScene *scene, const Job *job,
                              const SeenNeeds *needs, Err *err);

/* The scene whose tensors, rig, map and photographs these features belong to: of a clip the
 * moment's. */
const Scene *inputs_scene_at(const SeenFeatures *features);

/* Whether these features are made from photographs: channels 0 to 2 are linear light. */
bool inputs_of_photos(const SeenFeatures *features);

/* The rig that took these features: as calibrated, with the delays of its cameras. */
Rig inputs_rig_at(const SeenFeatures *features);

/* What the cameras see, at a higher resolution than the features. */
typedef struct {
    LoadedScene *scene;
    double time_s, delays_s[RIG_MAX_CAMERAS];
    CameraViews views;
} SharpViews;

/* Views of a world, `times` the resolution of the feature map in each direction. `*views` is NULL
 * where there are none: of other scenes, and where `times` is 0 unless they are there already. */
bool inputs_views(SharpViews *have, int times, const SeenFeatures *features,
                  const GiveUp *give_up, SharpViews **views, Err *err);

/* Frees the memory that is kept for more features of the last size. */
void inputs_free_feature_memory(void);

/* ---- the ranges of formats, calibration.c ---------------------------------------------------- */

/* The ranges that the job asks for, which is not for ideal ones: those of its file, or calibrated
 * on the first moments of the scene, or of another one, at the job's temperature, outlier and
 * align. What was counted before it was given up stays. On one thread. */
bool inputs_scales(LoadedScene *loaded, const Job *job, int64_t channels, const GiveUp *give_up,
                   ScaleRanges *ranges, Err *err);
void calibration_free(Calibration *calibration); /* accepts NULL */

/* ---- the scatter map ------------------------------------------------------------------------- */

/* The lengths of the intervals. Backward of pixels: their points as intervals, `stats.longest_cell`
 * the pixel (camera, h, w). */
enum { LENGTH_BUCKETS = 16 };
typedef struct {
    bool known, of_pixels;
    ScatterStats stats;
    /* Intervals with lengths in [2^i, 2^(i+1)), and the points in them. */
    int64_t intervals[LENGTH_BUCKETS], points[LENGTH_BUCKETS];
    Pruned pruned;
} MapIntervals;

/* Counts the intervals of a map of `cells` cells. */
MapIntervals map_intervals(const BevMap *map, int64_t cells);

typedef struct BuiltMap {
    LoadedScene *scene;
    Moment *moment; /* of a clip: whose rig or map this is; NULL: the scene's own */
    BevAlign align;
    double evenness;
    Prune prune;
    SeenFeatures *pruned_by; /* the depths that decided; NULL: nothing is pruned */
    struct BuiltMap *whole;  /* where points are pruned: the map before that */
    uint32_t camera_mask;
    CameraError errors[RIG_MAX_CAMERAS];
    Rig rig; /* as calibrated, errors included */
    BevMap map;
    bool borrowed;               /* the map is the scene's own */
    void (*release)(void *held); /* frees what holds the arrays that a GPU built; NULL: malloc's */
    void *held;
    bool changed; /* cameras are not as calibrated, or points were pruned, or intervals made even */
    MapIntervals intervals;
    OperatorBars bars; /* of an operator scene */
    double took_us;    /* to build; 0: borrowed */
} BuiltMap;

/* Builds maps on a GPU: `build` fills map, rig's own, and what releases it, or returns false, and
 * the CPU builds the map then. A zeroed one builds none. */
typedef struct MapMaker {
    bool (*build)(void *gpu, BuiltMap *built);
    void *gpu;
} MapMaker;

/* The map of the job's align for these features. `*have` is a map that may still fit; a new map
 * replaces it. NULL: failed, or given up, which leaves `err` as it is. */
BuiltMap *inputs_map(BuiltMap **have, const MapMaker *maker, const Job *job,
                     SeenFeatures *features, const GiveUp *give_up, Err *err);
