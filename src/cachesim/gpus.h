/* Published facts of GPUs, to ask "what if". On a real device the driver is asked instead.
 *
 * To add a GPU: one row in gpus.c, anywhere after the first two; the key u and `--list` follow that
 * order. Pictures of tests that list all GPUs change: `make goldens`.
 * For a GPU of your own no code is needed: --gpu-file below. */
#pragma once

#include "kernels/err.h"
#include "kernels/regime.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;  /* command line and scripts: "a6000" */
    const char *title; /* "RTX A6000" */
    int cc_major, cc_minor;
    int sms;
    double l2_bytes;   /* 2^20 bytes a megabyte, as the makers count */
    int l2_partitions; /* joined by a fabric; 1: undivided */
    double dram_gbps;
    double l2_gbps;     /* read by all multiprocessors, measured; NaN: not known */
    double fp32_tflops; /* NaN: not published */
    bool converts_fp8;  /* in hardware */
    const char *note;   /* which card a row of two sources stands for; NULL: the title says it */
} Gpu;

extern const Gpu gpus[];
extern const int gpu_count;

/* The row of that name, or NULL. */
const Gpu *gpu_find(const char *name);

/* The row whose title is part of the name a driver gives ("NVIDIA H200"), the longest such title;
 * or NULL. */
const Gpu *gpu_of_device(const char *device_name);

/* Clock of the multiprocessors: from the FP32 rate, or a usual one where that is not published. */
double gpu_clock_ghz(const Gpu *gpu);

/* The figures of a GPU that an estimate needs. */
BevGpuFacts gpu_facts(const Gpu *gpu);

/* The formats below 16 bits that its hardware converts or multiplies: "INT8, FP8". INT8 from
 * compute capability 6.1 on (dp4a), NVFP4 from 10.0 on. */
const char *gpu_narrow_formats(const Gpu *gpu);

/* What if: figures of a GPU that the user changes; 0: its own. */
typedef struct {
    double l2_mib, dram_gbps, sms, clock_ghz;
} GpuEdit;

/* One of these figures: its word in `gpu l2=32`, and bounds. */
typedef struct {
    const char *word;
    size_t offset; /* in GpuEdit */
    double min, max;
    bool whole;
} GpuFigure;

enum { GPU_L2, GPU_BANDWIDTH, GPU_SMS, GPU_CLOCK, GPU_FIGURES };
extern const GpuFigure gpu_figures[GPU_FIGURES];

double *gpu_edit_value(GpuEdit *edit, int figure);

/* The GPU with these figures. A measured L2 bandwidth grows with multiprocessors and clock. */
Gpu gpu_edited(const Gpu *gpu, const GpuEdit *edit);
bool gpu_edit_any(const GpuEdit *edit);

/* " with 24 MiB of L2, 300 GB/s": the changes; "": none. */
void gpu_edit_text(const GpuEdit *edit, char *text, size_t size);

/* Whether two rows have the same figures: recorded and published latencies of one then hold for the
 * other. */
bool gpu_same(const Gpu *a, const Gpu *b);

/* A GPU that the user describes in a JSON file, checked field by field:
 *
 *     {"name": "my GPU", "compute_capability": [8, 6], "multiprocessors": 84, "l2_mb": 6,
 *      "dram_gbps": 768, "fp32_tflops": 38.7, "converts_fp8": "no"}
 *
 * l2_mb counts 2^20 bytes. fp32_tflops, converts_fp8, l2_gbps and l2_partitions, 2 for an L2 of two
 * partitions, may be left out. */

typedef struct {
    char name[64];
    Gpu gpu; /* its name and title point to `name` */
} GpuFile;

bool gpu_file_read(const char *path, GpuFile *file, Err *err);
