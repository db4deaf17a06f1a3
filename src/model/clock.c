#include "src/model/clock.h"

#include <time.h>

static double read_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double clock_us(void) {
    return read_us(CLOCK_MONOTONIC);
}

double clock_ms(void) {
    return clock_us() * 1e-3;
}

double clock_thread_us(void) {
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}
