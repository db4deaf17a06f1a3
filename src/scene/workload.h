/* A scene made ready for many runs: its features rendered once, its maps built once per align. */
#ifndef BEV_WORKLOAD_H
#define BEV_WORKLOAD_H

#include "src/scene/problem.h"
#include "src/scene/scene.h"

/* What a caller may override in a scene; zeroed fields leave the scene as it is. */
typedef struct {
    double time_s;      /* moment of a moving world */
    double temperature; /* of the depth distribution; 0: the scene's own */
    int64_t channels;   /* 0: the scene's own; only worlds can change it */
    bool views;         /* also keep what the cameras see */
} WorkloadOptions;

typedef struct {
    Scene scene;
    WorkloadOptions options;
    Features features; /* rendered, or the scene's tensors */
    CameraViews views; /* empty unless asked for and the scene has a world */
    BevMap maps[BEV_ALIGN_COUNT];
    double map_us[BEV_ALIGN_COUNT]; /* time it took to build the map; 0: not built */
} Workload;

/* Loads `name` (scene_load) and renders its features. Close with workload_close, also on failure
 * of later calls. */
bool workload_open(Workload *workload, const char *name, const WorkloadOptions *options, Err *err);
void workload_close(Workload *workload);

/* Whether the scene can be pooled with `align`; scenes that came with index arrays cannot choose.
 */
bool workload_has_align(const Workload *workload, BevAlign align);

/* The map for `align`, built on first use; owned by the workload. NULL on failure. */
const BevMap *workload_map(Workload *workload, BevAlign align, Err *err);

/* Encodes the problem; borrows features and map, so the workload must outlive it. */
bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err);

#endif
