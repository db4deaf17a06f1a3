/* SPDX-License-Identifier: MIT */
/* The hardware counters that this program reads, with the names that NVIDIA's tools use. */
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
    const char *key;     /* the key in files, with the unit: "dram_read_bytes" */
    const char *heading; /* the heading in tables; NULL: only a sum or a rate shows the counter */
    const char *names[COUNTER_NAMES]; /* CUPTI's names; the first that the chip knows is used */
    bool live;                        /* the counter belongs to the set COUNTERS_LIVE */
} CounterRow;
extern const CounterRow counter_rows[COUNTER_COUNT];

#ifdef __cplusplus
}
#endif
