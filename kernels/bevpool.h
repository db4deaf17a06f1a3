/* BEV pooling: the contract between the kernels and everything else. Plain C11, no CUDA header.
 *
 *     out[ranks_bev[t], c] += weight[t] * depth[ranks_depth[t]] * feat[ranks_feat[t], c]
 *
 * for every point t and every channel c; weight is 1 for nearest pooling. Backward, from the
 * gradient of a loss with respect to `out`:
 *
 *     grad_depth[ranks_depth[t]]  += weight[t] * D[t]
 *     D[t] = sum over c of grad_out[ranks_bev[t], c] * feat[ranks_feat[t], c],
 *     grad_feat[ranks_feat[t], c] += weight[t] * depth[ranks_depth[t]] * grad_out[ranks_bev[t], c]
 *
 * Shapes, of the gradients too:
 *     depth (camera, depth, h, w)   feat (camera, h, w, c)   out (cell, c), cell = y * nx + x
 * The five index arrays carry BEVDet's names, order and meaning. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- number formats ---------------------------------------------------------------------- */

/* UINT8 is an element format, of depths that go with INT8 features: they are never negative. E5M2
 * is a format of codes alone (codec.h): no kernel has it. */
typedef enum {
    BEV_FP32,
    BEV_FP16,
    BEV_BF16,
    BEV_FP8,
    BEV_NVFP4,
    BEV_INT8,
    BEV_INT8_FP16,
    BEV_DTYPE_COUNT,
    BEV_UINT8 = BEV_DTYPE_COUNT,
    BEV_E5M2,
    BEV_ELEMENT_COUNT
} BevDtype;

/* A row of the format table. To add a format: its name here, its row in bevpool.c, its codes in
 * codec.c; the same number in src/lib/bevpool.h, behind the last one: UINT8 moves, which linked
 * programs notice (count up the soname in src/lib/local.mk), and E5M2. Then what depends on formats
 * elsewhere: CPU_ALL_DTYPES (cpu/cpu.h), gate_b_limits (src/accuracy/gates.c), a case of
 * bev_channel_instructions (regime.c) and of with_dtype (cuda/common.cuh), an empty one for CPUs
 * only. For GPUs besides: Codec, DEPTH_OF, OUT_OF (cuda/formats.cuh), the masks in cuda/row.h, for
 * packed blocks with_dtype_or_fp4. Packed blocks, on CPUs too: bev_code_bytes, bev_tensor_scale,
 * bev_block_scale and bev_tensor_at (codec.c), fill_blocks() where their scales are no powers of
 * two (src/accuracy/gate_exact.c), and what `grep BEV_NVFP4` finds. test_gates, checkbev and
 * test_bits.c go through all rows; test_codec.c and tests/data/test_bits.sh have lists of their
 * own. Screens list all formats: `make goldens`; kernels/README.md and src/accuracy/README.md do
 * by hand. Codes of another width than 8, 16 or 32 bits are packed in blocks, as NVFP4's
 * are. `depth` and `out` are the element formats that go with features of this format: NVFP4
 * features travel with FP8 depth and output, as in the published ladder; INT8 features with UINT8
 * depth, and with an INT8 output or, as INT8_FP16, one in FP16. */
typedef struct {
    const char *name;  /* command line and JSON: "fp16" */
    const char *title; /* on screen: "FP16" */
    int bits;          /* per element, scales not counted */
    int sign, exponent; /* bits of an element's code, from its top; the rest is the fraction, or,
                           without an exponent, the whole number in two's complement */
    int block;          /* neighbouring channels that share a scale; 0: none */
    BevDtype depth, out;
    double unit_roundoff; /* u: 2^-11 for FP16, half a unit in the last place of 1.0 */
    double smallest;      /* smallest positive (subnormal) value */
    double largest;       /* largest finite value */
    const char *scaling;  /* "none", "per tensor", "per 16 values and per tensor" */
} BevDtypeInfo;

extern const BevDtypeInfo bev_dtypes[BEV_ELEMENT_COUNT];

/* Whether features of the format are whole numbers, codes of INT8. */
static inline bool bev_is_whole(BevDtype dtype) {
    return dtype == BEV_INT8 || dtype == BEV_INT8_FP16;
}

/* Blocks of NVFP4 with one E4M3 scale. */
enum { BEV_BLOCK = 16 };
enum { BEV_MAX_CUDA_CHANNELS = 1024 };

/* ---- alignment of points with cells ------------------------------------------------------- */

/* NEAREST: the cell that holds the point. BILINEAR: four neighbouring cell centres, weighted.
 * LATTICE: the published BEV Align, whose lattice points are the cells' lower edges. Kernels see
 * only whether the map has weights. */
typedef enum { BEV_NEAREST, BEV_BILINEAR, BEV_LATTICE, BEV_ALIGN_COUNT } BevAlign;

typedef struct {
    const char *name, *title, *idea;
} BevAlignInfo;

extern const BevAlignInfo bev_aligns[BEV_ALIGN_COUNT];

/* ---- directions ---------------------------------------------------------------------------- */

/* FORWARD pools. BACKWARD computes the gradients of depth and features. A kernel has one. */
typedef enum { BEV_FORWARD, BEV_BACKWARD, BEV_DIRECTION_COUNT } BevDirection;

typedef struct {
    const char *name, *title, *idea;
} BevDirectionInfo;

extern const BevDirectionInfo bev_directions[BEV_DIRECTION_COUNT];

/* ---- stages ------------------------------------------------------------------------------- */

/* POOL takes depths and features as written above. VIEW is the whole view transform: logits, read
 * by strides, become depths, and the depths are pooled. Backward grad_depth is the gradient of the
 * logits. Each gradient has the strides of its tensor. */
typedef enum { BEV_POOL, BEV_VIEW, BEV_STAGE_COUNT } BevStage;

typedef struct {
    const char *name, *title, *idea;
} BevStageInfo;

extern const BevStageInfo bev_stages[BEV_STAGE_COUNT];

/* Distances in memory, in elements; of a channel or of a depth bin. */
typedef struct {
    int64_t camera, channel, row, column;
} BevStrides;

/* How a view transform reads a problem's depth and feat. */
typedef struct {
    bool softmax;      /* depth = softmax over the bins of logits / temperature; else as it is */
    float temperature; /* positive */
    BevStrides depth, feat;
} BevView;

/* ---- the problem --------------------------------------------------------------------------- */

typedef struct {
    int64_t cameras, depth_bins, feat_h, feat_w; /* depth (camera, depth, h, w) */
    int64_t channels;                            /* feat (camera, h, w, c) */
    int64_t nx, ny;                              /* out (y * nx + x, c) */
    /* Slices in height, one behind the other; 0 counts as 1. Of a grid with several, ny counts the
     * rows of all: cell (x, y, z) is (z * (ny / nz) + y) * nx + x. Kernels need not know. */
    int64_t nz;
} BevShape;

/* The scatter map. Points are sorted by cell; interval i is the run of points
 * [interval_starts[i], interval_starts[i] + interval_lengths[i]) of one cell. Cells without a
 * point have no interval. The intervals partition the points exactly, in order. */
typedef struct {
    int64_t points, intervals;
    int32_t *ranks_depth, *ranks_feat, *ranks_bev; /* [points] */
    int32_t *interval_starts, *interval_lengths;   /* [intervals] */
    float *weights;                                /* [points], or NULL: all 1 */
} BevMap;

/* Encoded values, rows of `row_len` elements. Value = code * block scale * channel scale * scale.
 * Rows of NVFP4 are padded to whole blocks: ceil(row_len / 16) * 8 bytes of codes (low nibble
 * first) and ceil(row_len / 16) block scales. All other formats are dense. */
typedef struct {
    BevDtype dtype;
    int64_t rows, row_len;
    void *data;
    uint8_t *block_scales; /* NVFP4: E4M3 codes, row-major. Else NULL */
    float scale;           /* tensor scale; 1 for FP32, FP16, BF16 */
    float *channel_scales; /* INT8 features: [row_len], 1 where one scale serves all. Else NULL */
} BevTensor;

/* Everything a kernel may read, and its outputs, which it owns: forward `out`, backward
 * `grad_depth` and `grad_feat`. Pointers lie where the kernel runs (host or device). Only outputs
 * are written, every element of them. The tensors' shapes agree with `shape`. */
typedef struct {
    BevShape shape;
    BevDirection direction;
    BevDtype dtype; /* the format's row; feat.dtype == dtype, depth.dtype == its .depth, ... */
    BevAlign align;
    BevStage stage;
    BevView view;    /* stage VIEW */
    /* 0: out and grad_out are (cell, c). Else they are (sample, c, cell of the sample), of so many
     * samples; only for kernels that write or read so. */
    int64_t out_samples;
    BevMap map;      /* sorted by cell in both directions */
    BevTensor depth; /* one row of cameras * depth_bins * feat_h * feat_w */
    BevTensor feat;  /* cameras * feat_h * feat_w rows of channels */
    BevTensor out;   /* nx * ny rows of channels; out.scale is given, never chosen by a kernel */
    /* Backward only, all of format `dtype` with scale 1; forward their data are NULL. */
    BevTensor grad_out;   /* as out; read. `out` then has no data */
    BevTensor grad_depth; /* as depth */
    BevTensor grad_feat;  /* as feat */
    void *workspace; /* scratch of the kernel's workspace_bytes, 256-aligned; NULL if those are 0 */
} BevProblem;

/* Bytes that a kernel asks the memory system for, caches not considered. */
typedef struct {
    /* Reads. index: the five arrays, or the plan's in their place. depth of V4: with the reads and
     * writes of transposing. */
    double feat, depth, index, weight;
    double out_read, out_write;        /* read-modify-write of the output counts in both */
    double grad_read, grad_write;      /* backward: of both gradients; grad_out is out_read */
    double atomics;                    /* a count, not bytes */
} BevTraffic;

/* ---- how a CUDA kernel accesses memory ------------------------------------------------------ */

/* What a run of neighbouring threads owns. A splat is a frustum point with up to four cells, a
 * piece a share of a cell's points, a cell tile 16 cells that see the same image columns. Pieces
 * and cell tiles are replayed as V4 builds them; the others are general. A new kind of owner needs
 * code in src/cachesim/trace_owners.c, or a replay of its own beside trace_tiles.c and its branch
 * in trace.c; its index bytes in bevpool.c; its word in src/view/panel/steps_page.c. */
typedef enum {
    BEV_OWNS_NOTHING, /* the row has no accesses to simulate */
    BEV_OWNS_POINT,
    BEV_OWNS_SPLAT,
    BEV_OWNS_INTERVAL,
    BEV_OWNS_CELL,
    BEV_OWNS_PIECE,
    BEV_OWNS_TILE
} BevOwner;

/* Where sums are: in the owner's registers until they are stored, or in memory, FP32, added to by
 * atomics or by a plain +=, and encoded at the end. */
typedef enum { BEV_SUMS_OWNED, BEV_SUMS_ATOMIC, BEV_SUMS_PLAIN } BevSums;

/* A splat: a frustum point and its cells, as words: depth, feature row, cells, weights. */
enum {
    BEV_SPLAT_CELLS = 4,
    BEV_SPLAT_RANKS = 2 + BEV_SPLAT_CELLS,
    BEV_SPLAT_WORDS = BEV_SPLAT_RANKS + BEV_SPLAT_CELLS
};

/* Index bytes that an owner reads before its points. An interval: start, length and the rank of its
 * cell, or V2+DO's packed record. A cell: the number of its interval; start and length are added
 * where it has one. A piece: its record. */
enum { BEV_INTERVAL_BYTES = 12, BEV_CELL_BYTES = 4, BEV_PIECE_BYTES = 16 };

/* A kernel as the memory system and the schedulers see it: what its file says under WHO and MEMORY,
 * as numbers. src/cachesim replays it, and its traffic follows from it. Of a kernel that owns cell
 * tiles only owner, evict_first, indices_ahead, in_flight and point_instructions (there of a step)
 * are used; trace_tiles.c knows the rest. "Disassembled": read in `cuobjdump -sass` of the kernel
 * compiled for 9.0. */
typedef struct {
    BevOwner owner;
    BevSums sums;
    int tile;               /* the channel tile: channels a thread */
    bool widens;            /* 16 instead of 8: cells in NVFP4; pieces of whole sixteens, FP8 too */
    bool tiles_outside;     /* a grid row per tile; else the tiles of an owner are neighbours */
    int block;              /* threads a block */
    bool whole;             /* blocks hold whole owners; else an owner may lie across two */
    int resident;           /* warps that a multiprocessor of 65,536 registers has room for */
    int load, store;        /* channels a load or store instruction */
    int ranks;              /* index words a point; 1: owners read one packed record each */
    int owner_bytes;        /* index bytes an owner reads before its points */
    bool merges;            /* a block adds once for all its points of one cell */
    bool clears;            /* clears the output first */
    bool stays;             /* the sums are the output, FP32, and are never encoded */
    bool evict_first;       /* stores the output as evict first */
    bool halves;            /* sums in half2 where the format fits a half */
    /* Points of the loop over its waits for indices, and for depths and features, as disassembled
     * for 9.0. Below 1: a point's features wait for each other. `_of`: by format, where it
     * differs, else 0. */
    float indices_ahead, indices_ahead_of[BEV_DTYPE_COUNT];
    float in_flight, in_flight_of[BEV_DTYPE_COUNT];
    int point_instructions; /* warp instructions per point, features apart, as disassembled */
} BevAccess;

/* ---- the kernels --------------------------------------------------------------------------- */

typedef enum { BEV_CPU, BEV_CUDA } BevWhere;

/* What `prepare` built: packed records, pieces, work lists. Opaque; freed by `release`. */
typedef struct BevPlan BevPlan;

/* A kernel: one file, one row. Every build has every row. A build without CUDA compiles the rows of
 * CUDA kernels without their functions: they can be simulated, not launched. */
typedef struct BevKernel {
    const char *name;      /* file stem, symbol suffix, command-line word: "cpu_v3" */
    const char *title;     /* on the key bar: "V3" */
    const char *idea;      /* one sentence: the one change since the kernel before */
    const char *twin;      /* CPU rows: name of the CUDA row that does the same: "v3"; NULL: none */
    const char *published; /* the article's name of the kernel that this row stands for, or NULL */
    BevWhere where;
    BevDirection direction;
    BevStage stage;
    bool is_default;         /* the default; one per backend, direction and stage */
    bool is_baseline;        /* the baseline: other rows are compared with it, and the live display
                                begins with that of stage POOL; one per backend and direction, of
                                views one forward */
    bool model_only;         /* accesses for the simulator, no code */
    unsigned dtypes, aligns; /* bit masks: 1u << BEV_FP16 */
    BevDtype accumulate[BEV_DTYPE_COUNT]; /* type of the running sum, per format; default FP32. Of
                                             INT8 codes: in FP32 exact below 2^24, or in INT32 */
    bool deterministic;                   /* two runs give the same bits */
    /* feat is (camera, c, h, w) and out (c, cell) for this kernel. Whoever runs it passes such
     * tensors and transposes the output back, outside the timed launch. */
    bool channels_first;
    bool writes_first;     /* can write an output, backward read grad_out, with channels first:
                              out_samples */
    bool wrong_on_purpose; /* shown, timed, and expected to fail the gates */
    /* The row of which this one does the same, but without the points of depth 0. On finite
     * features the result is the same. An infinite or NaN feature does not reach a cell over such
     * a point. Its traffic is that row's, at most. In tables and by name, not live. */
    const char *skips;
    /* `launch` accepts NULL as the plan, for a map that changes from launch to launch: the plan is
     * then built on the stream, in the workspace. Rows without `prepare` always accept NULL. */
    bool plan_optional;
    /* Stage VIEW, kernel by kernel: the row of stage POOL that pools. */
    const char *pools;
    BevAccess access;      /* CUDA rows; owner BEV_OWNS_NOTHING: not simulated */
    BevAccess fallback;    /* V4: the other form, for maps that tiles do not serve */
    /* A row that runs one of two others: `small_l2` where the problem does not fit the L2
     * (bev_v3_choose in regime.h). Else both are NULL. */
    const struct BevKernel *small_l2, *large_l2;
    /* A reason why this kernel cannot run the problem, or NULL. Cheap, never reads arrays. */
    const char *(*unsupported)(const BevProblem *problem);
    /* Builds what must exist before a launch (NULL: nothing). Timed apart and always shown. Fails
     * with ERR_USAGE where the kernel refuses this map, so that a table goes on without it. */
    bool (*prepare)(const BevProblem *problem, BevPlan **plan, Err *err);
    void (*release)(BevPlan *plan); /* accepts NULL */
    /* Bytes of scratch that a launch needs in problem->workspace, whatever they hold before; NULL:
     * none. Launches of one plan run at the same time where each has outputs and scratch of its
     * own. Of CUDA rows, without a plan: the most that any plan of those shapes needs, or, where
     * plans are optional, what a launch without one needs. Reads no array. */
    size_t (*workspace_bytes)(const BevProblem *problem, const BevPlan *plan);
    /* Writes every element of the outputs, the clear included. On CUDA it only enqueues on
     * `stream` (a cudaStream_t) and never synchronises. Never falls back to another kernel.
     * NULL: not in this build (CUDA), or nowhere (model_only). */
    bool (*launch)(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err);
    /* The traffic model. NULL: it follows from `access`; ask bev_traffic(). */
    BevTraffic (*bytes)(const BevProblem *problem);
} BevKernel;

/* THE table, in reading order; ends with NULL. */
extern const BevKernel *const bev_kernels[];

/* The row of that name, or NULL. */
const BevKernel *bev_kernel_find(const char *name);

/* Whether the live display has the kernel on its ladder: stage POOL, launched here, every point. */
bool bev_on_ladder(const BevKernel *kernel);

/* The row of that backend that does the same as `kernel`: `kernel` itself, or its `twin`. NULL:
 * none. */
const BevKernel *bev_twin(const BevKernel *kernel, BevWhere where);

/* The default row and the baseline row of a backend and a direction, of stage POOL. NULL: none in
 * this build. */
const BevKernel *bev_default(BevWhere where, BevDirection direction);
const BevKernel *bev_baseline(BevWhere where, BevDirection direction);

/* Why `kernel` cannot run `problem` (not in this build, or as bev_refuses), or NULL. */
const char *bev_unsupported(const BevKernel *kernel, const BevProblem *problem);

/* Why `kernel` does not fit `problem` (format, align or its own reason), or NULL, whether or not
 * this build can launch it. */
const char *bev_refuses(const BevKernel *kernel, const BevProblem *problem);

/* Why this build cannot launch `kernel` on any machine, or NULL. */
const char *bev_unavailable(const BevKernel *kernel);

enum { BEV_MULTIPROCESSORS = 132 }; /* of an H200, which formulas and the cache model assume */

/* The traffic model of `kernel`: its own formula, or one made from its accesses. V4's count in the
 * map's arrays, which lie on the host: on the CPU entries, on a GPU tiles, steps and pieces, at
 * about 50 ns a point. Bytes are NaN where these arrays are NULL or there is no memory. */
BevTraffic bev_traffic(const BevKernel *kernel, const BevProblem *problem);

/* That of `view` and `grad_view`: V4's, and what the kernels in front of it and behind it move. */
BevTraffic bev_view_traffic(const BevProblem *problem);

/* Whether bev_traffic counts in the map's arrays, at such a cost. */
bool bev_traffic_counts(const BevKernel *kernel);

/* The part of the index bytes that belongs to points, not to owners; backward all of them. Kernels
 * with accesses only. V4: as bev_traffic. */
double bev_rank_bytes(const BevKernel *kernel, const BevProblem *problem);

/* How many warps read an owner's words, on average over the places of a warp where the owner's
 * lanes can begin. */
double bev_warps_an_owner(const BevAccess *access, const BevProblem *problem);

/* Channels that a thread owns in this problem: its channel tile. */
int bev_access_tile(const BevAccess *access, const BevProblem *problem);

/* Points whose depths and features are loaded together in this format. */
double bev_points_in_flight(const BevAccess *access, BevDtype dtype);

/* Points whose indices are loaded together. */
double bev_indices_ahead(const BevAccess *access, BevDtype dtype);

/* ---- helpers over a problem ------------------------------------------------------------------ */

/* Bytes of a tensor's codes and block scales. */
size_t bev_tensor_bytes(const BevTensor *tensor);

/* A problem without values: shapes, formats with scales of 1, and the map, which it borrows.
 * Backward it has the gradients' tensors too. */
BevProblem bev_bare_problem(const BevShape *shape, const BevMap *map, BevDirection direction,
                            BevDtype dtype, BevAlign align);

/* The tensors that a kernel writes: forward `out`, backward `grad_depth` and `grad_feat`. Returns
 * their number. `outputs` points into `problem`. */
enum { BEV_MAX_OUTPUTS = 2 };
int bev_outputs(const BevProblem *problem, const BevTensor *outputs[BEV_MAX_OUTPUTS]);

/* Bytes of all outputs. Where outputs are copied to one block, they follow each other in that
 * order. */
size_t bev_output_bytes(const BevProblem *problem);

/* Bytes of the arrays in memory, each whole and once, with depth that no point reads. */
typedef struct {
    double feat, depth, index, weight, out; /* backward: out is that of grad_out */
    double grads;                           /* backward: of the two gradients */
} BevFootprint;
BevFootprint bev_footprint(const BevProblem *problem);
double bev_footprint_total(BevFootprint footprint);

/* Sum of the byte fields of a traffic record. */
double bev_traffic_total(BevTraffic traffic);

/* The published way of counting: features and depth gathered once per point, 12 index bytes a
 * point, the output written once with elements of `out_bits`. */
BevTraffic bev_gather_traffic(const BevProblem *problem, int out_bits);

/* FP64 pooling of the stored values (the reference of gate A), of stage VIEW with the softmax of
 * what depth stores, which is then dense; features are (camera, h, w, c) in both stages. Obvious
 * loops, one thread. Without memory all is NaN, and the result false.
 * `out` and `abs_sum` (may be NULL) have nx * ny * channels elements; abs_sum receives
 * S = sum |weight * depth * feat|. Host pointers. */
bool bev_reference(const BevProblem *problem, double *out, double *abs_sum);

/* The same as bev_reference backward: FP64 gradients of the stored values. grad_depth has as many
 * elements as depth, grad_feat as feat; S of each (may be NULL) is the sum of the magnitudes of all
 * products in it. */
bool bev_reference_backward(const BevProblem *problem, double *grad_depth, double *grad_feat,
                            double *grad_depth_abs, double *grad_feat_abs);

#ifdef __cplusplus
}
#endif
