#include "src/run/counters.h"

#include <math.h>

/* DRAM bytes have a second name on GB20x. Orin and Thor count none: their memory controller gives
 * percentages of a peak only; GB20B not even those. Hits and misses are counted apart, as both come
 * from the same passes, so that a rate stays below one. */
const CounterRow counter_rows[COUNTER_COUNT] = {
    [COUNTER_DRAM_READ] = {"dram_read_bytes",
                           NULL,
                           {"dram__bytes_read.sum", "dram__bytes_op_read.sum"},
                           true},
    [COUNTER_DRAM_WRITE] = {"dram_write_bytes",
                            NULL,
                            {"dram__bytes_write.sum", "dram__bytes_op_write.sum"},
                            true},
    [COUNTER_L2_SECTORS] = {"l2_sectors", "L2 sectors", {"lts__t_sectors.sum"}, true},
    [COUNTER_L1_SECTORS] = {"l1_sectors", "L1 sectors", {"l1tex__t_sectors.sum"}, true},
    [COUNTER_ISSUE] = {"issue_active_percent",
                       "issue %",
                       {"smsp__issue_active.avg.pct_of_peak_sustained_active"},
                       true},
    [COUNTER_OCCUPANCY] = {"achieved_occupancy_percent",
                           "occupancy %",
                           {"sm__warps_active.avg.pct_of_peak_sustained_active"},
                           true},
    [COUNTER_L2_HITS] = {"l2_hit_sectors", NULL, {"lts__t_sectors_lookup_hit.sum"}, false},
    [COUNTER_L2_MISSES] = {"l2_miss_sectors", NULL, {"lts__t_sectors_lookup_miss.sum"}, false},
    [COUNTER_L2_READ_HITS] = {"l2_read_hit_sectors",
                              NULL,
                              {"lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum"},
                              false},
    [COUNTER_L2_READ_MISSES] = {"l2_read_miss_sectors",
                                NULL,
                                {"lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"},
                                false},
};

static double share(double part, double rest) {
    return part + rest > 0 ? part / (part + rest) : NAN;
}

double counters_l2_hit_rate(const Counters *counters) {
    return share(counters->value[COUNTER_L2_HITS], counters->value[COUNTER_L2_MISSES]);
}

double counters_l2_read_hit_rate(const Counters *counters) {
    return share(counters->value[COUNTER_L2_READ_HITS], counters->value[COUNTER_L2_READ_MISSES]);
}

double counters_dram_bytes(const Counters *counters) {
    return counters->value[COUNTER_DRAM_READ] + counters->value[COUNTER_DRAM_WRITE];
}

/* ---- refusals ------------------------------------------------------------------------------- */

/* CUptiResult as in CUPTI's ABI: its header is not there in every build. */
typedef struct {
    int result;
    const char *what, *hint;
} Refusal;

static const char ask_vm[] = "enable profiling for this virtual machine on its host";

static const Refusal refusals[] = {
    {14, "CUPTI and the driver do not go together", "update the NVIDIA driver"},
    {26, "another profiler holds the counters", "end it and try again"},
    {33, "a virtual GPU has no counters", ask_vm},
    {35, "the driver shows counters to administrators only (ERR_NVGPUCTRPERM)",
     "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {36, "another profiler holds the counters", "end it and try again"},
    {38, "CUPTI's range profiler does not know this GPU", "it needs Volta or later"},
    {39, "another profiler holds the counters", "end it and try again"},
    {40, "the driver shows counters to administrators only (ERR_NVGPUCTRPERM)", ask_vm},
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
