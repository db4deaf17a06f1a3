/* What the files of the replay share: the memory system as a warp meets it, launches, and the maps
 * that two kernels build on the device. */
#pragma once

#include "kernels/tiles.h"
#include "src/cachesim/steps.h"
#include "src/cachesim/trace.h"

/* ---- slices of the L2 ----------------------------------------------------------------------- */

/* Many threads add to sums in memory at once. The slices of the L2 serve them in parallel, but
 * active warps add to few cells, whose rows lie in few slices, and the other slices wait for the
 * busiest one. Where a plain += reads and stores a sum, the next load of its line also waits until
 * the store is done: one warp after the other.
 *
 * Additions are counted in windows: those that are in flight together. Slices have queues, so a
 * window is longer than one turn of all active warps. With windows of three turns for atomics, for
 * which no warp waits, and of two for a plain +=, the busiest slice explains what was probed on an
 * H200 (samples/experiments/model.md, *Slices*). */

/* An H200 has 96 slices of 640 KiB. A kibibyte lies in two slices that take turns every 256 bytes.
 * Which two is not published; here a hash chooses. A wait for a store delays a slice as long as 14
 * additions. */
enum { SLICES = 96, SLICE_LINE = 4, SLICE_SECTORS = 8, SLICE_PAIR_SECTORS = 32 };
enum { SLICE_TURNS_PLAIN = 2, SLICE_TURNS_ATOMIC = 3, SLICE_WAIT = 14 };

/* Requests for a line, in the window of that number. */
typedef struct {
    uint32_t window, requests;
} SliceLine;

/* A slice in a window: additions to its sectors, and requests (of a plain +=) for its line that is
 * asked for most. */
typedef struct {
    double additions;
    uint32_t requests;
} Slice;

typedef struct {
    Slice slices[SLICES];
    SliceLine *lines; /* of the sums */
    uint32_t window;
    int turns, turn; /* length of a window in turns, and turns so far */
    double busiest; /* sum over the windows so far: SLICES times the additions and waits of the
                       busiest slice */
} Slices;

/* All active warps have had a turn. */
void slices_turn(Slices *slices);

/* ---- memory ---------------------------------------------------------------------------------- */

/* The memory system as a warp sees it: where arrays lie, which sectors an instruction touches, and
 * the L1 of each multiprocessor, which hands only its misses on to L2.
 *
 * The L1 is an H200's: lines of 128 bytes, of which it fetches the sectors asked for, in eight ways
 * that replace the least recently used one. Stores and atomics bypass it. It has 256 KB; 176 KB fit
 * the counted misses best (samples/experiments/model.md): the one parameter fitted here. */
enum { WARP = 32, INDEX = 4, FLOAT = 4 };

/* What a multiprocessor has done of the current launch. */
typedef struct {
    double steps, lines, others;
} MemoryShare;

typedef struct {
    const BevKernel *kernel;
    const BevAccess *access; /* the kernel's, or the fallback form of V4 */
    const BevProblem *problem;
    TraceCounts *counts;
    uint64_t sectors; /* sectors of all arrays placed so far */
    uint32_t *l1;     /* [multiprocessors][sets][ways], latest first */
    MemoryShare shares[TRACE_MULTIPROCESSORS];
    bool missed; /* since the last memory_count a read went on to L2, */
    bool first;  /* and was the first access to its sector; false without an analysis of reuse */
    Slices slices;   /* of kernels whose sums are in memory */
    bool with_reuse; /* an analysis of reuse is wanted */
    Reuse *reuse;    /* or NULL */
    const TraceWatch *watch; /* or NULL */
    StepRecorder *recorder;  /* the watch's; or NULL */
} Memory;

/* Where an array lies, and what its accesses are counted as. */
typedef struct {
    uint32_t base; /* first sector */
    TraceArray array;
    const char *name; /* static text */
} Place;

/* First all arrays are placed, each at the start of a line; then the memory starts. memory_stop does
 * not free memory->reuse: the caller does. */
Place memory_place(Memory *memory, TraceArray array, const char *name, size_t bytes);
bool memory_start(Memory *memory, Err *err);
void memory_stop(Memory *memory);

/* An instruction of a warp on multiprocessor `sm`, while it is being counted. */
typedef struct {
    Memory *memory;
    int sm;
    ReuseKind kind;
    uint32_t base;
    TraceCount *count;
    int64_t last_sector;
    int64_t covered; /* bytes of those sectors */
    bool line_missed; /* L1 lacked a sector of the line of last_sector */
    StepLanes lanes; /* lanes that ask for the next span; for a recorder */
} Instruction;

Instruction memory_read(Memory *memory, int sm, Place place);
Instruction memory_write(Memory *memory, int sm, Place place);

/* The contiguous bytes that some lanes of the instruction ask for, from offset `byte` of the array.
 * Call it in ascending order of lanes: neighbours that share a sector ask for it once. */
void memory_span(Instruction *instruction, int64_t byte, int64_t bytes);

/* So many instructions of a warp, one after the other, that add floats to sums in memory: by
 * atomics or by a plain +=, as the kernel does. */
Instruction memory_adding(Memory *memory, int sm, Place place, int instructions);

/* Some lanes add to `asked` bytes from offset `byte` on. `adds` of the instructions ask for every
 * sector of the first `bytes` of them; the other bytes merge with those of lanes before. */
void memory_add(Instruction *instruction, int64_t byte, int64_t asked, int64_t bytes, int adds);

/* Counts a step of a warp. */
void memory_step(Memory *memory, int sm);

/* Ends a launch: its busiest multiprocessor and the busiest slice are added to the counts. */
void memory_launched(Memory *memory);

/* A separate launch that goes over a whole array in order, `lane_bytes` a thread: a clear, or the
 * encoding of sums. */
void memory_pass(Memory *memory, Place place, ReuseKind kind, size_t bytes, int lane_bytes);

/* ---- single warps ---------------------------------------------------------------------------- */

typedef struct Launch Launch;

/* The recorder sees the instructions of the warps that it chooses, in the order in which each warp
 * issues them. Its functions are cold, so that a replay without a recorder does not pay for
 * them. */
#define COLD __attribute__((cold))

/* A launch begins. False: the recorder wants none of its warps. */
bool recorder_launch(StepRecorder *recorder, const Launch *launch);

/* Whether the recorder wants a warp of the launch; `replay` and `state` as in Launch. */
bool recorder_wants(StepRecorder *recorder, const Launch *launch, const void *replay,
                    int64_t block, int number, const void *state);

/* A step begins. */
COLD void recorder_phase(StepRecorder *recorder, StepPhase phase);

/* The step works on a point. Its weight is found in the map, and its number where that is -1. */
COLD void recorder_point(StepRecorder *recorder, const StepPoint *point);

/* The later instructions need the result of the earlier reads. */
COLD void recorder_wait(StepRecorder *recorder);

COLD void recorder_instruction(StepRecorder *recorder, Place place, StepAccess access, int repeats);

/* A span of the last instruction. `moved` of the `asked` bytes move sectors, `adds` times each. */
COLD void recorder_span(StepRecorder *recorder, StepLanes lanes, int64_t byte, int64_t asked,
                        int64_t moved, int adds);

/* Counts what was read since the last call as so many loads, one after the other, if L1 lacks it.
 * NULL: counts nothing. */
static inline void memory_count(Memory *memory, TraceWaits *waits, int loads) {
    if (waits) {
        waits->beyond += memory->missed ? loads : 0;
        waits->first += memory->first ? loads : 0;
    }
    memory->missed = memory->first = false;
}

/* The same where the later instructions need what was read. */
static inline void memory_wait(Memory *memory, TraceWaits *waits, int loads) {
    memory_count(memory, waits, loads);
    if (memory->recorder)
        recorder_wait(memory->recorder);
}

static inline StepLanes one_lane(int64_t lane) {
    return (StepLanes){.first = (int8_t)lane, .count = 1, .stride = 1};
}

static inline void memory_phase(Memory *memory, StepPhase phase) {
    if (memory->recorder)
        recorder_phase(memory->recorder, phase);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A launch on the multiprocessors of an H200: blocks start in order, each on the first
 * multiprocessor that has room; a block's room is free when its last warp is done. Warps take
 * turns. */
struct Launch {
    const char *name; /* static text */
    bool pools;       /* the kernel itself, not a pass before or after it */
    int64_t blocks;
    int warps;          /* of a block */
    int resident;       /* blocks that a multiprocessor holds */
    size_t state_bytes; /* of a warp */
    /* Makes the state of a warp that starts. False: its threads own nothing. */
    bool (*begin)(void *replay, int64_t block, int warp, void *state);
    /* The warp's next turn, on multiprocessor `sm`. False: it was the last turn. */
    bool (*turn)(void *replay, int sm, void *state);
    /* Whether a warp that began works on a cell. */
    bool (*touches)(const void *replay, const void *state, int32_t cell);
};

bool launch_run(const Launch *launch, Memory *memory, void *replay, Err *err);

/* ---- threads that own points, splats, intervals, cells or pieces ----------------------------- */

/* A frustum point of a weighted map with its cells, as bev_align gathers them: on the device a
 * record of BEV_SPLAT_WORDS words. */
typedef struct {
    int32_t depth, feat, cells;
    int32_t cell[BEV_SPLAT_CELLS], point[BEV_SPLAT_CELLS];
} Splat;

typedef struct {
    Splat *splats;
    int64_t count;
} Splats;

/* V4's map of pieces on the host, as kernels/cuda/v4/build.cuh deals them out: cells by class, 2^k
 * workers for a cell of class k, the largest first. Each worker takes every 2^k-th point. */
typedef struct {
    int32_t cell, owner; /* owner: place of the cell in that order */
    int32_t part, parts;
} Piece;

typedef struct {
    Piece *workers;
    int64_t count;
} Pieces;

/* The threads of a warp that share an owner: neighbours with `tile` channels each. */
typedef struct {
    int32_t cell, start, end; /* the owner's points; start == end: none */
    int32_t owner, stride;    /* takes every stride-th point */
    int16_t first, last;      /* channels [first, last) */
    int8_t lane, lanes;       /* the first thread and how many they are */
    bool stores;              /* the finished sums */
} Segment;

typedef struct {
    int32_t step, steps; /* all owners of a warp go in step */
    TraceWaits indices, values;
    int count;
    int others; /* instructions that belong to no step */
    Segment segments[WARP];
} Warp;

typedef struct {
    Memory *memory;
    const BevAccess *access;
    const BevProblem *problem;
    Place feat, scales, depth, ranks_depth, ranks_feat, ranks_bev, starts, lengths, records, cells,
        weight, out, sums, splat_ranks, splat_weights;
    int64_t owners;
    int channels, tile, lanes; /* threads side by side on an owner */
    int64_t blocks_a_row, owners_a_block;
    int feat_bits, out_bits, depth_bytes;
    int64_t row_bytes;    /* of a feature row's codes */
    int32_t *interval_of; /* [cells] or -1; BEV_OWNS_CELL, BEV_OWNS_PIECE and channels first only */
    Splats splats;        /* BEV_OWNS_SPLAT only */
    Pieces pieces;        /* BEV_OWNS_PIECE only */
} OwnersReplay;

/* What an owner reads before its points. */
void warp_read_owners(OwnersReplay *replay, int sm, const Warp *warp);

/* Every owner's next point, or its splat: reads, and additions where sums are in memory. */
void warp_step(OwnersReplay *replay, int sm, Warp *warp);

/* Stores the sums from registers, once all points are done. */
void warp_write(OwnersReplay *replay, int sm, const Warp *warp);

/* ---- V4's tiles ------------------------------------------------------------------------------ */

/* What a worker does: the step of its own number, then steps next, next + parts ... before end. */
typedef struct {
    int32_t tile; /* or -1: the last block may have workers without one */
    int32_t next, end;
    int32_t part, parts;
} TileWork;

/* Workers in the order of the launch. A step is one slab (16 image rows of a feature column) with
 * an entry for each cell of the tile: bin << 16 | rows, 0 for none. Step w is the first of worker
 * w; the tiles' other steps follow, tile by tile. */
typedef struct {
    bool serves;     /* false: pieces are faster, and the rest is empty */
    bool transposed; /* a kernel of its own transposes the depth first */
    int64_t tiles, steps, empties, entry_count;
    int64_t workers;      /* of whole blocks */
    int64_t pairs;        /* tiles with two blocks, the first ones */
    int64_t passes;       /* over the channels, each by blocks of its own */
    TileWork *work;       /* [workers] */
    int32_t *cells;       /* [tiles][TILE_CELLS] cell, or -1 */
    int32_t *columns;     /* [steps] (camera * w + column) * slabs + slab */
    uint32_t *entries;    /* [steps][TILE_CELLS] */
    int32_t *weight_rows; /* [steps][TILE_CELLS] number of the entry; each has 16 weights */
    int32_t *empty;       /* [empties] cells without a point */
} TileMap;

/* The map for a GPU of so many multiprocessors. Free it with tile_map_free. */
bool tile_map_build(const BevProblem *problem, int multiprocessors, TileMap *map, Err *err);
void tile_map_free(TileMap *map);

/* ---- the ways to replay ---------------------------------------------------------------------- */

/* Each function places its arrays, starts the memory and runs the launches. trace_owners: kernels
 * whose threads own points, splats, intervals, cells or pieces. trace_tiles: V4, on tensor cores
 * where its map of tiles serves, else in pieces. */
bool owners_replay(Memory *memory, Err *err);
bool tiles_replay(Memory *memory, Err *err);
