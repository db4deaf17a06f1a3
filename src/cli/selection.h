/* From the words of the command line to devices, kernels, problems and results. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/cli/options.h"
#include "src/run/bench.h"
#include "src/run/recorded.h"
#include "src/scene/slice.h"
#include "src/try/try.h"

/* The devices to run on, as a bit mask of BevWhere. "auto" takes the available ones; a build with
 * CUDA then reports in one line on standard error why it found no GPU. A device that was named and
 * is missing is ERR_DEVICE. */
bool select_devices(const char *word, unsigned *where, Err *err);

/* A forward kernel by name, or by title on the chosen devices, the GPU first: "v3" is cpu_v3 on the
 * CPU. NULL with an error when it does not run there. */
const BevKernel *select_kernel(const char *word, unsigned where, Err *err);

/* The forward kernel and, where `backward` is not NULL, the backward kernel of --kernel, in either
 * direction. The other one has the same title, else it is the default. NULL after an error. */
const BevKernel *select_both_ways(const Options *options, unsigned where,
                                  const BevKernel **backward, Err *err);

/* The last row of the table that runs on the best of the chosen devices. */
const BevKernel *select_best(unsigned where);

/* The runs of bench and verify: --device, --kernel, --direction, --dtype, --align and the options
 * of the workload; the defaults are masks. The caller adds the scenes. */
bool select_plan(const Options *options, unsigned dtypes, unsigned aligns, BenchPlan *plan,
                 Err *err);

/* Refuses a list in --dtype and --align where only one value makes sense: "SAYS, not 'LIST'". */
bool select_single(const Options *options, const char *says, const char *hint, Err *err);

/* Each --align and --dtype (default: nearest, FP16), the aligns outermost. Returns their number;
 * `list` has MAX_FORMATS. */
enum { MAX_FORMATS = BEV_DTYPE_COUNT * BEV_ALIGN_COUNT };
int select_formats(const Options *options, KernelConfig *list);

/* Whether the text names a file or a folder, not words of a selection. */
bool select_is_scene(const char *text);

/* Replaces fields of `*config` by the words of "fp8" or "v2,bilinear". */
bool select_changed(const char *words, unsigned where, KernelConfig *config, Err *err);

/* workload_open; warns on standard error of a likely other meaning of the scene's file. */
bool select_open(Workload *workload, const char *scene, const Job *options, Err *err);

/* Warns on standard error, once for a scene and align, of a map without a point, and says why. One
 * thread. */
void select_say_if_empty(const char *scene, BevAlign align, int64_t points, const Pruned *pruned);

/* Reads "X,Y", a cell of the grid, as its number. */
bool select_cell(const char *text, const BevShape *shape, int64_t *cell, Err *err);

/* Loads the file of --grad-out, and reports on standard error how many of its values are NaN or
 * infinite. Without the option `file` stays empty. Free it with grad_out_free. */
bool select_grad_out(const Options *options, GradOutFile *file, Err *err);

/* The same for a plan, which borrows it; refused where the plan goes forward only. */
bool select_plan_grad_out(const Options *options, BenchPlan *plan, GradOutFile *file, Err *err);

/* Reads "CAMERA,X,Y", a pixel of the feature map, as its number; a camera by name or number. `rig`
 * may be NULL. */
bool select_pixel(const char *text, const BevShape *shape, const Rig *rig, int64_t *pixel,
                  Err *err);

/* The controls of the options, in the words of scripts. */
typedef struct AppOptions AppOptions; /* src/app/app.h */
bool select_words(const Options *options, unsigned where, AppOptions *app, Err *err);

/* Whether a fault or --dirty changes a camera; the camera must be named. */
bool select_fault(const Options *options, bool *fault, Err *err);

/* Changes that camera of a workload, and how points meet cells. */
bool select_use_fault(const Options *options, Workload *workload, Err *err);

/* The job of the options that every command with a workload shares, but the fault of a camera. */
Job select_job(const Options *options);

/* ---- one kernel run -------------------------------------------------------------------------- */

typedef struct {
    KernelConfig config;
    HostProblem problem;
    void *codes; /* the output, or both gradients, as stored */
} Pooled;

/* Runs config and problem of `pooled`, which may go backward. Call pooled_free also after a
 * failure. */
bool pooled_launch(Pooled *pooled, Err *err);
void pooled_free(Pooled *pooled);

/* ---- try_chart.c: where a learner's kernel stands beside the kernels of the CPU ---------------
 */

/* Times both on the problem, each in a process of its own, prints the chart, and draws it into
 * --output where that is given. No launch of the kernel takes longer than limit_s. */
bool try_ladder(const Options *options, const TryKernel *kernel, const char *scene,
                const BevProblem *problem, double limit_s, Err *err);

/* On a terminal: names the current work on standard error; "" at its end. */
void try_progress(const char *what);
