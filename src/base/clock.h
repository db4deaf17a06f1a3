/* The clocks for durations. All are monotonic; the start of clock_us and clock_ms is arbitrary. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Wall time in microseconds, in milliseconds. */
double clock_us(void);
double clock_ms(void);

/* CPU time of the calling thread, in microseconds. */
double clock_thread_us(void);

/* CPU time so far of the threads that share the caller's parallel work (OpenMP): the caller's own,
 * and the mean of all. */
typedef struct {
    double own_us, mean_us;
} TeamTime;

TeamTime clock_team(void);

/* How long the caller's work since `begun` takes if every thread has a core. Alone: the caller's
 * own CPU time. In a team: the mean, as the other threads did more while the caller waited for a
 * core. */
double clock_team_since_us(TeamTime begun);

/* Microseconds since this process started, accurate to 10 ms; NaN when unknown. */
double clock_process_us(void);

#ifdef __cplusplus
}
#endif
