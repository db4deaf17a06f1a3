/* SPDX-License-Identifier: MIT */
/* Reuse distances against caches simulated one size at a time, and by hand. */
#include "src/cachesim/reuse.h"
#include "tests/support/tap.h"

#include <math.h>

enum {
    SPREAD = 32, /* lines from one that is used to the next, so that both partitions have some */
    LINES = 12,
    SECTORS = LINES * SPREAD * LINE_SECTORS,
    MAX_LENGTH = 40000 /* longer than a small time line */
};

typedef struct {
    uint32_t sector;
    ReuseKind kind;
    int side;
} Access;

/* Sector `at` of those that are used. */
static uint32_t used(uint32_t at) {
    return at / LINE_SECTORS * SPREAD * LINE_SECTORS + at % LINE_SECTORS;
}

/* ---- a cache of one size, the obvious way ---------------------------------------------------- */

typedef struct {
    uint32_t line;
    bool here[LINE_SECTORS], dirty[LINE_SECTORS];
} Line;

/* A partition, most recent line first. */
typedef struct {
    int count;
    Line lines[LINES + 1];
} Part;

typedef struct {
    int partitions, size;
    Part parts[2];
    uint64_t misses, writebacks, crossings;
} Lru;

static Line *find(Part *part, uint32_t line) {
    for (int i = 0; i < part->count; i++)
        if (part->lines[i].line == line)
            return &part->lines[i];
    return NULL;
}

/* The line in front, found or new; then the last may have to go. */
static Line *touch(Lru *lru, Part *part, uint32_t line) {
    Line *found = find(part, line), now = {.line = line};
    int at = found ? (int)(found - part->lines) : part->count++;
    if (found)
        now = *found;
    memmove(part->lines + 1, part->lines, (size_t)at * sizeof *part->lines);
    part->lines[0] = now;
    if (part->count > lru->size) {
        part->count--;
        for (int i = 0; i < LINE_SECTORS; i++)
            lru->writebacks += part->lines[part->count].dirty[i];
    }
    return part->lines;
}

static void lru_access(Lru *lru, Access access) {
    int home = lru->partitions == 2 ? reuse_home(access.sector) : 0;
    int side = lru->partitions == 2 ? access.side : 0;
    uint32_t number = access.sector / LINE_SECTORS, at = access.sector % LINE_SECTORS;
    bool copied = false;
    if (side != home) {
        Line *other = find(&lru->parts[side], number);
        if (other && access.kind != REUSE_READ)
            other->here[at] = false;
        if (access.kind == REUSE_READ || access.kind == REUSE_WRITE) {
            other = touch(lru, &lru->parts[side], number);
            copied = other->here[at];
            other->here[at] = true;
        }
        lru->crossings += access.kind == REUSE_READ && !copied;
    } else if (lru->partitions == 2 && access.kind != REUSE_READ) {
        Line *other = find(&lru->parts[!home], number);
        if (other)
            other->here[at] = false;
    }
    Line *line = touch(lru, &lru->parts[home], number);
    lru->misses += access.kind != REUSE_WRITE && !copied && !line->here[at];
    line->here[at] = true;
    line->dirty[at] |= access.kind != REUSE_READ;
}

/* Of what was analysed last. Suites are processes of their own: only the first one frees them. */
static ReuseCurves whole, divided;
static Err err;

static bool analyse(const Access *accesses, int length) {
    Reuse *reuse = reuse_begin(SECTORS, 1, &err);
    for (int i = 0; reuse && i < length; i++)
        reuse_access(reuse, accesses[i].side, accesses[i].sector, accesses[i].kind, 1);
    return reuse && reuse_end(reuse, &whole, &divided, &err);
}

static uint64_t dirty_sectors(const Lru *lru) {
    uint64_t dirty = 0;
    for (int part = 0; part < lru->partitions; part++)
        for (int i = 0; i < lru->parts[part].count; i++)
            for (int j = 0; j < LINE_SECTORS; j++)
                dirty += lru->parts[part].lines[i].dirty[j];
    return dirty;
}

/* The analysis counts a write-back when the sector is touched again; a cache when it is evicted.
 * So the evictions that nobody has come back to yet are counted apart: those of a third pass are
 * the second's, shifted. */
static bool same_as_lru(const ReuseCurves *curves, const Access *accesses, int length) {
    bool same = true;
    for (uint32_t size = 1; size <= curves->cold.lines; size++) {
        Lru lru = {.partitions = curves->cold.partitions, .size = (int)size};
        uint64_t misses[3], writebacks[3], crossings[3], flushed = 0;
        for (int pass = 0; pass < 3; pass++) {
            for (int i = 0; i < length; i++)
                lru_access(&lru, accesses[i]);
            misses[pass] = lru.misses;
            writebacks[pass] = lru.writebacks;
            crossings[pass] = lru.crossings;
            if (pass == 0)
                flushed = lru.writebacks + dirty_sectors(&lru);
        }
        same &= curves->cold.misses[size] == misses[0];
        same &= curves->cold.writebacks[size] == flushed;
        same &= curves->warm.misses[size] == misses[1] - misses[0];
        same &= curves->warm.writebacks[size] == writebacks[2] - writebacks[1];
        same &= curves->cold.crossings[size] == crossings[0];
        same &= curves->warm.crossings[size] == crossings[1] - crossings[0];
    }
    return same;
}

TAP_SUITE(reuse_random) {
    static Access accesses[MAX_LENGTH];
    uint64_t seed = 12345;
    bool same[3] = {false, true, true};
    for (int stream = 0; stream < 200; stream++) {
        uint32_t sectors = 1 + (uint32_t)stream % (LINES * LINE_SECTORS);
        int length = stream == 20 ? MAX_LENGTH : 1 + (stream * 37) % (stream % 10 ? 300 : 4000);
        for (int i = 0; i < length; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t sector = (uint32_t)(seed >> 33) % sectors;
            accesses[i] = (Access){used(sector), (ReuseKind)((seed >> 60) % 4), seed >> 59 & 1};
            if (stream % 2) /* arrays are read or written, not both */
                accesses[i].kind = sector % 2 ? REUSE_READ : REUSE_WRITE;
        }
        bool done = analyse(accesses, length);
        same[1] &= done && same_as_lru(&whole, accesses, length);
        same[2] &= done && same_as_lru(&divided, accesses, length);
        reuse_curves_free(&whole);
        reuse_curves_free(&divided);
    }
    tap_ok(same[1], "200 random streams: every size as simulated, cold, warm and written back");
    tap_ok(same[2], "and divided into two partitions, with what crosses over");
}

TAP_SUITE(reuse_partitions) {
    uint32_t far = 0;
    while (reuse_home(used(far)) == 0)
        far += LINE_SECTORS;
    far = used(far);
    const Access accesses[] = {
        {far, REUSE_READ, 0}, {far, REUSE_READ, 0}, {far, REUSE_READ, 1}, {far, REUSE_WRITE, 0}};
    tap_ok(analyse(accesses, 4), "three reads and a store of a sector far away");
    tap_ok(divided.cold.crossings[1] == 1 && divided.warm.crossings[1] == 0 &&
               divided.warm.far_stores == 1,
           "the first read crosses over, and the store does, which leaves a copy");
    tap_ok(divided.cold.misses[1] == 1 && divided.warm.misses[1] == 0, "memory is asked once");
    /* Four accesses, and two of them again at home, where the first misses as well. */
    tap_ok(fabs(reuse_hit_rate(&divided.cold, 1e9) - 4.0 / 6) < 1e-12 &&
               reuse_hit_rate(&whole.cold, 1e9) == 3.0 / 4 &&
               reuse_hit_rate(&divided.warm, 1e9) == 1,
           "four of six lookups hit; in a cache that is whole, three of four; warm all");
}

TAP_SUITE(reuse_repeats) {
    Reuse *reuse = reuse_begin(2 * LINE_SECTORS, 1, &err);
    reuse_access(reuse, 0, 0, REUSE_UPDATE, 8);
    reuse_access(reuse, 0, LINE_SECTORS, REUSE_WRITE, 1);
    tap_ok(reuse_end(reuse, &whole, &divided, &err) && whole.cold.fetches == 8 &&
               whole.cold.writes == 1,
           "eight atomics in a row are eight fetches");
    tap_ok(whole.cold.misses[1] == 1 && whole.warm.misses[1] == 1 && whole.warm.misses[2] == 0,
           "of which only the first can miss; writes fetch nothing");
    tap_ok(whole.warm.writebacks[1] == 2 && whole.warm.writebacks[2] == 0,
           "a cache of one line writes both back, a cache of two neither");
}

/* Five stores that leave first, with three reads in between, over and over. */
TAP_SUITE(reuse_evict_first) {
    enum { READS = 3, STORES = 5 };
    Reuse *reuse = reuse_begin((READS + STORES) * LINE_SECTORS, 1, &err);
    for (uint32_t i = 0; i < STORES; i++) {
        for (uint32_t j = 0; j < READS; j++)
            reuse_access(reuse, 0, j * LINE_SECTORS, REUSE_READ, 1);
        reuse_access(reuse, 0, (READS + i) * LINE_SECTORS, REUSE_EVICT_FIRST, 1);
    }
    tap_ok(reuse_end(reuse, &whole, &divided, &err) && whole.warm.lines == READS + STORES,
           "stores that leave first are analysed");
    tap_ok(whole.warm.misses[READS] == 0 && whole.cold.misses[READS] == READS,
           "they take no room from what is read");
    tap_ok(whole.warm.writebacks[READS + STORES - 1] == STORES &&
               whole.warm.writebacks[READS + STORES] == 0,
           "and stay only where all fit");
}

TAP_SUITE(reuse_empty) {
    tap_ok(reuse_end(reuse_begin(0, 1, &err), &whole, &divided, &err) && whole.cold.lines == 0 &&
               reuse_miss_ratio(&whole.cold, 100) == 0 && isnan(reuse_hit_rate(&divided.warm, 100)),
           "an empty stream misses nothing, and hits nothing");
    tap_ok(!reuse_begin(UINT32_MAX, 1, &err) && err.kind == ERR_FAILED,
           "too many sectors are refused");
}

/* A loop over more lines than a block or a span of the time line holds, with one that is touched
 * after every other. */
TAP_SUITE(reuse_loop) {
    enum { LOOP = 40000, TURNS = 5 };
    Reuse *reuse = reuse_begin((LOOP + 1) * LINE_SECTORS, 1, &err);
    for (uint32_t i = 0; i < LOOP * TURNS; i++) {
        reuse_access(reuse, 0, i % LOOP * LINE_SECTORS, REUSE_READ, 1);
        reuse_access(reuse, 0, LOOP * LINE_SECTORS, REUSE_READ, 1);
    }
    tap_ok(reuse_end(reuse, &whole, &divided, &err) && whole.cold.lines == LOOP + 1,
           "a loop is analysed");
    const ReuseCurve *cold = &whole.cold, *warm = &whole.warm;
    tap_ok(cold->misses[1] == 2 * LOOP * TURNS, "a cache of one line keeps neither");
    tap_ok(cold->misses[2] == LOOP * TURNS + 1 && cold->misses[LOOP] == LOOP * TURNS + 1,
           "from two to one less than the loop it keeps the one, and the loop misses always");
    tap_ok(cold->misses[LOOP + 1] == LOOP + 1, "and with room for all each misses once");
    tap_ok(warm->misses[LOOP] == LOOP * TURNS && warm->misses[LOOP + 1] == 0, "warm likewise");
    /* In sets of 16 lines, evenly filled: 16.8 lines a set are 17 in four sets of five, where a
     * loop always misses, and 16 in the others. */
    double bytes = (double)LOOP * LINE_SECTORS * SECTOR, all = LOOP * TURNS;
    tap_ok(reuse_misses(warm, bytes * 16 / 24) > 0.99 * all &&
               reuse_misses(warm, bytes * 1.001) == 0 &&
               fabs(reuse_misses(warm, bytes / 1.05) / all - 0.8) < 0.02,
           "in sets, a loop that nearly fits misses where there is a line too many");
}
