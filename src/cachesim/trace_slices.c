#include "src/cachesim/trace_slices.h"

#include <math.h>
#include <stdlib.h>

bool slices_start(Slices *slices, uint64_t lines, int turns, const char *where, Err *err) {
    *slices =
        (Slices){.lines = calloc(lines + 1, sizeof *slices->lines), .window = 1, .turns = turns};
    return slices->lines || err_set(err, ERR_FAILED, where, "", "no memory for %llu lines",
                                    (unsigned long long)lines);
}

void slices_stop(Slices *slices) {
    free(slices->lines);
    *slices = (Slices){0};
}

/* The hash is the end of MurmurHash3: neighbours come apart. */
static Slice *slice_of(Slices *slices, uint64_t sector) {
    uint32_t hash = (uint32_t)(sector / SLICE_PAIR_SECTORS);
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    uint32_t pair = (hash >> 1) % (SLICES / 2), one = (hash ^ sector / SLICE_SECTORS) % 2;
    return &slices->slices[2 * pair + one];
}

void slices_add(Slices *slices, uint64_t sector, int adds) {
    slice_of(slices, sector)->additions += adds;
}

void slices_ask(Slices *slices, uint64_t sector, int adds) {
    SliceLine *line = &slices->lines[sector / SLICE_LINE];
    Slice *slice = slice_of(slices, sector);
    if (line->window != slices->window)
        *line = (SliceLine){.window = slices->window};
    line->requests += (uint32_t)adds;
    if (line->requests > slice->requests)
        slice->requests = line->requests;
}

void slices_close(Slices *slices) {
    double busiest = 0;
    for (int s = 0; s < SLICES; s++) {
        Slice *slice = &slices->slices[s];
        busiest = fmax(busiest, slice->additions + SLICE_WAIT * (double)slice->requests);
        *slice = (Slice){0};
    }
    slices->busiest += SLICES * busiest;
    slices->turn = 0;
    slices->window++;
}

void slices_turn(Slices *slices) {
    if (++slices->turn == slices->turns)
        slices_close(slices);
}
