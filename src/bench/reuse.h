/* Exact reuse distances of a stream of sectors, in one pass: the hit rate of a fully associative
 * LRU cache of every size at once (Mattson 1970), and the write-backs.
 *
 * The distance of an access is the number of other sectors touched since the sector's last access:
 * a cache of S sectors hits exactly when distance < S. Lines are 32-byte sectors throughout. */
#ifndef BEV_REUSE_H
#define BEV_REUSE_H

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* UPDATE reads and writes (an atomic). A WRITE that misses fetches nothing: whole bytes are masked
 * in, as GPUs do it. */
typedef enum { REUSE_READ, REUSE_WRITE, REUSE_UPDATE } ReuseKind;

typedef struct Reuse Reuse; /* an analysis under way */

/* Sector numbers will be in [0, sectors). */
Reuse *reuse_begin(uint32_t sectors, Err *err);

/* `repeats` accesses to one sector in a row, at least 1: all but the first have distance 0. `side`,
 * 0 or 1: the partition of a divided L2 that the asking multiprocessor stands next to. */
void reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats);

/* What all cache sizes would have done, by sizes in sectors from 0 to `distinct`; beyond that
 * nothing changes any more. */
typedef struct {
    uint32_t distinct;    /* sectors touched at all */
    uint64_t fetches;     /* accesses that read: READ and UPDATE */
    uint64_t writes;      /* WRITE */
    uint64_t *misses;     /* [distinct + 1] fetches that miss */
    uint64_t *writebacks; /* [distinct + 1] dirty sectors that were evicted */
} ReuseCurve;

/* Ends the analysis and frees it. `cold` begins with an empty cache; `warm` is the same stream
 * again, with the cache as the first pass left it. False: no memory; both are then empty. */
bool reuse_end(Reuse *reuse, ReuseCurve *cold, ReuseCurve *warm, Err *err);

/* Ends it without a result; accepts NULL. */
void reuse_free(Reuse *reuse);

void reuse_curve_free(ReuseCurve *curve);

/* At a cache of `bytes`. */
uint64_t reuse_misses(const ReuseCurve *curve, double bytes);
uint64_t reuse_writebacks(const ReuseCurve *curve, double bytes);

/* Share of the fetches that miss; 0 when there are none. */
double reuse_miss_ratio(const ReuseCurve *curve, double bytes);

enum { SECTOR = 32 };

#endif
