/* Reuse distances against caches simulated one size at a time, and by hand. */
#include "src/bench/reuse.h"
#include "tests/tap.h"

enum { MAX_SECTORS = 48, MAX_LENGTH = 40000 }; /* longer than a small time line */

typedef struct {
    uint32_t sector;
    ReuseKind kind;
} Access;

/* An LRU cache of `size` sectors, most recent first; the obvious way. */
typedef struct {
    int size, count;
    uint32_t sector[MAX_SECTORS + 1];
    bool dirty[MAX_SECTORS + 1];
    uint64_t misses, writebacks;
} Lru;

static void lru_access(Lru *lru, Access access) {
    int at = 0;
    while (at < lru->count && lru->sector[at] != access.sector)
        at++;
    bool hit = at < lru->count, dirty = hit && lru->dirty[at];
    if (!hit) {
        lru->misses += access.kind != REUSE_WRITE;
        lru->count++;
    }
    memmove(lru->sector + 1, lru->sector, (size_t)at * sizeof *lru->sector);
    memmove(lru->dirty + 1, lru->dirty, (size_t)at * sizeof *lru->dirty);
    lru->sector[0] = access.sector;
    lru->dirty[0] = dirty || access.kind != REUSE_READ;
    if (lru->count > lru->size)
        lru->writebacks += lru->dirty[--lru->count];
}

static bool analyse(const Access *accesses, int length, ReuseCurve *cold, ReuseCurve *warm) {
    Err err = {0};
    Reuse *reuse = reuse_begin(MAX_SECTORS, &err);
    for (int i = 0; reuse && i < length; i++)
        reuse_access(reuse, 0, accesses[i].sector, accesses[i].kind, 1);
    return reuse && reuse_end(reuse, cold, warm, &err);
}

/* The analysis counts a write-back when the sector is touched again; a cache when it is evicted.
 * So the evictions that nobody has come back to yet are counted apart: those of a third pass are
 * the second's, shifted. */
static bool same_as_lru(const Access *accesses, int length) {
    ReuseCurve cold, warm;
    if (!analyse(accesses, length, &cold, &warm))
        return false;
    bool same = true;
    for (int size = 1; size <= (int)cold.distinct; size++) {
        Lru lru = {.size = size};
        uint64_t misses[3], writebacks[3];
        for (int pass = 0; pass < 3; pass++) {
            for (int i = 0; i < length; i++)
                lru_access(&lru, accesses[i]);
            misses[pass] = lru.misses;
            writebacks[pass] = lru.writebacks;
        }
        same &= cold.misses[size] == misses[0] && warm.misses[size] == misses[1] - misses[0];
        same &= warm.writebacks[size] == writebacks[2] - writebacks[1];
    }
    reuse_curve_free(&cold);
    reuse_curve_free(&warm);
    return same;
}

static void test_random(void) {
    static Access accesses[MAX_LENGTH];
    uint64_t seed = 12345;
    for (int stream = 0; stream < 200; stream++) {
        uint32_t sectors = 1 + (uint32_t)stream % MAX_SECTORS;
        int length = stream == 20 ? MAX_LENGTH : 1 + (stream * 37) % (stream % 10 ? 300 : 4000);
        for (int i = 0; i < length; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t sector = (uint32_t)(seed >> 33) % sectors;
            accesses[i] = (Access){sector, (ReuseKind)((seed >> 60) % 3)};
            if (stream % 2) /* arrays are read or written, not both */
                accesses[i].kind = sector % 2 ? REUSE_READ : REUSE_WRITE;
        }
        if (!same_as_lru(accesses, length)) {
            tap_ok(false, "stream %d of %d accesses to %u sectors", stream, length, sectors);
            return;
        }
    }
    tap_ok(true, "200 random streams: every cache size as simulated, cold, warm and written back");
}

static void test_by_hand(void) {
    /* a b c a: the second a has distance 2. */
    const Access reads[] = {{0, REUSE_READ}, {1, REUSE_READ}, {2, REUSE_READ}, {0, REUSE_READ}};
    ReuseCurve cold, warm;
    tap_ok(analyse(reads, 4, &cold, &warm), "a b c a is analysed");
    tap_ok(cold.distinct == 3 && cold.fetches == 4, "three sectors, four fetches");
    tap_ok(reuse_misses(&cold, 2 * SECTOR) == 4, "a cache of two misses all");
    tap_ok(reuse_misses(&cold, 3 * SECTOR) == 3, "a cache of three keeps a");
    tap_ok(reuse_misses(&cold, 3 * SECTOR - 1) == 4, "a byte less than three is two");
    tap_ok(reuse_misses(&warm, 3 * SECTOR) == 0, "and warm it keeps them all");
    tap_ok(reuse_misses(&warm, 1e12) == 0 && reuse_misses(&cold, 1e12) == 3,
           "a huge cache misses what is touched first, and nothing when warm");
    tap_ok(reuse_miss_ratio(&cold, 0) == 1, "no cache misses everything");
    reuse_curve_free(&cold);
    reuse_curve_free(&warm);
}

static void test_repeats(void) {
    Err err = {0};
    ReuseCurve cold, warm;
    Reuse *reuse = reuse_begin(2, &err);
    reuse_access(reuse, 0, 0, REUSE_UPDATE, 8);
    reuse_access(reuse, 0, 1, REUSE_WRITE, 1);
    tap_ok(reuse_end(reuse, &cold, &warm, &err) && cold.fetches == 8 && cold.writes == 1,
           "eight atomics in a row are eight fetches");
    tap_ok(cold.misses[1] == 1 && warm.misses[1] == 1 && warm.misses[2] == 0,
           "of which only the first can miss; writes fetch nothing");
    tap_ok(warm.writebacks[1] == 2 && warm.writebacks[2] == 0,
           "a cache of one writes both sectors back, a cache of two neither");
    reuse_curve_free(&cold);
    reuse_curve_free(&warm);
}

static void test_empty(void) {
    Err err = {0};
    ReuseCurve cold, warm;
    tap_ok(reuse_end(reuse_begin(0, &err), &cold, &warm, &err) && cold.distinct == 0 &&
               reuse_miss_ratio(&cold, 100) == 0,
           "an empty stream misses nothing");
    reuse_curve_free(&cold);
    reuse_curve_free(&warm);
    tap_ok(!reuse_begin(UINT32_MAX, &err) && err.kind == ERR_FAILED,
           "too many sectors are refused");
}

/* A loop over more sectors than a block or a span of the time line holds, with one that is touched
 * after every other. */
static void test_loop(void) {
    enum { LOOP = 40000, TURNS = 5 };
    Err err = {0};
    ReuseCurve cold, warm;
    Reuse *reuse = reuse_begin(LOOP + 1, &err);
    for (uint32_t i = 0; i < LOOP * TURNS; i++) {
        reuse_access(reuse, 0, i % LOOP, REUSE_READ, 1);
        reuse_access(reuse, 0, LOOP, REUSE_READ, 1);
    }
    tap_ok(reuse_end(reuse, &cold, &warm, &err) && cold.distinct == LOOP + 1, "a loop is analysed");
    tap_ok(cold.misses[1] == 2 * LOOP * TURNS, "a cache of one keeps neither");
    tap_ok(cold.misses[2] == LOOP * TURNS + 1 && cold.misses[LOOP] == LOOP * TURNS + 1,
           "from two to one less than the loop it keeps the one, and the loop misses always");
    tap_ok(cold.misses[LOOP + 1] == LOOP + 1, "and with room for all each misses once");
    tap_ok(warm.misses[LOOP] == LOOP * TURNS && warm.misses[LOOP + 1] == 0, "warm likewise");
    reuse_curve_free(&cold);
    reuse_curve_free(&warm);
}

int main(void) {
    test_loop();
    test_by_hand();
    test_repeats();
    test_empty();
    test_random();
    return tap_done();
}
