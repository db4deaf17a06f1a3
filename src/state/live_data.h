/* SPDX-License-Identifier: MIT */
/* The results of the engine, as plain values for the views. The engine fills one LiveData for each
 * finished frame, and views only read it. In scripts the engine measures nothing (engine.c). Every
 * figure names its source. An unknown figure is zero with SOURCE_UNKNOWN and prints "n/a". A figure
 * of an earlier selection may stay, marked stale. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/cachesim/findings.h"
#include "src/cachesim/metrics.h"
#include "src/cachesim/schedule.h"
#include "src/cachesim/steps.h"
#include "src/state/state.h"

enum { LIVE_MAX_KERNELS = 32, LIVE_MAX_CONTRIBUTIONS = 512 };

typedef struct {
    char name[96];   /* the device that runs the selection: "NVIDIA H200", or the CPU's name */
    char driver[32]; /* "580.159"; "": none */
    char cuda[16];   /* "13.0"; "": none */
    BevWhere where;
    int threads; /* CPU */
    Reading clock_mhz, memory_clock_mhz, temperature_c, power_w, power_limit_w;
    char throttle[64];    /* "none", "thermal", "power"; "": unknown */
    Reading l2_bytes;     /* last-level cache: GPU L2, CPU L3 */
    Reading memory_bytes; /* GPU */
    /* The highest measured bandwidth of loads or copies, reads and writes counted: of the L2 where
     * the footprint fits into the L2, else of the memory. */
    Reading ceiling_gb_s;
} LiveDevice;

typedef struct {
    bool known;
    BevFootprint footprint; /* of the selection: each array once, computed from shapes */
    BevTraffic gather;      /* gather traffic: the published way of counting */
    BevTraffic own; /* backward: what the selected kernel requests, by its own formula */
} LiveMemory;

/* The quantisation scales of the frame's tensors, by BitsOf, and the least and largest scale of a
 * feature channel. All are 1 where the format has no scales. */
typedef struct {
    bool known;
    BevDtype dtype; /* the format of the frame's features */
    float tensor[BITS_COUNT], channel_least, channel_most;
} LiveScales;

/* A latency that was recorded on one kind of GPU, on a scene with the same map. */
typedef struct {
    double us;         /* NaN: none was recorded */
    const char *label; /* the recording: "NVIDIA H200, driver ..., 2026-11-20"; NULL: none */
} RecordedOnGpu;

/* The figures of one kernel, at the selected dtype and align. */
typedef struct {
    const BevKernel *kernel;
    const char *skipped; /* why the kernel cannot run the selection, static text; NULL: it can */
    bool failed;         /* the kernel failed on the selection here */
    bool being_timed;    /* the kernel is timed at the moment */
    Reading median_us, p95_us, p99_us;
    double least_us, most_us;   /* the range of this problem's measured medians; 0: none yet */
    int turns;                  /* series of launches that were timed so far */
    bool unsettled;             /* the samples drifted: do not quote the figure */
    bool single;                /* timed by single launches on the background thread, as a launch
                                   takes longer than a key can wait; else by a warm series */
    bool beside_pictures;       /* timed while pictures used cores: not to be quoted */
    Reading effective_gb_s;     /* requested bytes / median */
    /* Recorded latencies: of launches after a cache flush, of single launches from the host, and of
     * warm launches, which are kept beside a measured median. */
    Reading cold_us, single_us, recorded_us;
    Reading counted[COUNTER_COUNT]; /* recorded counters of a warm launch */
    Reading published_us[MODEL_GPUS]; /* the article's latency on each row of gpus[] */
    RecordedOnGpu on_gpu[MODEL_GPUS]; /* CUDA kernels: the recorded latency on each row of gpus[] */
    Reading prepare_us;
    /* GPU: registers of a thread, and theoretical occupancy (0..1). Of a launch with several
     * kernels these are the most registers and the least occupancy. */
    Reading registers, occupancy;
    char recorded_on[96]; /* machine and date of recorded_us, "NVIDIA H200 ..."; "": none */
    char recorded_file[48];         /* the recording's file in samples/recorded/ */
    Reading ceiling_gb_s;           /* LiveDevice.ceiling_gb_s of the machine of the recording */
} LiveKernel;

/* The speed-up: the baseline's latency divided by the selection's. A measured speed-up is the
 * median of `pairs` ratios, each of two latencies taken in turns. With too few pairs `most` is 0,
 * and the medians are divided. A recorded speed-up divides two medians of one recording. */
typedef struct {
    Reading ratio;
    double least, most; /* the least and the largest measured ratio */
    int pairs;          /* the pairs of latencies measured so far */
    bool scatter;       /* whether the ratios scatter widely */
    char recorded_on[96], recorded_file[48];
} LiveSpeedup;

/* Hardware counters of one launch of `config`, the selection at the time. NaN: not counted. */
typedef struct {
    FigureSource source;
    bool stale; /* the map has changed since */
    KernelConfig config;
    double dram_bytes, l2_sectors, l1_sectors; /* read and written; a sector has 32 bytes */
    double issue_percent, occupancy_percent;   /* the used share of issue slots; of warp slots */
} LiveCounters;

typedef enum { LIVE_UNKNOWN, LIVE_PASS, LIVE_FAIL, LIVE_SKIP } LiveVerdict;

/* The accuracy of the selected kernel with one format. SOURCE_UNKNOWN: not checked yet. */
typedef struct {
    FigureSource source;
    bool stale;
    LiveVerdict gate_a, gate_b, gate_c;
    LiveVerdict atol_1e2; /* the published line: max abs error <= 1e-2 */
    double max_abs, largest, rel_l2, channels_l2, cosine; /* FormatError */
    double rel_l2_limit;                         /* the limit that gate B sets to rel_l2 */
    int64_t nan_count, inf_count, left_out; /* FormatError */
    int64_t worst_cell;                     /* -1: none */
    double prune_change; /* the most that pruned points change an output; 0: nothing is pruned */
    const char *output; /* backward: which gradient was judged, static text; else NULL */
    double time_s; /* the moment of the world or clip that was judged */
} LiveAccuracy;

/* clang-format off */
typedef enum {
    STAGE_FEATURES, STAGE_MAP, STAGE_ENCODE, STAGE_UPLOAD, STAGE_POOL, STAGE_READ, STAGE_DRAW,
    STAGE_COUNT
} Stage;
/* clang-format on */

extern const char *const stage_names[STAGE_COUNT]; /* "features", "map", ... */

typedef struct {
    int camera;
    int32_t w, h, depth_bin;
    float depth;  /* probability of the bin */
    float weight; /* the point's bilinear weight; 1 for nearest */
} LiveContribution;

typedef struct {
    int64_t cell;     /* -1: nothing probed */
    int64_t interval; /* -1: no point lies in it */
    int64_t points;
    /* L2 norms over the channels: of the selected kernel and format, and of FP64 over the original
     * inputs. NaN: unknown. */
    double value, fp64_original;
    int64_t channel; /* the channel of the largest difference; -1: unknown */
    double channel_value, channel_fp64;
    int64_t of_camera[RIG_MAX_CAMERAS]; /* how many of the points each camera sends */
    int bin_least, bin_most;            /* the least and largest depth bin of the points */
    int contribution_count; /* the largest depth * weight first */
    LiveContribution contributions[LIVE_MAX_CONTRIBUTIONS];
} LiveProbe;

/* The recorded steps of the warps that work on one cell. */
typedef struct {
    Steps selection, baseline; /* without steps: error_text has the reason, or no baseline is
                                  pinned */
    int64_t cell;              /* -1: the map has no points */
    char error_text[200];      /* why the selection has no steps */
    char baseline_text[200];   /* why the baseline has none; "": steps are there, or no baseline */
} LiveSteps;

enum { LIVE_MOVED_AT_M = 40 };

/* The memory that the display may take, in MB. A grid that needs more is refused. */
enum { LIVE_BUDGET_MB = 3000 };

typedef struct {
    bool known;     /* a comparison is on */
    bool alike;     /* one and the same grid is on both sides */
    int64_t cells;  /* whose values differ in any channel */
    double most;    /* the largest difference of a value */
    double moved_m; /* seen from above, how far calibration errors move a point LIVE_MOVED_AT_M in
                       front of a camera: the most of all cameras; NaN: no rig */
} LiveDifference;

/* Where the mass of the ground-truth objects lies, by range. */
typedef struct {
    bool known, compared; /* the frame has objects; the baseline has objects, too */
    ObjectBand now[OBJECT_BANDS], baseline[OBJECT_BANDS];
} LiveObjects;

/* Gradients of a loss on some cells. Borrowed like the frame; NULL where there are none. */
typedef struct {
    const GridLoss *loss; /* loss->inside NULL: the loss is on all cells, or there is no loss */
    const float *grad_depth, *grad_feat; /* with the shapes of depth and features; both or none */
    const char *text;                    /* why gradients are missing; "": they are not */
} LiveGradients;

/* The arrays of one frame, borrowed until the engine is asked for the next. NULL: missing. */
typedef struct {
    uint64_t content;          /* changes whenever anything below changes */
    uint64_t baseline_content; /* changes when the baseline changes */
    uint64_t seen_content;     /* changes when what the cameras see changes */
    int64_t nx, ny, channels;
    BevShape shape;                                 /* the problem's shape */
    const float *pooled;                            /* (cell, c), selection */
    const float *baseline;                          /* (cell, c), while a comparison is on */
    const BevKernel *pooled_by, *baseline_by;       /* the kernels of these two */
    const double *fp64_original;                    /* (cell, c), FP64 over the original inputs */
    const double *baseline_fp64;                    /* (cell, c), FP64 over the baseline's inputs */
    const BevMap *map, *baseline_map;
    const LiveSteps *steps; /* recorded steps, if the job asks for steps */
    const Embedding *embedding;
    const float *baseline_depth; /* (camera, depth, h, w), while a comparison is on */
    const Features *features;   /* for the strip: feature norm, expected depth */
    const CameraViews *cameras; /* for the strip: what the cameras see */
    const OperatorBars *bars;   /* for the strip of an operator scene, which has no cameras */
    const Rig *rig;             /* the rig with the user's calibration errors */
    const World *world;
    const Photos *photos; /* what the car saw besides: photographs, boxes, LiDAR */
    char scene_name[64], other_name[64]; /* the names of two compared scenes; else "" */
    bool photo_features; /* made from photographs: channels 0 to 2 are linear light */
    bool draft; /* made with fewer rays: unless the world moves, a finer frame follows */
    double time_s;
    LiveGradients gradients; /* backward only */
} LiveFrame;

typedef struct {
    uint64_t serial; /* the serial of the job that `frame` shows */
    Job job;         /* that job: the figures below belong to it */
    bool busy;       /* a newer job is being computed */
    /* The kernel that pooled this picture in place of the selected kernel or the baseline. A
     * replaced kernel is too slow for a live picture, or computes gradients. NULL: none is. */
    const BevKernel *stand_in;
    LiveDevice device;
    Reading fps; /* frames delivered a second */
    LiveMemory memory;
    LiveScales scales;
    const MemoryModel *model; /* of this scene, borrowed like `frame`; NULL: none yet */
    bool model_of_before;     /* `model` is of an earlier map or format; the job's follows */
    double pruned_s;          /* the moment whose depths pruned the model's map */
    const Race *race;         /* of this map, while its page is open, borrowed; NULL: none yet */
    bool timed;               /* kernels are timed now; false: a script, which measures nothing */
    char date[12];            /* date of the measurements here, "2026-11-26"; "": not timed */
    bool machine_busy;        /* other programs take many of the cores */
    double others_share;      /* the share of the cores that other programs take */
    bool complete; /* all figures of this job were taken once; later figures are repeats */
    int kernel_count;
    LiveKernel kernels[LIVE_MAX_KERNELS];
    /* Recorded figures of kernels of other builds, and of the view transform. */
    int elsewhere_count;
    LiveKernel elsewhere[LIVE_MAX_KERNELS];
    Reading clear_us;    /* recorded: of a clear of the output alone */
    LiveKernel baseline; /* job.baseline on this scene; speed-ups refer to it */
    LiveSpeedup speedup; /* the selection's speed-up */
    LiveCounters counters;
    LiveAccuracy accuracy[BEV_DTYPE_COUNT];
    MapIntervals intervals;
    Reading stages_us[STAGE_COUNT];
    LiveProbe probe;
    LiveDifference difference;
    LiveObjects objects;
    LiveFrame frame;
    char error_text[200]; /* why there is no new picture ("CUDA error 700: ..."); "": no error */
} LiveData;

void live_init(LiveData *live);

/* Returns the row of `kernel`; NULL: there is none. */
const LiveKernel *live_kernel(const LiveData *live, const BevKernel *kernel);

/* Returns the kernel's row among those timed here or recorded elsewhere; NULL: none. */
const LiveKernel *live_known_kernel(const LiveData *live, const BevKernel *kernel);

/* Writes the label of one side of a comparison. Where only the rigs differ: "rig as pinned" or
 * "rig now". Else "V2 FP16 nearest", or "V2 FP16 nearest (by V4)" where a stand-in pooled the
 * picture. */
ShortText live_side_label(const LiveData *live, bool baseline);

/* Returns the mark of a format that was judged before the newest change: "!", else "". */
const char *live_accuracy_mark(const LiveData *live, BevDtype dtype);

/* Writes the moment: "t 3.20 s", or "moment 2 of 40" for a clip. */
ShortText live_moment_text(const SceneFacts *scene, double time_s);

/* Writes "DRAM 0.12 MB, L2 1.60 M sectors, ..."; returns false for counters of another job. */
bool live_counters_line(const LiveCounters *counters, const Job *job, char *text, size_t size);

/* Lists the points of the shown step, for the lane that is looked at. Returns how many. */
int live_step_points(const LiveData *live, const State *state,
                     const StepPoint *list[LIVE_MAX_CONTRIBUTIONS]);

/* Returns the contribution of a point with this weight and this rank of its depth. */
LiveContribution live_contribution(const BevShape *shape, const Features *features, int32_t rank,
                                   float weight);

/* Lists the points that pictures highlight: those of the shown step, else of the pinned cell.
 * Returns their number. */
int live_lit(const LiveData *live, const State *state,
             LiveContribution list[LIVE_MAX_CONTRIBUTIONS]);

/* Returns the median of a row; unknown where `row` is NULL. A measured median is doubtful where it
 * is unsettled. A recorded median is doubtful while the kernel is still to be timed here. */
Reading live_latency(const LiveData *live, const LiveKernel *row);

/* Returns the baseline's median divided by the row's median; unknown where their sources differ.
 * The headline shows live->speedup instead. */
Reading live_speedup(const LiveData *live, const LiveKernel *row);

/* Returns the slice of the frame's grid that a picture shows. `slice` is a number from 0,
 * SLICE_MAX or SLICE_SIDE, as in the job. */
Slice live_slice(const LiveFrame *frame, int slice);

/* Returns the accuracy of a format that cannot be judged: no gate has a verdict, no figure is
 * known. */
LiveAccuracy live_unjudged(double time_s);

/* Marks all formats as unchecked, after a change of scene, kernel or align. */
void live_forget_accuracy(LiveData *live);

/* Returns the figures that a log line compares. The latency is measured or recorded. */
Headline live_headline(const State *state, const LiveData *live);

/* ---- texts and bars that terminal and window derive from it ---------------------------------- */

/* The kernels of the selection's backend in the order of the table, and the scale of the bars that
 * compare them. */
typedef struct {
    const LiveKernel *kernels[LIVE_MAX_KERNELS]; /* borrowed from the LiveData */
    int count;
    FigureSource bars; /* only latencies of one source are compared by bars */
    double longest_us; /* the slowest kernel with a bar */
    double scale_us;   /* length of a full bar; slower kernels are cut off. 0: no figure is known */
} Ladder;

/* Lists the kernels. Bars show measured latencies, or recorded ones if more kernels have these. */
Ladder ladder_of(const State *state, const LiveData *live);

/* Writes the source of the row's median and how it was timed: "measured", "measured, single
 * launches", "measured while rendering: noisy", "measured, unsettled", "recorded, stale", "n/a". */
ShortText latency_origin(const LiveKernel *row);

typedef enum { UNKNOWN_LATENCY, UNKNOWN_ACCURACY, UNKNOWN_MODEL } Unknown;

/* Returns in a few words why a figure of the row's kernel is unknown: "waits: CPU busy",
 * "needs a GPU", "not recorded". `dtype` is the format of an accuracy. `row` NULL: no
 * particular kernel. */
const char *unknown_reason(Unknown unknown, const LiveData *live, const LiveKernel *row,
                           BevDtype dtype);

/* Writes the machine of a recording's label "Intel(R) Xeon(R) Processor, 2 threads, ...": "Intel
 * Xeon". */
ShortText machine_text(const char *label);

/* Writes where the speed-up is from: "4.20 to 4.90 in 7 pairs", "recorded on NVIDIA H200", "not
 * recorded". */
void speedup_origin(const LiveData *live, char *text, size_t size);

/* Returns the one-character mark of a median: "r" recorded, "!" stale, "b" timed while rendering,
 * "?" unsettled, "s" single launches. "" marks a warm series, the protocol of `bench`. */
const char *ladder_mark(const LiveKernel *row);

/* Explains the marks that occur beside the medians: "measured, r recorded, ! stale, ? unsettled".
 * While other programs use the cores, "?" means "CPU busy". */
void ladder_note(const Ladder *ladder, bool machine_busy, char *note, size_t size);

/* ---- a comparison ---------------------------------------------------------------------------- */

/* Whether one stand-in's grid is on both sides of a comparison of two kernels. Nothing is compared
 * then, and screens must say so. */
bool pooled_alike(const LiveData *live);

/* Writes why no difference is drawn: "both sides are drawn by V4 while playing: Space pauses and
 * shows the difference"; "": one is drawn. */
ShortText difference_missing(const State *state, const LiveData *live);

/* Writes "14,310 cells differ from V2 FP16, points at 40 m moved 0.70 m"; "" where nothing is
 * compared. */
void comparison_text(const State *state, const LiveData *live, char *text, size_t size);

/* ---- the prediction of the memory model ------------------------------------------------------ */

/* Returns "model", or for a CPU kernel's selection "model of the CUDA kernel". */
const char *model_whose(const LiveData *live);

/* Whether the memory model replays the accesses of the selected kernel. It replays every forward
 * kernel. */
bool model_follows(const KernelConfig *config);

/* Returns the predicted kernel for the selection on the chosen GPU; NULL: not known (yet). */
const PredictedKernel *prediction_kernel(const State *state, const LiveData *live);

/* Returns the kernel's prediction on the chosen GPU, with the user's changes of its figures.
 * `predicted` is not NULL. */
Prediction prediction_of(const State *state, const LiveData *live,
                         const PredictedKernel *predicted);

/* Returns the mark of figures that are derived from the prediction: "~" of a first estimate. */
static inline const char *prediction_about(const PredictedKernel *predicted) {
    return predicted && predicted->estimate ? "~" : "";
}

/* Writes the predicted GPU: "RTX A6000", "RTX A6000 with 16 MiB of L2, 300 GB/s". */
ShortText prediction_gpu(const State *state);

/* Writes "3.8 sectors a request"; "n/a sectors a request" where no request was made. */
ShortText prediction_sectors(const PredictedKernel *predicted);

/* Lists what limits the selection on the chosen GPU and L2, by the model. Returns how many; 0:
 * unknown. */
int live_findings(const State *state, const LiveData *live, Finding findings[FINDINGS_MAX]);

/* A finding, and the command of a click on the finding or of Enter: a faster kernel, pruning, or
 * the lesson of a cost. */
typedef struct {
    Finding finding;
    Command command;
    const char *of; /* the kernel that gains; NULL: the selection */
    bool estimate;  /* the gain is derived from a first estimate */
} Advice;

/* Lists the findings with a gain, the largest gain first. Returns how many. */
int live_advice(const State *state, const LiveData *live, Advice advice[FINDINGS_MAX + 1]);

/* NVIDIA's published tolerance of the largest error. */
static const double LIVE_TOLERANCE = 1e-2;

/* Returns whether the largest error of the format is within the tolerance. */
LiveVerdict live_tolerance(const LiveAccuracy *accuracy);

/* Returns the selection's errors if they were judged at another moment than the picture's. NULL:
 * they are of the same moment, or not known. */
const LiveAccuracy *live_judged_elsewhere(const LiveData *live);

/* Writes at which moment of the scene the errors are judged: "at t 14.00 s"; "" of a scene that
 * does not move. */
ShortText live_judged_text(const SceneFacts *scene, const LiveAccuracy *accuracy);

/* Writes what the largest error does not count: ", and pruning changes outputs by up to 0.0019"; ""
 * where nothing is pruned. */
ShortText live_pruning_text(const LiveAccuracy *accuracy);

/* Whether all points of the longest interval have probability 0. */
bool live_longest_empty(const LiveData *live);

/* Whether the probed cell has points, all with probability 0. */
bool live_probe_empty(const LiveProbe *probe);

/* ---- the story: what the default screen says of the kernels ---------------------------------- */

enum { STORY_BARS = 5 }; /* four kernels, or the backward kernels of one backend */

/* The bar of one kernel. A time that the source lacks is NaN, and `why` then says the reason. */
typedef struct {
    const BevKernel *kernel; /* the row that was timed or simulated */
    const BevKernel *here;   /* the row that a click selects; NULL: none runs on this backend */
    double us, published_us; /* published_us NaN: none for the chosen GPU and the form of V3 */
    bool estimate;           /* replayed on a sample of the multiprocessors */
    /* "limited by L2 bandwidth: atomics", "waits for 352-point cells", "waits: long cells" */
    char why[80], short_why[48], brief[40];
    LimitReason reason; /* the reason that `why` tells */
    /* "decoding FP8: 2.5 instructions a value", "8 points at a time"; "": nothing to add */
    char more[64], short_more[40];
} StoryBar;

typedef struct {
    int count;
    StoryBar bars[STORY_BARS], selection, baseline;
    FigureSource source; /* of all times: measured, recorded or model */
    char of[160];        /* "model of RTX A6000" */
    char from[200];      /* the same, and that some of the times are first estimates */
    bool other_config;   /* the times are of an earlier map, format or align, as `from` says */
    bool estimate;       /* some of the times are of a sample of the multiprocessors */
    bool on_gpu;         /* the times are of a GPU, this or the chosen one */
    double ratio;        /* the baseline's time over the selection's; NaN: not of one source */
} Story;

/* Fills in the bars from one source: measured, recorded or model, the first with all times. */
Story story_of(const State *state, const LiveData *live);

/* Whether the forward story has a bar for the kernel. The bars are the CUDA rows of the article's
 * kernels and of this program's fastest kernel. */
bool story_tells(const BevKernel *kernel);

/* Writes the time of another kernel of this backend from the story's source, a first estimate as
 * "~402 us". "": the source has none. */
ShortText story_time(const Story *story, const State *state, const LiveData *live,
                     const BevKernel *kernel);

/* Returns the latency that was recorded of the row's kernel on the chosen GPU. NULL: none was, or a
 * what-if has changed the GPU's figures. */
const RecordedOnGpu *story_recorded(const State *state, const LiveKernel *row);

/* Returns the figures that EVENT_FRAME carries: forward the latency is that of the story. */
Headline story_headline(const State *state, const LiveData *live);
