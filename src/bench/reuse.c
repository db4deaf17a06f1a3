#include "src/bench/reuse.h"

#include "src/bench/recency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOME_SECTORS = 128, WAYS = 16, NO_ACCESS = 0xff };

static const uint32_t NEVER = (uint32_t)RECENCY_NEVER, UNSEEN = (uint32_t)RECENCY_NEVER - 1;

/* A sector at home. */
typedef struct {
    uint32_t reach;       /* largest distance of its line since its last access, or before its first */
    uint32_t clean_below; /* dirty in caches larger than this; NEVER: clean in all */
    /* What the second pass needs of the first: `reach` at the first access, and the largest distance
     * of those after it, up to the first that made the sector dirty. */
    uint32_t first_reach, read_reach;
} Sector;

/* A sector's copy on the other side. */
typedef struct {
    uint32_t reach; /* as a Sector's; NEVER: stores have made the copy stale */
    /* For the second pass: `reach` at the first access, NEVER if that found it stale, and the
     * distance at home then; UNSEEN before it. */
    uint32_t first_reach, first_home;
} Copy;

/* Counts by distance; turned into curves at the end. */
typedef struct {
    uint64_t *fetches;        /* [lines + 1] fetches of exactly this distance */
    uint64_t *crossings;      /* [lines + 1] reads from the other side by distance of the copy */
    uint64_t first_crossings; /* of those, where there was no copy */
    int64_t *writeback_steps; /* [lines + 2] change of the write-backs from size d to d + 1 */
} Counts;

typedef struct {
    int partitions;
    Recency recency[2];
    Sector *sectors;
    Copy *copies; /* [sectors] */
    uint64_t far_stores;
    Counts cold, warm;
} Cache;

struct Reuse {
    uint32_t sectors, lines;
    uint8_t *first_kind; /* [sectors] ReuseKind, or NO_ACCESS */
    uint64_t touched, fetches, writes;
    Cache whole, divided;
};

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

int reuse_home(uint32_t sector) {
    return __builtin_parity(sector / HOME_SECTORS);
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool counts_init(Counts *counts, uint32_t lines) {
    counts->fetches = calloc((size_t)lines + 1, sizeof *counts->fetches);
    counts->crossings = calloc((size_t)lines + 1, sizeof *counts->crossings);
    counts->writeback_steps = calloc((size_t)lines + 2, sizeof *counts->writeback_steps);
    return counts->fetches && counts->crossings && counts->writeback_steps;
}

static void counts_free(Counts *counts) {
    free(counts->fetches);
    free(counts->crossings);
    free(counts->writeback_steps);
}

static bool cache_init(Cache *cache, int partitions, uint32_t lines) {
    size_t sectors = (size_t)lines * LINE_SECTORS + 1;
    cache->partitions = partitions;
    cache->sectors = calloc(sectors, sizeof *cache->sectors);
    cache->copies = calloc(partitions == 2 ? sectors : 1, sizeof *cache->copies);
    if (!cache->sectors || !cache->copies || !counts_init(&cache->cold, lines) ||
        !counts_init(&cache->warm, lines))
        return false;
    for (size_t i = 0; i < sectors; i++)
        cache->sectors[i].clean_below = NEVER;
    for (size_t i = 0; partitions == 2 && i < sectors; i++)
        cache->copies[i].first_home = UNSEEN;
    for (int part = 0; part < partitions; part++)
        if (!recency_init(&cache->recency[part], lines))
            return false;
    return true;
}

static void cache_free(Cache *cache) {
    recency_free(&cache->recency[0]);
    recency_free(&cache->recency[1]);
    free(cache->sectors);
    free(cache->copies);
    counts_free(&cache->cold);
    counts_free(&cache->warm);
}

void reuse_free(Reuse *reuse) {
    if (!reuse)
        return;
    free(reuse->first_kind);
    cache_free(&reuse->whole);
    cache_free(&reuse->divided);
    free(reuse);
}

Reuse *reuse_begin(uint32_t sectors, Err *err) {
    Reuse *reuse = calloc(1, sizeof *reuse);
    uint32_t lines = sectors / LINE_SECTORS + 1;
    bool ok = reuse != NULL && sectors < UINT32_MAX / 4;
    if (ok) {
        reuse->sectors = sectors;
        reuse->lines = lines;
        reuse->first_kind = malloc((size_t)sectors + 1);
        ok = reuse->first_kind && cache_init(&reuse->whole, 1, lines) &&
             cache_init(&reuse->divided, 2, lines);
    }
    if (!ok) {
        err_set(err, ERR_FAILED, "reuse distances", "choose a smaller scene",
                "no memory for %u sectors", sectors);
        reuse_free(reuse);
        return NULL;
    }
    memset(reuse->first_kind, NO_ACCESS, sectors);
    return reuse;
}

/* ---- counting ------------------------------------------------------------------------------- */

/* A sector that is dirty in caches larger than `clean_below` was written back by all of those up to
 * `distance`, which have evicted it since. */
static void count_writebacks(Counts *counts, uint32_t clean_below, uint32_t distance) {
    if (clean_below >= distance)
        return;
    counts->writeback_steps[clean_below + 1]++;
    counts->writeback_steps[distance + 1]--;
}

/* An access of distance `distance` at home; a read finds it in the copy at `copy`, if nearer. */
static void count_access(Counts *counts, Sector *sector, ReuseKind kind, uint32_t distance,
                         uint32_t copy) {
    uint32_t clean_below = sector->clean_below;
    if (distance != NEVER)
        count_writebacks(counts, clean_below, distance);
    if (kind != REUSE_WRITE && smaller(distance, copy) != NEVER)
        counts->fetches[smaller(distance, copy)]++;
    sector->clean_below = kind != REUSE_READ ? 0 : larger(clean_below, distance);
}

static void make_stale(Copy *copy) {
    copy->reach = NEVER;
    if (copy->first_home == UNSEEN)
        copy->first_reach = NEVER;
}

/* Distance of a copy on side `side`, which is there and the latest from now on. */
static uint32_t touch_copy(Cache *cache, int side, uint32_t number) {
    Copy *line = cache->copies + number / LINE_SECTORS * LINE_SECTORS;
    Copy *copy = &cache->copies[number];
    uint32_t distance = recency_touch(&cache->recency[side], number / LINE_SECTORS);
    if (distance > 0 && distance != NEVER)
        for (int i = 0; i < LINE_SECTORS; i++)
            line[i].reach = larger(line[i].reach, distance);
    distance = copy->reach;
    copy->reach = 0;
    if (copy->first_home != UNSEEN)
        return distance;
    copy->first_reach = larger(copy->first_reach, distance);
    return NEVER;
}

/* Distance of a sector in partition `home`, which has its line as the latest from now on. */
static uint32_t touch_home(Cache *cache, int home, uint32_t number, bool first) {
    Sector *line = cache->sectors + number / LINE_SECTORS * LINE_SECTORS;
    Sector *sector = &cache->sectors[number];
    uint32_t distance = recency_touch(&cache->recency[home], number / LINE_SECTORS);
    if (distance > 0 && distance != NEVER)
        for (int i = 0; i < LINE_SECTORS; i++)
            line[i].reach = larger(line[i].reach, distance);
    distance = sector->reach;
    sector->reach = 0;
    if (first) {
        sector->first_reach = distance;
        return NEVER;
    }
    if (sector->clean_below == NEVER)
        sector->read_reach = larger(sector->read_reach, distance);
    return distance;
}

static void count_crossing(Counts *counts, uint32_t copy) {
    *(copy == NEVER ? &counts->first_crossings : &counts->crossings[copy]) += 1;
}

/* Side and home are 0 in a cache that is whole. */
static void cache_access(Cache *cache, int side, int home, uint32_t number, ReuseKind kind,
                         bool first, uint32_t repeats) {
    Copy *copy = cache->partitions == 2 ? &cache->copies[number] : NULL;
    bool copied = side != home && kind != REUSE_UPDATE;
    uint32_t copy_distance = NEVER;
    if (copy && kind != REUSE_READ)
        make_stale(copy);
    if (side != home && kind != REUSE_READ)
        cache->far_stores += repeats;
    if (copied)
        copy_distance = touch_copy(cache, side, number);
    if (copied && kind == REUSE_READ)
        count_crossing(&cache->cold, copy_distance);
    uint32_t distance = touch_home(cache, home, number, first);
    if (copied && copy->first_home == UNSEEN)
        copy->first_home = distance;
    count_access(&cache->cold, &cache->sectors[number], kind, distance, copy_distance);
    if (kind != REUSE_WRITE)
        cache->cold.fetches[0] += repeats - 1;
}

void reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats) {
    bool first = reuse->first_kind[sector] == NO_ACCESS;
    if (first) {
        reuse->first_kind[sector] = (uint8_t)kind;
        reuse->touched++;
    }
    *(kind == REUSE_WRITE ? &reuse->writes : &reuse->fetches) += repeats;
    cache_access(&reuse->whole, 0, 0, sector, kind, first, repeats);
    cache_access(&reuse->divided, side, reuse_home(sector), sector, kind, first, repeats);
}

/* ---- the second pass ------------------------------------------------------------------------ */

/* It differs from the first only where the first saw a sector, or a copy of one, for the first time,
 * and for that the order in which lines came is enough: repeats in between move only marks that lie
 * behind all of the first pass's. */

static void second_access(Counts *counts, Sector *sector, ReuseKind kind, uint32_t line_distance) {
    uint32_t distance = larger(line_distance, larger(sector->reach, sector->first_reach));
    count_access(counts, sector, kind, distance, NEVER);
    /* Still dirty from the first pass while it is only read. */
    if (kind == REUSE_READ)
        count_writebacks(counts, sector->clean_below, sector->read_reach);
    sector->first_reach = distance; /* which it was, for its copy */
}

static void second_lines(const Reuse *reuse, Cache *cache, int part) {
    Recency *recency = &cache->recency[part];
    for (uint32_t i = 0; i < recency->distinct; i++) {
        uint32_t line = recency->order[i], distance = recency_touch(recency, line);
        uint32_t number = line * LINE_SECTORS;
        bool home = cache->partitions == 1 || reuse_home(number) == part;
        for (; number < (line + 1) * LINE_SECTORS && number < reuse->sectors; number++)
            if (!home)
                cache->copies[number].reach = larger(cache->copies[number].reach, distance);
            else if (reuse->first_kind[number] != NO_ACCESS)
                second_access(&cache->warm, &cache->sectors[number],
                              (ReuseKind)reuse->first_kind[number], distance);
    }
}

/* A read that found no copy in the first pass finds the one that the first pass left. */
static void second_copy(Counts *counts, const Copy *copy, const Sector *sector) {
    uint32_t distance = larger(copy->reach, copy->first_reach);
    uint32_t home = copy->first_home == NEVER ? sector->first_reach : copy->first_home;
    if (copy->first_home == UNSEEN || distance == NEVER)
        return;
    counts->first_crossings--;
    counts->crossings[distance]++;
    counts->fetches[home]--;
    counts->fetches[smaller(home, distance)]++;
}

static void second_pass(const Reuse *reuse, Cache *cache) {
    Counts *cold = &cache->cold, *warm = &cache->warm;
    size_t sizes = (size_t)reuse->lines + 1;
    memcpy(warm->fetches, cold->fetches, sizes * sizeof *warm->fetches);
    memcpy(warm->crossings, cold->crossings, sizes * sizeof *warm->crossings);
    memcpy(warm->writeback_steps, cold->writeback_steps,
           (sizes + 1) * sizeof *warm->writeback_steps);
    warm->first_crossings = cold->first_crossings;
    for (int part = 0; part < cache->partitions; part++)
        second_lines(reuse, cache, part);
    for (uint32_t number = 0; cache->partitions == 2 && number < reuse->sectors; number++)
        second_copy(warm, &cache->copies[number], &cache->sectors[number]);
}

/* ---- curves --------------------------------------------------------------------------------- */

static bool make_curve(const Reuse *reuse, const Cache *cache, const Counts *counts,
                       ReuseCurve *curve) {
    uint32_t lines = larger(cache->recency[0].distinct, cache->recency[1].distinct);
    size_t sizes = (size_t)lines + 1;
    *curve = (ReuseCurve){.partitions = cache->partitions,
                          .lines = lines,
                          .touched = reuse->touched,
                          .fetches = reuse->fetches,
                          .writes = reuse->writes,
                          .far_stores = cache->far_stores,
                          .misses = malloc(sizes * sizeof *curve->misses),
                          .writebacks = malloc(sizes * sizeof *curve->writebacks),
                          .crossings = malloc(sizes * sizeof *curve->crossings)};
    if (!curve->misses || !curve->writebacks || !curve->crossings)
        return false;
    uint64_t misses = reuse->fetches, crossings = counts->first_crossings;
    int64_t writebacks = 0;
    for (size_t size = 0; size < sizes; size++)
        crossings += counts->crossings[size];
    for (size_t size = 0; size < sizes; size++) {
        curve->misses[size] = misses;
        curve->crossings[size] = crossings;
        misses -= counts->fetches[size];
        crossings -= counts->crossings[size];
        writebacks += counts->writeback_steps[size];
        /* Without a cache every write goes through: the same as with a single line. */
        curve->writebacks[size] = (uint64_t)writebacks;
    }
    curve->writebacks[0] = lines ? curve->writebacks[1] : 0;
    return true;
}

static bool make_curves(const Reuse *reuse, Cache *cache, ReuseCurves *curves) {
    second_pass(reuse, cache);
    return make_curve(reuse, cache, &cache->cold, &curves->cold) &&
           make_curve(reuse, cache, &cache->warm, &curves->warm);
}

bool reuse_end(Reuse *reuse, ReuseCurves *whole, ReuseCurves *divided, Err *err) {
    *whole = *divided = (ReuseCurves){0};
    bool ok = make_curves(reuse, &reuse->whole, whole) &&
              make_curves(reuse, &reuse->divided, divided);
    uint32_t lines = reuse->lines;
    reuse_free(reuse);
    if (ok)
        return true;
    reuse_curves_free(whole);
    reuse_curves_free(divided);
    return err_set(err, ERR_FAILED, "reuse distances", "choose a smaller scene",
                   "no memory for a curve of %u lines", lines);
}

static void curve_free(ReuseCurve *curve) {
    free(curve->misses);
    free(curve->writebacks);
    free(curve->crossings);
    *curve = (ReuseCurve){0};
}

void reuse_curves_free(ReuseCurves *curves) {
    if (!curves)
        return;
    curve_free(&curves->cold);
    curve_free(&curves->warm);
}

/* ---- reading curves ------------------------------------------------------------------------- */

/* The average of counts[size] where size / mean has an Erlang distribution of WAYS stages. */
static double at_size(const ReuseCurve *curve, const uint64_t *counts, double bytes) {
    enum { STEPS = 192 };
    const double least = 0.125, most = 3; /* times the mean: one in 10^9 is outside */
    double mean = bytes / (SECTOR * LINE_SECTORS * curve->partitions), sum = 0, weights = 0;
    if (!counts)
        return 0;
    if (!(mean >= 1))
        return (double)counts[0];
    for (int step = 0; step < STEPS; step++) {
        double share = least + (most - least) * (step + 0.5) / STEPS, size = mean * share;
        double weight = pow(share * exp(1 - share), WAYS) / share;
        sum += weight * (double)counts[size < curve->lines ? (size_t)size : curve->lines];
        weights += weight;
    }
    return sum / weights;
}

double reuse_misses(const ReuseCurve *curve, double bytes) {
    return at_size(curve, curve->misses, bytes);
}

double reuse_writebacks(const ReuseCurve *curve, double bytes) {
    return at_size(curve, curve->writebacks, bytes);
}

double reuse_crossings(const ReuseCurve *curve, double bytes) {
    return at_size(curve, curve->crossings, bytes);
}

double reuse_miss_ratio(const ReuseCurve *curve, double bytes) {
    return curve->fetches ? reuse_misses(curve, bytes) / (double)curve->fetches : 0;
}

double reuse_hit_rate(const ReuseCurve *curve, double bytes) {
    double crossings = reuse_crossings(curve, bytes);
    double lookups = (double)(curve->fetches + curve->writes + curve->far_stores) + crossings;
    return lookups > 0 ? 1 - (reuse_misses(curve, bytes) + crossings) / lookups : NAN;
}
