/* SPDX-License-Identifier: MIT */
#include "src/cachesim/trace_internal.h"

#include <math.h>
#include <string.h>
#include <sys/param.h>

/* ---- slices of the L2 ------------------------------------------------------------------------ */

/* Returns the slice of a sector. The hash (the end of MurmurHash3) spreads neighbouring kibibytes
 * over the pairs of slices. */
static Slice *slice_of(Slices *slices, uint64_t sector) {
    uint32_t hash = (uint32_t)(sector / SLICE_PAIR_SECTORS);
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    uint32_t pair = (hash >> 1) % (SLICES / 2), one = (hash ^ sector / SLICE_SECTORS) % 2;
    return &slices->slices[2 * pair + one];
}

/* Counts `adds` requests of plain += instructions for a sector's line. */
static void slices_request_line(Slices *slices, uint64_t sector, int adds) {
    SliceLine *line = &slices->lines[sector / SLICE_LINE];
    Slice *slice = slice_of(slices, sector);
    if (line->window != slices->window)
        *line = (SliceLine){.window = slices->window};
    line->requests += (uint32_t)adds;
    slice->requests = MAX(slice->requests, line->requests);
}

/* Ends a window and adds its busiest slice to slices->busiest. */
static void slices_end_window(Slices *slices) {
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
        slices_end_window(slices);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* A line that L1 holds takes HIT_LINE of the time of a line that L1 does not hold. This explains
 * the time of grad_v2_bevdet on an H200: its loads mostly hit L1
 * (samples/experiments/gradients.md). Sectors at the same place of their lines lie in the same
 * banks of L1. The banks serve one of these sectors a cycle. */
static const double HIT_LINE = 0.6;

enum { LINE = 4, L1_SETS = 176, L1_WAYS = 8, PASS_WARPS = 8 };

Place memory_place(Memory *memory, TraceArray array, const char *name, size_t bytes) {
    Place place = {(uint32_t)memory->sectors, array, name};
    memory->sectors += (bytes + LINE * SECTOR - 1) / (LINE * SECTOR) * LINE;
    return place;
}

bool memory_taken(const Memory *memory, Err *err) {
    return !memory->arrays.failed ||
           err_no_memory(err, memory->kernel->name, "choose a smaller scene");
}

bool memory_start(Memory *memory, Err *err) {
    const int64_t l1_lines = TRACE_MULTIPROCESSORS * L1_SETS * L1_WAYS;
    const bool plain = memory->access->sums == BEV_SUMS_PLAIN;
    Slices *slices = &memory->slices;
    if (memory->sectors >= UINT32_MAX / LINE)
        return err_set(err, ERR_FAILED, memory->kernel->name, "choose a smaller scene",
                       "%llu sectors are more than the model can number",
                       (unsigned long long)memory->sectors);
    memory->l1 = cpu_take(&memory->arrays, l1_lines, sizeof *memory->l1);
    if (memory->access->sums)
        *slices = (Slices){.lines = cpu_take_zeroed(&memory->arrays, memory->sectors / LINE,
                                                    sizeof *slices->lines),
                           .window = 1,
                           .turns = plain ? SLICE_TURNS_PLAIN : SLICE_TURNS_ATOMIC};
    if (!memory_taken(memory, err))
        return false;
    /* L1 begins empty: no line of memory has the number 0xff.... */
    memset(memory->l1, 0xff, (size_t)l1_lines * sizeof *memory->l1);
    if (!memory->with_reuse)
        return true;
    uint32_t one_in = memory->watch.one_in;
    if (one_in == 0)
        one_in = memory->sectors > TRACE_EXACT_MB * 1000000 / SECTOR ? TRACE_ONE_IN : 1;
    memory->reuse = reuse_begin((uint32_t)memory->sectors, one_in, err);
    return memory->reuse;
}

/* ---- sectors --------------------------------------------------------------------------------- */

/* Reads a sector through L1. Returns whether L1 held the sector. An L1 entry has the number of a
 * line, and a bit for each sector of the line that L1 holds. */
static bool l1_read(Memory *memory, uint32_t sector) {
    uint32_t line = sector / LINE, bit = 1u << sector % LINE;
    size_t place = (uint64_t)(line * 2654435769u) * L1_SETS >> 32; /* a multiplicative hash */
    uint32_t *set = memory->l1 + ((size_t)memory->sm * L1_SETS + place) * L1_WAYS;
    int way = 0;
    while (set[way] >> LINE != line && way < L1_WAYS - 1)
        way++;
    uint32_t entry = set[way] >> LINE == line ? set[way] : line << LINE;
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = entry | bit;
    return entry & bit;
}

/* Counts `repeats` accesses to a sector of L2. An update reads the sector and writes it. */
static void access_l2(Memory *memory, uint32_t sector, ReuseKind kind, uint32_t repeats) {
    const bool updates = kind == REUSE_UPDATE, reads = kind == REUSE_READ || updates;
    const int side = memory->sm % 2; /* the partition next to the multiprocessor */
    memory->counts->l2_sectors += updates ? 2.0 * repeats : repeats;
    memory->counts->l2_reads += reads ? repeats : 0.0;
    bool first = memory->reuse && reuse_access(memory->reuse, side, sector, kind, repeats);
    if (kind == REUSE_READ) {
        memory->missed = true;
        memory->first |= first;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static Instruction begin_instruction(Memory *memory, Place place, ReuseKind kind) {
    TraceCount *counts = kind == REUSE_READ ? memory->counts->read : memory->counts->write;
    counts[place.array].requests++;
    if (memory->watch.recorder)
        recorder_instruction(memory->watch.recorder, place,
                             kind == REUSE_READ ? ACCESS_READ : ACCESS_WRITE, 1);
    return (Instruction){.memory = memory,
                         .kind = kind,
                         .base = place.base,
                         .count = &counts[place.array],
                         .last_sector = -LINE};
}

Instruction memory_read(Memory *memory, Place place) {
    return begin_instruction(memory, place, REUSE_READ);
}

Instruction memory_write(Memory *memory, Place place) {
    const bool evict_first = place.array == TRACE_OUT && memory->access->evict_first;
    return begin_instruction(memory, place, evict_first ? REUSE_EVICT_FIRST : REUSE_WRITE);
}

void memory_span(Instruction *in, StepLanes lanes, int64_t byte, int64_t bytes) {
    int64_t end = byte + bytes, first = byte / SECTOR, last = (end - 1) / SECTOR;
    const bool reads = in->kind == REUSE_READ;
    if (in->memory->watch.recorder)
        recorder_span(in->memory->watch.recorder, lanes, byte, bytes, bytes, 1);
    in->count->bytes += (double)bytes;
    for (int64_t s = first; s <= last; s++) {
        const uint32_t sector = in->base + (uint32_t)s;
        const int64_t from = MAX(byte, s * SECTOR), to = MIN(end, (s + 1) * SECTOR);
        const bool requested_before = s == in->last_sector;
        if (s / LINE != in->last_sector / LINE) {
            in->line_cycles += reads ? HIT_LINE : 1;
            in->line_missed = !reads;
        }
        if (!reads) { /* a sector is partial until lanes have written all its bytes */
            in->covered = (requested_before ? in->covered : 0) + to - from;
            in->memory->counts->l2_partial += !requested_before;
            in->memory->counts->l2_partial -= in->covered == SECTOR;
        }
        in->last_sector = s;
        if (requested_before)
            continue;
        in->count->sectors++;
        in->places[s % LINE]++;
        in->same_banks = MAX(in->same_banks, in->places[s % LINE]);
        if (reads && l1_read(in->memory, sector))
            continue;
        if (!in->line_missed)
            in->line_cycles += 1 - HIT_LINE;
        in->line_missed = true;
        access_l2(in->memory, sector, in->kind, 1);
    }
    double cycles = in->line_cycles;
    if (reads && in->same_banks > 1)
        cycles = fmax(cycles, in->same_banks);
    in->memory->shares[in->memory->sm].lines += cycles - in->counted_cycles;
    in->counted_cycles = cycles;
}

Instruction memory_adding(Memory *memory, Place place, int instructions) {
    bool plain = memory->access->sums == BEV_SUMS_PLAIN;
    memory->counts->write[place.array].requests += instructions;
    if (plain)
        memory->counts->read[place.array].requests += instructions;
    if (memory->watch.recorder)
        recorder_instruction(memory->watch.recorder, place, plain ? ACCESS_ADD : ACCESS_ATOMIC,
                             instructions);
    return (Instruction){
        .memory = memory, .base = place.base, .count = &memory->counts->write[place.array]};
}

void memory_add(Instruction *in, StepLanes lanes, int64_t byte, int64_t asked, int64_t bytes,
                int adds) {
    Memory *memory = in->memory;
    bool plain = memory->access->sums == BEV_SUMS_PLAIN;
    TraceCount *read = &memory->counts->read[in->count - memory->counts->write];
    int64_t first = byte / SECTOR, last = (byte + bytes - 1) / SECTOR;
    if (memory->watch.recorder)
        recorder_span(memory->watch.recorder, lanes, byte, asked, bytes, adds);
    in->count->bytes += (double)asked;
    if (plain)
        read->bytes += (double)asked;
    else
        memory->counts->atomics += (double)asked / FLOAT;
    if (bytes <= 0)
        return;
    double sectors = (double)((last - first + 1) * adds);
    memory->shares[memory->sm].lines += (double)((last / LINE - first / LINE + 1) * adds);
    in->count->sectors += sectors;
    if (plain) {
        read->sectors += sectors;
        for (int64_t line = first / LINE; line <= last / LINE; line++)
            slices_request_line(&memory->slices, in->base + (uint64_t)line * LINE, adds);
    }
    for (int64_t s = first; s <= last; s++) {
        uint32_t sector = in->base + (uint32_t)s;
        memory->counts->additions += adds;
        slice_of(&memory->slices, sector)->additions += adds;
        if (plain) {
            access_l2(memory, sector, REUSE_READ, (uint32_t)adds);
            access_l2(memory, sector, REUSE_WRITE, (uint32_t)adds);
        } else {
            access_l2(memory, sector, REUSE_UPDATE, (uint32_t)adds); /* an atomic adds in L2 */
        }
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

void memory_step(Memory *memory) {
    memory->counts->steps++;
    memory->shares[memory->sm].steps++;
}

/* Estimates the instructions of a multiprocessor. The estimate must not depend on the GPU. */
static double share_work(const Memory *memory, const MemoryShare *share) {
    return share->steps * (memory->access->point_instructions + memory->access->tile) +
           share->others;
}

void memory_launched(Memory *memory) {
    const MemoryShare *busiest = &memory->shares[0];
    double lines = 0;
    for (int sm = 0; sm < TRACE_MULTIPROCESSORS; sm++) {
        const MemoryShare *share = &memory->shares[sm];
        if (share_work(memory, share) > share_work(memory, busiest))
            busiest = share;
        lines = fmax(lines, share->lines);
    }
    memory->counts->busy_steps += TRACE_MULTIPROCESSORS * busiest->steps;
    memory->counts->busy_others += TRACE_MULTIPROCESSORS * busiest->others;
    memory->counts->busy_lines += TRACE_MULTIPROCESSORS * lines;
    memset(memory->shares, 0, sizeof memory->shares);
    slices_end_window(&memory->slices);
    memory->counts->busiest = memory->slices.busiest;
}

/* The blocks are dealt round the multiprocessors. All have equal work, so none is the busiest. */
void memory_pass(Memory *memory, Place place, ReuseKind kind, size_t bytes, int lane_bytes) {
    StepRecorder *recorder = memory->watch.recorder;
    int64_t all = (int64_t)bytes, warp_bytes = (int64_t)lane_bytes * WARP;
    const bool reads = kind == REUSE_READ;
    const Launch launch = {.name = reads ? "encode, reads" : "clear or encode, writes"};
    const void *no_replay = NULL, *no_state = NULL; /* the launch has no cells */
    if (memory->watch.scheduler || (recorder && !recorder_launch(recorder, &launch)))
        return;
    for (int64_t byte = 0, warp = 0; byte < all; byte += warp_bytes, warp++) {
        int64_t block = warp / PASS_WARPS;
        int number = (int)(warp % PASS_WARPS);
        memory->sm = (int)(block % TRACE_MULTIPROCESSORS);
        if (block % memory->watch.sample)
            continue;
        if (recorder && !recorder_wants(recorder, &launch, no_replay, block, number, no_state))
            continue;
        memory_phase(memory, PHASE_PASS);
        Instruction in = begin_instruction(memory, place, kind);
        memory_span(&in, (StepLanes){.count = WARP}, byte, MIN(all - byte, warp_bytes));
    }
    memset(memory->shares, 0, sizeof memory->shares);
}
