/* The memory system as a warp meets it, for the streams only: where arrays lie, what sectors an
 * instruction touches, and the multiprocessors' L1, which hands only its misses on to L2.
 *
 * L1 is an H200's: lines of 128 bytes, of which it fetches the sectors asked for, and eight ways,
 * of which the one unused for longest is replaced; stores and atomics pass it by. Of its 256 KB,
 * 176 fit the counted misses best (samples/experiments/model.md): the one thing fitted here. */
#ifndef BEV_TRACE_MEMORY_H
#define BEV_TRACE_MEMORY_H

#include "src/cachesim/trace.h"
#include "src/cachesim/trace_slices.h"

enum { WARP = 32, INDEX = 4, FLOAT = 4 };

/* What a multiprocessor has done of the launch under way. */
typedef struct {
    double steps, lines;
} MemoryShare;

typedef struct {
    const AccessPattern *pattern;
    const BevProblem *problem;
    TraceCounts *counts;
    uint64_t sectors; /* of all arrays so far */
    uint32_t *l1;     /* [multiprocessors][sets][ways], latest first */
    MemoryShare shares[TRACE_MULTIPROCESSORS];
    bool missed;     /* whether a read went on to L2 since this was last set to false */
    Slices slices;   /* of kernels whose sums are in memory */
    Reuse *reuse;    /* or NULL */
    uint32_t one_in; /* line is followed through L2; 0: as many as the size calls for */
} Memory;

/* Where an array lies, and what its accesses are counted as. */
typedef struct {
    uint32_t base; /* first sector */
    TraceArray array;
} Place;

/* First all arrays are placed, each at the start of a line; then the memory starts, with an
 * analysis of reuse or without. memory_stop leaves that to whoever takes memory->reuse. */
Place memory_place(Memory *memory, TraceArray array, size_t bytes);
bool memory_start(Memory *memory, bool with_reuse, Err *err);
void memory_stop(Memory *memory);

/* An instruction of a warp on multiprocessor `sm`, under way. */
typedef struct {
    Memory *memory;
    int sm;
    ReuseKind kind;
    uint32_t base;
    TraceCount *count;
    int64_t last_sector;
    int64_t covered; /* bytes of that */
} Instruction;

Instruction memory_read(Memory *memory, int sm, Place place);
Instruction memory_write(Memory *memory, int sm, Place place);

/* Some lanes' part of it: bytes side by side, from offset `byte` of the array. In ascending order
 * of lanes: neighbours that share a sector ask for it once. */
void memory_span(Instruction *instruction, int64_t byte, int64_t bytes);

/* `adds` instructions, each of which reads and writes every sector of these bytes. Counts sectors
 * only. */
void memory_add(Memory *memory, int sm, Place place, int64_t byte, int64_t bytes, int adds);

/* A step of a warp. */
void memory_step(Memory *memory, int sm);

/* That was the launch: its busiest multiprocessor counts, and the busiest slice of its end. */
void memory_launched(Memory *memory);

/* A linear pass over a whole array by a launch of its own, `lane_bytes` a thread. */
void memory_pass(Memory *memory, Place place, ReuseKind kind, size_t bytes, int lane_bytes);

#endif
