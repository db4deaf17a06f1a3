/* SPDX-License-Identifier: MIT */
/* Published facts of GPUs, for predictions on GPUs that are not in this machine. On a real device
 * the driver gives these facts.
 *
 * To add a GPU, add one row to gpus.c. The two GPUs of the article come first, the others follow in
 * the order of their L2 sizes. The key U and `--list` have this order. Then run `make goldens`:
 * some tests' pictures list all GPUs. */
#pragma once

#include "src/base/units.h"
#include "kernels/err.h"
#include "kernels/regime.h"

#include <stdbool.h>

typedef struct {
    const char *name;  /* the name in commands and scripts: "a6000" */
    const char *title; /* "RTX A6000" */
    int cc_major, cc_minor;
    int sms;           /* multiprocessors */
    int sm_lanes;      /* FP32 lanes of a multiprocessor: 64 or 128 */
    int sm_warps;      /* warps that a multiprocessor holds */
    double l2_bytes;   /* a data sheet's megabyte of L2 has 2^20 bytes */
    int l2_partitions; /* 1: the L2 is undivided; 2: two partitions, joined by a fabric */
    double dram_gb_s;
    double l2_gb_s;     /* measured read rate of all multiprocessors together; NaN: not known */
    double fp32_tflops; /* NaN: not published */
    bool converts_fp8;  /* the hardware has an instruction that converts FP8 */
    const char *note;   /* the card and the sources of a row that mixes two cards; else NULL */
} Gpu;

enum { GPUS_AT_MOST = 16, GPU_MOST_WARPS = 64 };
extern const Gpu gpus[];
extern const int gpu_count;

/* Returns the row with this `name`, or NULL. */
const Gpu *gpu_find(const char *name);

/* Returns the row whose title is part of a driver's name for a device, such as "NVIDIA H200". Of
 * several titles the longest title wins. NULL: no title fits. */
const Gpu *gpu_of_device(const char *device_name);

/* Returns the clock of the multiprocessors: from the FP32 rate, or a usual clock without a rate. */
double gpu_clock_ghz(const Gpu *gpu);

/* Returns the facts of a GPU that bev_v3_choose() and the estimates of kernels/ take. */
BevGpuFacts gpu_facts(const Gpu *gpu);

/* Names the formats below 16 bits that the GPU's hardware converts or multiplies: "INT8, FP8". INT8
 * (dp4a) came with compute capability 6.1, NVFP4 with 10.0. */
const char *gpu_narrow_formats(const Gpu *gpu);

/* Figures of a GPU that the user has changed. A 0 leaves the GPU's own figure. */
typedef struct {
    double l2_mib, dram_gb_s, sms, clock_ghz;
} GpuEdit;

/* Returns the GPU with the changed figures. L2 bandwidth grows with multiprocessors and clock. */
Gpu gpu_edited(const Gpu *gpu, const GpuEdit *edit);
bool gpu_edit_any(const GpuEdit *edit);

/* Writes the changes as " with 24 MiB of L2, 300 GB/s", or "" if there are none. */
ShortText gpu_edit_text(const GpuEdit *edit);

/* Whether two rows describe the same GPU with the same figures. Recorded and published latencies of
 * one row then hold for the other row. */
bool gpu_same(const Gpu *a, const Gpu *b);

/* A GPU that a user describes in a JSON file, for --gpu-file. Every field is checked:
 *
 *     {"name": "my GPU", "compute_capability": [8, 6], "multiprocessors": 84, "l2_mb": 6,
 *      "dram_gb_s": 768, "fp32_tflops": 38.7, "converts_fp8": "no"}
 *
 * A megabyte of l2_mb has 2^20 bytes. The fields fp32_tflops, converts_fp8, l2_gb_s and
 * l2_partitions (1 or 2) may be left out. If sm_lanes or sm_warps is left out, a GPU of the table
 * with the same compute capability gives the number. */
typedef struct {
    char name[64];
    Gpu gpu; /* gpu.name and gpu.title point to `name`: do not copy the struct */
} GpuFile;
bool gpu_file_read(const char *path, GpuFile *file, Err *err);
