/* SPDX-License-Identifier: MIT */
/* The limits of a GPU: its best bandwidths, arithmetic rates and latencies. One table names them.
 * probe.cu measures them, recordings keep them, and a data sheet gives a few of them. */
#pragma once

#include "src/cachesim/gpus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef enum {
    LIMIT_DRAM_COPY, LIMIT_DRAM_READ, LIMIT_L2_COPY, LIMIT_L2_READ, LIMIT_L2_KEPT,
    LIMIT_FP32, LIMIT_HALF2, LIMIT_TENSOR,
    LIMIT_L1_LATENCY, LIMIT_L2_LATENCY, LIMIT_DRAM_LATENCY, LIMIT_COUNT
} Limit;
/* clang-format on */

typedef struct {
    const char *key;   /* the key in recordings, with the unit: "dram_copy_gb_s" */
    const char *title; /* "DRAM copy" */
    const char *unit;  /* "GB/s" */
    const char *how;   /* how the limit is measured */
} LimitInfo;
extern const LimitInfo limit_infos[LIMIT_COUNT];

typedef struct {
    double value[LIMIT_COUNT]; /* NaN: unknown */
} Limits;
Limits limits_unknown(void);

bool limits_any(const Limits *limits);

/* Returns the bandwidth that bounds a problem with this footprint: the L2 bandwidth if the
 * footprint fits into L2, else the DRAM bandwidth. NaN: unknown. */
double limits_ceiling_gb_s(const Limits *limits, double footprint_bytes, double l2_bytes);

/* Returns the limits that a data sheet gives: DRAM bandwidth, FP32 rate and L2 size. The other
 * limits are unknown. */
Limits limits_of_data_sheet(const Gpu *gpu);

/* Reads limits from a JSON object. A limit without its key is unknown. */
struct json_t; /* of jansson.h, which nvcc need not find */
Limits limits_read(const struct json_t *object);
/* Returns a new JSON object with the known limits. NULL: out of memory. */
struct json_t *limits_json(const Limits *limits);

#ifdef __cplusplus
}
#endif
