/* SPDX-License-Identifier: MIT */
/* The way from a job to the inputs of a kernel: scene, features, camera views, scatter map.
 * Commands and the display use the same functions. Each input is reference counted (src/base/ref.h)
 * and does not change after it is made. A function that makes an input receives the last input as
 * `have`, or NULL. If `have` is still valid, the function returns a reference to `have`. */
#pragma once

#include "src/base/give_up.h"
#include "src/inputs/job.h"
#include "src/scene/objects.h"
#include "src/scene/scene.h"

/* ---- the moments of a clip, moments.c -------------------------------------------------------- */

/* The most memory of loaded moments. A thread loads moments before they are shown. */
#define MOMENTS_BYTES ((size_t)384 << 20)

typedef struct Moments Moments;

/* Starts the loading thread. `first`, the first moment with its clip, must outlive the thread.
 * `ahead`: moments are loaded before anything asks for them. */
bool moments_open(const Scene *first, bool ahead, Moments **out, Err *err);
void moments_close(Moments *moments); /* accepts NULL */

/* Waits for a moment and returns the moment, reference counted. The following moments are loaded
 * next. NULL: loading failed, or was given up, which leaves `err` as it is. */
Scene *moments_take(Moments *moments, int number, const GiveUp *give_up, Err *err);

/* ---- the scene ------------------------------------------------------------------------------- */

typedef struct Calibration Calibration; /* calibration.c */

typedef struct {
    char *path;               /* a name or file, as scene_load takes it */
    Calibration *calibration; /* used by the engine's thread alone; NULL: none yet */
    OperatorChange sizes;
    bool photo_features;
    Scene scene; /* of a clip: its first moment */
    SceneFacts facts;
    Moments *moments; /* of a clip; else NULL */
} LoadedScene;

/* Loads the job's scene from `path`. `ahead`, for a clip: see moments_open(). NULL: failed. */
LoadedScene *inputs_scene(LoadedScene *have, const char *path, const Job *job, bool ahead,
                          Err *err);

/* Returns a moment of a clip, or the scene itself where the moment is NULL. */
static inline const Scene *moment_or_scene(const LoadedScene *loaded, const Scene *moment) {
    return moment ? moment : &loaded->scene;
}

/* Whether the scene's file has a map of this align. */
static inline bool scene_has_map(const Scene *scene, BevAlign align) {
    return scene->has_map && (align == BEV_NEAREST) == (scene->map.weights == NULL);
}

/* ---- what the cameras see -------------------------------------------------------------------- */

typedef struct {
    LoadedScene *scene;
    Scene *moment; /* of a clip: the moment whose tensors these are; NULL: the scene's own */
    double time_s, temperature, outlier;
    int scales;                       /* the job's SCALES_...; values.scales has the ranges */
    const char *scales_scene;         /* the job's */
    BevDtype scales_dtype;            /* the format that the ranges were chosen for */
    ScaleRanges *ranges;              /* NULL: each frame's own (ideal) */
    bool draft;                       /* rendered with fewer rays */
    bool pictures;                    /* `views` and `objects` below are made */
    double delays_s[RIG_MAX_CAMERAS]; /* delay of each camera; only worlds and clips have delays */
    uint8_t *own_srgb; /* a clip's photographs if cameras are delayed; NULL: the moment's */
    BevShape shape;
    Features values;           /* tensors, borrowed from the scene if it has these */
    CameraViews views, photos; /* `photos` is borrowed from the scene or `taken` */
    Photos taken;              /* a world's pictures, if its features are made from them */
    Objects objects;           /* the ground-truth objects at that moment */
    Embedding embedding;       /* channels 0: the features are no embedding */
    double took_us;            /* the time that making these features took */
} SeenFeatures;

/* `draft`: render with fewer rays. `pictures`: also make a world's views and objects. */
typedef struct {
    bool draft, pictures;
    const GiveUp *give_up; /* NULL: never give up */
} SeenNeeds;

/* Makes the features of the job's moment, with its temperature, outlier, scales and delays. NULL:
 * failed, or given up, which leaves `err` as it is. */
SeenFeatures *inputs_features(SeenFeatures *have, LoadedScene *scene, const Job *job,
                              const SeenNeeds *needs, Err *err);

/* Returns the scene of these features, with tensors, rig, map and photographs: for a clip the
 * moment, else the loaded scene. */
static inline const Scene *inputs_scene_at(const SeenFeatures *features) {
    return moment_or_scene(features->scene, features->moment);
}

/* Whether these features are made from photographs: channels 0 to 2 are linear light. */
static inline bool inputs_of_photos(const SeenFeatures *features) {
    return features->taken.srgb || inputs_scene_at(features)->photo_features;
}

/* Whether features of one scene differ at most in their moment. */
bool differ_only_by_moment(const SeenFeatures *a, const SeenFeatures *b);

/* Returns the rig that took these features: the calibrated rig with the delays of its cameras. */
Rig inputs_rig_at(const SeenFeatures *features);

/* Frees the memory that is kept for later features of the same size. */
void inputs_free_feature_memory(void);

/* ---- the ranges of formats, calibration.c ---------------------------------------------------- */

/* Finds the ranges that the job asks for. job->scales must not be SCALES_IDEAL. Ranges come from
 * the job's file, or are calibrated on the first moments of the scene or of job->scales_scene. The
 * calibration has the job's temperature, outlier and align. A call that is given up keeps the
 * moments counted so far, for the next call. One thread at a time may call this. */
bool inputs_scales(LoadedScene *loaded, const Job *job, int64_t channels, const GiveUp *give_up,
                   ScaleRanges *ranges, Err *err);
void calibration_free(Calibration *calibration); /* accepts NULL */

/* ---- the scatter map ------------------------------------------------------------------------- */

/* The distribution of interval lengths. For backward kernels of pixels an interval has the points
 * of a pixel. Then `stats.longest_cell` is the pixel (camera, h, w). */
enum { LENGTH_BUCKETS = 16 };
typedef struct {
    bool known, of_pixels;
    ScatterStats stats;
    /* The number of intervals with lengths in [2^i, 2^(i+1)), and of the points in them. */
    int64_t intervals[LENGTH_BUCKETS], points[LENGTH_BUCKETS];
    Pruned pruned;
} MapIntervals;

/* Whether the job leaves the scene's cameras and rounding as they are. Delays change no map. */
bool inputs_as_calibrated(const Scene *scene, const Job *job);

/* Counts the intervals of a map with `cells` cells. */
MapIntervals map_intervals(const BevMap *map, int64_t cells);

typedef struct BuiltMap {
    LoadedScene *scene;
    Scene *moment; /* of a clip: the moment with this rig or map; NULL: the scene's own */
    BevAlign align;
    bool as_calibrated; /* inputs_as_calibrated() */
    double balance;
    Prune prune;
    SeenFeatures *pruned_by; /* pruning compared these depths; NULL: nothing is pruned */
    struct BuiltMap *whole;  /* the map before pruning; NULL: nothing is pruned */
    uint32_t camera_mask;
    CameraError errors[RIG_MAX_CAMERAS];
    Rig rig; /* the calibrated rig with `errors` */
    BevMap map;
    bool borrowed;               /* the arrays of `map` belong to the scene */
    void (*release)(void *held); /* frees `held`; NULL: free() the arrays */
    void *held;
    bool changed; /* differs from the calibrated map: cameras, pruned points, even intervals */
    MapIntervals intervals;
    OperatorBars bars; /* of an operator scene */
    double took_us;    /* build time; 0: borrowed */
} BuiltMap;

/* Whether both maps are the same, or are one map that was pruned by the depths of two moments. */
bool maps_differ_by_moment(const BuiltMap *a, const BuiltMap *b);

/* Builds maps on a GPU. `build` fills built->map, held and release. If it returns false, the CPU
 * builds the map. A zeroed MapMaker leaves all maps to the CPU. */
typedef struct MapMaker {
    bool (*build)(void *gpu, BuiltMap *built);
    void *gpu;
} MapMaker;

/* Makes the map of the job's align for these features, or returns a reference to `*have`, if that
 * map is still valid. A new map also replaces `*have`. NULL: failed, or given up (`err` stays). */
BuiltMap *inputs_map(BuiltMap **have, const MapMaker *maker, const Job *job, SeenFeatures *features,
                     const GiveUp *give_up, Err *err);
