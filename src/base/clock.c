/* SPDX-License-Identifier: MIT */
#include "src/base/clock.h"

#include "kernels/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double read_clock_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double clock_us(void) {
    return read_clock_us(CLOCK_MONOTONIC);
}

double clock_ms(void) {
    return clock_us() * 1e-3;
}

double clock_thread_us(void) {
    return read_clock_us(CLOCK_THREAD_CPUTIME_ID);
}

TeamTime clock_team(void) {
    double sum_us = 0;
    int threads = 0;
#pragma omp parallel num_threads(bev_threads()) reduction(+ : sum_us, threads)
    {
        sum_us += clock_thread_us();
        threads++;
    }
    return (TeamTime){clock_thread_us(), sum_us / threads};
}

double clock_team_since_us(TeamTime begun) {
    TeamTime now = clock_team();
    return fmax(now.own_us - begun.own_us, now.mean_us - begun.mean_us);
}

/* Reads the process's start time, field 22 of /proc/self/stat. Field 2, "(name)", may contain
 * spaces and brackets. */
double clock_process_us(void) {
    enum { NAME = 2, STARTED = 22 };
    char line[1024];
    FILE *file = fopen("/proc/self/stat", "r");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[length] = '\0';
    const char *at = strrchr(line, ')');
    for (int field = NAME; at && field < STARTED; field++)
        at = strchr(at + 1, ' ');
    double ticks_us = 1e6 / (double)sysconf(_SC_CLK_TCK);
    return at ? read_clock_us(CLOCK_BOOTTIME) - strtod(at, NULL) * ticks_us : NAN;
}
