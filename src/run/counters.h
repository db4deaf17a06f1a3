/* SPDX-License-Identifier: MIT */
/* The GPU's hardware counters for one launch, read by CUPTI's range profiler. CUPTI is loaded at
 * run time. An Err says in one line if CUPTI, the permission or the chip's counters are missing. In
 * builds without CUDA or CUPTI the same functions fail.
 *
 * The counters cover all CUDA functions of a launch, and the clear of the output. The caches
 * are warm, as the launch before left them. No latency is measured, because starting and stopping
 * the counters takes longer than a launch. */
#pragma once

#include "src/cachesim/metrics.h"
#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* COUNTERS_LIVE has the counters that one pass can read. COUNTERS_FULL has all counters, which take
 * three passes from Ampere on. */
typedef enum { COUNTERS_LIVE, COUNTERS_FULL } CounterSet;

/* Values by Counter. NaN: the chip or the set does not have the counter. */
typedef struct {
    double value[COUNTER_COUNT];
} Counters;

/* Return L2 hits / sectors looked up, for all accesses and for the multiprocessors' reads. NaN: not
 * counted. */
double counters_l2_hit_rate(const Counters *counters);
double counters_l2_read_hit_rate(const Counters *counters);

/* Returns DRAM bytes read + written. NaN: not counted. */
double counters_dram_bytes(const Counters *counters);

typedef struct CounterReader CounterReader;

/* Prepares counting on the open device: loads CUPTI, checks the permission, finds the chip's names.
 * Takes some tenths of a second. ERR_DEVICE if this machine cannot count. */
bool counters_open(CounterReader **reader, CounterSet set, Err *err);
void counters_close(CounterReader *reader); /* accepts NULL */

/* Counts launches of a CUDA session. Each pass warms up, then counts some launches. *counters are
 * the medians. Other work on the device would be counted, too, so no other work may run. */
bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err);

/* Finds CUPTI's names of a set's counters on a chip ("GH100"), and the number of passes. A name is
 * NULL where the chip lacks the counter. The function needs CUPTI, but no GPU. */
bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err);

/* Fills `err` for the CUPTI call `word`, which failed with `result`. Returns false. */
bool counters_refused(const char *call, int result, const char *word, Err *err);

#ifdef __cplusplus
}
#endif
