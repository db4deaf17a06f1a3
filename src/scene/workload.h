/* A scene prepared for many runs: features are rendered once, maps are built once per align. */
#pragma once

#include "src/scales/histogram.h"
#include "src/scene/grad_out.h"
#include "src/scene/problem.h"
#include "src/scene/scatter.h"
#include "src/scene/scene.h"

/* What a caller can change in a scene. Zeroed fields change nothing. */
typedef struct {
    double time_s;      /* moment of a moving world */
    double temperature; /* of the depth distribution, times the scene's own; 0: 1 */
    int64_t channels;   /* 0: the scene's own; only world scenes can change it */
    OperatorChange sizes; /* only operator scenes can change them */
    double evenness;    /* of the intervals: scatter_even() */
    Prune prune;        /* which points are left out: scatter_prune() */
    double outlier;     /* factor of channel 0: features_add_outlier(); 0: none */
    const char *scales; /* file of ranges, by which formats are scaled; "channel":
                           ranges_by_channel; NULL: ideal scales */
    bool photo_features; /* made from the photographs, of a world from its pictures */
    bool views;         /* also render camera views */
    const GradOutFile *grad_out; /* backward: instead of a random one; borrowed */
} WorkloadOptions;

typedef struct {
    Scene scene;
    WorkloadOptions options;
    Features features; /* rendered, or the scene's tensors */
    CameraViews views; /* empty unless options.views is set and the scene has a world */
    BevMap maps[BEV_ALIGN_COUNT];
    BevMap whole[BEV_ALIGN_COUNT]; /* where points are pruned: the map before that */
    Pruned pruned[BEV_ALIGN_COUNT];
    double map_us[BEV_ALIGN_COUNT]; /* time to build the map; 0: not built */
    ScaleRanges *scales;            /* of the file; NULL: none */
    int moment;                     /* workload_move */
    uint32_t dirty;                 /* bit i: camera i has no part in the map */
    bool miscalibrated;             /* the map is of another rig than the scene's own */
    float *grad_out;                /* for problems of the way back; NULL: not drawn */
} Workload;

/* Loads scene `name` (scene_load) and renders its features. The caller closes with workload_close;
 * after a failure there is nothing to close. */
bool workload_open(Workload *workload, const char *name, const WorkloadOptions *options, Err *err);
void workload_close(Workload *workload);

/* How many moments there are from `time_s` of the options on: of a clip up to its end, of a world any
 * number, else one. */
int workload_moments(const Workload *workload);

/* Goes on to moment `number`, 0 the one at `time_s` of the options. Moments are those of a clip; of
 * a world, half a second apart. Problems that borrow from the workload are no longer valid, nor are
 * the maps of a clip, and pruned ones. After a failure only workload_close may be called. */
bool workload_move(Workload *workload, int number, Err *err);

/* The time of the moment that the workload is at. */
double workload_time_s(const Workload *workload);

/* Has a camera see the moment so much earlier, of a clip its first one at the earliest. Fails where
 * the scene has one moment only, or fewer than that. Problems and, where points are pruned, maps
 * are no longer valid. */
bool workload_delay(Workload *workload, int camera, double delay_s, Err *err);

/* The embedding of the workload's features, with `channels` 0 where they are none. The caller frees
 * it. */
bool workload_embedding(const Workload *workload, Embedding *embedding, Err *err);

/* The name of the scene for tables and titles: with evenness, pruning and outlier where
 * they change it. */
void workload_label(const WorkloadOptions *options, const char *scene, char *text, size_t size);

/* Whether recorded results of the scene hold for this map. */
bool workload_as_recorded(const Workload *workload);

/* True when the scene can be pooled with `align`. A scene without a rig has a map for one align. */
bool workload_has_align(const Workload *workload, BevAlign align);

/* The map for `align`, built on first use and owned by the workload. NULL on failure. */
const BevMap *workload_map(Workload *workload, BevAlign align, Err *err);

/* Where points of small depth are pruned and `kernel` leaves such points out by itself, the problem
 * becomes that of the whole map and the threshold. */
void workload_let_prune(const Workload *workload, const BevKernel *kernel, BevProblem *problem);

/* Encodes the problem (problem_encode). It borrows from the workload, which must outlive it. */
bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err);

/* Counts the moment's depth, features and, for each align of the mask, FP32 output. */
bool workload_count(Workload *workload, unsigned aligns, TensorHistograms *histograms, Err *err);

/* Draws the workload's grad_out, unless it has one: that of the options, or random numbers of a
 * fixed seed. Fails where the file's has another shape. */
bool workload_draw_grad_out(Workload *workload, Err *err);

/* The same backward, with the workload's grad_out. */
bool workload_problem_backward(Workload *workload, BevDtype dtype, BevAlign align,
                               HostProblem *problem, Err *err);
