/* SPDX-License-Identifier: MIT */
#include "src/run/counters.h"

#include "config.h"

#include <math.h>

static double share_of_sum(double part, double rest) {
    return part + rest > 0 ? part / (part + rest) : NAN;
}

double counters_l2_hit_rate(const Counters *counters) {
    return share_of_sum(counters->value[COUNTER_L2_HITS], counters->value[COUNTER_L2_MISSES]);
}

double counters_l2_read_hit_rate(const Counters *counters) {
    return share_of_sum(counters->value[COUNTER_L2_READ_HITS],
                        counters->value[COUNTER_L2_READ_MISSES]);
}

double counters_dram_bytes(const Counters *counters) {
    return counters->value[COUNTER_DRAM_READ] + counters->value[COUNTER_DRAM_WRITE];
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* A reason why CUPTI fails. `result` is a CUptiResult, as a number for builds without CUPTI. */
typedef struct {
    int result;
    const char *what, *hint;
} Refusal;

static const char admins_only[] =
    "the driver shows counters to administrators only (ERR_NVGPUCTRPERM)";
static const char ask_vm[] = "enable profiling for this virtual machine on its host";

static const Refusal refusals[] = {
    {14, "CUPTI and the driver do not go together", "update the NVIDIA driver"},
    {26, "another profiler holds the counters", "end it and try again"},
    {33, "a virtual GPU has no counters", ask_vm},
    {35, admins_only, "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {36, "another profiler holds the counters", "end it and try again"},
    {38, "CUPTI's range profiler does not know this GPU", "it needs Volta or later"},
    {39, "another profiler holds the counters", "end it and try again"},
    {40, admins_only, ask_vm},
    {41, "a GPU in confidential mode shows no counters", ""},
    {42, "this mining GPU shows no counters", ""},
    {43, "a slice of a GPU (MIG) shows no counters", "use the whole GPU"},
    {45, "under WSL this GPU shows no counters", "run on Linux itself"},
    {46, "this CUPTI does not know the chip", "take CUPTI from a newer CUDA toolkit"},
};

bool counters_refused(const char *call, int result, const char *word, Err *err) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].result == result)
            return err_set(err, ERR_DEVICE, "counters", refusals[i].hint, "%s", refusals[i].what);
    return err_set(err, ERR_DEVICE, "counters", "", "%s: %s", call, word);
}

/* ---- builds without CUPTI's headers, instead of cuda/counters_cupti.cu ----------------------- */

#ifndef HAVE_CUPTI
static bool no_cupti(Err *err) {
    return err_set(err, ERR_DEVICE, "counters",
                   "configure it --with-cuda, with a toolkit that has CUPTI's headers",
                   "this program was built without CUPTI");
}

bool counters_open(CounterReader **reader, CounterSet set, Err *err) {
    (void)set;
    *reader = NULL;
    return no_cupti(err);
}

void counters_close(CounterReader *reader) {
    (void)reader;
}

bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err) {
    (void)reader, (void)session, (void)counters;
    return no_cupti(err);
}

bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err) {
    (void)chip, (void)set, (void)names, (void)passes;
    return no_cupti(err);
}
#endif
