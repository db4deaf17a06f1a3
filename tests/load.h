/* What everybody else takes of the cores that this process may run on: a check of how long
 * something took says nothing while that is much. */
#pragma once

#include "tests/tap.h"

typedef struct {
    int cores;
    double busy_s, own_s, wall_s; /* of the cores; of this process and its children; of the clock */
} Load;

Load load_now(void);

/* The others' share of those cores since `then`, 0 to 1. Children are this process's own once they
 * have been waited for. */
double load_of_others(const Load *then);

/* As tap_ok; a failure while others had more than a quarter of the cores is a skip that says so. */
__attribute__((format(printf, 3, 4))) static inline bool
tap_ok_unless_loaded(bool passed, const Load *since, const char *name, ...) {
    char text[200], reason[64];
    double share = load_of_others(since);
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    if (passed || share <= 0.25)
        return tap_ok(passed, "%s", text);
    snprintf(reason, sizeof reason, "missed, but others had %.0f%% of the cores", 100 * share);
    tap_skip(text, reason);
    return true;
}
