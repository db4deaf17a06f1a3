/* What a GPU can do at best: bandwidths, rates, latencies. One table names them; probe.cu finds
 * them out on a device, recordings keep them in their machine part, a data sheet promises a few. */
#ifndef BEV_LIMITS_H
#define BEV_LIMITS_H

#include "src/cachesim/gpus.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    LIMIT_DRAM_COPY,
    LIMIT_DRAM_READ,
    LIMIT_L2_COPY,
    LIMIT_L2_READ,
    LIMIT_L2_KEPT,
    LIMIT_FP32,
    LIMIT_HALF2,
    LIMIT_TENSOR,
    LIMIT_L1_LATENCY,
    LIMIT_L2_LATENCY,
    LIMIT_DRAM_LATENCY,
    LIMIT_COUNT
} Limit;

typedef struct {
    const char *key;   /* in recordings, with the unit: "dram_copy_gbps" */
    const char *title; /* "DRAM copy" */
    const char *unit;  /* "GB/s" */
    const char *how;   /* it is found out */
} LimitInfo;

extern const LimitInfo limit_infos[LIMIT_COUNT];

typedef struct {
    double value[LIMIT_COUNT]; /* NaN: unknown */
} Limits;

Limits limits_unknown(void);

bool limits_any(const Limits *limits); /* one of them is known */

/* The most bytes a second that something with this footprint can have: from the L2, where that
 * holds it, else from DRAM. NaN: unknown. */
double limits_ceiling_gbps(const Limits *limits, double footprint_bytes, double l2_bytes);

/* What the maker promises: the DRAM's bandwidth, the FP32 rate, the size of the L2. */
Limits limits_of_data_sheet(const Gpu *gpu);

/* From and to a JSON object by key; what is missing is unknown, what is unknown is left out. */
Limits limits_read(const json_t *object);
json_t *limits_json(const Limits *limits);

#ifdef __cplusplus
}
#endif
#endif
