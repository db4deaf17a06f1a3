/* Exact reuse distances of a trace of sectors, in one pass: what an LRU cache of every size would
 * have done (Mattson 1970), with its write-backs.
 *
 * A cache keeps lines of four 32-byte sectors and fills only the sectors that are asked for. The
 * distance of an access is the number of other lines touched since its line was last touched, or,
 * where that was for other sectors only, the largest such distance since the sector's own last
 * access: a cache of S lines hits exactly when distance < S.
 *
 * Two caches are simulated together. One is undivided. The other has two partitions, like the L2 of
 * large GPUs (NVIDIA, "A100 Tensor Core GPU Architecture", 2020): each partition is the home of one
 * half of all addresses and serves the multiprocessors at its side. It keeps copies of what those
 * read from the other half; their stores to the other half pass through it and leave a copy as
 * well. Copies take room, and a store makes all other copies of its sector stale. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECTOR = 32, LINE_SECTORS = 4 };

/* UPDATE reads and writes (an atomic). A WRITE that misses fetches nothing: other writes fill the
 * rest of the sector before it is evicted. A PATCH is a store to a sector that is never filled: it
 * fetches the sector first. EVICT_FIRST is a WRITE to a line that is evicted before
 * all others, and that evicts only lines of its own kind. Such a line may have no other access. */
typedef enum { REUSE_READ, REUSE_WRITE, REUSE_UPDATE, REUSE_PATCH, REUSE_EVICT_FIRST } ReuseKind;

typedef struct Reuse Reuse; /* an analysis under way */

/* Sector numbers are in [0, sectors). One line in `one_in`, chosen by a hash of its number, is
 * followed and stands for all of them; distances are scaled by as much (SHARDS: Waldspurger et al.,
 * "Efficient MRC Construction with SHARDS", FAST 2015). 1: all lines are followed, and the result
 * is exact. */
Reuse *reuse_begin(uint32_t sectors, uint32_t one_in, Err *err);

/* `repeats` (at least 1) accesses to one sector in a row: all but the first have distance 0.
 * `side`, 0 or 1: the partition of a divided L2 that the multiprocessor is next to. True: the
 * sector's first access. */
bool reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats);

/* The home partition of a sector: the parity of the number of its 4 KiB. How hardware spreads
 * addresses is not published. */
int reuse_home(uint32_t sector);

/* What a cache of each size would have done. Sizes are in lines a partition, from 0 to `lines`;
 * beyond that nothing changes. Lines, and what is counted by size, are those that were followed;
 * the functions below scale them up to all. */
typedef struct {
    int partitions;
    uint32_t one_in; /* one line in so many was followed */
    double scale;    /* all accesses over those to the lines that were followed */
    uint32_t lines;
    uint64_t touched;     /* sectors, at all */
    double share_copied;  /* of the lines at home on the other side, how many have a copy on this */
    uint32_t copies;      /* so many lines of `lines` */
    uint64_t fetches;     /* accesses that read: READ, UPDATE and PATCH */
    uint64_t writes;      /* WRITE and EVICT_FIRST */
    uint64_t far_stores;  /* all but READ, from the side that is not the sector's */
    uint64_t *misses;     /* [lines + 1] fetches that miss, and at home too */
    uint64_t *writebacks; /* [lines + 1] dirty sectors that were evicted or flushed */
    uint64_t *crossings;  /* [lines + 1] reads that miss on their side and go on to the other */
} ReuseCurve;

/* `cold` begins with an empty cache and ends with a flush: each dirty sector is written once, by
 * eviction or by the flush. `warm` is the same trace again, with the cache as the first pass left
 * it: it evicts dirty sectors of that pass, and leaves its own. So `cold` never moves less. */
typedef struct {
    ReuseCurve cold, warm;
} ReuseCurves;

/* Ends the analysis and frees it. False: no memory; all curves are then empty. */
bool reuse_end(Reuse *reuse, ReuseCurves *whole, ReuseCurves *divided, Err *err);

/* Ends it without a result; accepts NULL. */
void reuse_free(Reuse *reuse);

void reuse_curves_free(ReuseCurves *curves);

/* The value of a curve at a cache of `bytes`, all partitions together, with sets of 16 lines (as
 * Volta's: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018).
 * A line is gone when 16 other lines have come to its set. Arrays fill sets evenly. Of the m lines
 * that the trace has in a set, an access of distance d meets each other line with probability d /
 * lines, and misses where a binomial of m - 1 reaches 16. The result is an average of the curve
 * over sizes of a Beta distribution (16, m - 16), after Smith (1978). Where m is below 16 no line
 * ever leaves. Which lines have copies is chance: with two partitions m differs from set to set. */
double reuse_misses(const ReuseCurve *curve, double bytes);
double reuse_writebacks(const ReuseCurve *curve, double bytes);
double reuse_crossings(const ReuseCurve *curve, double bytes);

/* Share of the fetches that miss; 0 without fetches. */
double reuse_miss_ratio(const ReuseCurve *curve, double bytes);

/* As hardware counters count: hits among all lookups. Stores always hit. An access that misses its
 * own partition is looked up in the other one, too. NaN: no lookups. */
double reuse_hit_rate(const ReuseCurve *curve, double bytes);
