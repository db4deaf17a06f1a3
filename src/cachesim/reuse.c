/* SPDX-License-Identifier: MIT */
#include "src/cachesim/reuse.h"

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

enum { HOME_SECTORS = 128, WAYS = 16, NO_ACCESS = 0xff };

/* NEVER: the distance of a line or sector that was not touched before. UNSEEN: a copy has had no
 * access, so that its distance at home is not known. */
static const uint32_t NEVER = UINT32_MAX, UNSEEN = UINT32_MAX - 1;

/* ---- an LRU stack of lines ------------------------------------------------------------------- */

/* Each touched line has one mark on a time line, at the place of its last touch. The distance of a
 * touch is the number of marks behind the line's mark. Marks are bits. Blocks of 512 places and
 * spans of 64 blocks have counts of their marks, so that counting needs few steps. When the time
 * line is full, all marks move to its front in order. */
typedef struct {
    uint64_t *marks;  /* [places / 64] one bit a place; begins the block of all arrays */
    uint32_t *last;   /* [lines] the line's place on the time line, or NEVER */
    uint32_t *order;  /* [distinct] the touched lines in the order of their first touches */
    uint32_t *owner;  /* [places] the line whose mark is at this place */
    uint32_t *blocks; /* the number of marks in each block */
    uint32_t *spans;  /* the number of marks in each span */
    uint32_t distinct, places; /* lines touched so far; the length of the time line */
    uint32_t now;              /* the place of the next mark */
} LruStack;

enum { WORD = 64, BLOCK = 8 * WORD, SPAN = 64 * BLOCK };

/* Makes an empty stack for line numbers in [0, lines). */
static void lru_stack_init(LruStack *stack, uint32_t lines, CpuArrays *arrays) {
    uint32_t places = (2 * lines / SPAN + 1) * SPAN;
    size_t words = places / WORD, blocks = places / BLOCK, spans = places / SPAN;
    size_t counts = (words * (WORD / 32) + blocks + spans) * sizeof(uint32_t);
    uint64_t *marks =
        cpu_take(arrays, (int64_t)(counts / sizeof(uint32_t) + 2 * (size_t)lines + places),
                 sizeof(uint32_t));
    *stack = (LruStack){.marks = marks, .places = places};
    if (!marks)
        return;
    stack->blocks = (uint32_t *)(marks + words);
    stack->spans = stack->blocks + blocks;
    stack->last = stack->spans + spans;
    stack->order = stack->last + lines;
    stack->owner = stack->order + lines;
    memset(marks, 0, counts);
    memset(stack->last, 0xff, (size_t)lines * sizeof *stack->last);
}

/* Sets the mark at `place` (`change` 1) or clears it (`change` UINT32_MAX: adds -1 to counts). */
static void change_mark(LruStack *stack, uint32_t place, uint32_t change) {
    stack->marks[place / WORD] ^= (uint64_t)1 << place % WORD;
    stack->blocks[place / BLOCK] += change;
    stack->spans[place / SPAN] += change;
}

/* Returns the number of marks in [place + 1, now). Adds the marks behind `place` in its word, in
 * the later words of its block, in the later blocks of its span, and in the later spans. */
static uint32_t marks_after(const LruStack *stack, uint32_t place) {
    uint32_t word = place / WORD, block = place / BLOCK, span = place / SPAN;
    uint32_t words_end = (block + 1) * (BLOCK / WORD), blocks_end = (span + 1) * (SPAN / BLOCK);
    uint32_t last_block = (stack->now - 1) / BLOCK, last_span = (stack->now - 1) / SPAN;
    uint32_t count = (uint32_t)__builtin_popcountll(stack->marks[word] >> place % WORD >> 1);
    while (++word < words_end)
        count += (uint32_t)__builtin_popcountll(stack->marks[word]);
    while (++block < blocks_end && block <= last_block)
        count += stack->blocks[block];
    while (++span <= last_span)
        count += stack->spans[span];
    return count;
}

/* Moves all marks to the front of the time line, in order. Each line has one mark, so at least half
 * of the time line becomes free. */
static void compact(LruStack *stack) {
    uint32_t next = 0;
    for (uint32_t place = 0; place < stack->now; place++)
        if (stack->marks[place / WORD] >> place % WORD & 1) {
            uint32_t line = stack->owner[place];
            stack->owner[next] = line;
            stack->last[line] = next++;
        }
    memset(stack->marks, 0, stack->places / WORD * sizeof *stack->marks);
    memset(stack->blocks, 0, stack->places / BLOCK * sizeof *stack->blocks);
    memset(stack->spans, 0, stack->places / SPAN * sizeof *stack->spans);
    stack->now = 0;
    while (stack->now < next)
        change_mark(stack, stack->now++, 1);
}

/* Touches `line` and returns the distance of this touch, or NEVER at the line's first touch. */
static uint32_t lru_stack_touch(LruStack *stack, uint32_t line) {
    uint32_t place = stack->last[line], distance = NEVER;
    if (place != NEVER && place + 1 == stack->now)
        return 0;
    if (stack->now == stack->places) {
        compact(stack);
        place = stack->last[line];
    }
    if (place == NEVER) {
        stack->order[stack->distinct++] = line;
    } else {
        distance = marks_after(stack, place);
        change_mark(stack, place, UINT32_MAX);
    }
    stack->owner[stack->now] = line;
    stack->last[line] = stack->now;
    change_mark(stack, stack->now++, 1);
    return distance;
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* A sector in its home partition. */
typedef struct {
    uint32_t reach;       /* largest distance of its line since the sector's last access */
    uint32_t clean_below; /* the sector is dirty in caches larger than this; NEVER: clean in all */
    /* The second pass needs two figures of the first pass. first_reach is `reach` at the first
     * access. read_reach is the largest distance of the later accesses, up to the first write. */
    uint32_t first_reach, read_reach;
} Sector;

/* A sector's copy in the partition that is not its home. */
typedef struct {
    uint32_t reach; /* as in Sector; NEVER: stores have made the copy stale */
    /* The second pass needs `reach` and the distance at home, both at the first access. A
     * first_reach of NEVER: that access found the copy stale. A first_home of UNSEEN: no access. */
    uint32_t first_reach, first_home;
} Copy;

/* Counts of events at one distance d. fill_curve adds the counts up to a curve. */
typedef struct {
    uint64_t fetches;        /* fetches of distance d */
    uint64_t crossings;      /* reads from the other side whose copy has distance d */
    int64_t writeback_steps; /* write-backs of a cache of d lines minus those of d - 1 lines */
} Count;

typedef struct {
    Count *at;                /* [lines + 2] by distance */
    uint64_t first_crossings; /* reads from the other side that found no copy */
} Counts;

/* One of the two simulated caches. A partition has two stacks: of ordinary lines, stack[...][0],
 * and of evict-first lines, stack[...][1]. */
typedef struct {
    int partitions;
    LruStack stack[2][2];
    Sector *sectors;
    Copy *copies; /* [sectors] */
    Counts cold, warm;
} Cache;

/* An analysis. The followed lines and their sectors are numbered in order. Caches, stacks and
 * counts use these numbers. Sector `number` belongs to line number / LINE_SECTORS. */
struct Reuse {
    uint32_t sectors, one_in;
    uint32_t followed_lines; /* how many of the lines are followed */
    uint32_t *number_of;     /* [lines] the number of a followed line */
    uint32_t *line_of;       /* [followed_lines] the line of each number */
    uint8_t *first_kind;     /* [sectors] the ReuseKind of the first access, or NO_ACCESS */
    uint64_t touched, fetches, writes, far_stores;
    uint64_t followed_fetches, followed; /* accesses to followed lines: fetches, all accesses */
    Cache whole, divided;
    CpuArrays arrays; /* the memory of the analysis */
};

/* Whether an access of this kind writes a sector without reading it. */
static bool overwrites(ReuseKind kind) {
    return kind == REUSE_WRITE || kind == REUSE_EVICT_FIRST;
}

int reuse_home(uint32_t sector) {
    return __builtin_parity(sector / HOME_SECTORS);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Takes zeroed memory at the start of a line of the CPU's cache. The sectors of a simulated line
 * then lie in one line of the CPU's cache, which makes the analysis faster. */
static void *take_aligned(CpuArrays *arrays, size_t bytes) {
    enum { CPU_LINE = 64 };
    char *memory = cpu_take_zeroed(arrays, (int64_t)bytes + CPU_LINE, 1);
    return memory ? memory + CPU_LINE - (uintptr_t)memory % CPU_LINE : NULL;
}

/* Takes the arrays of a cache for `lines` followed lines. Every sector begins clean, and without an
 * access. */
static void cache_init(Cache *cache, int partitions, uint32_t lines, CpuArrays *arrays) {
    size_t sectors = (size_t)lines * LINE_SECTORS + 1;
    cache->partitions = partitions;
    cache->sectors = take_aligned(arrays, sectors * sizeof *cache->sectors);
    cache->copies = take_aligned(arrays, (partitions == 2 ? sectors : 1) * sizeof *cache->copies);
    cache->cold.at = cpu_take_zeroed(arrays, (int64_t)lines + 1, sizeof *cache->cold.at);
    cache->warm.at = cpu_take(arrays, (int64_t)lines + 1, sizeof *cache->warm.at);
    for (int i = 0; i < 2 * partitions; i++)
        lru_stack_init(&cache->stack[i / 2][i % 2], lines, arrays);
    for (size_t i = 0; !arrays->failed && i < sectors; i++) {
        cache->sectors[i].clean_below = NEVER;
        if (partitions == 2)
            cache->copies[i].first_home = UNSEEN;
    }
}

void reuse_free(Reuse *reuse) {
    if (reuse)
        cpu_free(&reuse->arrays);
    free(reuse);
}

/* Whether the analysis follows a line. The hash of a line is scaled to [0, one_in), and lines with
 * hash 0 are followed. */
static bool is_followed(const Reuse *reuse, uint32_t line) {
    const uint32_t hash = line * 2654435769u;
    return ((uint64_t)hash * reuse->one_in >> 32) == 0;
}

Reuse *reuse_begin(uint32_t sectors, uint32_t one_in, Err *err) {
    const uint32_t lines = sectors / LINE_SECTORS + 1;
    Reuse *reuse = sectors < UINT32_MAX / LINE_SECTORS ? calloc(1, sizeof *reuse) : NULL;
    if (reuse) {
        CpuArrays *arrays = &reuse->arrays;
        reuse->sectors = sectors;
        reuse->one_in = one_in;
        reuse->first_kind = cpu_take(arrays, sectors, 1);
        reuse->number_of = cpu_take(arrays, lines, sizeof *reuse->number_of);
        reuse->line_of = cpu_take(arrays, lines, sizeof *reuse->line_of);
        for (uint32_t line = 0; !arrays->failed && line < lines; line++)
            if (is_followed(reuse, line)) { /* followed lines are numbered in order */
                reuse->line_of[reuse->followed_lines] = line;
                reuse->number_of[line] = reuse->followed_lines++;
            }
        cache_init(&reuse->whole, 1, reuse->followed_lines, arrays);
        cache_init(&reuse->divided, 2, reuse->followed_lines, arrays);
    }
    if (!reuse || reuse->arrays.failed) {
        err_no_memory(err, "reuse distances", "choose a smaller scene");
        reuse_free(reuse);
        return NULL;
    }
    memset(reuse->first_kind, NO_ACCESS, sectors);
    return reuse;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Counts the write-backs of a sector that is dirty in caches of more than `clean_below` lines.
 * Caches of up to `distance` lines have evicted the sector since, and have written it back. */
static void count_writebacks(Counts *counts, uint32_t clean_below, uint32_t distance) {
    if (clean_below >= distance)
        return;
    counts->at[clean_below + 1].writeback_steps++;
    counts->at[distance + 1].writeback_steps--;
}

/* Counts an access to a sector. Its distance is `at_home` in the home partition and `at_copy` in
 * the other one. The shorter distance decides whether the access hits. */
static void count_access(Counts *counts, Sector *sector, ReuseKind kind, uint32_t at_home,
                         uint32_t at_copy) {
    uint32_t clean_below = sector->clean_below, shorter = MIN(at_home, at_copy);
    if (at_home != NEVER)
        count_writebacks(counts, clean_below, at_home);
    if (!overwrites(kind) && shorter != NEVER)
        counts->at[shorter].fetches++;
    sector->clean_below = kind != REUSE_READ ? 0 : MAX(clean_below, at_home);
}

/* Touches a line in a partition and returns the distance of the touch. An evict-first line is
 * evicted before all ordinary lines. So the ordinary lines touched so far are added to its
 * distance. In its set an evict-first line meets at most WAYS - 1 ordinary lines, which limits
 * their number. */
static uint32_t touch_line(Cache *cache, int part, uint32_t line, ReuseKind kind) {
    const bool evict_first = kind == REUSE_EVICT_FIRST;
    uint32_t distance = lru_stack_touch(&cache->stack[part][evict_first], line);
    if (!evict_first || distance == NEVER)
        return distance;
    const uint32_t ordinary_lines = cache->stack[part][0].distinct;
    uint64_t met = (uint64_t)distance * (WAYS - 1);
    return distance + (uint32_t)MIN(met, ordinary_lines);
}

/* Notes a touch of a line at this distance in the copies of its sectors. */
static void raise_copies(Cache *cache, uint32_t line, uint32_t distance) {
    Copy *copies = &cache->copies[line * LINE_SECTORS];
    for (int i = 0; i < LINE_SECTORS && distance != NEVER; i++)
        copies[i].reach = MAX(copies[i].reach, distance);
}

/* Touches the copy of sector `number` in partition `side`. Returns the distance of the access, or
 * NEVER at the copy's first access. */
static uint32_t touch_copy(Cache *cache, int side, uint32_t number, ReuseKind kind) {
    Copy *copy = &cache->copies[number];
    uint32_t line = number / LINE_SECTORS;
    raise_copies(cache, line, touch_line(cache, side, line, kind));
    uint32_t distance = copy->reach;
    copy->reach = 0;
    if (copy->first_home != UNSEEN)
        return distance;
    copy->first_reach = MAX(copy->first_reach, distance);
    return NEVER;
}

/* Touches sector `number` in its home partition and returns its distance, or NEVER if `first`. */
static uint32_t touch_home(Cache *cache, int home, uint32_t number, ReuseKind kind, bool first) {
    Sector *line = cache->sectors + number / LINE_SECTORS * LINE_SECTORS;
    Sector *sector = &cache->sectors[number];
    uint32_t distance = touch_line(cache, home, number / LINE_SECTORS, kind);
    if (distance > 0 && distance != NEVER)
        for (int i = 0; i < LINE_SECTORS; i++)
            line[i].reach = MAX(line[i].reach, distance);
    distance = sector->reach;
    sector->reach = 0;
    if (first) {
        sector->first_reach = distance;
        return NEVER;
    }
    if (sector->clean_below == NEVER)
        sector->read_reach = MAX(sector->read_reach, distance);
    return distance;
}

/* Simulates an access in one of the caches. In the undivided cache side and home are 0. Updates and
 * patches happen at home only: they leave no copy at the other side. */
static void cache_access(Cache *cache, int side, int home, uint32_t number, ReuseKind kind,
                         bool first, uint32_t repeats) {
    Copy *copy = cache->partitions == 2 ? &cache->copies[number] : NULL;
    const bool leaves_copy = side != home && kind != REUSE_UPDATE && kind != REUSE_PATCH;
    uint32_t copy_distance = NEVER;
    if (copy && kind != REUSE_READ) { /* the copy is stale */
        copy->reach = NEVER;
        if (copy->first_home == UNSEEN)
            copy->first_reach = NEVER;
    }
    if (leaves_copy)
        copy_distance = touch_copy(cache, side, number, kind);
    if (leaves_copy && kind == REUSE_READ && copy_distance == NEVER)
        cache->cold.first_crossings++;
    else if (leaves_copy && kind == REUSE_READ)
        cache->cold.at[copy_distance].crossings++;
    uint32_t distance = touch_home(cache, home, number, kind, first);
    if (leaves_copy && copy->first_home == UNSEEN)
        copy->first_home = distance;
    count_access(&cache->cold, &cache->sectors[number], kind, distance, copy_distance);
    if (!overwrites(kind))
        cache->cold.at[0].fetches += repeats - 1;
}

bool reuse_access(Reuse *reuse, int side, uint32_t sector, ReuseKind kind, uint32_t repeats) {
    bool first = reuse->first_kind[sector] == NO_ACCESS;
    int home = reuse_home(sector);
    if (first) {
        reuse->first_kind[sector] = (uint8_t)kind;
        reuse->touched++;
    }
    const uint32_t line = sector / LINE_SECTORS;
    uint64_t *accesses = overwrites(kind) ? &reuse->writes : &reuse->fetches;
    *accesses += repeats;
    if (kind != REUSE_READ && side != home)
        reuse->far_stores += repeats;
    if (!is_followed(reuse, line))
        return first;
    reuse->followed += repeats;
    reuse->followed_fetches += overwrites(kind) ? 0 : repeats;
    enum { ONLY_PARTITION = 0 };
    uint32_t number = reuse->number_of[line] * LINE_SECTORS + sector % LINE_SECTORS;
    cache_access(&reuse->whole, ONLY_PARTITION, ONLY_PARTITION, number, kind, first, repeats);
    cache_access(&reuse->divided, side, home, number, kind, first, repeats);
    return first;
}

/* ---- the second pass ------------------------------------------------------------------------- */

/* The second pass repeats the trace with the cache as the first pass left it. Its counts differ
 * from those of the first pass only at the first access of each sector or copy. These accesses are
 * replayed line by line, in the order of the lines' first touches. Other accesses may be left out:
 * a line that is touched twice does not change the distance of a line that is still untouched. */

/* Counts the first access of each sector of a line, in the line's home partition. The line's touch
 * has distance `touch`. */
static void repeat_home_line(const Reuse *reuse, Cache *cache, uint32_t line, uint32_t touch) {
    uint32_t first = reuse->line_of[line] * LINE_SECTORS;
    for (uint32_t i = 0; i < LINE_SECTORS && first + i < reuse->sectors; i++) {
        Sector *sector = &cache->sectors[line * LINE_SECTORS + i];
        uint32_t distance = MAX(touch, MAX(sector->reach, sector->first_reach));
        uint8_t kind = reuse->first_kind[first + i];
        if (kind == NO_ACCESS)
            continue;
        count_access(&cache->warm, sector, (ReuseKind)kind, distance, NEVER);
        /* A sector that is only read stays dirty from the first pass. */
        if (kind == REUSE_READ)
            count_writebacks(&cache->warm, sector->clean_below, sector->read_reach);
        sector->first_reach = distance; /* repeat_copy needs the distance at home */
    }
}

static bool is_home(const Reuse *reuse, const Cache *cache, uint32_t line, int part) {
    return cache->partitions == 1 || reuse_home(reuse->line_of[line] * LINE_SECTORS) == part;
}

/* Touches all lines of one stack again, in the order of their first touches. */
static void repeat_lines(const Reuse *reuse, Cache *cache, int part, ReuseKind kind) {
    const LruStack *stack = &cache->stack[part][kind == REUSE_EVICT_FIRST];
    for (uint32_t i = 0; i < stack->distinct; i++) {
        uint32_t line = stack->order[i], distance = touch_line(cache, part, line, kind);
        if (is_home(reuse, cache, line, part))
            repeat_home_line(reuse, cache, line, distance);
        else
            raise_copies(cache, line, distance);
    }
}

/* Counts the first read of a copy in the second pass. The read found no copy in the first pass. Now
 * it finds the copy that the first pass left. */
static void repeat_copy(Counts *counts, const Copy *copy, const Sector *sector) {
    uint32_t distance = MAX(copy->reach, copy->first_reach);
    uint32_t home = copy->first_home == NEVER ? sector->first_reach : copy->first_home;
    if (copy->first_home == UNSEEN || distance == NEVER)
        return;
    counts->first_crossings--;
    counts->at[distance].crossings++;
    counts->at[home].fetches--;
    counts->at[MIN(home, distance)].fetches++;
}

/* Fills the counts of the warm pass: those of the cold pass, corrected for first accesses. Adds the
 * write-backs of the flush that ends the cold pass to the counts of the cold pass. */
static void count_second_pass(const Reuse *reuse, Cache *cache) {
    Counts *warm = &cache->warm;
    const uint32_t sectors = reuse->followed_lines * LINE_SECTORS;
    memcpy(warm->at, cache->cold.at, ((size_t)reuse->followed_lines + 2) * sizeof *warm->at);
    warm->first_crossings = cache->cold.first_crossings;
    for (uint32_t number = 0; number < sectors; number++)
        if (cache->sectors[number].clean_below != NEVER)
            cache->cold.at[cache->sectors[number].clean_below + 1].writeback_steps++;
    for (int part = 0; part < cache->partitions; part++) {
        repeat_lines(reuse, cache, part, REUSE_READ);
        repeat_lines(reuse, cache, part, REUSE_EVICT_FIRST);
    }
    for (uint32_t number = 0; cache->partitions == 2 && number < sectors; number++)
        repeat_copy(warm, &cache->copies[number], &cache->sectors[number]);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Returns the number of lines that a partition touched: ordinary and evict-first lines. */
static uint32_t lines_in(const Cache *cache, int part) {
    return cache->stack[part][0].distinct + cache->stack[part][1].distinct;
}

/* Returns the number of lines in a partition that are copies of the other partition's lines. */
static uint32_t copies_in(const Reuse *reuse, const Cache *cache, int part) {
    uint32_t copies = 0;
    for (const LruStack *stack = cache->stack[part]; stack < cache->stack[part] + 2; stack++)
        for (uint32_t i = 0; i < stack->distinct; i++)
            copies += !is_home(reuse, cache, stack->order[i], part);
    return copies;
}

static bool allocate_curve(ReuseCurve *curve) {
    size_t sizes = (size_t)curve->lines + 1;
    curve->misses = malloc(3 * sizes * sizeof *curve->misses);
    curve->writebacks = curve->misses + sizes;
    curve->crossings = curve->misses + 2 * sizes;
    return curve->misses;
}

/* Fills the curve of one pass. A cache of size + 1 lines hits more than a cache of `size` lines:
 * also the accesses of distance `size`. So these accesses are subtracted from the misses. */
static void fill_curve(const Reuse *reuse, const Counts *counts, ReuseCurve *curve) {
    const size_t sizes = (size_t)curve->lines + 1;
    uint64_t misses = reuse->followed_fetches, crossings = counts->first_crossings;
    int64_t writebacks = 0;
    for (size_t size = 0; size < sizes; size++)
        crossings += counts->at[size].crossings;
    for (size_t size = 0; size < sizes; size++) {
        curve->misses[size] = misses;
        curve->crossings[size] = crossings;
        misses -= counts->at[size].fetches;
        crossings -= counts->at[size].crossings;
        writebacks += counts->at[size].writeback_steps;
        curve->writebacks[size] = (uint64_t)writebacks;
    }
    /* Without a cache every write goes to DRAM, as with a cache of a single line. */
    curve->writebacks[0] = curve->lines ? curve->writebacks[1] : 0;
}

/* Makes the curve of one pass. The sizes are those of the fuller partition. */
static bool make_curve(const Reuse *reuse, const Cache *cache, const Counts *counts,
                       ReuseCurve *curve) {
    const int fuller = lines_in(cache, 1) > lines_in(cache, 0) ? 1 : 0, other = 1 - fuller;
    uint32_t copies = copies_in(reuse, cache, fuller);
    uint32_t own_of_other = lines_in(cache, other) - copies_in(reuse, cache, other);
    *curve = (ReuseCurve){.partitions = cache->partitions,
                          .one_in = reuse->one_in,
                          .scale = 1,
                          .lines = lines_in(cache, fuller),
                          .copies = copies,
                          .share_copied = own_of_other ? (double)copies / own_of_other : 0,
                          .touched = reuse->touched,
                          .fetches = reuse->fetches,
                          .writes = reuse->writes,
                          .far_stores = cache->partitions == 2 ? reuse->far_stores : 0};
    if (!allocate_curve(curve))
        return false;
    if (reuse->followed)
        curve->scale = (double)(reuse->fetches + reuse->writes) / (double)reuse->followed;
    fill_curve(reuse, counts, curve);
    return true;
}

/* Returns `made`, which says whether all curves were made. If not, frees them and fills `err`. */
static bool end_curves(bool made, ReuseCurves *whole, ReuseCurves *divided, Err *err) {
    if (made)
        return true;
    reuse_curves_free(whole);
    reuse_curves_free(divided);
    return err_no_memory(err, "reuse distances", "choose a smaller scene");
}

bool reuse_end(Reuse *reuse, ReuseCurves *whole, ReuseCurves *divided, Err *err) {
    Cache *const caches[] = {&reuse->whole, &reuse->divided};
    ReuseCurves *const curves[] = {whole, divided};
    bool ok = true;
    *whole = *divided = (ReuseCurves){0};
    for (int i = 0; ok && i < 2; i++) {
        count_second_pass(reuse, caches[i]);
        ok = make_curve(reuse, caches[i], &caches[i]->cold, &curves[i]->cold) &&
             make_curve(reuse, caches[i], &caches[i]->warm, &curves[i]->warm);
    }
    reuse_free(reuse);
    return end_curves(ok, whole, divided, err);
}

typedef enum { COLD_PASS, WARM_PASS } Pass;

/* Makes a curve whose cache misses each sector once. Only a warm cache that holds all sectors has
 * no miss. */
static bool guess_curve(const ReuseGuess *guess, int partitions, Pass pass, ReuseCurve *curve) {
    enum { ONE_IN = 64 };
    const double sectors = guess->read_once + guess->written_once;
    *curve = (ReuseCurve){.partitions = partitions,
                          .one_in = ONE_IN,
                          .scale = 1,
                          .lines = 1 + (uint32_t)(sectors / LINE_SECTORS / ONE_IN / partitions),
                          .touched = (uint64_t)sectors,
                          .fetches = (uint64_t)guess->fetches,
                          .writes = (uint64_t)guess->writes};
    if (!allocate_curve(curve))
        return false;
    for (size_t size = 0; size <= curve->lines; size++) {
        const bool holds_all = pass == WARM_PASS && size == curve->lines;
        curve->misses[size] = holds_all ? 0 : (uint64_t)guess->read_once;
        curve->writebacks[size] = holds_all ? 0 : (uint64_t)guess->written_once;
        curve->crossings[size] = partitions == 2 ? (uint64_t)guess->read_once : 0;
    }
    curve->misses[0] = curve->fetches;
    return true;
}

bool reuse_guess(const ReuseGuess *guess, ReuseCurves *whole, ReuseCurves *divided, Err *err) {
    *whole = *divided = (ReuseCurves){0};
    bool made = guess_curve(guess, 1, COLD_PASS, &whole->cold) &&
                guess_curve(guess, 1, WARM_PASS, &whole->warm) &&
                guess_curve(guess, 2, COLD_PASS, &divided->cold) &&
                guess_curve(guess, 2, WARM_PASS, &divided->warm);
    return end_curves(made, whole, divided, err);
}

void reuse_curves_free(ReuseCurves *curves) {
    free(curves->cold.misses);
    free(curves->warm.misses);
    *curves = (ReuseCurves){0};
}

/* ---- reading curves -------------------------------------------------------------------------- */

/* Returns the average of counts[size], where size / lines has a Beta distribution (WAYS, excess).
 * The trace has WAYS + excess lines in a set, `excess` more than the set holds. */
static double average_in_set(const ReuseCurve *curve, const uint64_t *counts, double excess) {
    enum { STEPS = 64 };
    double mean = WAYS / (WAYS + excess), sum = 0, weights = 0;
    if (excess <= 0)
        return (double)counts[curve->lines];
    double least = 0.125 * mean, most = fmin(1, 3 * mean); /* one in 10^9 is outside */
    for (int step = 0; step < STEPS; step++) {
        double share = least + (most - least) * (step + 0.5) / STEPS;
        double weight = exp((WAYS - 1) * log(share / mean) + (excess - 1) * log1p(-share));
        sum += weight * (double)counts[(size_t)(share * curve->lines)];
        weights += weight;
    }
    return sum / weights;
}

/* Returns the average over sets with `population` lines on average. Some sets have one line more
 * than the others. */
static double average_in_sets(const ReuseCurve *curve, const uint64_t *counts, double population) {
    double excess = floor(population) - WAYS, share_of_larger = population - floor(population);
    double average = (1 - share_of_larger) * average_in_set(curve, counts, excess);
    if (share_of_larger > 0)
        average += share_of_larger * average_in_set(curve, counts, excess + 1);
    return average;
}

/* Returns the count of the followed lines for a cache of `bytes`. The number of copies in a set is
 * binomial. The average over this number takes three points (Gauss-Hermite). */
static double count_at_size(const ReuseCurve *curve, const uint64_t *counts, double bytes) {
    double lines = bytes / (SECTOR * LINE_SECTORS * curve->partitions);
    if (!counts)
        return 0;
    if (!(lines >= 1))
        return (double)counts[0];
    double sets = lines / WAYS, population = (double)curve->lines * curve->one_in / sets;
    double spread = sqrt(3.0 * curve->copies * curve->one_in / sets * (1 - curve->share_copied));
    if (spread == 0)
        return average_in_sets(curve, counts, population);
    return (4 * average_in_sets(curve, counts, population) +
            average_in_sets(curve, counts, population - spread) +
            average_in_sets(curve, counts, population + spread)) /
           6;
}

double reuse_misses(const ReuseCurve *curve, double bytes) {
    if (!curve->fetches || !curve->misses[0])
        return 0;
    double scale = (double)curve->fetches / (double)curve->misses[0];
    return scale * count_at_size(curve, curve->misses, bytes);
}

double reuse_writebacks(const ReuseCurve *curve, double bytes) {
    return curve->scale * count_at_size(curve, curve->writebacks, bytes);
}

double reuse_crossings(const ReuseCurve *curve, double bytes) {
    return curve->scale * count_at_size(curve, curve->crossings, bytes);
}

double reuse_miss_ratio(const ReuseCurve *curve, double bytes) {
    return curve->fetches ? reuse_misses(curve, bytes) / (double)curve->fetches : 0;
}

double reuse_hit_rate(const ReuseCurve *curve, double bytes) {
    double crossings = reuse_crossings(curve, bytes);
    double lookups = (double)(curve->fetches + curve->writes + curve->far_stores) + crossings;
    return lookups > 0 ? 1 - (reuse_misses(curve, bytes) + crossings) / lookups : NAN;
}
