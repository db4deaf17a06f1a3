/* SPDX-License-Identifier: MIT */
/* The inputs of a command: the scene, features and maps of one job. Each input is made when a
 * function asks for it, and kept until the job changes. There are no threads. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/scales/histogram.h"
#include "src/scene/problem.h"

typedef struct {
    Job job; /* its time_s is that of the current moment */
    LoadedScene *loaded;
    SeenFeatures *seen;
    BuiltMap *maps[BEV_ALIGN_COUNT]; /* NULL: not built */
    double from_s;                   /* time of moment 0 */
    int moment;                      /* set by workload_move */
    const GradOutFile *grad_file;    /* backward: the file of grad_out, borrowed; NULL: random */
    float *grad_out;          /* backward: values of `grad_file`, else owned; NULL: not made yet */
    const Scene *scene;       /* of this moment, borrowed */
    const Features *features; /* of this moment, borrowed */
} Workload;

/* Loads scene `name` (scene_load) and makes its features. `job` NULL: the scene is not changed. The
 * caller closes with workload_close; after a failure there is nothing to close. */
bool workload_open(Workload *workload, const char *name, const Job *job, Err *err);
void workload_close(Workload *workload);

/* Continues with another job on the same scene. Problems and maps that borrow from the workload
 * become invalid. After a failure only workload_close may be called. */
bool workload_use(Workload *workload, const Job *job, Err *err);

/* Returns the number of moments from the job's time to a clip's end; world: INT_MAX; else 1. */
int workload_moments(const Workload *workload);

/* Moves to moment `number`; 0 is the job's first moment. Moments of a world are half a second
 * apart. Borrowed problems and failures are as for workload_use. */
bool workload_move(Workload *workload, int number, Err *err);

/* Writes the scene's name for tables and titles, with its load balance, pruning and outlier. */
void workload_label(const Job *job, const char *scene, char *text, size_t size);

/* Writes a title for pictures: the scene's title, the outlier and the faults of the cameras. */
void workload_title(const Workload *workload, char *text, size_t size);

/* Returns the photographs, boxes and LiDAR of the moment, borrowed; delayed cameras have delayed
 * photographs. A world has photographs only if its features are made from them. */
Photos workload_photos(const Workload *workload);

/* Returns the rig with the job's errors, which maps are built of. */
Rig workload_rig(const Workload *workload);

/* Whether recorded results of the scene hold for this job's map. */
bool workload_as_recorded(const Workload *workload);

/* Whether the scene can be pooled with `align`. A scene without a rig has a map for one align. */
static inline bool workload_has_align(const Workload *workload, BevAlign align) {
    return workload->loaded->facts.aligns >> align & 1;
}

/* Return the map for `align`, alone or with the record of its build. The workload owns both. */
const BevMap *workload_map(Workload *workload, BevAlign align, Err *err);
const BuiltMap *workload_built(Workload *workload, BevAlign align, Err *err);

/* Encodes a problem (problem_encode), which borrows: the workload must outlive the problem. */
bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err);

/* Adds the moment's depth, features, and FP32 output of each align of the mask to `histograms`. */
bool workload_count(Workload *workload, unsigned aligns, TensorHistograms *histograms, Err *err);

/* Makes the workload's grad_out unless it has one: the file's values, or random numbers of a fixed
 * seed. Fails if the file's shape differs. */
bool workload_draw_grad_out(Workload *workload, Err *err);

/* Encodes a backward problem with the workload's grad_out, otherwise as workload_problem does. */
bool workload_problem_backward(Workload *workload, BevDtype dtype, BevAlign align,
                               HostProblem *problem, Err *err);
