/* The kernels as the memory system sees them. A row restates what its kernel's head says under WHO
 * and MEMORY. Columns of the numbers: tile, widens, tiles outside, block, load, store, ranks, owner
 * bytes; then what happens to the sums; points ahead and in flight, instructions a
 * point: as compiled for compute 9.0.
 *
 * V2 as published is no kernel here: ATOMIC with tiles of eight channels outside the loop over
 * points, as the article has it ("iterates over channel tiles outside the scatter loop"; V3's writes
 * "avoid atomics relative to the V2-style path"), into the FP32 output of its 49 MB. */
#include "src/cachesim/trace_internal.h"

#include <string.h>

/* Owner bytes. An interval: start, length and its cell's rank, or V2+DO's packed record, are 12. A
 * cell: its interval's number; start and length are added where it has one. */
enum { INTERVAL = 12, CELL = 4 };

const AccessPattern access_patterns[] = {
    {.name = "race",
     .title = "RACE",
     .owner = OWN_POINT,
     .sums = SUMS_PLAIN,
     .tile = 8,
     .block = 256,
     .resident = 64,
     .load = 8,
     .store = 1,
     .ranks = 3,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 89},
    {.name = "atomic",
     .title = "ATOMIC",
     .owner = OWN_POINT,
     .sums = SUMS_ATOMIC,
     .tile = 8,
     .block = 256,
     .resident = 64,
     .load = 8,
     .store = 1,
     .ranks = 3,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 24},
    {.name = "block_atomic",
     .title = "BLOCK",
     .owner = OWN_POINT,
     .sums = SUMS_ATOMIC,
     .tile = 8,
     .tiles_outside = true,
     .block = 256,
     .resident = 64,
     .load = 8,
     .store = 1,
     .ranks = 3,
     .merges = true,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 265},
    {.name = "bev_align",
     .title = "ALIGN",
     .owner = OWN_SPLAT,
     .sums = SUMS_ATOMIC,
     .tile = 1,
     .block = 256,
     .resident = 64,
     .load = 1,
     .store = 1,
     .ranks = 6,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 60},
    {.name = "v2_tiles",
     .title = "V2 as published",
     .owner = OWN_POINT,
     .sums = SUMS_ATOMIC,
     .tile = 8,
     .tiles_outside = true,
     .block = 256,
     .resident = 64,
     .load = 8,
     .store = 1,
     .ranks = 3,
     .stays = true,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 24},
    {.name = "v2_chw",
     .title = "V2 CHW",
     .owner = OWN_INTERVAL,
     .tile = 1,
     .block = 256,
     .resident = 64,
     .load = 1,
     .store = 1,
     .ranks = 2,
     .owner_bytes = INTERVAL,
     .clears = true,
     .channels_first = true,
     .indices_ahead = 2,
     .in_flight = 2,
     .point_instructions = 25},
    {.name = "v2",
     .title = "V2",
     .owner = OWN_INTERVAL,
     .tile = 1,
     .block = 256,
     .resident = 64,
     .load = 1,
     .store = 1,
     .ranks = 2,
     .owner_bytes = INTERVAL,
     .clears = true,
     .indices_ahead = 4,
     .in_flight = 4,
     .point_instructions = 14},
    {.name = "v2_do",
     .title = "V2+DO",
     .owner = OWN_INTERVAL,
     .tile = 10,
     .block = 1024,
     .whole = true,
     .resident = 32,
     .load = 2,
     .store = 2,
     .ranks = 1,
     .owner_bytes = INTERVAL,
     .clears = true,
     .indices_ahead = 2,
     .in_flight = 2,
     .in_flight_fp8 = 1,
     .point_instructions = 58},
    {.name = "v3_small_l2",
     .title = "V3 SMALL",
     .owner = OWN_CELL,
     .tile = 16,
     .block = 256,
     .whole = true,
     .resident = 32,
     .load = 8,
     .store = 8,
     .ranks = 2,
     .owner_bytes = CELL,
     .halves = true,
     .indices_ahead = 4,
     .in_flight = 1,
     .in_flight_fp8 = 2,
     .point_instructions = 27},
    {.name = "v3_large_l2",
     .title = "V3 LARGE",
     .owner = OWN_CELL,
     .tile = 8,
     .widens = true,
     .block = 256,
     .whole = true,
     .resident = 40,
     .load = 8,
     .store = 8,
     .ranks = 2,
     .owner_bytes = CELL,
     .indices_ahead = 4,
     .in_flight = 4,
     .point_instructions = 10},
    {.name = "v4",
     .title = "V4",
     .owner = OWN_TILE,
     .tile = 1,
     .block = 256,
     .resident = 16,
     .load = 1,
     .store = 1,
     .leaves_first = true,
     .indices_ahead = 1,
     .in_flight = 1,
     .point_instructions = 200},
};

const AccessPattern access_pattern_pieces = {.name = "v4",
                                  .title = "V4",
                                  .owner = OWN_PIECE,
                                  .tile = 8,
                                  .widens = true,
                                  .block = 512,
                                  .whole = true,
                                  .resident = 48,
                                  .load = 8,
                                  .store = 8,
                                  .ranks = 2,
                                  .owner_bytes = 16,
                                  .leaves_first = true,
                                  .indices_ahead = 1,
                                  .in_flight = 1,
                                  .point_instructions = 12};
const int access_pattern_count = sizeof access_patterns / sizeof *access_patterns;

const char *const trace_arrays[TRACE_ARRAY_COUNT] = {
    [TRACE_FEAT] = "features", [TRACE_DEPTH] = "depth",    [TRACE_RANKS] = "ranks",
    [TRACE_OWNERS] = "owners", [TRACE_WEIGHT] = "weights", [TRACE_OUT] = "output",
    [TRACE_SUMS] = "sums",
};

const AccessPattern *access_pattern_find(const char *name) {
    for (int i = 0; i < access_pattern_count; i++)
        if (!strcmp(access_patterns[i].name, name))
            return &access_patterns[i];
    return NULL;
}

const char *trace_unsupported(const AccessPattern *pattern, const BevProblem *problem) {
    bool wide = pattern->owner == OWN_CELL || pattern->owner == OWN_TILE;
    if (problem->dtype == BEV_NVFP4 && !wide)
        return "has no kernel for this format";
    return pattern->owner == OWN_SPLAT && !problem->map.weights ? "needs a map with weights" : NULL;
}

int trace_tile(const AccessPattern *pattern, const BevProblem *problem) {
    int64_t channels = problem->shape.channels;
    bool sixteens = pattern->owner == OWN_PIECE ? channels % 16 == 0
                                             : channels == 128 || channels == 256;
    bool whole_words = problem->dtype == BEV_NVFP4 || (problem->dtype == BEV_FP8 && sixteens);
    return pattern->widens && whole_words ? 16 : pattern->tile;
}
