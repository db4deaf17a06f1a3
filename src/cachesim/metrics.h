/* The hardware counters that this program reads or names, as CUPTI and Nsight Compute call them. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
typedef enum {
    COUNTER_DRAM_READ, COUNTER_DRAM_WRITE, COUNTER_L2_SECTORS, COUNTER_L1_SECTORS, COUNTER_ISSUE,
    COUNTER_OCCUPANCY, COUNTER_L2_HITS, COUNTER_L2_MISSES, COUNTER_L2_READ_HITS,
    COUNTER_L2_READ_MISSES, COUNTER_COUNT
} Counter;
// clang-format on

enum { COUNTER_NAMES = 2 };

typedef struct {
    const char *key;     /* unit included: "dram_read_bytes" */
    const char *heading; /* in tables for people; NULL: shown only as part of a sum or rate */
    const char *names[COUNTER_NAMES]; /* CUPTI's; the first one that the chip knows is used */
    bool live;                        /* belongs to COUNTERS_LIVE */
} CounterRow;

extern const CounterRow counter_rows[COUNTER_COUNT];

#ifdef __cplusplus
}
#endif
