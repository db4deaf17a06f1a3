/* How many threads a parallel region may have; every one takes its number from here. */
#pragma once

/* OpenMP's number. One in a child of a process that had other threads at the fork: threads of GNU
 * OpenMP do not survive it, and a team that waits for them waits for ever. */
int bev_threads(void);

/* The same for a team that was planned earlier, perhaps before the fork. */
int bev_team(int planned);
