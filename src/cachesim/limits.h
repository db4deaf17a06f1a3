/* What a GPU can do at best: bandwidths, rates, latencies. One table names them. probe.cu measures
 * them on a device, recordings keep them in their machine part, and a data sheet gives a few. */
#pragma once

#include "src/cachesim/gpus.h"

#include <jansson.h>

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
    const char *key;   /* in recordings, with the unit: "dram_copy_gbps" */
    const char *title; /* "DRAM copy" */
    const char *unit;  /* "GB/s" */
    const char *how;   /* how it is measured */
} LimitInfo;

extern const LimitInfo limit_infos[LIMIT_COUNT];

typedef struct {
    double value[LIMIT_COUNT]; /* NaN: unknown */
} Limits;

Limits limits_unknown(void);

/* Whether any limit is known. */
bool limits_any(const Limits *limits);

/* The bandwidth that bounds a problem with this footprint: the L2's where the footprint fits, else
 * DRAM's. NaN: unknown. */
double limits_ceiling_gbps(const Limits *limits, double footprint_bytes, double l2_bytes);

/* From the data sheet: DRAM bandwidth, FP32 rate, L2 size. The others are unknown. */
Limits limits_of_data_sheet(const Gpu *gpu);

/* From and to a JSON object by key. A missing key is unknown; unknown values are left out. */
Limits limits_read(const json_t *object);
json_t *limits_json(const Limits *limits);

#ifdef __cplusplus
}
#endif
