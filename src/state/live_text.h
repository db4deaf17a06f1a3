/* SPDX-License-Identifier: MIT */
/* Texts and bars that terminal and window derive from LiveData: the ladder of kernels, the hardware
 * counters, the memory model's prediction. */
#pragma once

#include "src/cachesim/findings.h"
#include "src/state/keys.h"
#include "src/state/live_data.h"

/* The kernels of the selection's backend in the order of the table, and the scale of the bars that
 * compare them. */
typedef struct {
    const LiveKernel *kernels[LIVE_MAX_KERNELS]; /* borrowed from the LiveData */
    int count;
    double longest_us; /* the slowest known kernel */
    double scale_us;   /* length of a full bar; slower kernels are cut off. 0: no figure is known */
} Ladder;

Ladder ladder_of(const State *state, const LiveData *live);

/* Writes the source of the row's median and how it was timed: "measured", "measured, single
 * launches", "measured while rendering: noisy", "measured, unsettled", "recorded, stale", "n/a". */
void latency_origin(const LiveKernel *row, char *text, size_t size);

/* The kinds of figures that can be unknown. */
typedef enum { UNKNOWN_LATENCY, UNKNOWN_ACCURACY, UNKNOWN_MODEL } Unknown;

/* Returns in a few words why a figure of the row's kernel is unknown: "waits: CPU busy",
 * "needs a GPU", "not recorded". `dtype` is the format of an accuracy. `row` NULL: no
 * particular kernel. */
const char *unknown_reason(Unknown unknown, const LiveData *live, const LiveKernel *row,
                           BevDtype dtype);

/* Writes the machine of a recording's label "Intel(R) Xeon(R) Processor, 2 threads, ...": "Intel
 * Xeon". */
void machine_text(const char *label, char *text, size_t size);

/* Writes where the speed-up is from: "4.20 to 4.90 in 7 pairs", "recorded on NVIDIA H200", "not
 * recorded". */
void speedup_origin(const LiveData *live, char *text, size_t size);

/* Returns the one-character mark of a median: "r" recorded, "~" stale, "b" timed beside pictures,
 * "?" unsettled, "s" single launches. "" marks a warm series, the protocol of `bench`. */
const char *ladder_mark(const LiveKernel *row);

/* Explains the marks that occur beside the medians: "measured, r recorded, ~ stale, ? unsettled".
 * While other programs use the cores, "?" means "CPU busy". */
void ladder_note(const Ladder *ladder, bool machine_busy, char *note, size_t size);

/* ---- a comparison ---------------------------------------------------------------------------- */

/* Whether one stand-in's grid is on both sides of a comparison of two kernels. Nothing is compared
 * then, and screens must say so. */
bool pooled_alike(const LiveData *live);

/* Writes "14,310 cells differ from V2 FP16, points at 40 m moved 0.70 m"; "" where nothing is
 * compared. */
void comparison_text(const State *state, const LiveData *live, char *text, size_t size);

/* ---- the prediction of the memory model ------------------------------------------------------ */

/* Returns "model", or for a CPU kernel's selection "model of the CUDA kernel". */
const char *model_whose(const LiveData *live);

/* Whether the memory model can follow the accesses of this selection, as of every forward
 * kernel. */
bool model_follows(const KernelConfig *config);

/* Returns the predicted kernel for the selection on the chosen GPU; NULL: not known (yet). */
const PredictedKernel *prediction_kernel(const State *state, const LiveData *live);

/* Returns the kernel's prediction on the chosen GPU, with the user's changes of its figures.
 * `predicted` is not NULL. */
Prediction prediction_of(const State *state, const LiveData *live,
                         const PredictedKernel *predicted);

/* Writes the predicted GPU: "RTX A6000", "RTX A6000 with 16 MiB of L2, 300 GB/s". */
void prediction_gpu(const State *state, char *text, size_t size);

/* Writes "3.8 sectors a request"; "n/a sectors a request" where no request was made. */
void prediction_sectors(const PredictedKernel *predicted, char *text, size_t size);

/* Lists what limits the selection on the chosen GPU and L2, by the model. Returns how many; 0:
 * unknown. */
int live_findings(const State *state, const LiveData *live, Finding findings[FINDINGS_MAX]);

/* A finding, and what a click on it or Enter does: a faster kernel, pruning, or the lesson of a
 * cost. */
typedef struct {
    Finding finding;
    Command command;
    const char *of; /* the kernel whose gain it is; NULL: the selection */
} Advice;

/* Lists the findings with a gain, the largest gain first. Returns how many. */
int live_advice(const State *state, const LiveData *live, Advice advice[FINDINGS_MAX + 1]);

/* Returns the largest error of all judged moments. */
double live_largest_error(const LiveAccuracy *accuracy);
/* Writes when that error is: " at t 0.00 s", or of several moments " at t 189.60 s, of 4 moments";
 * "" of a scene that does not move. */
void live_error_when(const SceneFacts *scene, const LiveAccuracy *accuracy, char *text,
                     size_t size);

/* Whether all points of the longest interval have probability 0. */
bool live_longest_empty(const LiveData *live);

/* Whether the probed cell has points, all with probability 0. */
bool live_probe_empty(const LiveProbe *probe);
