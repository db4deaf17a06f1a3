/* How many threads a parallel region may have; every one takes its number from here. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* OpenMP's number. One in a child that this process forked: the threads of GNU OpenMP do not
 * survive a fork, and a team that waits for them waits for ever. */
int bev_threads(void);

/* The same for a team that was planned earlier, perhaps before the fork. */
int bev_team(int planned);

#ifdef __cplusplus
}
#endif
