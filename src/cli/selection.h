/* SPDX-License-Identifier: MIT */
/* Turns the words of the command line into devices, kernels, problems and results. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/cli/options.h"
#include "src/run/recorded.h"
#include "src/scene/slice.h"

/* Finds the devices to run on, as a bit mask of BevWhere. "auto" finds all devices of this machine.
 * Without a GPU a build with CUDA then prints the reason on standard error. A named device that is
 * missing gives ERR_DEVICE. */
bool select_devices(const char *word, unsigned *where, Err *err);

/* Finds a forward kernel by name, or by title on the chosen devices, the GPU first. On the CPU "v3"
 * is cpu_v3. NULL with an error: the kernel does not run there. */
const BevKernel *select_kernel(const char *word, unsigned where, Err *err);

/* Finds the forward and the backward kernel of --kernel. The option may name either of them. The
 * other kernel has the same title, or is the default of the same device. NULL after an error. */
const BevKernel *select_both_ways(const Options *options, unsigned where,
                                  const BevKernel **backward, Err *err);

/* Returns the last row of the table that runs on the best of the chosen devices. */
const BevKernel *select_best(unsigned where);

/* Makes a plan from --device, --kernel, --direction, --dtype, --align, --moments, the scenes and
 * the options of the workload. Without --dtype, --align or scenes, the plan takes `dtypes`,
 * `aligns` and the `count` scenes of `usual`. */
bool select_plan(const Options *options, unsigned dtypes, unsigned aligns, const char *const *usual,
                 int count, BenchPlan *plan, Err *err);

/* Makes a plan with select_plan(), and reads the files of --grad-out and of --scenes. */
bool select_plan_with_files(const Options *options, unsigned dtypes, unsigned aligns,
                            const char *const *usual, int count, BenchPlan *plan, Err *err);

/* Refuses a list in --dtype or --align. The error is `says`, then ", not 'LIST'". */
bool select_single(const Options *options, const char *says, const char *hint, Err *err);

/* Lists each pair of --align and --dtype (default: nearest, FP16). The aligns are the outer order.
 * Returns the number of pairs. `list` has MAX_FORMATS elements. */
enum { MAX_FORMATS = BEV_DTYPE_COUNT * BEV_ALIGN_COUNT };
int select_formats(const Options *options, KernelConfig *list);

/* Opens a scene with the job of the options. `options` NULL: the scene stays unchanged. Warns on
 * standard error if the scene's file may have another meaning. */
bool select_open(Workload *workload, const char *scene, const Options *options, Err *err);

/* Warns on standard error, with the reason, if a map has no points. Several calls for one scene and
 * align in succession warn once. Only one thread may call this function. */
void select_say_if_empty(const char *scene, BevAlign align, int64_t points, const Pruned *pruned);

/* Reads "X,Y", a cell of the grid, as its number. */
bool select_cell(const char *text, const BevShape *shape, int64_t *cell, Err *err);

/* Loads the file of --grad-out. Reports on standard error how many values are NaN or infinite.
 * Without the option `file` stays empty. Free with grad_out_free. */
bool select_grad_out(const Options *options, GradOutFile *file, Err *err);

/* Reads "CAMERA,X,Y", a pixel of the feature map. CAMERA: name or number. `rig` may be NULL. */
bool select_pixel(const char *text, const BevShape *shape, const Rig *rig, int64_t *pixel,
                  Err *err);

/* Converts the options that are controls into words of scripts. */
typedef struct AppOptions AppOptions; /* src/app/app.h */
bool select_words(const Options *options, unsigned where, AppOptions *app, Err *err);

/* Sets `*fault` if a fault or --dropout changes a camera. `fault` NULL: only the check counts.
 * Fails if --camera does not name the camera. */
bool select_fault(const Options *options, bool *fault, Err *err);

/* Applies the fault and the grid's rounding to a workload. */
bool select_use_fault(const Options *options, Workload *workload, Err *err);

/* Returns the job of the options that commands with a workload share, without a camera's fault. */
Job select_job(const Options *options);

/* ---- one kernel run -------------------------------------------------------------------------- */

typedef struct {
    KernelConfig config;
    HostProblem problem;
    void *codes; /* the output, or both gradients, in the stored format */
} Pooled;

/* Makes the problem of pooled->config, forward or backward, and runs its kernel. */
bool pool_workload(Workload *workload, Pooled *pooled, Err *err);
