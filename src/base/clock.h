/* The one clock for durations: monotonic, since some moment in the past. */
#ifndef BEV_CLOCK_H
#define BEV_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Wall time in microseconds, in milliseconds. */
double clock_us(void);
double clock_ms(void);

/* Time for which the calling thread had a core, in microseconds. */
double clock_thread_us(void);

/* Time since this process was started, to a hundredth of a second; NaN: unknown. */
double clock_process_us(void);

#ifdef __cplusplus
}
#endif
#endif
