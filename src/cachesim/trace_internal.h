/* SPDX-License-Identifier: MIT */
/* The files of the replay share this header: the memory system as a warp sees it, launches, and the
 * maps that two kernels build on the device. */
#pragma once

#include "kernels/tiles.h"
#include "src/cachesim/steps.h"
#include "src/cachesim/trace.h"

/* ---- slices of the L2 ------------------------------------------------------------------------ */

/* Many threads add to sums in memory at once. The slices of the L2 serve these additions in
 * parallel. But the active warps add to few cells, whose rows lie in few slices. The busiest slice
 * decides the time. A plain += reads and stores a sum. The next load of the same line then waits
 * until the store is done, so warps that add to one line do so one after the other.
 *
 * Additions that are in flight together form a window. Slices have queues, so a window is longer
 * than one turn of all active warps. A window has three turns for atomics and two for a plain +=.
 * With these windows the busiest slice explains the times that were probed on an H200
 * (samples/experiments/model.md, *Slices*). */

/* An H200 has 96 slices of 640 KiB. A kibibyte lies in two slices that alternate every 256 bytes.
 * The real pair of slices is not published; here a hash chooses it. A wait for a store takes a
 * slice as long as 14 additions. */
enum { SLICES = 96, SLICE_LINE = 4, SLICE_SECTORS = 8, SLICE_PAIR_SECTORS = 32 };
enum { SLICE_TURNS_PLAIN = 2, SLICE_TURNS_ATOMIC = 3, SLICE_WAIT = 14 };

/* The number of requests for a line in the window with number `window`. */
typedef struct {
    uint32_t window, requests;
} SliceLine;

/* The counts of a slice in the current window. */
typedef struct {
    double additions;  /* additions to the slice's sectors */
    uint32_t requests; /* requests of plain += for the slice's most requested line */
} Slice;

typedef struct {
    Slice slices[SLICES];
    SliceLine *lines; /* [lines of all arrays] */
    uint32_t window;  /* the number of the current window */
    int turns, turn;  /* the length of a window in turns; turns so far */
    double busiest;   /* SLICES times the additions and waits of the busiest slice, summed over all
                       windows so far */
} Slices;

/* Tells the slices that all active warps have had a turn. The window may end. */
void slices_turn(Slices *slices);

/* ---- memory ---------------------------------------------------------------------------------- */

/* The memory system as a warp sees it: the places of arrays, the sectors that an instruction
 * touches, and the L1 of each multiprocessor. Only misses of L1 reach L2.
 *
 * The L1 is that of an H200: lines of 128 bytes in eight ways, replaced by LRU. L1 fetches only the
 * requested sectors of a line. Stores and atomics bypass L1. An H200 has 256 KB of L1; the model
 * has 176 KB, which fit the counted misses best (samples/experiments/model.md). */
enum { WARP = 32, INDEX = 4, FLOAT = 4 };

/* The work of a multiprocessor in the current launch, counted as in TraceCounts. */
typedef struct {
    double steps, lines, others;
} MemoryShare;

/* The place of an array, and the array that its accesses count for. */
typedef struct {
    uint32_t base; /* the array's first sector */
    TraceArray array;
    const char *name; /* static text */
} Place;

typedef struct {
    const BevKernel *kernel;
    const BevAccess *access; /* the kernel's accesses, or V4's fallback */
    const BevProblem *problem;
    TraceCounts *counts;
    Place feat, scales, depth; /* the input tensors */
    uint64_t sectors;          /* sectors of all arrays placed so far */
    uint32_t *l1;              /* [multiprocessors][sets][ways], the latest line first */
    MemoryShare shares[TRACE_MULTIPROCESSORS];
    int sm;           /* the multiprocessor of the current turn */
    bool missed;      /* a read has missed L1 since the last memory_wait */
    bool first;       /* a read that missed was its sector's first access; false without `reuse` */
    Slices slices;    /* used by kernels whose sums are in memory */
    bool with_reuse;  /* the caller wants an analysis of reuse */
    Reuse *reuse;     /* may be NULL */
    CpuArrays arrays; /* all arrays of the replay */
    TraceWatch watch; /* the caller's options; zeroed: none, but `sample` is at least 1 */
} Memory;

/* Place all arrays before memory_start. Each begins at the start of a line. */
Place memory_place(Memory *memory, TraceArray array, const char *name, size_t bytes);
bool memory_start(Memory *memory, Err *err);

/* Whether there was memory for all arrays of the replay so far. */
bool memory_taken(const Memory *memory, Err *err);

/* An instruction of a warp, while it is being counted. */
typedef struct {
    Memory *memory;
    ReuseKind kind;
    uint32_t base;
    TraceCount *count;
    int64_t last_sector;                  /* the last sector touched so far */
    int64_t covered;                      /* bytes of last_sector written so far */
    bool line_missed;                     /* L1 did not hold a sector of last_sector's line */
    double line_cycles;                   /* cycles of L1 for the lines so far */
    int places[LINE_SECTORS], same_banks; /* sectors at each place of a line; the most */
    double counted_cycles;                /* cycles of L1 counted so far */
} Instruction;

/* Begins a load, or a store, that a warp carries out at this place of the kernel. Its addresses are
 * added afterwards, by lanes. */
Instruction memory_read(Memory *memory, Place place);
Instruction memory_write(Memory *memory, Place place);

/* Counts bytes [byte, byte + bytes) of the array, which `lanes` of the instruction request. Call it
 * in ascending order of lanes: neighbours that share a sector request the sector once. */
void memory_span(Instruction *instruction, StepLanes lanes, int64_t byte, int64_t bytes);

/* Begins `instructions` instructions of a warp that add floats to sums in memory, by atomics or by
 * a plain +=, as the kernel does. */
Instruction memory_adding(Memory *memory, Place place, int instructions);

/* Counts additions of `lanes` to `asked` bytes from offset `byte` on. `adds` of the instructions
 * request the sectors of the first `bytes` bytes. The other bytes merge with bytes of earlier
 * lanes, so they request nothing. */
void memory_add(Instruction *instruction, StepLanes lanes, int64_t byte, int64_t asked,
                int64_t bytes, int adds);

void memory_step(Memory *memory);

/* Ends a launch: adds its busiest multiprocessor and its busiest slice to the counts. */
void memory_launched(Memory *memory);

/* Counts a separate launch that clears an array or encodes sums. The launch goes over the array in
 * order, with `lane_bytes` bytes a thread. */
void memory_pass(Memory *memory, Place place, ReuseKind kind, size_t bytes, int lane_bytes);

/* ---- launches -------------------------------------------------------------------------------- */

/* The cells that a warp works on. A cell may be listed more than once. */
typedef int32_t WarpCells[WARP * BEV_SPLAT_CELLS];

/* A launch on the multiprocessors of an H200. Blocks start in order, each on the first
 * multiprocessor that has room. A block gives up its room after its last warp. Warps take turns. */
typedef struct {
    const char *name; /* static text */
    bool pools;       /* the launch is the kernel itself, not one before or after it */
    int64_t blocks;
    int warps;          /* warps of a block */
    int resident;       /* blocks that a multiprocessor holds */
    size_t state_bytes; /* size of a warp's state */
    /* Makes the state of a warp that starts. False: the warp's threads own nothing. */
    bool (*begin)(void *replay, int64_t block, int warp, void *state);
    /* Replays the warp's next turn. False: it was the last turn. */
    bool (*turn)(void *replay, void *state);
    /* Lists the cells of a warp that has begun. Returns their number. */
    int (*cells)(const void *replay, const void *state, WarpCells list);
    int32_t (*turns)(const void *state); /* turns of a warp that has begun */
} Launch;

bool launch_run(const Launch *launch, Memory *memory, void *replay, Err *err);

/* ---- single warps ---------------------------------------------------------------------------- */

/* Runs the blocks of a launch in the scheduler's time. */
bool scheduler_run(Scheduler *scheduler, const Launch *launch, Memory *memory, void *replay,
                   Err *err);

/* The recorder sees the instructions of the warps that it chooses, in the order of each warp. Its
 * functions are cold: a replay without a recorder then loses no time. */
#define COLD __attribute__((cold))

/* Tells the recorder that a launch begins. False: the recorder wants none of its warps. */
bool recorder_launch(StepRecorder *recorder, const Launch *launch);

/* Whether the recorder wants a warp of the launch. `replay` and `state` are those of Launch. */
bool recorder_wants(StepRecorder *recorder, const Launch *launch, const void *replay, int64_t block,
                    int number, const void *state);

COLD void recorder_phase(StepRecorder *recorder, StepPhase phase);

/* Adds a point to the step. The recorder looks up the point's weight. If the point's number is -1,
 * the recorder looks up the number, too. */
COLD void recorder_point(StepRecorder *recorder, const StepPoint *point);

/* Later instructions of the step need the values of the earlier reads. */
COLD void recorder_wait(StepRecorder *recorder);

COLD void recorder_instruction(StepRecorder *recorder, Place place, StepAccess access, int repeats);

/* Adds a span of `asked` bytes to the last instruction. The first `moved` bytes request their
 * sectors `adds` times. */
COLD void recorder_span(StepRecorder *recorder, StepLanes lanes, int64_t byte, int64_t asked,
                        int64_t moved, int adds);

/* Ends a round of reads, and counts a dependent load if a read missed L1. With `waits` NULL nothing
 * is counted. Later instructions need the values of these reads. */
static inline void memory_wait(Memory *memory, TraceWaits *waits) {
    if (waits) {
        waits->beyond += memory->missed;
        waits->first += memory->first;
    }
    memory->missed = memory->first = false;
    if (memory->watch.recorder)
        recorder_wait(memory->watch.recorder);
}

static inline StepLanes one_lane(int64_t lane) {
    return (StepLanes){.first = (int8_t)lane, .count = 1};
}

static inline void memory_phase(Memory *memory, StepPhase phase) {
    if (memory->watch.recorder)
        recorder_phase(memory->watch.recorder, phase);
}

/* A replay places its arrays, starts the memory and runs the launches. owners_replay replays
 * kernels whose threads own points, splats, intervals, cells or pieces. tiles_replay replays V4: on
 * tensor cores if the map of tiles serves, otherwise in pieces. */
bool owners_replay(Memory *memory, Err *err);
bool tiles_replay(Memory *memory, Err *err);
