/* SPDX-License-Identifier: MIT */
/* Shipped scenes for tests: a test that cannot load one has nothing to say and stops. */
#pragma once

#include "src/inputs/workload.h"
#include "tests/support/ok_or_note.h"

static inline Scene *load_scene(const char *name) {
    Err why = {0};
    Scene *scene = calloc(1, sizeof *scene);
    need(scene_load(name, scene, &why), &why);
    return scene;
}

static inline void drop_scene(Scene *scene) {
    scene_free(scene);
    free(scene);
}

/* Writes the toy with seven slices of its grid into a file. */
static inline void write_tall_toy(const char *path) {
    char command[512];
    snprintf(command, sizeof command,
             "sed 's/\"cells\": .3, 5./&, \"nz\": 7/' \"$BEVSCOPE_DATA/samples/toy.json\" >'%s'",
             path);
    tap_need(system(command) == 0, "the toy with seven slices");
}

/* A scene's problem, `channels` 0 for its own; close_problem() frees it. */
typedef struct {
    Workload workload;
    HostProblem problem;
    const BevProblem *view; /* the problem, as kernels take it */
} OpenProblem;

static inline OpenProblem *open_problem(const char *scene, BevDtype dtype, BevAlign align,
                                        int64_t channels, BevDirection direction) {
    Err why = {0};
    OpenProblem *opened = calloc(1, sizeof *opened);
    Job job = job_plain();
    job.channels = channels;
    need(workload_open(&opened->workload, scene, &job, &why), &why);
    need((direction == BEV_BACKWARD ? workload_problem_backward : workload_problem)(
             &opened->workload, dtype, align, &opened->problem, &why),
         &why);
    opened->view = &opened->problem.view;
    return opened;
}

static inline void close_problem(OpenProblem *opened) {
    problem_free(&opened->problem);
    workload_close(&opened->workload);
    free(opened);
}
