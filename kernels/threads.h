/* SPDX-License-Identifier: MIT */
/* How many threads a parallel region may have. Every parallel region asks here. */
#pragma once

/* Returns OpenMP's number of threads. It is 1 in a child of a process that had other threads at the
 * fork: threads of GNU OpenMP do not survive a fork, and a team would wait for them for ever. */
int bev_threads(void);

/* Returns `planned`, or 1 in such a child of a fork: for a team planned before the fork. */
int bev_team(int planned);
