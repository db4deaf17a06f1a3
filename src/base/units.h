/* Figures as text, unit included. What is unknown prints "n/a", never 0. ASCII only: these texts
 * also go to logs and plain terminals. */
#ifndef BEV_UNITS_H
#define BEV_UNITS_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    UNIT_BYTES, /* "6.1 MB" (10^6), "820 kB" */
    UNIT_US,    /* "7.1 us", "12.3 ms", "1.20 s" */
    UNIT_ERROR, /* "0.021", "3.8e-09" */
    UNIT_GBPS,  /* "1,234 GB/s" */
    UNIT_COUNT  /* "209,019" */
} Unit;

/* NaN, infinities and negative values are unknown. */
void unit_text(Unit unit, double value, char *text, size_t size);

/* "10.2 to 6.1 MB", both in the unit of the larger; "still 6.1 MB" where they read the same; the
 * later one alone where the earlier is unknown. */
void unit_change(Unit unit, double before, double after, char *text, size_t size);

#endif
