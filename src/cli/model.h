/* What regime and plot share: the memory model on a scene, the chosen GPUs, and
 * predictions beside known figures. */
#pragma once

#include "kernels/regime.h"
#include "src/base/units.h"
#include "src/cachesim/gpus.h"
#include "src/cachesim/memory_model.h"
#include "src/cachesim/predict.h"
#include "src/cli/options.h"
#include "src/cli/report.h"
#include "src/run/recorded.h"
#include "src/view/chart/chart.h"
#include "src/scene/objects.h"

typedef struct ChosenGpus ChosenGpus;

/* ---- a scene and its memory model ------------------------------------------------------------ */

typedef struct {
    const char *scene; /* as the command line names it */
    char label[300];   /* workload_label() of it */
    Workload workload;
    HostProblem problem;
    MemoryModel *memory; /* on the chosen GPUs, in their order, then on all others of the table */
} SceneModel;

/* Loads the scene and replays the accesses of the kernels in `kernels` (model_bits) on all cores.
 * Call scene_model_close also after a failure. */
bool scene_model_open(SceneModel *model, const char *scene, const Job *job, BevDtype dtype,
                      BevAlign align, const ChosenGpus *chosen, unsigned kernels, Err *err);
void scene_model_close(SceneModel *model);

/* Adds kernels on the scene's problem in another number format, and what was recorded of them. */
bool scene_model_replay(SceneModel *model, const ChosenGpus *chosen, const BevProblem *problem,
                        unsigned kernels, Err *err);

/* Gives each GPU the ceilings that probes found: measured, where such a GPU is here and --device
 * allows it; else recorded. */
void scene_model_ceilings(SceneModel *model, const Options *options, const ChosenGpus *chosen);

/* Whether a recorded row was taken on the model's problem. */
bool scene_model_is(const SceneModel *model, const RecordedRow *row);

/* A sentence about the sampling, to stand above the tables; "" without sampling. */
const char *scene_model_sampling(const SceneModel *model);

/* Which of its forms V3 takes on that GPU, and why. */
BevV3Choice scene_model_v3_choice(const SceneModel *model, const Gpu *gpu);

/* Which of its forms V4 takes on that GPU and why, in the manner of bev_v3_choose; "" when V4 was
 * not replayed. */
void scene_model_v4_choice(const SceneModel *model, const Gpu *gpu, char *text, size_t size);

/* The two ways to count its bytes, as text: distinct ones, and those of the published formula. */
void scene_model_bytes(const SceneModel *model, char footprint[32], char gathered[32]);

/* The one dtype and align of a chart, FP16 and nearest by default. Fails when the options
 * name more than one. */
bool scene_model_formats(const Options *options, BevDtype *dtype, BevAlign *align, Err *err);

/* ---- rig_change.c: the rig of bevscope rig --------------------------------------------------- */

/* The text of the rig of --from, changed by the other options, malloc'd: a sound scene. */
bool rig_changed_text(const Options *options, char **text, Err *err);

/* ---- the GPUs, and what is known of them ---------------------------------------------------- */

enum { CHOSEN_GPUS = 16 };

struct ChosenGpus {
    Gpu gpus[CHOSEN_GPUS];
    char titles[CHOSEN_GPUS][128]; /* of GPUs that --dram-gbps, --sms or --clock-ghz change */
    int count;
    GpuFile file;
    RecordedSet recorded; /* empty where nothing is recorded */
};

/* The GPUs of --gpu and --gpu-file, changed by --l2-mb, --dram-gbps, --sms and --clock-ghz, and all
 * recordings. Without --gpu and --gpu-file: the
 * GPUs of the mask `fallback` (bits by position in gpus[]). */
bool chosen_open(const Options *options, unsigned fallback, ChosenGpus *chosen, Err *err);
void chosen_close(ChosenGpus *chosen);

/* Whether a recording was taken on that GPU, and none of the GPU's figures was changed. */
bool chosen_recorded_on(const Recording *recording, const Gpu *gpu);

/* The published latency of a kernel on that GPU with warm caches; NaN: unknown. */
double chosen_published_us(const Gpu *gpu, const SceneModel *model, const BevKernel *kernel);

/* ---- tables (regime_tables.c) --------------------------------------------------------------- */

typedef enum { REGIME_TRAFFIC, REGIME_PREDICTIONS, REGIME_ALL } RegimeColumns;

/* Adds a row for every kernel: its traffic, its predictions on the first `on`
 * GPUs of the model, or both in one row. */
void regime_add(Report *report, RegimeColumns which, const SceneModel *model, int on);

/* Prints at most three findings, those with the largest gain. */
void findings_first(const SceneModel *scenes, int scene_count, const ChosenGpus *chosen, FILE *out);

/* What limits the kernels by the model on the chosen GPUs, as text: the first finding of each, or
 * all of them with the evidence; and as JSON, an array with all. */
void findings_print(const SceneModel *model, const ChosenGpus *chosen, bool all, FILE *out);
json_t *findings_json(const SceneModel *model, const ChosenGpus *chosen);

/* Hardware counters of every kernel beside the model: counted now on this GPU (`label` names the
 * machine), or recorded earlier on the chosen GPUs. `named`: of the model's kernels alone. */
bool counted_measure(Report *report, CounterReader *reader, const SceneModel *model,
                     const char *label, bool named, Err *err);
void counted_recall(Report *report, const SceneModel *model, const ChosenGpus *chosen, bool named);

/* Gives an empty table its columns, so that its CSV still has a first line. */
void counted_columns(Report *report, const SceneModel *model);

/* Where the rows come from, a line for each machine: "recorded on NVIDIA H200, driver ..." */
void counted_sources(const Report *report, FILE *out);

/* How many rows, and pairs of kernels of one machine, format and align, agree with the model. */
void counted_verdict(const Report *report, FILE *out);

/* ---- charts (plots.c, plots_sweep.c) -------------------------------------------------------- */

/* The inputs of a chart; all borrowed. */
typedef struct {
    SceneModel *model;
    const ChosenGpus *chosen; /* charts of one GPU show the first */
    const Options *options;   /* --output names the file */
} PlotRequest;

typedef struct {
    const char *name, *summary;
    bool needs_profiles; /* of every kernel */
    Chart chart;         /* of the memory model, as the live display has it */
    bool (*draw)(const PlotRequest *request, Err *err); /* NULL: draws `chart` of the scene */
} PlotKind;

extern const PlotKind plot_kinds[];
extern const int plot_kind_count;

/* Latency of a problem that grows along --over. */
bool plot_sweep(const PlotRequest *request, Err *err);

/* The histogram of --tensor over the moments, with the cut of each method. */
bool plot_calibration(const PlotRequest *request, Err *err);
bool plot_objects(const PlotRequest *request, Err *err);
bool plot_prune(const PlotRequest *request, Err *err);

/* comparison.c: published and recorded latencies beside the model's. */
bool plot_published(const PlotRequest *request, Err *err);

/* ---- object_table.c -------------------------------------------------------------------------- */

/* info --objects and plot objects: where the mass of each true object lands, by a rig with the
 * fault of the options and by the rig without it in FP32, nearest. */
typedef struct {
    Objects objects;
    ObjectError *errors, *baseline; /* [objects.count] */
    const ScaleRanges *scales;      /* of the workload */
    Rig right, wrong;               /* the rig without the fault, and with it */
} ObjectTable;

/* Finds the objects of a workload, measures the baseline, then puts the fault into the workload's
 * rig. Fails where the scene has no rig or no box. Says on standard error which boxes cannot be
 * measured. Close it. */
bool object_table_open(const Options *options, Workload *workload, ObjectTable *table, Err *err);
void object_table_close(ObjectTable *table);

/* Measures the workload in a format and an align. */
bool object_table_measure(ObjectTable *table, Workload *workload, BevDtype dtype, BevAlign align,
                          Err *err);

/* How far an object's centroid has moved from the baseline's; NaN: unknown. */
double object_moved_m(const ObjectTable *table, int64_t object);

/* What a wrong calibration of a camera does in metres, seen from above: a row for 10, 30, 50 and
 * 80 m from the camera. Of points there on its pixels' rays, as far as the grid has such heights;
 * of the objects that this camera sees alone, at most a tenth nearer or farther. No rows where the
 * two rigs have the same calibration. `table`: after object_table_measure; NULL: no objects. */
void fault_table_add(const Rig *right, const Rig *wrong, const ObjectTable *table,
                     const char *scene, Report *report);

/* A row an object, and a row a band of range. */
void object_table_add(const ObjectTable *table, const char *scene, BevDtype dtype, BevAlign align,
                      Report *rows, Report *bands);
