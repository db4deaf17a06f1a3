/* SPDX-License-Identifier: MIT */
/* The number of threads that a parallel region may have. Every region calls these functions. */
#pragma once

/* Returns OpenMP's number of threads, or 1 in a child of a fork whose parent had other threads.
 * Threads of GNU OpenMP do not survive a fork, and a team would wait for them for ever. */
int bev_threads(void);

/* Returns `planned`, a number of threads chosen earlier; 1 if a fork has lost the threads since. */
int bev_team(int planned);
