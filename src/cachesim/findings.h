/* SPDX-License-Identifier: MIT */
/* Findings say what limits a kernel according to the memory model. The largest gain comes first. A
 * faster kernel, if there is one, comes last. Each gain is an estimate of the model: the predicted
 * latency now, divided by the predicted latency without the cost. No kernel is timed. */
#pragma once

#include "src/cachesim/memory_model.h"

enum { WORKFLOW_STEPS = 4, FINDINGS_MAX = 6 + WORKFLOW_STEPS };

/* Writes a text of a finding, cut to its array. */
#define TELL(text_, ...) snprintf(text_, sizeof(text_), __VA_ARGS__)

typedef struct {
    char text[160]; /* "latency-bound (dependent loads 89.0 us); latency 108 us: cutting the longest
                       interval would give up to 1.9 times" */
    char brief[112]; /* "latency-bound; 108 us, 57.2 us if dependent loads were free"; the brief
                        text of a workflow step lacks its first word, such as "classify: " */
    char advice[80]; /* what to do: "cutting the longest interval" */
    const BevKernel *faster; /* the faster kernel that the finding names, or NULL */
    char evidence[320];      /* the figures behind the finding, each with its source */
    char commands[2][1408];  /* commands for the user to type; "": none */
    double gain; /* latency now / latency without the cost, above 1; 0: a step of a workflow */
    const char *lesson; /* the lesson and its page that explain it: "lost-updates:atomics" */
} Finding;

/* Counts of a scatter map. A zero means that the count is not known. */
typedef struct {
    int64_t longest, median;       /* interval lengths in points */
    int64_t cells, filled, slices; /* cells of the grid, cells with points, slices of height */
} IntervalLengths;

/* Writes the findings about a kernel on GPU number `gpu` of the model, changed by `edit` (NULL:
 * unchanged). Returns the number of findings, at most FINDINGS_MAX. Returns 0 if the kernel has not
 * been replayed. Kernels that are wrong on purpose have no findings either. */
int findings_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, Finding findings[FINDINGS_MAX]);

/* The reasons that screens tell more about: the longest cells, and atomics in the L2. */
typedef enum { REASON_OTHER, REASON_LONG_CELLS, REASON_ATOMICS } LimitReason;

/* Writes what limits a launch: "latency-bound: cells of up to 352 points", or of two long terms
 * "limited by DRAM and L2". `longest`: points of the longest interval; 0: not known. Returns
 * which reason it is. */
LimitReason findings_reason(const PredictedKernel *kernel, const Prediction *prediction,
                            int64_t longest, char *text, size_t size);

/* Returns the fastest correct kernel that has code, and writes its prediction to *prediction. NULL:
 * no such kernel has been replayed. */
const PredictedKernel *findings_fastest(const MemoryModel *model, int gpu, const GpuEdit *edit,
                                        Prediction *prediction);

/* What a scene sums: camera features, rows of an operator, or rows of an operator whose features
 * are all 1 (the sum then counts rows). */
typedef enum { WORKFLOW_POOLING, WORKFLOW_OPERATOR, WORKFLOW_COUNTING } WorkflowOf;
typedef struct {
    const char *name; /* the scene's name, as the command line takes it */
    WorkflowOf of;
} WorkflowScene;

/* Writes the four steps of the articles' workflow, with the model's figures of the kernel. The last
 * step has the commands for Nsight Compute and Nsight Systems. Returns the number of steps:
 * WORKFLOW_STEPS, or 0 if the kernel has not been replayed. */
int workflow_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, const WorkflowScene *scene,
                Finding steps[WORKFLOW_STEPS]);
