/* The GPU's hardware counters for one launch, read by CUPTI's range profiler. CUPTI is loaded at
 * run time; if it, the permission or the chip's counters are missing, an Err says so in one line.
 * Builds without CUDA or CUPTI have the same functions, which fail.
 *
 * A launch is counted as a whole: all CUDA functions that it starts, and its clear, as in the
 * model. The caches are warm, as the launch before left them. No latency is taken: starting and
 * stopping the counters takes longer than a launch. */
#pragma once

#include "src/cachesim/metrics.h"
#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* LIVE: the counters that one pass can read. FULL: all, in three passes (from Ampere on). */
typedef enum { COUNTERS_LIVE, COUNTERS_FULL } CounterSet;

/* Values by Counter. NaN: the chip does not count it, or it is not in the set. */
typedef struct {
    double value[COUNTER_COUNT];
} Counters;

/* Sectors found in the L2 / sectors looked up: of all accesses, and of the multiprocessors' reads.
 * NaN: not counted. */
double counters_l2_hit_rate(const Counters *counters);
double counters_l2_read_hit_rate(const Counters *counters);

/* DRAM bytes read + written. NaN: not counted. */
double counters_dram_bytes(const Counters *counters);

typedef struct CounterReader CounterReader;

/* Prepares counting on the open device: loads CUPTI, checks the permission, finds the chip's names.
 * Takes some tenths of a second. ERR_DEVICE if this machine cannot count. */
bool counters_open(CounterReader **reader, CounterSet set, Err *err);
void counters_close(CounterReader *reader); /* accepts NULL */

/* Counts launches of a CUDA session: each pass warms up, then counts some launches; *counters are
 * the medians. Nothing else may run on the device meanwhile: it would be counted too. */
bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err);

/* How a set is counted on a chip ("GH100"): CUPTI's names (NULL: the chip has no such counter) and
 * the number of passes. Needs CUPTI, but no GPU. */
bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err);

/* Fills `err` for the CUPTI call `word`, which failed with `result`. Returns false. */
bool counters_refused(const char *call, int result, const char *word, Err *err);

#ifdef __cplusplus
}
#endif
