/* What the memory model knows of one problem, as plain values for views and charts: the requests of
 * each kernel, the share of its reads that miss an L2 of each size, its latency on each GPU. Views
 * must label all of it as a model. */
#pragma once

#include "kernels/bevpool.h"
#include "src/base/units.h"
#include "src/cachesim/limits.h"
#include "src/cachesim/network.h"
#include "src/cachesim/predict.h"
#include "src/cachesim/timeline.h"

enum {
    MODEL_KERNELS = 24,
    MODEL_GPUS = 16,
    MODEL_SIZES = 240, /* of L2, at which a curve is sampled */
    MODEL_L2S = 105    /* sizes at which an L2 of the user's choice is known; between them,
                          interpolated */
};

/* Charts of the memory model, named as `bevscope plot` names its kinds. */
typedef enum {
    CHART_NONE,
    CHART_MRC,
    CHART_ROOFLINE,
    CHART_WORKING_SET,
    CHART_DTYPE,
    CHART_TERMS,
    CHART_NETWORK,
    CHART_TIMELINE,
    CHART_COUNT
} Chart;
extern const char *const chart_names[CHART_COUNT]; /* "none", "mrc", ... */

typedef struct {
    const BevKernel *kernel;    /* NULL: not replayed (yet) */
    const char *name, *title;   /* of the kernel */
    BevTraffic requested;       /* bytes that threads ask for; `index` is ranks and owners */
    double rank_bytes;          /* the points' part of requested.index; the rest is owners' */
    double sectors_per_request; /* of a warp instruction that reads features */
    double sector_use; /* the requested part of those sectors; 0: unknown */
    double l2_sectors;
    bool sampled; /* some lines stood for all; else all lines were followed through L2 */
    double miss_ratio[MODEL_SIZES];     /* of reads, L2 warm; at model_size_mib() */
    Prediction predicted[MODEL_GPUS];   /* L2 warm */
    Prediction cold[MODEL_GPUS];
    double recorded_us[MODEL_GPUS];      /* L2 warm; NaN: unknown, as model_add leaves it */
    double recorded_cold_us[MODEL_GPUS]; /* the same, L2 cold */
    Profile profile;                    /* to predict changed GPUs; its curves are empty */
    L2Answer own_l2[MODEL_GPUS];        /* L2 warm */
    L2Answer what_if_l2[2][MODEL_L2S];  /* L2 warm, of one partition and of two */
} PredictedKernel;

/* V3 in one number format: which of its two forms it takes depends on the GPU. */
typedef struct {
    bool known; /* both forms were replayed */
    BevWorkload workload;
    PredictedKernel small_l2, large_l2;
} ModelFormat;

/* Source MODEL: from the data sheet. */
typedef struct {
    double dram_gbps, l2_gbps, fp32_gflops;
    double tensor_gflops; /* FP16; 0: unknown, data sheets of the table do not say */
    FigureSource source;
} ModelCeilings;

typedef struct {
    BevDtype dtype;
    BevAlign align;
    int64_t channels, points;
    BevFootprint footprint;
    BevTraffic gather;
    int gpu_count;
    Gpu gpus[MODEL_GPUS];
    ModelCeilings ceilings[MODEL_GPUS];
    int kernel_count; /* rows that have accesses; kernels[traced_place(row)] */
    PredictedKernel kernels[MODEL_KERNELS];
    double rank_bytes[MODEL_KERNELS]; /* by formula, of rows without code: no replay needed */
    ModelFormat formats[BEV_DTYPE_COUNT];
    Networks networks;   /* that pooling is a part of; the caller sets them */
    Timelines timelines; /* recorded; the caller sets them */
} MemoryModel;

/* The L2 of curve sample `i`: evenly spaced in the logarithm, from 1/32 to 256. */
double model_size_mib(int i);

/* The GPU at that place of the model, changed by `edit` (NULL: as it is). */
Gpu model_gpu(const MemoryModel *model, int gpu, const GpuEdit *edit);

/* The prediction for the kernel on that GPU. With a changed L2 the answer of that size is
 * interpolated. */
Prediction model_predict(const MemoryModel *model, const PredictedKernel *kernel, int gpu,
                         const GpuEdit *edit);

/* The ceilings of that GPU: as found by probes, or, where the edit changes them, from its figures.
 */
ModelCeilings model_ceilings(const MemoryModel *model, int gpu, const GpuEdit *edit);

/* The row whose accesses stand for a kernel: itself, or the CUDA twin of a CPU kernel. V3 stands
 * for its two forms. NULL: none. */
const BevKernel *model_row(const BevKernel *kernel);

/* The prediction of a row with accesses; NULL: not replayed (yet). */
const PredictedKernel *model_kernel(const MemoryModel *model, const BevKernel *kernel);

/* The replayed kernel after that one, in the order of the rows; after NULL the first. NULL: none. */
const PredictedKernel *model_next(const MemoryModel *model, const PredictedKernel *kernel);

/* The prediction of the row that stands for a kernel, with an L2 of that size; NULL: none, or not
 * yet. */
const PredictedKernel *model_of_kernel(const MemoryModel *model, const BevKernel *kernel,
                                       const Gpu *gpu);

/* Which of its forms V3 takes on that GPU, and why. */
BevV3Choice model_v3_choice(const ModelFormat *format, const Gpu *gpu);

/* The form of V3 that runs on that GPU; NULL: not replayed (yet). */
const PredictedKernel *model_v3(const ModelFormat *format, const Gpu *gpu);

/* ---- filling it ------------------------------------------------------------------------------ */

/* Starts a model of that problem, still without any kernel; at most MODEL_GPUS GPUs. */
void model_begin(MemoryModel *model, const BevProblem *problem, const Gpu *on, int count);

/* Sets a GPU's ceilings to those that its own probes found, now or earlier. */
void model_set_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source);

/* Adds the profile of a kernel on `problem`. A problem in another format than the model's is for
 * the forms of V3 only. */
void model_add(MemoryModel *model, const BevProblem *problem, const Profile *profile);

/* What was recorded of a row that was added in that format, on that GPU of the model. */
void model_set_recorded(MemoryModel *model, const BevKernel *row, BevDtype dtype, int gpu,
                        double warm_us, double cold_us);

/* A set of kernels as bits by traced_place(). Of V3 the bits of both forms, of a kernel without
 * accesses and of NULL none. */
enum { MODEL_ALL = (1 << MODEL_KERNELS) - 1 };
unsigned model_bits(const BevKernel *kernel);

/* How long the replay of one kernel takes on a problem of this shape, in units of progress.h. */
double model_work(const BevShape *shape);

/* Replays and adds those of the kernels that take the problem, on all cores. */
bool model_replay(MemoryModel *model, const BevProblem *problem, unsigned kernels, Err *err);
