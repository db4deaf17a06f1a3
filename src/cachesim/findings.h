/* What limits a kernel by the memory model, the largest gain first; a faster kernel, if there is
 * one, comes last. Each gain is an estimate: the latency with the costly term set to the next one,
 * over the latency without that. Nothing is timed. */
#pragma once

#include "src/cachesim/memory_model.h"

enum { WORKFLOW_STEPS = 4, FINDINGS_MAX = 6 + WORKFLOW_STEPS };

typedef struct {
    char text[160];     /* "chain binds, 89.0 us; latency 108 us: cutting the longest interval would
                           give 1.9 times" */
    char brief[112];    /* "chain binds: 108 us, without it 57.2 us"; of a step: without its word,
                           such as "classify: " */
    char evidence[240]; /* the figures behind it, each with its source */
    char commands[2][480]; /* what to type; "": nothing */
    double gain; /* latency now over latency without it; more than 1; 0: a step of a workflow */
    int lesson;         /* the number of the lesson that explains it */
} Finding;

/* Of the map; zero: not known. Lengths in points; cells and those with points, and the slices of a
 * grid with height. */
typedef struct {
    int64_t longest, median;
    int64_t cells, filled, slices;
} IntervalLengths;

/* Findings about a kernel on the GPU at that place of the model, changed by `edit` (NULL: as it
 * is). Returns how many, at most FINDINGS_MAX; 0 where the kernel was not replayed (yet), and for
 * kernels that are wrong on purpose: a fast wrong sum is no advice. */
int findings_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, Finding findings[FINDINGS_MAX]);

/* The fastest right kernel with code, and its latency; NULL: none was replayed (yet). */
const PredictedKernel *findings_fastest(const MemoryModel *model, int gpu, const GpuEdit *edit,
                                        Prediction *prediction);

/* What the sum is of: camera features, an operator's rows, or an operator's rows whose
 * features are all 1. */
typedef enum { WORKFLOW_POOLING, WORKFLOW_OPERATOR, WORKFLOW_COUNTING } WorkflowOf;

typedef struct {
    const char *name; /* of the scene, as the command line takes it */
    WorkflowOf of;
} WorkflowScene;

/* The four steps of the articles' workflow, filled with what the model says of the kernel; the last
 * one has the commands for Nsight Compute and Nsight Systems. Returns how many: WORKFLOW_STEPS, or
 * 0 where the kernel was not replayed (yet). */
int workflow_of(const MemoryModel *model, const BevKernel *kernel, int gpu, const GpuEdit *edit,
                const IntervalLengths *lengths, const WorkflowScene *scene,
                Finding steps[WORKFLOW_STEPS]);
