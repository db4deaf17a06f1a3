/* SPDX-License-Identifier: MIT */
/* How much memory a call needed at its peak: what "refused within 1 MB" is checked with. */
#pragma once

#include "tests/support/tap.h"

/* The address sanitizer keeps freed memory in quarantine: there is nothing to measure. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_MEASURED false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_MEASURED false
#endif
#endif
#ifndef MEMORY_MEASURED
#define MEMORY_MEASURED true
#endif

static inline long memory_field_kb(const char *field) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kb = 0;
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), " %ld", &kb);
    if (status)
        fclose(status);
    return kb;
}

/* Starts a measurement. Where the kernel cannot reset the peak, it counts from the start of the
 * program, which only makes the check stricter. */
static inline long memory_mark(void) {
    FILE *refs = fopen("/proc/self/clear_refs", "w");
    if (refs) {
        fputs("5", refs);
        fclose(refs);
    }
    return memory_field_kb("VmRSS:");
}

/* Kilobytes by which the resident memory's peak exceeded the mark. */
static inline long memory_growth_kb(long mark) {
    return memory_field_kb("VmHWM:") - mark;
}

/* A check that what was done since the mark needed a megabyte at most. */
static inline void tap_within_1_mb(long mark, const char *what) {
    long grown_kb = memory_growth_kb(mark);
    if (MEMORY_MEASURED)
        tap_ok(grown_kb < 1024, "%s within 1 MB (%ld kB)", what, grown_kb);
}
