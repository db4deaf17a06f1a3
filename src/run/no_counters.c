/* Stands in for counters_cupti.cu in builds without CUDA or without CUPTI's headers. */
#include "src/run/counters.h"

#include <stdlib.h>

static bool none(Err *err) {
    return err_set(err, ERR_DEVICE, "counters",
                   "configure it --with-cuda, with a toolkit that has CUPTI's headers",
                   "this program was built without CUPTI");
}

bool counters_open(CounterReader **reader, CounterSet set, Err *err) {
    (void)set;
    *reader = NULL;
    return none(err);
}

void counters_close(CounterReader *reader) {
    (void)reader;
}

bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err) {
    (void)reader, (void)session, (void)counters;
    return none(err);
}

bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err) {
    (void)chip, (void)set, (void)names, (void)passes;
    return none(err);
}
