/* The accuracy gates of one selection after the other on a thread of their own: they take tenths of
 * a second that no frame can wait for. */
#ifndef BEV_JUDGE_H
#define BEV_JUDGE_H

#include "src/live/pipeline.h"

typedef struct Judge Judge;

/* What was asked, and the answer. `epoch` is the caller's, handed back as it came. */
typedef struct {
    uint64_t epoch;
    KernelConfig config;
    LiveAccuracy accuracy;
    bool failed; /* `err` says why */
    Err err;
} Verdict;

/* Calls `wake` from the judge's thread whenever a verdict is ready. */
bool judge_open(Judge **judge, void (*wake)(void *context), void *context, Err *err);
void judge_close(Judge *judge); /* accepts NULL; waits for the gates that run */

/* False while the last question is open or its answer not taken. Keeps `parts`. */
bool judge_ask(Judge *judge, const FrameInputs *parts, const KernelConfig *config, uint64_t epoch);

bool judge_take(Judge *judge, Verdict *verdict);

/* The same question answered at once, on the caller's thread. */
bool judge_now(const FrameInputs *parts, const KernelConfig *config, LiveAccuracy *accuracy,
               Err *err);

/* Whether gates are running: timings taken meanwhile would be off. */
bool judge_busy(Judge *judge);

#endif
