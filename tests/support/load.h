/* SPDX-License-Identifier: MIT */
/* A check of how long something took says nothing while others take much of the cores. */
#pragma once

#include "src/base/load.h"
#include "tests/support/tap.h"

/* As tap_ok; a failure while others had more than a quarter of the cores is a skip that says so. */
__attribute__((format(printf, 3, 4))) static inline bool
tap_ok_unless_loaded(bool passed, const Load *since, const char *name, ...) {
    char text[200], reason[64];
    double share = load_of_others(since);
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    if (passed || share <= LOAD_BUSY)
        return tap_ok(passed, "%s", text);
    snprintf(reason, sizeof reason, "missed, but others had %.0f%% of the cores", 100 * share);
    tap_skip(text, reason);
    return true;
}
