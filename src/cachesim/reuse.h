/* SPDX-License-Identifier: MIT */
/* Computes the exact reuse distances of a trace of sectors in one pass. They give the misses and
 * write-backs of an LRU cache of every size (Mattson 1970).
 *
 * A cache keeps lines of four 32-byte sectors. It fills only the sectors that are requested. The
 * distance of a line's touch is the number of other lines touched since its last touch. The
 * distance of a sector's access is the largest distance of its line's touches since the sector's
 * own last access. A cache of S lines hits exactly when the distance is below S.
 *
 * Two caches are simulated together. One is undivided. The other has two partitions, like the L2 of
 * large GPUs (NVIDIA, "A100 Tensor Core GPU Architecture", 2020). Each partition is the home of one
 * half of all addresses, and serves the multiprocessors at its side. It keeps copies of the sectors
 * that these multiprocessors read from the other half or store to the other half. Copies take room.
 * A store makes all other copies of its sector stale. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { SECTOR = 32, LINE_SECTORS = 4 };

/* An UPDATE is an atomic: it reads and writes. A WRITE that misses fetches nothing: other writes
 * fill the rest of its sector before the sector is evicted. A PATCH stores to a sector that other
 * writes do not fill, so it fetches the sector. EVICT_FIRST is a WRITE to a line that is evicted
 * before all others. Such a line evicts only lines of its kind, and has no other kind of access. */
typedef enum { REUSE_READ, REUSE_WRITE, REUSE_UPDATE, REUSE_PATCH, REUSE_EVICT_FIRST } ReuseKind;

typedef struct Reuse Reuse; /* an analysis under way */

/* Begins an analysis of sectors [0, sectors). One line in `one_in` is followed: a hash of its
 * number chooses it. A followed line stands for `one_in` lines, and distances are scaled up
 * accordingly (SHARDS: Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015).
 * With `one_in` 1 all lines are followed, and the result is exact. */
Reuse *reuse_begin(uint32_t sectors, uint32_t one_in, Err *err);

/* Counts `repeats` (at least 1) accesses to one sector in a row. All but the first have distance 0.
 * `side` (0 or 1) is the partition of a divided L2 next to the multiprocessor. Returns whether this
 * is the sector's first access. */
bool reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats);

/* Returns the home partition of a sector: the parity of the number of its 4 KiB. The real mapping
 * of addresses to partitions is not published. */
int reuse_home(uint32_t sector);

/* Counts for a cache of each size. A size is in lines a partition, from 0 to `lines`; a larger
 * cache gives the counts of `lines`. The three arrays, `lines` and `copies` count followed lines
 * only. The functions below scale them up to all lines. */
typedef struct {
    int partitions;
    uint32_t one_in;      /* one line in `one_in` was followed */
    double scale;         /* all accesses / accesses to followed lines */
    uint32_t lines;       /* followed lines of the fuller partition */
    uint64_t touched;     /* sectors that were accessed */
    double share_copied;  /* share of the other partition's own lines that have a copy here */
    uint32_t copies;      /* lines of `lines` that are copies */
    uint64_t fetches;     /* accesses that read: READ, UPDATE and PATCH */
    uint64_t writes;      /* accesses that only write: WRITE and EVICT_FIRST */
    uint64_t far_stores;  /* accesses except READ from the side that is not the sector's home */
    uint64_t *misses;     /* [lines + 1] fetches that miss in both partitions */
    uint64_t *writebacks; /* [lines + 1] dirty sectors that were evicted or flushed */
    uint64_t *crossings;  /* [lines + 1] reads that miss at their side and ask the other */
} ReuseCurve;

/* The `cold` pass begins with an empty cache and ends with a flush, which writes the dirty sectors.
 * The `warm` pass repeats the trace, with the cache as the first pass left it. It evicts dirty
 * sectors of the first pass and leaves its own. So the cold pass never moves less. */
typedef struct {
    ReuseCurve cold, warm;
} ReuseCurves;

/* Ends the analysis, frees it and gives the curves of both caches. False: out of memory. All curves
 * are then empty. */
bool reuse_end(Reuse *reuse, ReuseCurves *whole, ReuseCurves *divided, Err *err);

/* Curves without an analysis: a cache that is smaller than all sectors misses each of them once, a
 * larger cache none. All figures are in sectors. */
typedef struct {
    double fetches, writes, read_once, written_once;
} ReuseGuess;
bool reuse_guess(const ReuseGuess *guess, ReuseCurves *whole, ReuseCurves *divided, Err *err);

/* Ends the analysis without a result; accepts NULL. */
void reuse_free(Reuse *reuse);
void reuse_curves_free(ReuseCurves *curves);

/* Return the value of a curve for a cache of `bytes` in all partitions together. The cache has sets
 * of 16 lines, as Volta's (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
 * Microbenchmarking", 2018). A line is evicted when 16 other lines have come to its set. Arrays
 * fill sets evenly: the trace has m lines in a set. After an access of distance d each of the m - 1
 * other lines has come to the set with probability d / lines. The access misses if at least 16 of
 * them have come. The result is an average of the curve over sizes with the Beta distribution (16,
 * m - 16), after Smith (1978). If m is below 16, no line is evicted. With two partitions m differs
 * from set to set, because chance decides which lines have copies. */
double reuse_misses(const ReuseCurve *curve, double bytes);
double reuse_writebacks(const ReuseCurve *curve, double bytes);
double reuse_crossings(const ReuseCurve *curve, double bytes);

/* Returns misses / fetches, or 0 without fetches. */
double reuse_miss_ratio(const ReuseCurve *curve, double bytes);

/* Returns hits / lookups, as hardware counters count them. Stores always hit. An access that misses
 * its own partition is looked up in the other one, too. NaN: there are no lookups. */
double reuse_hit_rate(const ReuseCurve *curve, double bytes);
