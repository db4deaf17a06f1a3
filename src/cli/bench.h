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

/* Times a training step with a new map each time (--stage step), or prints the recorded steps. */
bool bench_step(const Options *options, Err *err);

/* ---- bench --against ------------------------------------------------------------------------- */

typedef struct Against Against;

/* Opens the file of --against, which bench wrote; *against is NULL without the option. */
bool against_open(const Options *options, Against **against, Err *err);
void against_close(Against *against); /* accepts NULL */

/* Refuses a comparison with latencies of a machine, of devices `where`, that is not that of the
 * file, and of single launches with launches in a row. `where` ~0u: the file's devices. Accepts
 * NULL, as against_row and against_judge do. */
bool against_check(const Against *against, const json_t *machine, unsigned where, bool single,
                   Err *err);

/* Adds the columns of against_row to a report without rows. */
void against_columns(Report *report);

/* Sets the old latency, the ratio and its noise in a row of results. Returns false where it is
 * slower than --fail allows. */
bool against_row(Against *against, json_t *row);

/* Draws the ratios into --png. Fails where a row is slower than --fail allows, beyond the noise. */
bool against_judge(const Against *against, Err *err);
