/* SPDX-License-Identifier: MIT */
/* Hardware counters without a GPU: which names each chip knows and in how many passes, what the
 * error says where there are none, and the rates computed from counters. */
#include "src/run/counters.h"
#include "tests/support/child.h"

#include <math.h>

static Err err; /* why a step failed */

typedef struct {
    const char *chip, *gpu;
    const char *dram; /* CUPTI's name; NULL: it counts none */
} Chip;

static const Chip chips[] = {
    {"GA102", "RTX A6000", "dram__bytes_read.sum"},
    {"GB202", "RTX PRO 6000", "dram__bytes_op_read.sum"},
    {"GH100", "H200", "dram__bytes_read.sum"},
    {"AD102", "RTX 4090", "dram__bytes_read.sum"},
    {"GA100", "A100", "dram__bytes_read.sum"},
    {"GA10B", "Orin", NULL},
    {"GB10B", "Thor", NULL},
};
enum { CHIP_COUNT = sizeof chips / sizeof *chips, FULL_PASSES = 3 };

static bool is_dram(int counter) {
    return counter == COUNTER_DRAM_READ || counter == COUNTER_DRAM_WRITE;
}

static void test_chip(const Chip *chip) {
    const char *live[COUNTER_COUNT], *full[COUNTER_COUNT];
    int live_passes = 0, full_passes = 0, right = 0;
    bool ok = counters_plan(chip->chip, COUNTERS_LIVE, live, &live_passes, &err) &&
              counters_plan(chip->chip, COUNTERS_FULL, full, &full_passes, &err);
    if (!ok && strstr(err.what, "does not know the chip")) {
        tap_skip(chip->chip, err.what);
        return;
    }
    if (!tap_ok(ok, "%s (%s): both sets resolve", chip->chip, chip->gpu)) {
        tap_note("%s", err.what);
        return;
    }
    for (int i = 0; i < COUNTER_COUNT; i++) {
        bool there = chip->dram || !is_dram(i);
        right += !full[i] == !there && !live[i] == !(there && counter_rows[i].live);
    }
    const char *dram = full[COUNTER_DRAM_READ];
    tap_ok(right == COUNTER_COUNT && (chip->dram ? dram && !strcmp(dram, chip->dram) : !dram),
           "%s: every counter has a name, DRAM reads are %s", chip->chip,
           chip->dram ? chip->dram : "not counted");
    tap_ok(live_passes == 1 && full_passes == FULL_PASSES, "%s: %d and %d passes", chip->chip,
           live_passes, full_passes);
}

TAP_SUITE(counters_chips) {
    const char *names[COUNTER_COUNT];
    int passes;
    bool there = counters_plan("GH100", COUNTERS_LIVE, names, &passes, &err);
    if (!there && (strstr(err.what, "no CUPTI") || strstr(err.what, "without CUPTI") ||
                   strstr(err.what, "no range profiler"))) {
        tap_skip("names and passes of the chips", err.what);
        return;
    }
    for (int i = 0; i < CHIP_COUNT; i++)
        test_chip(&chips[i]);
    bool known = counters_plan("GX999", COUNTERS_LIVE, names, &passes, &err);
    tap_ok(!known && err.kind == ERR_DEVICE && strstr(err.what, "does not know the chip"),
           "an unknown chip: %s", err.what);
}

static bool refused_without_library(void) {
    const char *names[COUNTER_COUNT];
    int passes;
    setenv("BEVSCOPE_CUPTI", "/nowhere/libcupti.so", 1);
    bool ok = counters_plan("GH100", COUNTERS_LIVE, names, &passes, &err);
    bool said = strstr(err.what, "libcupti.so was not found") && strstr(err.hint, "install");
    bool built_without = strstr(err.what, "built without CUPTI") && err.hint[0];
    return !ok && err.kind == ERR_DEVICE && (said || built_without);
}

TAP_SUITE(counters_no_library) {
    tap_ok(in_child(refused_without_library), "no CUPTI: one line and what to install");
}

/* A name of another library ends no process. */
TAP_SUITE(counters_other_library) {
    CounterReader *reader;
    setenv("BEVSCOPE_CUPTI", "libm.so.6", 1);
    bool ok = counters_open(&reader, COUNTERS_LIVE, &err);
    tap_ok(!ok && !reader && err.kind == ERR_DEVICE &&
               (strstr(err.what, "no range profiler") || strstr(err.what, "built without CUPTI")),
           "another library: %s", err.what);
}

TAP_SUITE(counters_refusals) {
    bool ok = counters_refused("cuptiRangeProfilerStart", 35, "CUPTI_ERROR", &err);
    tap_ok(!ok && err.kind == ERR_DEVICE && strstr(err.what, "ERR_NVGPUCTRPERM") &&
               strstr(err.hint, "NVreg_RestrictProfilingToAdminUsers=0") &&
               strstr(err.hint, "root"),
           "a denied permission is named with its remedy");
}

TAP_SUITE(counters_rates) {
    Counters counters;
    for (int i = 0; i < COUNTER_COUNT; i++)
        counters.value[i] = NAN;
    tap_ok(isnan(counters_l2_hit_rate(&counters)) && isnan(counters_l2_read_hit_rate(&counters)) &&
               isnan(counters_dram_bytes(&counters)),
           "nothing counted: no rate");
    counters.value[COUNTER_L2_HITS] = 30;
    counters.value[COUNTER_L2_MISSES] = 10;
    counters.value[COUNTER_L2_READ_HITS] = 9;
    counters.value[COUNTER_L2_READ_MISSES] = 1;
    counters.value[COUNTER_DRAM_READ] = 64;
    counters.value[COUNTER_DRAM_WRITE] = 32;
    tap_ok(counters_l2_hit_rate(&counters) == 0.75 && counters_l2_read_hit_rate(&counters) == 0.9 &&
               counters_dram_bytes(&counters) == 96,
           "rates and sums");
}
