/* SPDX-License-Identifier: MIT */
/* The memory model of one problem, as plain values for views and charts. For each kernel it has the
 * requested bytes, the miss ratio in an L2 of each size, and the latency on each GPU. Views must
 * label all these figures as a model. */
#pragma once

#include "kernels/bevpool.h"
#include "src/base/units.h"
#include "src/cachesim/limits.h"
#include "src/cachesim/network.h"
#include "src/cachesim/predict.h"
#include "src/cachesim/timeline.h"

enum {
    MODEL_KERNELS = 24,
    MODEL_GPUS = GPUS_AT_MOST,
    MODEL_L2S = 308 /* L2 sizes of what_if_l2 */
};

/* THE table of the charts of the memory model. ROW(ID, word in `chart` and `bevscope plot`, title
 * of the smallest form, idea, what is replayed for it besides the selection, topic of origin.inc
 * that says where its figures come from). charts.c (src/view/chart) fills a chart in. */
#define CHARTS(ROW)                                                                                \
    ROW(MRC, "mrc", "DRAM traffic by L2 size", "bytes to and from DRAM, over the size of the L2",  \
        KERNELS, CHART)                                                                            \
    ROW(ROOFLINE, "roofline", "Roofline, TFLOP/s",                                                 \
        "whether bytes or arithmetic limit each kernel", KERNELS, CHART)                           \
    ROW(WORKING_SET, "working-set", "Working set in each L2",                                      \
        "the working set and the gather against each GPU's L2", NOTHING, CHART)                    \
    ROW(DTYPE, "dtype", "Each format: latency and why",                                            \
        "the latency of the kernel in each number format", FORMATS, CHART)                         \
    ROW(TERMS, "terms", "Each kernel, the fastest first",                                          \
        "what limits each kernel, and which is fastest", KERNELS, CHART)                           \
    ROW(NETWORK, "network", "Pooling within a network (published)",                                \
        "the pooling's share of a whole network", KERNELS, NETWORK)                                \
    ROW(TIMELINE, "timeline", "Launches and when they end",                                        \
        "launches one by one, in a graph, with copies", NOTHING, TIMELINE)
#define CHART(id, ...) CHART_##id,
typedef enum { CHART_NONE, CHARTS(CHART) CHART_COUNT } Chart;
#undef CHART
typedef enum { REPLAYS_NOTHING, REPLAYS_KERNELS, REPLAYS_FORMATS } ChartReplays;
typedef struct {
    const char *word, *title, *idea;
    ChartReplays replays; /* nothing more, all kernels, or the kernel in all formats */
} ChartRow;
extern const ChartRow charts[CHART_COUNT];

typedef struct {
    const BevKernel *kernel;  /* NULL: the kernel has not been replayed */
    const char *name, *title; /* the kernel's name and title */
    BevTraffic requested;     /* bytes that threads request; `index` is ranks and owners */
    double rank_bytes; /* index bytes read for each point; the rest of requested.index is read for
                          each cell or interval */
    double sectors_per_request; /* sectors that a warp's instruction touches to read features */
    double sector_use;          /* requested feature bytes / bytes of their sectors; 0: unknown */
    double l2_sectors;
    double own_bytes; /* bytes that the kernel touches: each sector once, with its sums in FP32 */
    bool estimate;    /* only a sample of the multiprocessors was replayed, without L2 */
    bool sampled;     /* L2 was simulated for a sample of all lines, not for every line */
    Prediction predicted[MODEL_GPUS];    /* predictions with a warm L2 */
    Prediction cold[MODEL_GPUS];         /* predictions with a cold L2 */
    double recorded_us[MODEL_GPUS];      /* recorded latency, L2 warm; NaN: unknown */
    double recorded_cold_us[MODEL_GPUS]; /* recorded latency, L2 cold; NaN: unknown */
    Profile profile;                     /* predicts changed GPUs; its curves are empty */
    L2Answer own_l2[MODEL_GPUS];         /* the warm L2 of each GPU */
    L2Answer what_if_l2[2][MODEL_L2S];   /* warm L2s of 1 and of 2 partitions, by size */
} PredictedKernel;

/* A number format. The GPU decides which of its two forms V3 takes. */
typedef struct {
    BevWorkload workload;
    PredictedKernel small_l2, large_l2; /* the forms of V3 */
    PredictedKernel other;              /* of the other kernels the one that was replayed last */
} ModelFormat;

typedef struct {
    double dram_gb_s, l2_gb_s, fp32_gflops;
    double tensor_gflops; /* FP16 on tensor cores; 0: unknown, as in the table of GPUs */
    FigureSource source;  /* SOURCE_MODEL: computed from the data sheet */
} ModelCeilings;

/* The way in which all kernels store their outputs, as an experiment. STREAMING: a stored line
 * leaves L2 before all others ("evict first"). */
typedef enum { STORES_AS_COMPILED, STORES_PLAIN, STORES_STREAMING, STORES_COUNT } Stores;
extern const char *const stores_names[STORES_COUNT + 1];

/* Latencies without the points whose probability is below a bound. `count` 0: unknown. */
enum { PRUNED_KERNELS = BEV_RUNGS };
typedef struct {
    const BevKernel *kernel;
    double latency_us[MODEL_GPUS];
} PrunedKernel;
typedef struct {
    bool tried; /* true also if nothing was found */
    int count;
    double below, share; /* the bound, and the share of the points below it */
    double time_s;       /* the moment of the depths */
    PrunedKernel kernels[PRUNED_KERNELS];
} PrunedModel;

typedef struct {
    BevDtype dtype;
    BevAlign align;
    Stores stores; /* of the kernels that are replayed from now on */
    int64_t channels, points;
    BevFootprint footprint;
    BevTraffic gather;
    int gpu_count;
    Gpu gpus[MODEL_GPUS];
    ModelCeilings ceilings[MODEL_GPUS];
    int kernel_count;                       /* the number of rows whose accesses can be replayed */
    PredictedKernel kernels[MODEL_KERNELS]; /* by traced_place(row) */
    ModelFormat formats[BEV_DTYPE_COUNT];
    PrunedModel pruned;  /* the caller sets it */
    Networks networks;   /* the networks on the network chart; the caller sets them */
    Timelines timelines; /* recorded time lines; the caller sets them */
} MemoryModel;

/* Returns L2 size `i` of what_if_l2 in MiB. The sizes are 1/32 MiB apart up to 1 MiB, 1/4 MiB up to
 * 8 MiB, and 1 MiB up to 256 MiB. */
double model_l2_mib(int i);

/* Returns the number of the size of what_if_l2 that is nearest to `mib`. */
int model_l2_next_to(double mib);

/* Returns GPU number `gpu` of the model, changed by `edit` (NULL: unchanged). */
Gpu model_gpu(const MemoryModel *model, int gpu, const GpuEdit *edit);

/* Returns the prediction for the kernel on GPU number `gpu`, changed by `edit`. A changed L2 counts
 * as the size of what_if_l2 that is next to it. */
Prediction model_predict(const MemoryModel *model, const PredictedKernel *kernel, int gpu,
                         const GpuEdit *edit);

/* Returns the ceilings of GPU number `gpu`, computed from its figures where `edit` changes one. */
ModelCeilings model_ceilings(const MemoryModel *model, int gpu, const GpuEdit *edit);

/* Returns the row that models a kernel: a CUDA kernel itself, or the CUDA kernel that counts as the
 * counterpart of a CPU kernel. NULL: there is none. */
const BevKernel *model_row(const BevKernel *kernel);

/* Returns the prediction of a row with accesses. NULL: the row has not been replayed. */
const PredictedKernel *model_kernel(const MemoryModel *model, const BevKernel *kernel);

/* Returns the replayed kernel after `kernel`, in the order of the rows. With `kernel` NULL returns
 * the first replayed kernel. Returns NULL after the last replayed kernel. */
const PredictedKernel *model_next(const MemoryModel *model, const PredictedKernel *kernel);

/* Returns the prediction of the row that models a kernel. For V3 this is the form that V3 takes on
 * `gpu`. NULL: no row models the kernel, or the row has not been replayed. */
const PredictedKernel *model_of_kernel(const MemoryModel *model, const BevKernel *kernel,
                                       const Gpu *gpu);

/* Returns the kernel's prediction in another format: of V3, or of the kernel that was replayed last
 * in this format. */
const PredictedKernel *model_in_format(const MemoryModel *model, BevDtype dtype,
                                       const BevKernel *kernel, const Gpu *gpu);

/* Returns the form that V3 takes on `gpu`, and why. */
BevV3Choice model_v3_choice(const ModelFormat *format, const Gpu *gpu);

/* Returns the prediction of the form that V3 takes on `gpu`. NULL: it has not been replayed. */
const PredictedKernel *model_v3(const ModelFormat *format, const Gpu *gpu);

/* ---- filling a model ------------------------------------------------------------------------- */

/* Starts a model of a problem on `count` GPUs (at most MODEL_GPUS). The model has no kernel yet. */
void model_begin(MemoryModel *model, const BevProblem *problem, const Gpu *on, int count);

/* Sets the ceilings of GPU number `gpu` to limits that probes measured on this kind of GPU. Does
 * nothing if a limit is unknown. */
void model_set_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source);

/* Adds the profile of a kernel on `problem`. In formats other than the model's own the model keeps
 * only the kernel that was added last, and the two forms of V3. */
void model_add(MemoryModel *model, const BevProblem *problem, const Profile *profile);

/* Sets the recorded latencies of a row in format `dtype` on GPU number `gpu`. The row must have
 * been added in this format. */
void model_set_recorded(MemoryModel *model, const BevKernel *row, BevDtype dtype, int gpu,
                        double warm_us, double cold_us);

/* Returns a kernel as a bit of a set; bit traced_place(row) is a row. V3 has the bits of both its
 * forms. NULL and kernels whose accesses cannot be replayed have no bit. */
enum { MODEL_ALL = (1 << MODEL_KERNELS) - 1 };
unsigned model_bits(const BevKernel *kernel);

/* Returns the work of replaying one kernel on a problem of this shape, in units of progress.h. */
double model_work(const BevShape *shape);

/* Replays the kernels of the set `kernels` and adds them to the model, on all cores. Kernels that
 * refuse the problem are left out. */
bool model_replay(MemoryModel *model, const BevProblem *problem, unsigned kernels, Err *err);
