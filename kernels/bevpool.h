/* SPDX-License-Identifier: MIT */
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

/* UINT8 is the element format of depths that go with INT8 features: depths are never negative. E5M2
 * is a format of single codes (codec.h): no kernel computes with it. */
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

/* A row of the format table. Codes are 8, 16 or 32 bits wide; codes of another width are packed in
 * blocks, as NVFP4's are. To add a format:
 * - Write its name above, and its row and its codes in bevpool.c. Give it the same number in
 *   src/lib/bevpool.h, behind the last format of kernels. This moves UINT8, whose number linked
 *   programs know: count up the soname in src/lib/local.mk.
 * - Change the masks of formats below, gate_b_limits (src/accuracy/gates.c) and
 *   bev_channel_instructions (regime.c).
 * - For GPUs: change Codec, DEPTH_OF and OUT_OF (cuda/formats.cuh) and the list of with_dtype
 *   (cuda/common.cuh), or for packed blocks the list of with_dtype_or_fp4.
 * - For packed blocks: change bev_code_bytes, bev_tensor_scale, bev_block_scale and bev_tensor_at
 *   (bevpool.c), and the places that `grep BEV_NVFP4` finds. Block scales that are no powers of two
 *   need fill_blocks() (src/accuracy/gate_exact.c).
 * - Extend the lists of test_codec.c and tests/data/test_bits.sh; other tests go through all rows.
 *   Run `make goldens`, and extend the lists in kernels/README.md and src/accuracy/README.md.
 * `depth` and `out` are the element formats that go with features of this format: FP8 with NVFP4,
 * as in the published kernels; UINT8 depth with INT8 and INT8_FP16, and as output INT8 or FP16. */
typedef struct {
    const char *name;  /* command line and JSON: "fp16" */
    const char *title; /* on screen: "FP16" */
    int bits;          /* per element, scales not counted */
    int sign, exponent; /* bits of a code from its top; the rest is the fraction, or, without an
                           exponent, a whole number in two's complement */
    int block;          /* neighbouring channels that share a scale; 0: no block scales */
    BevDtype depth, out;
    double unit_roundoff; /* u: 2^-11 for FP16, half a unit in the last place of 1.0 */
    double smallest;      /* smallest positive (subnormal) value */
    double largest;       /* largest finite value */
    const char *scaling;  /* "none", "per tensor", "per 16 values and per tensor" */
} BevDtypeInfo;

extern const BevDtypeInfo bev_dtypes[BEV_ELEMENT_COUNT];

/* Returns whether features of the format are whole numbers: codes of INT8. */
static inline bool bev_is_whole(BevDtype dtype) {
    return dtype == BEV_INT8 || dtype == BEV_INT8_FP16;
}

/* The channels of an NVFP4 block, which share one E4M3 scale. */
enum { BEV_BLOCK = 16 };
enum { BEV_MAX_CUDA_CHANNELS = 1024 };

/* ---- alignment of points with cells ------------------------------------------------------- */

/* Which cells a point adds to. NEAREST: the cell that holds the point. BILINEAR: the four cells
 * with the nearest centres, weighted. LATTICE: the published BEV Align, which takes lower cell
 * corners in place of centres. Kernels see only whether the map has weights. */
typedef enum { BEV_NEAREST, BEV_BILINEAR, BEV_LATTICE, BEV_ALIGN_COUNT } BevAlign;

/* The words for an align, a direction or a stage. */
typedef struct {
    const char *name, *title, *idea;
} BevWords;

extern const BevWords bev_aligns[BEV_ALIGN_COUNT];

/* ---- directions ---------------------------------------------------------------------------- */

/* FORWARD pools. BACKWARD computes the gradients of depth and features. A kernel has one
 * direction. */
typedef enum { BEV_FORWARD, BEV_BACKWARD, BEV_DIRECTION_COUNT } BevDirection;

extern const BevWords bev_directions[BEV_DIRECTION_COUNT];

/* ---- stages ------------------------------------------------------------------------------- */

/* POOL takes depths and features in the shapes above. VIEW is the whole view transform: a kernel
 * reads logits by strides, turns the logits into depths, and pools. Backward, grad_depth of a view
 * is the gradient of the logits. Each gradient has the strides of its tensor. */
typedef enum { BEV_POOL, BEV_VIEW, BEV_STAGE_COUNT } BevStage;

extern const BevWords bev_stages[BEV_STAGE_COUNT];

/* Distances in memory between neighbours, in elements. A depth's `channel` is its bin. */
typedef struct {
    int64_t camera, channel, row, column;
} BevStrides;

/* How a view transform reads a problem's depth and feat. */
typedef struct {
    bool softmax;      /* depth = softmax over bins of logits / temperature; false: as stored */
    float temperature; /* positive */
    BevStrides depth, feat;
} BevView;

/* ---- the problem --------------------------------------------------------------------------- */

typedef struct {
    int64_t cameras, depth_bins, feat_h, feat_w; /* depth (camera, depth, h, w) */
    int64_t channels;                            /* feat (camera, h, w, c) */
    int64_t nx, ny;                              /* out (y * nx + x, c) */
    /* The number of slices in height; 0 counts as 1. Slices lie one behind the other. ny counts the
     * rows of all slices, so kernels need not know nz. Cell (x, y, z) has number
     * (z * (ny / nz) + y) * nx + x. */
    int64_t nz;
} BevShape;

/* ---- moving cameras: maps that are made again on the stream ---------------------------------- */

/* A camera of one sample. Feature pixel (w, h) lies at u = w * u_step, v = h * v_step. At depth d
 * the pixel sees the point origin + d * matrix * (u, v, 1), in metres in the frame of the grid. */
typedef struct {
    double matrix[9]; /* (3, 3), row-major */
    double origin_m[3];
} BevPose;

/* The grid of one sample, as in scene/geometry.h: axes x, y, z. A point is inside when min <= p <
 * max; with `truncate` when min - cell < p < max, as cutting toward zero keeps it. */
typedef struct {
    double min_m[3], max_m[3], cell_m[3];
    int count[3];
    int truncate;
} BevGrid;

/* The sizes of a moving map, which stay the same from step to step. Bins are at start + bin * step
 * metres, or at depths_m. */
typedef struct {
    BevShape shape;        /* of all samples, as kernels see it */
    int64_t samples;       /* cameras and rows of cells are divided among them */
    BevAlign align;
    BevGrid grid;
    double u_step, v_step; /* pixels of the network's input between two feature pixels */
    double depth_start_m, depth_step_m;
    const double *depths_m; /* [depth_bins], in device memory; NULL: equal steps */
    int64_t most_entries;   /* room for entries (kernels/cuda/v4/README.md); 0: six a column and
                               bin, twice as many with weights */
    bool of_cells;          /* the cells of all points are given: no poses, no grid, no depths */
} BevMoving;

/* The memory of a moving map begins with flags. At BEV_MOVING_SOURCE bytes the source of the map
 * begins: a BevPose for each camera, or the cell of each point, int32 (camera, w, h, bin), -1:
 * none. The row's own arrays follow. */
enum { BEV_MOVING_SOURCE = 256 };
enum { BEV_MOVING_FULL = 1 }; /* first word: entries had no room, the map is empty */

/* Returns the bytes in front of the row's own arrays, a multiple of 256. */
static inline size_t bev_moving_head(const BevMoving *moving) {
    const BevShape *s = &moving->shape;
    int64_t points = s->cameras * s->depth_bins * s->feat_h * s->feat_w;
    size_t bytes = moving->of_cells ? (size_t)points * sizeof(int32_t)
                                    : (size_t)s->cameras * sizeof(BevPose);
    return BEV_MOVING_SOURCE + (bytes + 255) / 256 * 256;
}

/* The scatter map. Points are sorted by cell; interval i is the run of points
 * [interval_starts[i], interval_starts[i] + interval_lengths[i]) of one cell. Cells without a
 * point have no interval. The intervals partition the points exactly, in order. */
typedef struct {
    int64_t points, intervals;
    int32_t *ranks_depth, *ranks_feat, *ranks_bev; /* [points] */
    int32_t *interval_starts, *interval_lengths;   /* [intervals] */
    float *weights;                                /* [points]; NULL: every weight is 1 */
    /* Cameras that move: the arrays are then not read, `points` and `intervals` are bounds, and
     * weights are there or not. `memory`, of a launch: where the row's `update` made the map. */
    const BevMoving *moving;
    void *memory;
} BevMap;

/* A tensor of encoded values: `rows` rows of `row_len` elements. Value = code * block scale *
 * channel scale * scale. Rows of NVFP4 are padded to whole blocks: ceil(row_len / 16) * 8 bytes of
 * codes (low nibble first) and ceil(row_len / 16) block scales. All other formats are dense. */
typedef struct {
    BevDtype dtype;
    int64_t rows, row_len;
    void *data;
    uint8_t *block_scales; /* NVFP4: E4M3 codes, row-major. Else NULL */
    float scale;           /* tensor scale; 1 for FP32, FP16, BF16 */
    float *channel_scales; /* INT8 features: [row_len], all 1 for one common scale. Else NULL */
} BevTensor;

/* Everything that a kernel may read, and the outputs that it writes: forward `out`, backward
 * `grad_depth` and `grad_feat`. Pointers lie where the kernel runs (host or device). A kernel
 * writes every element of its outputs and nothing else. The tensors' shapes agree with `shape`. */
typedef struct {
    BevShape shape;
    BevDirection direction;
    BevDtype dtype; /* feat.dtype == dtype; depth and out have the formats in its row */
    BevAlign align;
    BevStage stage;
    BevView view;    /* used by stage VIEW */
    /* 0: out and grad_out are (cell, c). Above 0: the grid holds out_samples samples of a batch,
     * each of nx * ny / out_samples cells. Then out and grad_out are (sample, c, cell of the
     * sample), which only kernels with `writes_first` accept. */
    int64_t out_samples;
    BevMap map;      /* sorted by cell in both directions */
    BevTensor depth; /* one row of cameras * depth_bins * feat_h * feat_w */
    BevTensor feat;  /* cameras * feat_h * feat_w rows of channels */
    BevTensor out;   /* nx * ny rows of channels; out.scale is given, never chosen by a kernel */
    /* Backward only; all three have format `dtype` and scale 1. Forward their data are NULL. */
    BevTensor grad_out;   /* shaped as out; an input. `out` then has no data */
    BevTensor grad_depth; /* shaped as depth */
    BevTensor grad_feat;  /* shaped as feat */
    void *workspace; /* scratch of the kernel's workspace_bytes, 256-aligned; NULL if those are 0 */
} BevProblem;

/* Bytes that a kernel asks the memory system for; caches are not considered. */
typedef struct {
    /* Reads. `index` counts the five index arrays, or the plan's arrays in their place. V4's
     * `depth` includes the reads and writes of its transposition. */
    double feat, depth, index, weight;
    double out_read, out_write;        /* an atomic addition to the output counts in both */
    double grad_read, grad_write;      /* backward: both gradients; grad_out counts in out_read */
    double atomics;                    /* the number of atomic additions, not bytes */
} BevTraffic;

/* ---- how a CUDA kernel accesses memory ------------------------------------------------------ */

/* The owner of a run of neighbouring threads. A splat is a frustum point with up to four cells. A
 * piece is a share of a cell's points. A cell tile is 16 cells that see the same image columns. The
 * cache model replays pieces and cell tiles as V4 builds them; the other owners are general. A new
 * kind of owner needs code in src/cachesim/trace_owners.c, or a replay of its own beside
 * trace_tiles.c with a branch in trace.c. It also needs its index bytes in traffic.c and its word
 * in src/view/panel/steps_page.c. */
typedef enum {
    BEV_OWNS_NOTHING, /* the row describes no accesses */
    BEV_OWNS_POINT,
    BEV_OWNS_SPLAT,
    BEV_OWNS_INTERVAL,
    BEV_OWNS_CELL,
    BEV_OWNS_PIECE,
    BEV_OWNS_TILE
} BevOwner;

/* Where a kernel keeps its sums. OWNED: in the owner's registers until they are stored. ATOMIC and
 * PLAIN: in memory as FP32, added to by atomics or by a plain +=, and encoded at the end. */
typedef enum { BEV_SUMS_OWNED, BEV_SUMS_ATOMIC, BEV_SUMS_PLAIN } BevSums;

/* The words of a splat's record: depth index, feature row, four cells, four weights. */
enum {
    BEV_SPLAT_CELLS = 4,
    BEV_SPLAT_RANKS = 2 + BEV_SPLAT_CELLS,
    BEV_SPLAT_WORDS = BEV_SPLAT_RANKS + BEV_SPLAT_CELLS
};

/* Index bytes that an owner reads before its points. The owner of an interval reads the start, the
 * length and the rank of the cell, or V2+DO's packed record. The owner of a cell reads the number
 * of the interval; a cell with an interval adds start and length. The owner of a piece reads a
 * record. */
enum { BEV_INTERVAL_BYTES = 12, BEV_CELL_BYTES = 4, BEV_PIECE_BYTES = 16 };

/* A kernel as the memory system and the schedulers see it: the numbers behind WHO and MEMORY in its
 * file. src/cachesim replays these accesses, and the traffic formula follows from them. For owners
 * of cell tiles only owner, evict_first, indices_ahead and in_flight are used; trace_tiles.c knows
 * the rest. "Disassembled": counted in `cuobjdump -sass` of the kernel compiled for 9.0. */
typedef struct {
    BevOwner owner;
    BevSums sums;
    int tile;               /* the channel tile: the number of channels that a thread owns */
    bool widens;            /* tiles of 16, not 8, in NVFP4; for pieces in 4 and 8 bits if channels
                               % 16 == 0 */
    bool tiles_outside;     /* each tile has its own row of the grid; else tiles are neighbours */
    int block;              /* threads of a block */
    bool whole;             /* no owner lies in two blocks */
    int resident;           /* warps that fit a multiprocessor with 65,536 registers */
    int load, store;        /* channels that one load or store instruction moves */
    int ranks;              /* index words of a point; 1: a packed record an owner */
    int owner_bytes;        /* index bytes that an owner reads before its points */
    bool merges;            /* a block adds once for all its points of one cell */
    bool clears;            /* the kernel clears the output first */
    bool evict_first;       /* the output is stored with the cache hint "evict first" */
    bool halves;            /* sums are kept in half2 where the format's values fit a half */
    /* Memory-level parallelism of the loop over points, as disassembled for 9.0: points whose
     * indices (indices_ahead), or depths and features (in_flight), are loaded before one wait.
     * Below 1: one point's features need several waits. `_of`: the number for one format where it
     * differs, else 0. */
    float indices_ahead, indices_ahead_of[BEV_DTYPE_COUNT];
    float in_flight, in_flight_of[BEV_DTYPE_COUNT];
    int point_instructions; /* warp instructions of a point, features apart, as disassembled */
    int point_instructions_of[BEV_DTYPE_COUNT]; /* for one format where it differs, else 0 */
} BevAccess;

/* ---- the kernels --------------------------------------------------------------------------- */

typedef enum { BEV_CPU, BEV_CUDA } BevWhere;

/* The result of `prepare`: packed records, pieces or work lists. Opaque; `release` frees a plan. */
typedef struct BevPlan BevPlan;

/* Bit masks for the fields dtypes and aligns of a row. Gradients and views are UNSCALED. */
enum {
    BEV_UNSCALED_DTYPES = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16,
    BEV_DENSE_DTYPES = BEV_UNSCALED_DTYPES | 1u << BEV_FP8 | 1u << BEV_INT8 | 1u << BEV_INT8_FP16,
    BEV_ALL_DTYPES = BEV_DENSE_DTYPES | 1u << BEV_NVFP4,
    BEV_ALL_ALIGNS = 1u << BEV_NEAREST | 1u << BEV_BILINEAR | 1u << BEV_LATTICE,
};

/* A kernel: one file, one row. Every build has every row. A build without CUDA compiles the rows of
 * CUDA kernels without their functions: it can simulate these kernels, but not launch them. */
typedef struct BevKernel {
    const char *name;      /* file stem, symbol suffix, command-line word: "cpu_v3" */
    const char *title;     /* on the key bar: "V3" */
    const char *idea;      /* one sentence: the one change since the kernel before */
    const char *counterpart; /* CPU rows: the CUDA row that does the same, "v3"; NULL: none */
    const char *published; /* the article's name of this kernel; NULL: the article has none */
    BevWhere where;
    BevDirection direction;
    BevStage stage;
    bool is_default;         /* the default row; one per backend, direction and stage */
    bool is_baseline;        /* other rows are compared with this row. The live display compares
                                with the row of POOL unless the user pins another. One per backend
                                and direction; of stage VIEW only forward */
    unsigned dtypes, aligns; /* bit masks: 1u << BEV_FP16 */
    BevDtype accumulate[BEV_DTYPE_COUNT]; /* type of the running sum, per format; default FP32. Sums
                                             of INT8 codes are exact: in FP32 below 2^24, in
                                             INT32 */
    bool deterministic;                   /* two runs give the same bits */
    /* feat is (camera, c, h, w) and out is (c, cell) for this kernel. The caller passes such
     * tensors and transposes the output back, outside the timed launch. */
    bool channels_first;
    bool writes_first;     /* takes out_samples above 0: writes out, or reads grad_out, with
                              channels first */
    bool wrong_on_purpose; /* the kernel is shown and timed, and must fail the gates */
    /* The name of another row. This row does the same, but leaves out the points of depth 0. On
     * finite features the result is the same. An infinite or NaN feature of a point of depth 0 does
     * not reach the cell. The traffic is at most that of the named row. Tables list rows with
     * `skips`, the live display does not. */
    const char *skips;
    /* `launch` accepts NULL as the plan, for a map that changes from launch to launch. The plan is
     * then built on the stream, in the workspace. Rows without `prepare` always accept NULL. */
    bool plan_optional;
    /* Views that run as several kernels: the name of the row of stage POOL that pools. */
    const char *pools;
    BevAccess access;      /* CUDA rows. Owner BEV_OWNS_NOTHING: the row is not simulated */
    BevAccess fallback;    /* V4: the accesses of its pieces, for maps that tiles do not serve */
    /* V3 runs one of two other rows: `small_l2` where the problem does not fit the L2
     * (bev_v3_choose in regime.h), else `large_l2`. In all other rows both are NULL. */
    const struct BevKernel *small_l2, *large_l2;
    /* Builds the plan that a launch needs (NULL: no plan is needed). The plan's time is measured
     * apart and always shown. Fails with ERR_USAGE where the kernel refuses this map, so that a
     * table goes on without the kernel. */
    bool (*prepare)(const BevProblem *problem, BevPlan **plan, Err *err);
    void (*release)(BevPlan *plan); /* accepts NULL */
    /* Returns the bytes of scratch memory that a launch needs in problem->workspace (NULL: none).
     * The contents may be anything. Launches of one plan may run at the same time if each has its
     * own outputs and scratch. With `plan` NULL a CUDA row returns the most that any plan of these
     * shapes needs; where plans are optional, the need of a launch without one. Reads no array. */
    size_t (*workspace_bytes)(const BevProblem *problem, const BevPlan *plan);
    /* Rows that take moving maps: map_bytes returns the bytes of a map. `update` makes the map in
     * map.memory, which holds the source already. It enqueues, and neither allocates nor waits. */
    size_t (*map_bytes)(const BevProblem *problem, const BevPlan *plan);
    bool (*update)(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err);
    /* Writes every element of the outputs, zeros included. On CUDA it only enqueues on `stream` (a
     * cudaStream_t) and never synchronises. It never falls back to another kernel. NULL: this build
     * has no CUDA. */
    bool (*launch)(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err);
    /* Returns the traffic. NULL: the traffic follows from `access`. Callers use bev_traffic(). */
    BevTraffic (*bytes)(const BevProblem *problem);
    /* Default rows on CUDA: a __global__ function of the row's file. bevpool_warm_up loads all
     * functions of that file, so that no later launch waits for code. */
    const void *code;
} BevKernel;

/* THE table of kernels, in reading order. NULL ends it. */
extern const BevKernel *const bev_kernels[];

/* Returns the row of that name, or NULL. */
const BevKernel *bev_kernel_find(const char *name);

/* THE ladder: forward the kernels of NVIDIA's article, V2, V2+DO and V3, and V4 above them. Writes
 * the rows of that backend in the order of the table, whether this build can launch them or not.
 * Returns their number: BEV_RUNGS, or fewer where a rung has no row on the CPU. */
enum { BEV_RUNGS = 4 };
int bev_ladder(BevWhere where, BevDirection direction, const BevKernel *ladder[BEV_RUNGS]);

/* Returns whether the live display lists the kernel: its stage is POOL, this build can launch it,
 * and it reads every point. */
bool bev_is_listed(const BevKernel *kernel);

/* Returns the row of backend `where` that does the same as `kernel`: `kernel` itself, or its
 * counterpart. NULL: there is none. */
const BevKernel *bev_counterpart(const BevKernel *kernel, BevWhere where);

/* Returns the default row or the baseline row of stage POOL for a backend and a direction. NULL:
 * this build has none. */
const BevKernel *bev_default(BevWhere where, BevDirection direction);
const BevKernel *bev_baseline(BevWhere where, BevDirection direction);

/* Returns why `kernel` cannot run `problem` in this build, or NULL. The function joins
 * bev_unavailable and bev_refuses. */
const char *bev_unsupported(const BevKernel *kernel, const BevProblem *problem);

/* Returns why `kernel` does not fit `problem` (format, align, channels), or NULL. Whether this
 * build can launch the kernel does not matter. */
const char *bev_refuses(const BevKernel *kernel, const BevProblem *problem);

/* Returns why this build cannot launch `kernel` on any machine, or NULL. */
const char *bev_unavailable(const BevKernel *kernel);

enum { BEV_MULTIPROCESSORS = 132 }; /* of an H200; formulas and the cache model assume it */

/* Returns the traffic of `kernel` by its own formula, or from its accesses. For V4 the map's arrays
 * are counted: entries on the CPU, tiles, steps and pieces on a GPU. This takes about 50 ns a
 * point, and the arrays must lie on the host. The bytes are NaN where they are NULL or memory is
 * short. */
BevTraffic bev_traffic(const BevKernel *kernel, const BevProblem *problem);

/* Returns the traffic of `view` and `grad_view`: V4's traffic, and that of the kernels before and
 * after V4. */
BevTraffic bev_view_traffic(const BevProblem *problem);

/* Returns whether bev_traffic counts the map's arrays for this kernel, which costs time. */
bool bev_traffic_counts(const BevKernel *kernel);

/* Returns the index bytes that belong to points and not to owners; backward, all index bytes. The
 * kernel must have accesses. V4's map is counted as by bev_traffic. */
double bev_rank_bytes(const BevKernel *kernel, const BevProblem *problem);

/* Returns the mean number of warps that read an owner's words. The number depends on the lane at
 * which the owner begins. */
double bev_warps_an_owner(const BevAccess *access, const BevProblem *problem);

/* Returns the channel tile: the number of channels that a thread owns in this problem. */
int bev_access_tile(const BevAccess *access, const BevProblem *problem);

/* Returns the number of points whose depths and features are loaded before one wait. */
double bev_points_in_flight(const BevAccess *access, BevDtype dtype);

/* Returns the number of points whose indices are loaded before one wait. */
double bev_indices_ahead(const BevAccess *access, BevDtype dtype);

/* ---- helpers over a problem ------------------------------------------------------------------ */

/* The arrays of a map, the weights last, and how many elements of 4 bytes each has. */
enum { BEV_MAP_ARRAYS = 6 };
typedef struct {
    void **array[BEV_MAP_ARRAYS];
    int64_t count[BEV_MAP_ARRAYS];
} BevMapArrays;
BevMapArrays bev_map_arrays(BevMap *map);

/* Points the arrays of a map into `memory`, one behind the other, each at a multiple of 256 bytes.
 * Weights are placed if map->weights is not NULL. Returns the bytes of all arrays. With `memory`
 * NULL the function only counts these bytes. */
size_t bev_map_place(BevMap *map, void *memory);

/* Returns the bytes of a tensor's codes and block scales. */
size_t bev_tensor_bytes(const BevTensor *tensor);

/* Makes a problem without values: shapes, formats with scales of 1, and the map, which the problem
 * borrows. Backward the problem has the gradients' tensors too. */
BevProblem bev_bare_problem(const BevShape *shape, const BevMap *map, BevDirection direction,
                            BevDtype dtype, BevAlign align);

/* Finds the tensors that a kernel writes: forward `out`, backward `grad_depth` and `grad_feat`.
 * Returns their number. `outputs` points into `problem`. */
enum { BEV_MAX_OUTPUTS = 2 };
int bev_outputs(const BevProblem *problem, const BevTensor *outputs[BEV_MAX_OUTPUTS]);

/* Returns the bytes of all outputs. One block that holds a copy of all outputs has them in the
 * order of bev_outputs. */
size_t bev_output_bytes(const BevProblem *problem);

/* Bytes of the arrays in memory. Each array counts once and completely, with depths that no point
 * reads. */
typedef struct {
    double feat, depth, index, weight, out; /* backward: `out` counts grad_out */
    double grads;                           /* backward: the two gradients */
} BevFootprint;
BevFootprint bev_footprint(const BevProblem *problem);
double bev_footprint_total(BevFootprint footprint);

/* Returns the sum of the byte fields of a traffic record. */
double bev_traffic_total(BevTraffic traffic);

/* Returns the gather traffic as the article counts it: each point reads its features, its depth and
 * 12 index bytes. The output is written once with elements of `out_bits` bits. */
BevTraffic bev_gather_traffic(const BevProblem *problem, int out_bits);

/* Pools the stored values in FP64: the reference of gate A. For stage VIEW depth stores dense
 * logits, and their softmax is pooled. Features are (camera, h, w, c) in both stages. The loops are
 * plain and run on one thread. Without memory all results are NaN, and the function returns false.
 * `out` and `abs_sum` (may be NULL) have nx * ny * channels elements; abs_sum receives S = sum
 * |weight * depth * feat|. All pointers are host pointers. */
bool bev_reference(const BevProblem *problem, double *out, double *abs_sum);

/* Computes the FP64 gradients of the stored values, backward's counterpart of bev_reference.
 * grad_depth has as many elements as depth, grad_feat as feat. The two `_abs` arrays (may be NULL)
 * receive the sums of the magnitudes of all products in each gradient. */
bool bev_reference_backward(const BevProblem *problem, double *grad_depth, double *grad_feat,
                            double *grad_depth_abs, double *grad_feat_abs);

#ifdef __cplusplus
}
#endif
