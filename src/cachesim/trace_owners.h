/* What the files of one way to walk share: kernels whose threads own points, intervals or cells.
 * Each warp walks its owners' points in step. stream_owners.c has who owns what and the launches,
 * stream_warp_reads.c and stream_warp_writes.c what a warp asks of the memory. */
#ifndef BEV_TRACE_OWNERS_H
#define BEV_TRACE_OWNERS_H

#include "src/cachesim/trace_pieces.h"
#include "src/cachesim/trace_splats.h"
#include "src/cachesim/trace_internal.h"

enum { PIECE_RECORD = 16 }; /* bytes */

/* Threads of a warp that share an owner: neighbours, `tile` channels each. */
typedef struct {
    int32_t cell, start, end; /* the owner's points; a cell without any has start == end */
    int32_t owner, stride;    /* takes every stride-th point */
    int16_t first, last;      /* channels [first, last) */
    bool stores;
} Segment;

typedef struct {
    int32_t step, steps, index_waits, waits;
    int count;
    Segment segments[WARP];
} Warp;

typedef struct {
    Memory *memory;
    const AccessPattern *pattern;
    const BevProblem *problem;
    Place feat, scales, depth, ranks_depth, ranks_feat, ranks_bev, starts, lengths, records, cells,
        weight, out, sums, splat_ranks, splat_weights;
    int64_t owners;
    int channels, tile, lanes; /* threads side by side on an owner, all its tiles or one */
    int64_t blocks_a_row, owners_a_block;
    int feat_bits, out_bits, depth_bytes;
    int64_t row_bytes;    /* of a feature row's codes */
    int32_t *interval_of; /* [cells] or -1; OWN_CELL, OWN_PIECE and channels first only */
    Splats splats;        /* OWN_SPLAT only */
    Pieces pieces;        /* OWN_PIECE only */
} Walk;

/* What an owner reads before its points. */
void warp_read_owners(Walk *walk, int sm, const Warp *warp);

/* Channels of each owner's row, at `row_byte` (below 0: none), through an instruction of `width`
 * channels of `bits` a lane, from the part-th channel of every tile on. */
void warp_rows(const Walk *walk, Instruction *in, const Warp *warp, const int64_t *row_byte,
               int part, int width, int bits);

/* Every owner's next point, or its splat: reads, and additions where sums are in memory. */
void warp_step(Walk *walk, int sm, Warp *warp);

/* Adds to the sums of a cell what a segment has; of each segment's cell what a plain += or an
 * atomic of a warp asks for. */
void warp_add_to(Walk *walk, int sm, const Segment *segment, int64_t cell);
void warp_add(Walk *walk, int sm, const Warp *warp);

/* The sums in registers, once all points are done. */
void warp_write(Walk *walk, int sm, const Warp *warp);

#endif
