/* A GPU of the user's, from a JSON file, to ask "what if". Checked field by field:
 *
 *     {"name": "my GPU", "compute_capability": [8, 6], "multiprocessors": 84, "l2_mb": 6,
 *      "dram_gbps": 768, "fp32_tflops": 38.7, "converts_fp8": "no"}
 *
 * l2_mb counts 2^20 bytes. fp32_tflops, converts_fp8, l2_gbps and l2_partitions, 2 for an L2 of two
 * partitions, may be left out. */
#ifndef BEV_GPU_FILE_H
#define BEV_GPU_FILE_H

#include "kernels/err.h"
#include "src/cachesim/gpus.h"

typedef struct {
    char name[64];
    Gpu gpu; /* its name and title are set by gpu_file_row */
} GpuFile;

bool gpu_file_read(const char *path, GpuFile *file, Err *err);

/* The row, whose strings live in `file`. */
Gpu gpu_file_row(const GpuFile *file);

#endif
