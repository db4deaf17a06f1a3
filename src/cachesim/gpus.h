/* Published facts of GPUs, to ask "what if". On a real device the driver is asked instead.
 *
 * To add a GPU: one row in gpus.c, anywhere after the first two; the key u and `--list` follow that
 * order. Pictures of tests that list all GPUs change (BEVSCOPE_UPDATE_GOLDEN=1, test_dashboard).
 * For a GPU of your own no code is needed: --gpu-file below. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

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
} Gpu;

extern const Gpu gpus[];
extern const int gpu_count;

/* The row of that name, or NULL. */
const Gpu *gpu_find(const char *name);

/* The row whose title is part of the name a driver gives ("NVIDIA H200"), the longest such title;
 * or NULL. */
const Gpu *gpu_of_device(const char *device_name);

/* A GPU that the user describes in a JSON file, checked field by field:
 *
 *     {"name": "my GPU", "compute_capability": [8, 6], "multiprocessors": 84, "l2_mb": 6,
 *      "dram_gbps": 768, "fp32_tflops": 38.7, "converts_fp8": "no"}
 *
 * l2_mb counts 2^20 bytes. fp32_tflops, converts_fp8, l2_gbps and l2_partitions, 2 for an L2 of two
 * partitions, may be left out. */

typedef struct {
    char name[64];
    Gpu gpu; /* its name and title are set by gpu_file_row */
} GpuFile;

bool gpu_file_read(const char *path, GpuFile *file, Err *err);

/* The row, whose strings live in `file`. */
Gpu gpu_file_row(const GpuFile *file);
