/* SPDX-License-Identifier: MIT */
/* Clocks that measure durations. All are monotonic. Their start is arbitrary. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Return the wall time, in microseconds and in milliseconds. */
double clock_us(void);
double clock_ms(void);

/* Returns the CPU time of the calling thread, in microseconds. */
double clock_thread_us(void);

/* The CPU time that an OpenMP team has used: of the calling thread, and the mean of all. */
typedef struct {
    double own_us, mean_us;
} TeamTime;

/* Reads the CPU times of the calling thread's team. */
TeamTime clock_team(void);

/* Returns how long the work since `begun` would take if each thread had a core of its own. For work
 * of the caller alone this is the caller's CPU time, for work of the team the mean CPU time. */
double clock_team_since_us(TeamTime begun);

/* Returns the microseconds since this process started, accurate to 10 ms. NaN: unknown. */
double clock_process_us(void);

#ifdef __cplusplus
}
#endif
