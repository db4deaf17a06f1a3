/* Where a warp's sums go: into memory, with each point, or out of registers at the end. */
#include "src/cachesim/trace_owners.h"

enum { MERGE_BLOCK = 256 };

/* ---- sums ------------------------------------------------------------------------------------ */

/* Channels of the segment that no thread before it in the warp adds to as well: the loads and
 * stores of a plain += merge where cell and channel are the same, atomics do not. */
static int own_channels_end(const Warp *warp, int s) {
    int end = warp->segments[s].last;
    for (int before = s - 1; before >= 0 && end > warp->segments[s].first; before--) {
        if (warp->segments[before].cell != warp->segments[s].cell)
            break;
        if (warp->segments[before].first < end)
            end = warp->segments[before].first;
    }
    return end;
}

/* One instruction for each of a thread's channels. A sector is asked for by as many of them as
 * have a channel in it. */
static void add_channels(Walk *walk, int sm, int64_t cell, int first, int last) {
    int floats = SECTOR / FLOAT, adds = walk->tile < floats ? walk->tile : floats;
    if (first < last)
        memory_add(walk->memory, sm, walk->sums, (cell * walk->channels + first) * FLOAT,
                   (int64_t)(last - first) * FLOAT, adds);
}

/* What the threads of a segment ask for when they add to a cell. */
static void count_adds(Walk *walk, const Segment *segment) {
    TraceCounts *counts = walk->memory->counts;
    int channels = segment->last - segment->first;
    counts->write[walk->sums.array].bytes += channels * FLOAT;
    if (walk->pattern->sums == SUMS_ATOMIC)
        counts->atomics += channels;
    else
        counts->read[walk->sums.array].bytes += channels * FLOAT;
}

void warp_add_to(Walk *walk, int sm, const Segment *segment, int64_t cell) {
    count_adds(walk, segment);
    add_channels(walk, sm, cell, segment->first, segment->last);
}

void warp_add(Walk *walk, int sm, const Warp *warp) {
    const BevMap *map = &walk->problem->map;
    TraceCounts *counts = walk->memory->counts;
    counts->write[walk->sums.array].requests += walk->tile;
    if (walk->pattern->sums == SUMS_PLAIN)
        counts->read[walk->sums.array].requests += walk->tile;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        int64_t t = segment->start;
        if (walk->pattern->merges && t % MERGE_BLOCK && map->ranks_bev[t] == map->ranks_bev[t - 1])
            continue;
        count_adds(walk, segment);
        add_channels(walk, sm, segment->cell, segment->first,
                     walk->pattern->sums == SUMS_PLAIN ? own_channels_end(warp, s) : segment->last);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* A sector of an output plane is filled if all its cells have points. */
static bool fills_sector(const Walk *walk, int64_t cell) {
    int64_t cells = walk->problem->shape.nx * walk->problem->shape.ny;
    int64_t a_sector = SECTOR * 8 / walk->out_bits, first = cell / a_sector * a_sector;
    for (int64_t c = first; c < first + a_sector && c < cells; c++)
        if (walk->interval_of[c] < 0)
            return false;
    return true;
}

/* Channels first: lanes are a whole plane apart. */
static void write_planes(Walk *walk, int sm, const Warp *warp) {
    int64_t plane = walk->problem->shape.nx * walk->problem->shape.ny;
    Instruction in = memory_write(walk->memory, sm, walk->out);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        in.kind = fills_sector(walk, segment->cell) ? REUSE_WRITE : REUSE_PATCH;
        for (int c = segment->first; c < segment->last; c++)
            memory_span(&in, (segment->cell + c * plane) * walk->out_bits / 8, walk->out_bits / 8);
    }
}

void warp_write(Walk *walk, int sm, const Warp *warp) {
    int64_t byte[WARP];
    if (walk->pattern->channels_first) {
        write_planes(walk, sm, warp);
        return;
    }
    for (int s = 0; s < warp->count; s++) {
        int64_t row = warp->segments[s].cell * (int64_t)walk->channels;
        byte[s] = warp->segments[s].stores ? row * walk->out_bits / 8 : -1;
    }
    for (int part = 0; part < walk->tile; part += walk->pattern->store) {
        Instruction in = memory_write(walk->memory, sm, walk->out);
        warp_rows(walk, &in, warp, byte, part, walk->pattern->store, walk->out_bits);
    }
}
