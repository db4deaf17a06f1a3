/* SPDX-License-Identifier: MIT */
/* Two parts of bevscope bench: recorded latencies, and the comparison with an earlier file. */
#pragma once

#include "src/cli/report.h"
#include "src/run/bench.h"

/* ---- bench --recorded ------------------------------------------------------------------------ */

/* Prints the rows of samples/recorded/ that the options choose. Fails where no row fits. */
bool bench_recorded(const Options *options, Err *err);

/* Prints the article's table of latencies, and the recorded latencies of the same configurations
 * and columns. Each ratio is of one machine. */
bool bench_published(const Options *options, Err *err);

/* ---- bench --against ------------------------------------------------------------------------- */

typedef struct Against Against;

/* Reads the file of --against; *against is NULL without the option. Refuses a file that is no
 * result of bench, or that comes from another GPU or CPU than the plan's. Refuses single launches
 * where the plan times graphs. */
bool against_open(const Options *options, const BenchPlan *plan, Against **against, Err *err);
void against_close(Against *against); /* accepts NULL */

/* Adds columns with the old latency, the ratio and its noise. */
void against_add(Against *against, Report *report, const BenchRow *row);

/* Draws the ratios into --png. Fails where a row is slower than --fail allows, beyond the noise. */
bool against_judge(const Against *against, Err *err);
