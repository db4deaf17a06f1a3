/* The GPU's hardware counters for a launch, by CUPTI's range profiler. CUPTI is loaded at run time
 * and optional: where it, the permission or the chip's counters are missing, an Err says so in one
 * line, and the model stays.
 *
 * What is counted: one launch as a whole, from its first kernel or clear to its last. A kernel of
 * several kernels needs no adding up then, and a clear, which is a kernel of the driver's, counts
 * as it does in the model. The caches are as the launch before left them, warm, like `bench` has
 * them. Latencies are not taken here: starting and stopping a count takes longer than a launch. */
#ifndef BEV_COUNTERS_H
#define BEV_COUNTERS_H

#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    COUNTER_DRAM_READ,
    COUNTER_DRAM_WRITE,
    COUNTER_L2_SECTORS,
    COUNTER_L1_SECTORS,
    COUNTER_ISSUE,
    COUNTER_OCCUPANCY,
    COUNTER_L2_HITS,
    COUNTER_L2_MISSES,
    COUNTER_L2_READ_HITS,
    COUNTER_L2_READ_MISSES,
    COUNTER_COUNT
} Counter;

enum { COUNTER_NAMES = 2 };

typedef struct {
    const char *key;     /* unit included: "dram_read_bytes" */
    const char *heading; /* in tables for people; NULL: shown as part of a sum or rate */
    const char *names[COUNTER_NAMES]; /* CUPTI's; the first one that the chip knows is taken */
    bool live;                        /* in the set that takes one pass */
} CounterRow;

extern const CounterRow counter_rows[COUNTER_COUNT];

/* One pass; everything, in three (from Ampere on). */
typedef enum { COUNTERS_LIVE, COUNTERS_FULL } CounterSet;

/* By Counter. NaN: the chip does not count it, or the set leaves it out. */
typedef struct {
    double value[COUNTER_COUNT];
} Counters;

/* Sectors found in L2 / sectors looked up: of everything, and of the multiprocessors' reads. NaN:
 * not counted. */
double counters_l2_hit_rate(const Counters *counters);
double counters_l2_read_hit_rate(const Counters *counters);

/* Bytes read and written. */
double counters_dram_bytes(const Counters *counters);

typedef struct CounterReader CounterReader;

/* Prepares to count on the open device: loads CUPTI, asks for the permission, finds the chip's
 * names; some tenths of a second. ERR_DEVICE where there is nothing to count with. */
bool counters_open(CounterReader **reader, CounterSet set, Err *err);
void counters_close(CounterReader *reader); /* accepts NULL */

/* Counts launches of a CUDA session: in each pass some to warm up, then some of which the medians
 * are given. Nothing else may run on the device meanwhile: it would be counted too. */
bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err);

/* What a set takes on a chip ("GH100"): CUPTI's names (NULL where the chip counts no such thing)
 * and the number of passes. Needs CUPTI, but no GPU. */
bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err);

/* Fills `err` for a call that failed with that result; `word` is CUPTI's own for it. Returns false.
 */
bool counters_refused(const char *call, int result, const char *word, Err *err);

#ifdef __cplusplus
}
#endif
#endif
