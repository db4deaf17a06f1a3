/* Exact reuse distances of a stream of sectors, in one pass: what an LRU cache of every size would
 * have done (Mattson 1970), with its write-backs.
 *
 * A cache keeps lines of four 32-byte sectors and fills only the sectors that are asked for. The
 * distance of an access is the number of other lines touched since its line was last touched, or,
 * where that was for other sectors only, the largest such distance since the sector's own last
 * access: a cache of S lines hits exactly when distance < S.
 *
 * Two caches are followed at once. One is whole. The other is divided into two partitions, as the
 * L2 of large GPUs is (NVIDIA, "A100 Tensor Core GPU Architecture", 2020): each keeps one half of
 * all addresses and answers the multiprocessors at its side. What they read of the other half is
 * kept as a copy; what they store there passes through and leaves one. Copies take room, and a
 * store makes all others stale. */
#ifndef BEV_REUSE_H
#define BEV_REUSE_H

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECTOR = 32, LINE_SECTORS = 4 };

/* UPDATE reads and writes (an atomic). A WRITE that misses fetches nothing: others fill the rest of
 * the sector before it leaves. A PATCH is a store to a sector that nobody fills: it fetches what it
 * leaves as it was. PASS is a WRITE to a line that is to leave first (evict-first): such a line
 * makes room for all others, and they make room only for each other. No other access may be to a
 * line that PASS was to. */
typedef enum { REUSE_READ, REUSE_WRITE, REUSE_UPDATE, REUSE_PATCH, REUSE_PASS } ReuseKind;

typedef struct Reuse Reuse; /* an analysis under way */

/* Sector numbers will be in [0, sectors). Of `one_in` lines one is followed, by a hash of its
 * number, and stands for all: distances among those are that many times too short (SHARDS:
 * Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015). 1: all are, and the
 * result is exact. */
Reuse *reuse_begin(uint32_t sectors, uint32_t one_in, Err *err);

/* `repeats` accesses to one sector in a row, at least 1: all but the first have distance 0. `side`,
 * 0 or 1: the partition of a divided L2 that the asking multiprocessor stands next to. */
void reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats);

/* The partition that keeps a sector. How hardware spreads addresses is not published: by parity of
 * the number of its 4 KiB. */
int reuse_home(uint32_t sector);

/* What all cache sizes would have done, by sizes in lines a partition from 0 to `lines`; beyond
 * that nothing changes any more. Lines, and what is counted by size, are of those that were
 * followed; the functions below make them up to all. */
typedef struct {
    int partitions;
    uint32_t one_in; /* line was followed */
    double scale;    /* all accesses over those to the lines that were followed */
    uint32_t lines;
    uint64_t touched;     /* sectors, at all */
    double share_copied;  /* of the lines at home on the other side, how many have a copy on this */
    uint32_t copies;      /* so many lines of `lines` */
    uint64_t fetches;     /* accesses that want what is there: READ, UPDATE and PATCH */
    uint64_t writes;      /* WRITE and PASS */
    uint64_t far_stores;  /* all but READ, from the side that is not the sector's */
    uint64_t *misses;     /* [lines + 1] fetches that miss, and at home too */
    uint64_t *writebacks; /* [lines + 1] dirty sectors that were evicted */
    uint64_t *crossings;  /* [lines + 1] reads that miss on their side and go on to the other */
} ReuseCurve;

/* `cold` begins with an empty cache; `warm` is the same stream again, with the cache as the first
 * pass left it. */
typedef struct {
    ReuseCurve cold, warm;
} ReuseCurves;

/* Ends the analysis and frees it. False: no memory; all curves are then empty. */
bool reuse_end(Reuse *reuse, ReuseCurves *whole, ReuseCurves *divided, Err *err);

/* Ends it without a result; accepts NULL. */
void reuse_free(Reuse *reuse);

void reuse_curves_free(ReuseCurves *curves); /* accepts NULL */

/* At a cache of `bytes`, all partitions together, of sets of 16 lines (as Volta's: Jia et al.,
 * "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018). A line is gone when
 * 16 others have come to its set. Arrays fill sets evenly; so of the m lines that the stream has in
 * a set, an access of distance d meets each of the others with probability d / lines, and is a
 * miss where a binomial of m - 1 reaches 16: these are averages of the curve over sizes of a Beta
 * distribution (16, m - 16), after Smith (1978). Where m is below 16 nothing ever leaves. Which
 * lines have copies is chance, so that with two partitions m differs from set to set. */
double reuse_misses(const ReuseCurve *curve, double bytes);
double reuse_writebacks(const ReuseCurve *curve, double bytes);
double reuse_crossings(const ReuseCurve *curve, double bytes);

/* Share of the fetches that miss; 0 when there are none. */
double reuse_miss_ratio(const ReuseCurve *curve, double bytes);

/* As hardware counters have it: hits among all lookups. Stores always hit; what passes both
 * partitions is looked up in both. NaN: none. */
double reuse_hit_rate(const ReuseCurve *curve, double bytes);

#endif
