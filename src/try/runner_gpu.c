/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/try/job.h"

#include "src/base/data.h"
#include "src/run/cuda/nvrtc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

enum { HAS_CUDA = 1 };
#else
enum { HAS_CUDA = 0 };

static bool device_open(int index, Err *err) {
    (void)index;
    return err_set(err, ERR_DEVICE, "cuda", "configure it --with-cuda, or write the kernel in C",
                   "this build has no CUDA kernels");
}
#endif

enum { MAX_SOURCE = 1 << 20, MAX_IMAGE = 1 << 26 };

Pool runner_pool(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    return (Pool){.points = map->points,
                  .intervals = map->intervals,
                  .channels = problem->shape.channels,
                  .cells = problem->shape.nx * problem->shape.ny,
                  .ranks_depth = map->ranks_depth,
                  .ranks_feat = map->ranks_feat,
                  .ranks_bev = map->ranks_bev,
                  .interval_starts = map->interval_starts,
                  .interval_lengths = map->interval_lengths,
                  .depth = problem->depth.data,
                  .feat = problem->feat.data,
                  .out = problem->out.data};
}

bool gpu_possible(Err *err) {
    return HAS_CUDA || device_open(0, err);
}

int gpu_compile(const char *name) {
    char headers[PATH_MAX], line[1024], *source = NULL;
    size_t length;
    NvrtcResult result = {0};
    Err err = {0};
    bool ok = data_read(name, MAX_SOURCE, &source, &length, &err) &&
              data_path("samples/try", headers, sizeof headers, &err) &&
              nvrtc_compile(source, name, headers, &result, &err);
    if (result.log)
        fputs(result.log, stdout);
    if (ok && !data_write_all(TRY_CODE, result.image, result.bytes))
        ok = err_set(&err, ERR_FAILED, name, "", "the machine code cannot be written");
    free(source);
    free(result.image);
    free(result.log);
    if (ok)
        return 0;
    err_line(&err, line, sizeof line);
    if (err.kind == ERR_DEVICE)
        puts(line);
    return err.kind;
}

bool gpu_load(int fd, Err *err) {
    char path[32], *image = NULL;
    size_t length;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = device_open(0, err) && data_read(path, MAX_IMAGE, &image, &length, err) &&
              nvrtc_load(image, "pool", err);
    free(image);
    return ok;
}

/* Launches the kernel. Pointers of the problem are to device memory. */
static bool launch_learner(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)plan;
    Pool pool = runner_pool(problem);
    size_t bytes = (size_t)(pool.cells * pool.channels) * sizeof(float);
    return nvrtc_launch(&pool, pool.out, bytes, pool.intervals * pool.channels, stream, err);
}

const BevKernel gpu_learner = {.name = "yours",
                               .title = "yours",
                               .where = BEV_CUDA,
                               .dtypes = 1u << BEV_FP32,
                               .aligns = 1u << BEV_NEAREST,
                               .launch = launch_learner};

JobState gpu_call(const BevProblem *problem, float *out, Err *err) {
    Session *session = NULL;
    JobState state = JOB_CRASHED;
    if (session_open(&session, &gpu_learner, problem, err) && session_poison(session, err) &&
        session_run(session, err) && session_read(session, out, err))
        state = session_inputs_untouched(session, err) ? JOB_DONE : JOB_TRESPASSED;
    session_close(session);
    return state;
}
