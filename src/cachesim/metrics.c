/* SPDX-License-Identifier: MIT */
#include "src/cachesim/metrics.h"

#include <stddef.h>

/* Counters of DRAM bytes have a second name on GB20x chips. Orin and Thor do not count DRAM bytes:
 * their memory controller gives only percentages of a peak. GB20B gives not even percentages. Hits
 * and misses are counted in the same pass, so that a hit rate cannot exceed one. */
// clang-format off
const CounterRow counter_rows[COUNTER_COUNT] = {
    [COUNTER_DRAM_READ] = {"dram_read_bytes", NULL,
        {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}, true},
    [COUNTER_DRAM_WRITE] = {"dram_write_bytes", NULL,
        {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}, true},
    [COUNTER_L2_SECTORS] = {"l2_sectors", "L2 sectors", {"lts__t_sectors.sum"}, true},
    [COUNTER_L1_SECTORS] = {"l1_sectors", "L1 sectors", {"l1tex__t_sectors.sum"}, true},
    [COUNTER_ISSUE] = {"issue_active_percent", "issue %",
        {"smsp__issue_active.avg.pct_of_peak_sustained_active"}, true},
    [COUNTER_OCCUPANCY] = {"achieved_occupancy_percent", "occupancy %",
        {"sm__warps_active.avg.pct_of_peak_sustained_active"}, true},
    [COUNTER_L2_HITS] = {"l2_hit_sectors", NULL, {"lts__t_sectors_lookup_hit.sum"}, false},
    [COUNTER_L2_MISSES] = {"l2_miss_sectors", NULL, {"lts__t_sectors_lookup_miss.sum"}, false},
    [COUNTER_L2_READ_HITS] = {"l2_read_hit_sectors", NULL,
        {"lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum"}, false},
    [COUNTER_L2_READ_MISSES] = {"l2_read_miss_sectors", NULL,
        {"lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"}, false},
};
// clang-format on
