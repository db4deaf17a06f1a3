/* The inputs of a command: one job's scene, features and maps, each made when it is asked for and
 * kept as long as the job stays; no threads. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/scales/histogram.h"
#include "src/scene/grad_out.h"
#include "src/scene/problem.h"

typedef struct {
    Job job;
    LoadedScene *loaded;
    SeenFeatures *seen;
    BuiltMap *maps[BEV_ALIGN_COUNT]; /* NULL: not built */
    double from_s;                   /* where moment 0 is */
    int moment;                      /* workload_move */
    const GradOutFile *grad_file;    /* backward: instead of a random one; borrowed; or NULL */
    float *grad_out;                 /* for problems that go backward; NULL: not drawn */
    const Scene *scene;              /* of this moment, borrowed */
    const Features *features;        /* of this moment, borrowed */
} Workload;

/* Loads scene `name` (scene_load) and renders its features. `job` NULL: the scene as it is. The
 * caller closes with workload_close; after a failure there is nothing to close. */
bool workload_open(Workload *workload, const char *name, const Job *job, Err *err);
void workload_close(Workload *workload);

/* Goes on with another job on the same scene. Problems and maps that borrow from the workload are
 * no longer valid. After a failure only workload_close may be called. */
bool workload_use(Workload *workload, const Job *job, Err *err);

/* How many moments there are from the job's first one on: of a clip up to its end, of a world any
 * number, else one. */
int workload_moments(const Workload *workload);

/* Goes on to moment `number`, 0 the job's first one. Moments are those of a clip; of a world, half
 * a second apart. As workload_use. */
bool workload_move(Workload *workload, int number, Err *err);

/* The time of the moment that the workload is at. */
double workload_time_s(const Workload *workload);

/* The name of the scene for tables and titles: with evenness, pruning and outlier where
 * they change it. */
void workload_label(const Job *job, const char *scene, char *text, size_t size);

/* A title for pictures: the scene's, with an outlier and the faults of its cameras. */
void workload_title(const Workload *workload, char *text, size_t size);

/* What the car saw besides, the photographs of delayed cameras included; borrowed. A world has
 * photographs only where features are made from them. */
Photos workload_photos(const Workload *workload);

/* The rig that took the features, and the rig that maps are built of. */
Rig workload_right_rig(const Workload *workload);
Rig workload_rig(const Workload *workload);

/* Whether the map is that of the cameras as calibrated; whether recorded results of the scene hold
 * for this job's map. */
bool workload_as_calibrated(const Workload *workload);
bool workload_as_recorded(const Workload *workload);

/* True when the scene can be pooled with `align`. A scene without a rig has a map for one align. */
bool workload_has_align(const Workload *workload, BevAlign align);

/* The map for `align`, owned by the workload, and what was built with it. NULL on failure. */
const BevMap *workload_map(Workload *workload, BevAlign align, Err *err);
const BuiltMap *workload_built(Workload *workload, BevAlign align, Err *err);

/* Encodes the problem (problem_encode). It borrows from the workload, which must outlive it. */
bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err);

/* Counts the moment's depth, features and, for each align of the mask, FP32 output. */
bool workload_count(Workload *workload, unsigned aligns, TensorHistograms *histograms, Err *err);

/* Draws the workload's grad_out, unless it has one: that of the file, or random numbers of a
 * fixed seed. Fails where the file's has another shape. */
bool workload_draw_grad_out(Workload *workload, Err *err);

/* The same backward, with the workload's grad_out. */
bool workload_problem_backward(Workload *workload, BevDtype dtype, BevAlign align,
                               HostProblem *problem, Err *err);
