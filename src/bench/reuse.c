/* Each sector has one mark on a time line, at its last access. The distance of an access is the
 * number of marks after the sector's own. Marks are bits, counted by blocks and by spans of blocks:
 * marking costs three additions, counting is short for recent accesses, which most are. When the
 * time line is full, marks are moved together in order. */
#include "src/bench/reuse.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64, BLOCK = 8 * WORD, SPAN = 64 * BLOCK };

static const uint32_t NEVER = UINT32_MAX;

/* Counts by distance; turned into curves at the end. */
typedef struct {
    uint64_t *fetches;        /* fetches of exactly this distance */
    int64_t *writeback_steps; /* change of the write-backs from size d to d + 1 */
    uint64_t first_fetches;   /* of sectors never seen before */
} Counts;

struct Reuse {
    uint32_t sectors, distinct;
    uint32_t *last;        /* [sectors] place on the time line, or NEVER */
    uint32_t *clean_below; /* [sectors] dirty in caches larger than this; NEVER: clean in all */
    uint32_t *order;       /* [sectors] first `distinct`: sectors by first access */
    /* What the second pass needs of the first: the kind of a sector's first access, and the largest
     * distance of those after it, up to the first that made it dirty. */
    uint8_t *first_kind;
    uint32_t *reach;
    uint32_t *owner;  /* [places] sector whose mark is there */
    uint64_t *marks;  /* [places / WORD] */
    uint32_t *blocks; /* [places / BLOCK] marks of each block */
    uint32_t *spans;  /* [places / SPAN] marks of each span */
    uint32_t places, now;
    uint64_t fetches, writes;
    Counts cold, warm;
};

static void counts_free(Counts *counts) {
    free(counts->fetches);
    free(counts->writeback_steps);
}

static bool counts_init(Counts *counts, uint32_t sectors) {
    counts->fetches = calloc((size_t)sectors + 1, sizeof *counts->fetches);
    counts->writeback_steps = calloc((size_t)sectors + 2, sizeof *counts->writeback_steps);
    return counts->fetches && counts->writeback_steps;
}

void reuse_free(Reuse *reuse) {
    if (!reuse)
        return;
    free(reuse->last);
    free(reuse->clean_below);
    free(reuse->order);
    free(reuse->first_kind);
    free(reuse->reach);
    free(reuse->owner);
    free(reuse->marks);
    free(reuse->blocks);
    free(reuse->spans);
    counts_free(&reuse->cold);
    counts_free(&reuse->warm);
    free(reuse);
}

Reuse *reuse_begin(uint32_t sectors, Err *err) {
    Reuse *reuse = calloc(1, sizeof *reuse);
    bool ok = reuse != NULL && sectors < UINT32_MAX / 4;
    if (ok) {
        size_t count = (size_t)sectors + 1;
        reuse->sectors = sectors;
        reuse->places = (2 * sectors / SPAN + 1) * SPAN;
        reuse->last = malloc(count * sizeof *reuse->last);
        reuse->clean_below = malloc(count * sizeof *reuse->clean_below);
        reuse->order = malloc(count * sizeof *reuse->order);
        reuse->first_kind = malloc(count);
        reuse->reach = calloc(count, sizeof *reuse->reach);
        reuse->owner = malloc(reuse->places * sizeof *reuse->owner);
        reuse->marks = calloc(reuse->places / WORD, sizeof *reuse->marks);
        reuse->blocks = calloc(reuse->places / BLOCK, sizeof *reuse->blocks);
        reuse->spans = calloc(reuse->places / SPAN, sizeof *reuse->spans);
        ok = reuse->last && reuse->clean_below && reuse->order && reuse->first_kind &&
             reuse->reach && reuse->owner && reuse->marks && reuse->blocks && reuse->spans &&
             counts_init(&reuse->cold, sectors) && counts_init(&reuse->warm, sectors);
    }
    if (!ok) {
        err_set(err, ERR_FAILED, "reuse distances", "choose a smaller scene",
                "no memory for %u sectors", sectors);
        reuse_free(reuse);
        return NULL;
    }
    memset(reuse->last, 0xff, (size_t)sectors * sizeof *reuse->last);
    memset(reuse->clean_below, 0xff, (size_t)sectors * sizeof *reuse->clean_below);
    return reuse;
}

/* ---- the time line -------------------------------------------------------------------------- */

static void change_mark(Reuse *reuse, uint32_t place, uint32_t change) {
    reuse->marks[place / WORD] ^= (uint64_t)1 << place % WORD;
    reuse->blocks[place / BLOCK] += change;
    reuse->spans[place / SPAN] += change;
}

static void set_mark(Reuse *reuse, uint32_t place) {
    change_mark(reuse, place, 1);
}

static void clear_mark(Reuse *reuse, uint32_t place) {
    change_mark(reuse, place, UINT32_MAX);
}

/* Marks in [place + 1, now). */
static uint32_t marks_after(const Reuse *reuse, uint32_t place) {
    uint32_t word = place / WORD, block = place / BLOCK, span = place / SPAN;
    uint32_t words_end = (block + 1) * (BLOCK / WORD), blocks_end = (span + 1) * (SPAN / BLOCK);
    uint32_t last_block = (reuse->now - 1) / BLOCK, last_span = (reuse->now - 1) / SPAN;
    uint32_t count = (uint32_t)__builtin_popcountll(reuse->marks[word] >> place % WORD >> 1);
    while (++word < words_end)
        count += (uint32_t)__builtin_popcountll(reuse->marks[word]);
    while (++block < blocks_end && block <= last_block)
        count += reuse->blocks[block];
    while (++span <= last_span)
        count += reuse->spans[span];
    return count;
}

/* Moves all marks to the front of the time line, in order. At least half of it becomes free. */
static void compact(Reuse *reuse) {
    uint32_t next = 0;
    for (uint32_t place = 0; place < reuse->now; place++)
        if (reuse->marks[place / WORD] >> place % WORD & 1) {
            uint32_t sector = reuse->owner[place];
            reuse->owner[next] = sector;
            reuse->last[sector] = next++;
        }
    memset(reuse->marks, 0, reuse->places / WORD * sizeof *reuse->marks);
    memset(reuse->blocks, 0, reuse->places / BLOCK * sizeof *reuse->blocks);
    memset(reuse->spans, 0, reuse->places / SPAN * sizeof *reuse->spans);
    reuse->now = 0;
    while (reuse->now < next)
        set_mark(reuse, reuse->now++);
}

/* Distance of an access to `sector` now, NEVER for the first; its mark moves to the end. */
static uint32_t touch(Reuse *reuse, uint32_t sector) {
    uint32_t place = reuse->last[sector], distance = NEVER;
    if (place != NEVER && place + 1 == reuse->now)
        return 0;
    if (reuse->now == reuse->places) {
        compact(reuse);
        place = reuse->last[sector];
    }
    if (place != NEVER) {
        distance = marks_after(reuse, place);
        clear_mark(reuse, place);
    }
    reuse->owner[reuse->now] = sector;
    reuse->last[sector] = reuse->now;
    set_mark(reuse, reuse->now++);
    return distance;
}

/* ---- counting ------------------------------------------------------------------------------- */

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* A sector that is dirty in caches larger than `clean_below` was written back by all of those up to
 * `distance`, which have evicted it since. */
static void count_writebacks(Counts *counts, uint32_t clean_below, uint32_t distance) {
    if (clean_below >= distance)
        return;
    counts->writeback_steps[clean_below + 1]++;
    counts->writeback_steps[distance + 1]--;
}

static void count_access(Reuse *reuse, Counts *counts, uint32_t sector, ReuseKind kind,
                         uint32_t distance) {
    uint32_t clean_below = reuse->clean_below[sector];
    if (distance != NEVER)
        count_writebacks(counts, clean_below, distance);
    if (kind != REUSE_WRITE && distance != NEVER)
        counts->fetches[distance]++;
    else if (kind != REUSE_WRITE)
        counts->first_fetches++;
    reuse->clean_below[sector] = kind != REUSE_READ ? 0 : larger(clean_below, distance);
}

void reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats) {
    (void)side; /* one undivided cache so far */
    uint32_t distance = touch(reuse, sector);
    if (distance == NEVER) {
        reuse->first_kind[sector] = (uint8_t)kind;
        reuse->order[reuse->distinct++] = sector;
    } else if (reuse->clean_below[sector] == NEVER) {
        reuse->reach[sector] = larger(reuse->reach[sector], distance);
    }
    count_access(reuse, &reuse->cold, sector, kind, distance);
    if (kind == REUSE_WRITE) {
        reuse->writes += repeats;
    } else {
        reuse->fetches += repeats;
        reuse->cold.fetches[0] += repeats - 1;
    }
}

/* The second pass differs from the first only where the first saw a sector for the first time, and
 * for that the order of those accesses is enough: repeats in between move only marks that lie
 * behind all of the first pass's. */
static void second_pass(Reuse *reuse) {
    memcpy(reuse->warm.fetches, reuse->cold.fetches,
           ((size_t)reuse->sectors + 1) * sizeof *reuse->warm.fetches);
    memcpy(reuse->warm.writeback_steps, reuse->cold.writeback_steps,
           ((size_t)reuse->sectors + 2) * sizeof *reuse->warm.writeback_steps);
    for (uint32_t i = 0; i < reuse->distinct; i++) {
        uint32_t sector = reuse->order[i];
        ReuseKind kind = (ReuseKind)reuse->first_kind[sector];
        count_access(reuse, &reuse->warm, sector, kind, touch(reuse, sector));
        /* Still dirty from the first pass while it is only read. */
        if (kind == REUSE_READ)
            count_writebacks(&reuse->warm, reuse->clean_below[sector], reuse->reach[sector]);
    }
}

static bool make_curve(const Reuse *reuse, const Counts *counts, ReuseCurve *curve) {
    size_t sizes = (size_t)reuse->distinct + 1;
    *curve = (ReuseCurve){.distinct = reuse->distinct,
                          .fetches = reuse->fetches,
                          .writes = reuse->writes,
                          .misses = malloc(sizes * sizeof *curve->misses),
                          .writebacks = malloc(sizes * sizeof *curve->writebacks)};
    if (!curve->misses || !curve->writebacks)
        return false;
    uint64_t misses = reuse->fetches;
    int64_t writebacks = 0;
    for (uint32_t size = 0; size < sizes; size++) {
        curve->misses[size] = misses;
        misses -= counts->fetches[size];
        writebacks += counts->writeback_steps[size];
        /* Without a cache every write goes through: the same as with a single sector. */
        curve->writebacks[size] = (uint64_t)writebacks;
    }
    curve->writebacks[0] = reuse->distinct ? curve->writebacks[1] : 0;
    return true;
}

bool reuse_end(Reuse *reuse, ReuseCurve *cold, ReuseCurve *warm, Err *err) {
    second_pass(reuse);
    *cold = *warm = (ReuseCurve){0};
    bool ok = make_curve(reuse, &reuse->cold, cold) && make_curve(reuse, &reuse->warm, warm);
    uint32_t distinct = reuse->distinct;
    reuse_free(reuse);
    if (ok)
        return true;
    reuse_curve_free(cold);
    reuse_curve_free(warm);
    return err_set(err, ERR_FAILED, "reuse distances", "choose a smaller scene",
                   "no memory for a curve of %u sectors", distinct);
}

void reuse_curve_free(ReuseCurve *curve) {
    if (!curve)
        return;
    free(curve->misses);
    free(curve->writebacks);
    *curve = (ReuseCurve){0};
}

static size_t size_of(const ReuseCurve *curve, double bytes) {
    double sectors = bytes / SECTOR;
    return sectors >= curve->distinct ? curve->distinct : sectors > 0 ? (size_t)sectors : 0;
}

uint64_t reuse_misses(const ReuseCurve *curve, double bytes) {
    return curve->misses ? curve->misses[size_of(curve, bytes)] : 0;
}

uint64_t reuse_writebacks(const ReuseCurve *curve, double bytes) {
    return curve->writebacks ? curve->writebacks[size_of(curve, bytes)] : 0;
}

double reuse_miss_ratio(const ReuseCurve *curve, double bytes) {
    return curve->fetches ? (double)reuse_misses(curve, bytes) / (double)curve->fetches : 0;
}
