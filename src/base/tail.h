/* Quantiles of any number of latencies in bounded memory: a histogram whose bins are 1/32 octave
 * wide. A quantile is the middle of its bin: off by at most 1.1 %. Least and largest are exact. */
#pragma once

#include <stdint.h>

enum { TAIL_OCTAVE_BINS = 32, TAIL_BINS = 32 * TAIL_OCTAVE_BINS };

/* Empty where zeroed. Latencies below 1/16 us or above four minutes count in the outer bins. */
typedef struct {
    uint64_t count, bins[TAIL_BINS];
    double least_us, most_us;
} Tail;

/* Adds a latency > 0. */
void tail_add(Tail *tail, double us);

/* The latency that `part` of all do not exceed, by nearest rank; 0 < part <= 1. NaN: none were
 * added. */
double tail_quantile(const Tail *tail, double part);

/* What a table of latencies shows. */
enum { TAIL_QUANTILES = 5 };
typedef struct {
    const char *key, *heading, *title; /* "p999_us", "p99.9 us", "p99.9" */
    double part;
} TailQuantile;
extern const TailQuantile tail_quantiles[TAIL_QUANTILES]; /* the last one is the largest */
