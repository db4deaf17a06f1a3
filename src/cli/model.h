/* SPDX-License-Identifier: MIT */
/* Shared by regime, plot, rig and info: the memory model, the chosen GPUs, tables of objects. */
#pragma once

#include "src/cli/report.h"
#include "src/run/recorded.h"

/* ---- the GPUs and their known figures ------------------------------------------------------- */

enum { CHOSEN_GPUS = 16 };
typedef struct {
    Gpu gpus[CHOSEN_GPUS];
    char titles[CHOSEN_GPUS][128]; /* of GPUs that --dram-gb-s, --sms or --clock-ghz change */
    int count;
    GpuFile file;         /* the file of --gpu-file */
    Stores stores;        /* how all kernels store their outputs, by --stores */
    RecordedSet recorded; /* all recordings */
} ChosenGpus;

/* Lists the GPUs of --gpu and --gpu-file, or else those of the mask `fallback` (a bit is a row of
 * gpus[]), as --l2-mb, --dram-gb-s, --sms and --clock-ghz change them. Reads all recordings. */
bool chosen_open(const Options *options, unsigned fallback, ChosenGpus *chosen, Err *err);

/* Whether a recording was taken on this GPU, and no figure of the GPU was changed. */
bool is_recorded_on(const Recording *recording, const Gpu *gpu);

/* ---- a scene and its memory model ------------------------------------------------------------ */

typedef struct {
    const char *scene; /* the scene's name on the command line */
    char label[300];   /* the scene's name from workload_label() */
    Workload workload;
    HostProblem problem;
    MemoryModel *memory; /* on the chosen GPUs, in their order, then on all others of the table */
} SceneModel;

/* Loads the scene as select_open does. Replays the accesses of these kernels (model_bits) on all
 * cores. A command that opens many models must close each of them, also after a failure. */
bool scene_model_open(SceneModel *model, const char *scene, const Options *options, BevDtype dtype,
                      BevAlign align, const ChosenGpus *chosen, unsigned kernels, Err *err);
void scene_model_close(SceneModel *model);

/* Replays these kernels on the problem in another format, and adds their recorded latencies. */
bool scene_model_replay(SceneModel *model, const ChosenGpus *chosen, const BevProblem *problem,
                        unsigned kernels, Err *err);

/* Returns the form that V3 takes on this GPU, and the reason. */
BevV3Choice scene_model_v3_choice(const SceneModel *model, const Gpu *gpu);

/* Returns the published latency of a kernel on this GPU with warm caches. NaN: unknown. */
double published_us(const Gpu *gpu, const SceneModel *model, const BevKernel *kernel);

/* ---- charts (plots.c) ------------------------------------------------------------------------ */

/* The inputs of a chart, all borrowed. */
typedef struct {
    SceneModel *model;
    const ChosenGpus *chosen; /* a chart of one GPU shows the first GPU */
    const Options *options;   /* --output names the file */
    const BevKernel *kernel;  /* the kernel that titles speak of */
    PictureFile file;         /* the format and size of --output */
} PlotRequest;

typedef struct {
    const char *name, *summary;
    Chart chart; /* chart of the memory model, as in the live display */
    bool (*draw)(const PlotRequest *request, Err *err); /* NULL: `chart` is drawn */
} PlotKind;

/* Returns the place of value `i` in descending order. Equal values keep their order. */
int plot_rank(const double *values, int count, int i);

extern const PlotKind plot_kinds[];
extern const int plot_kind_count;

/* Draws the histogram of --tensor over the moments, with the cut of each method. */
bool plot_calibration(const PlotRequest *request, Err *err);
/* Draws the position error of each true object by its range. */
bool plot_objects(const PlotRequest *request, Err *err);

/* ---- object_table.c -------------------------------------------------------------------------- */

/* Adds rows for info --objects in each --align and --dtype: a row for each true object, and a row
 * for each band of range. They say where the mass of the object lands, with the fault of the
 * options and without it, in FP32 and nearest. Afterwards the workload has the fault. Fails if the
 * scene has no rig or no box. Warns on standard error of boxes that cannot be measured. */
bool objects_describe(const Options *options, Workload *workload, const char *scene, Report *rows,
                      Report *bands, Err *err);

/* Adds the shift that a wrong calibration of a camera causes, in metres seen from above. There is a
 * row for 10, 30, 50 and 80 m from the camera. A row has the shift of the points at this range on
 * the pixels' rays. Points above and below the grid are left out. A camera with the same
 * calibration in both rigs has no rows. */
void fault_table_add(const Workload *workload, const char *scene, Report *report);
