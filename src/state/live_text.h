/* Words and bars for the views of LiveData, the same in terminal and window: the ladder of kernels,
 * a line of hardware counters, the memory model's prediction. */
#pragma once

#include "src/cachesim/findings.h"
#include "src/state/live_data.h"

/* The kernels of the backend that runs the selection, in the order of the table, and the scale of
 * the bars that compare them. */
typedef struct {
    const LiveKernel *kernels[LIVE_MAX_KERNELS]; /* borrowed from the LiveData */
    int count;
    double longest_us; /* the slowest known kernel */
    double scale_us; /* length of a full bar; slower kernels are cut off. 0: no figure is known */
} Ladder;

Ladder ladder_of(const State *state, const LiveData *live);

/* Where the row's median comes from and how it was timed, in words: "measured", "measured, single
 * launches", "measured beside pictures", "measured, unsettled", "recorded, stale", "n/a". */
void latency_origin(const LiveKernel *row, char *text, size_t size);

/* Figures that can be unknown. */
typedef enum { UNKNOWN_LATENCY, UNKNOWN_ACCURACY, UNKNOWN_MODEL } Unknown;

/* Why a figure of the row's kernel is not known, short: "waits: machine busy", "needs a GPU", "not
 * recorded". The accuracy is that of `dtype`. `row` NULL: of no kernel in particular. */
const char *unknown_reason(Unknown unknown, const LiveData *live, const LiveKernel *row,
                           BevDtype dtype);

/* "3.34" and "\u00d7", or "\u00d7 r" with the mark of a figure not measured here; "n/a" and "". */
void speedup_text(const Reading *speedup, char number[16], char unit[8]);

/* "NVIDIA H200" or "Intel Xeon" of a recording's label, "Intel(R) Xeon(R) Processor, 2 threads,
 * ...". */
void machine_text(const char *label, char *text, size_t size);

/* "4.20 to 4.90 in 7 pairs", "recorded on NVIDIA H200", "2 pairs timed", "not recorded". */
void speedup_origin(const LiveData *live, char *text, size_t size);

/* The mark beside a median, one character: "r" recorded, "~" stale, "b" timed beside pictures, "?"
 * unsettled, "s" single launches; "" for a warm series, the protocol of `bench`. */
const char *ladder_mark(const LiveKernel *row);

/* Explains the marks beside the medians, of those that occur: "measured, r recorded, ~ stale,
 * ? unsettled"; while other programs have the cores "? machine busy". */
void ladder_note(const Ladder *ladder, bool machine_busy, char *note, size_t size);

/* ---- a comparison ---------------------------------------------------------------------------- */

/* Whether a stand-in's grid is both sides of a comparison of two kernels: then nothing is compared,
 * which screens must say. */
bool pooled_alike(const LiveData *live);

/* "14,310 cells differ from V2 FP16, points at 40 m moved 0.70 m"; "": nothing is compared. */
void comparison_text(const State *state, const LiveData *live, char *text, size_t size);

/* ---- the prediction of the memory model ------------------------------------------------------ */

/* "model"; of a CPU kernel's selection "model of the CUDA twin". */
const char *model_whose(const LiveData *live);

/* Whether the memory model follows the accesses of this selection: of every forward kernel. */
bool model_follows(const KernelConfig *config);

/* The predicted kernel that stands for the selection on the chosen GPU; NULL: not known (yet). */
const PredictedKernel *prediction_kernel(const State *state, const LiveData *live);

/* Its prediction on the chosen GPU, with the user's changes; `predicted` is not NULL. */
Prediction prediction_of(const State *state, const LiveData *live,
                         const PredictedKernel *predicted);

/* "RTX A6000", "RTX A6000 with 16 MiB of L2, 300 GB/s". */
void prediction_gpu(const State *state, char *text, size_t size);

/* "V3 LARGE on RTX A6000: 41.2 µs, the chain binds". */
void prediction_latency(const State *state, const LiveData *live, char *text, size_t size);

/* "3.8 sectors a request"; "n/a sectors a request" where no request was made. */
void prediction_sectors(const PredictedKernel *predicted, char *text, size_t size);

/* "L2 hits 95.2 % of lookups, DRAM 1.2 MB, 3.8 sectors a request". */
void prediction_memory(const State *state, const LiveData *live, char *text, size_t size);

/* What limits the selection on the chosen GPU and L2, by the model; 0: not known (yet). */
int live_findings(const State *state, const LiveData *live, Finding findings[FINDINGS_MAX]);

/* The probed cell has points, each of probability 0. */
bool live_probe_empty(const LiveProbe *probe);

