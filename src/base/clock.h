/* The clocks for durations. All are monotonic; the start of clock_us and clock_ms is arbitrary. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Wall time in microseconds, in milliseconds. */
double clock_us(void);
double clock_ms(void);

/* CPU time of the calling thread, and of all threads of this process, in microseconds. */
double clock_thread_us(void);
double clock_threads_us(void);

/* Microseconds since this process started, accurate to 10 ms; NaN when unknown. */
double clock_process_us(void);

#ifdef __cplusplus
}
#endif
