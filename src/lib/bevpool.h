/* SPDX-License-Identifier: MIT */
/* libbevpool: BEV pooling of camera features, on the CPU and on NVIDIA GPUs.
 *
 *     out[ranks_bev[t], c] += weight[t] * depth[ranks_depth[t]] * feat[ranks_feat[t], c]
 *
 * for every point t and every channel c. In the order of use: a map says which points there are, a
 * plan prepares one kernel for a map, a format and a number of channels, and bevpool_run() enqueues
 * a launch, as often as you like.
 *
 * Every function that can fail returns a status and, where `error` is not NULL, writes a line of
 * text there. The library never prints, never ends the process and keeps no state of its own, with
 * one exception: in a child of a process that had other threads at the fork, work on the CPU takes
 * one thread. Any number of threads may use a map or a plan at once. The caller destroys a map or a
 * plan only after its last use. */
#ifndef BEVPOOL_H
#define BEVPOOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define BEVPOOL_VERSION "0.2.0"

/* ---- errors ------------------------------------------------------------------------------- */

typedef enum BevpoolStatus {
    BEVPOOL_OK = 0,
    BEVPOOL_BAD_ARGUMENT = 1, /* NULL, a wrong size, format, alignment or place of memory */
    BEVPOOL_BAD_MAP = 2,      /* a map or a rig that contradicts itself or its shape */
    BEVPOOL_UNSUPPORTED = 3,  /* no kernel of this build can do that, or the named kernel cannot */
    BEVPOOL_NO_MEMORY = 4,    /* the host has no memory left */
    BEVPOOL_NO_DEVICE = 5,    /* there is no such GPU, no driver, or no CUDA in this build */
    BEVPOOL_WRONG_DEVICE = 6, /* the current GPU, or the stream's GPU, is not the plan's */
    BEVPOOL_WORKSPACE = 7,    /* the workspace is missing, too small or not aligned */
    BEVPOOL_DEVICE_FAILED = 8 /* CUDA reported an error; the text has its number and name */
} BevpoolStatus;

typedef struct BevpoolError {
    int32_t status; /* a BevpoolStatus */
    char text[764]; /* one line: where, what, and what to do; "" after a success */
} BevpoolError;

/* Returns the name of a status, "BEVPOOL_BAD_MAP"; never NULL. The text is constant. */
const char *bevpool_status_name(BevpoolStatus status);

/* Returns the version of the running library, "0.2.0". BEVPOOL_VERSION is the header's version. */
const char *bevpool_version(void);

/* ---- words -------------------------------------------------------------------------------- */

enum { BEVPOOL_CPU = -1 }; /* a device is this, or the number of a GPU as CUDA counts them */

/* Number formats of features. Depth and output have the same format, with two exceptions. NVFP4 has
 * depth and output in FP8. INT8 has depth in UINT8, a format of depths alone, and its output is
 * INT8 or, as INT8_FP16, FP16. FP8 is E4M3. NVFP4 packs two E2M1 codes into a byte, low nibble
 * first, with an E4M3 scale for every 16 channels. A value is code * scale, for INT8 features also
 * times the scale of the channel. INT8's nearest sums are exact. */
typedef enum BevpoolDtype {
    BEVPOOL_FP32 = 0,
    BEVPOOL_FP16 = 1,
    BEVPOOL_BF16 = 2,
    BEVPOOL_FP8 = 3,
    BEVPOOL_NVFP4 = 4,
    BEVPOOL_INT8 = 5,
    BEVPOOL_INT8_FP16 = 6,
    BEVPOOL_UINT8 = 7
} BevpoolDtype;

/* Which cells a rig's point adds to. NEAREST: the cell that holds the point. BILINEAR: the four
 * cells with the nearest centres. LATTICE, BEV Align as published: the four nearest lower edges. */
typedef enum BevpoolAlign {
    BEVPOOL_NEAREST = 0,
    BEVPOOL_BILINEAR = 1,
    BEVPOOL_LATTICE = 2
} BevpoolAlign;

/* Forward pools. Backward computes the gradients of depth and features from that of the output. */
typedef enum BevpoolDirection { BEVPOOL_FORWARD = 0, BEVPOOL_BACKWARD = 1 } BevpoolDirection;

/* The place of the channels. Features: (B * N, H, W, C) or (B * N, C, H, W). Outputs: (B, Z, Y, X,
 * C) or (B, C, Z, Y, X). Kernels work with channels last; the other layout costs a transposition.
 * The transposition is cheaper for V4's output and for both arrays of a view transform. */
typedef enum BevpoolLayout { BEVPOOL_CHANNELS_LAST = 0, BEVPOOL_CHANNELS_FIRST = 1 } BevpoolLayout;

/* ---- maps --------------------------------------------------------------------------------- */

/* The sizes of a map. Depth is (B * N, D, H, W); the rank of an element is its number in that
 * order. A cell's number is ((b * nz + z) * ny + y) * nx + x. */
typedef struct BevpoolShape {
    int64_t batch;                      /* B: samples */
    int64_t cameras;                    /* N: cameras of a sample */
    int64_t depth_bins, feat_h, feat_w; /* D, H, W */
    int64_t nz, ny, nx;                 /* Z, Y, X: cells of a sample */
} BevpoolShape;

/* BEVDet's five arrays, and weights. Points are sorted by cell: ranks_bev ascends. Interval i is
 * the interval_lengths[i] points from interval_starts[i] on, which share a cell. Intervals follow
 * each other without gaps. */
typedef struct BevpoolArrays {
    int64_t points, intervals;
    const int32_t *ranks_depth; /* [points]: number of the depth value */
    const int32_t *ranks_feat;  /* [points]: number of the feature row, of the same pixel */
    const int32_t *ranks_bev;   /* [points]: number of the cell */
    const int32_t *interval_starts, *interval_lengths; /* [intervals]; both NULL: found here */
    const float *weights;                              /* [points]; NULL: all 1 */
} BevpoolArrays;

typedef struct BevpoolCamera {
    double intrinsics[9]; /* K (3, 3), row-major, in pixels of the original image */
    double rotation[9];   /* camera to ego (3, 3), row-major; camera axes right, down, forward */
    double position_m[3]; /* in the ego frame: x forward, y left, z up */
} BevpoolCamera;

/* A calibration. A pixel of the network's input is resize * (original pixel) - crop. Features are
 * at linspace(0, input - 1, feat), depths at start, start + step, ... below stop, as in BEVDet. A
 * point is inside when min <= p < max on every axis. */
typedef struct BevpoolRig {
    size_t size; /* sizeof(BevpoolRig) */
    const BevpoolCamera *cameras;
    int32_t camera_count; /* 1 to 32 */
    int32_t image_w, image_h;
    double resize, crop_x, crop_y;
    int32_t input_w, input_h, feat_w, feat_h;
    double depth_start_m, depth_stop_m, depth_step_m;
    double x_min_m, x_max_m, y_min_m, y_max_m, z_min_m, z_max_m;
    int32_t nx, ny, nz; /* cells along x, y and z; an nz of 0 counts as 1 */
} BevpoolRig;

typedef struct BevpoolMap BevpoolMap;

/* Flags of bevpool_map_from_arrays. */
enum { BEVPOOL_TRUST_MAP = 1 }; /* do not check the ranks of all points */

/* Copies arrays into a map for `device`. Each array may be in host memory or on that GPU. Work that
 * writes the arrays must be done; they may be freed when the call returns. Counts and sizes are
 * always checked. Ranks, intervals and weights are checked unless `flags` say otherwise: a wrong
 * map then reads and writes foreign memory. Waits for the device. The caller destroys *map. */
BevpoolStatus bevpool_map_from_arrays(BevpoolMap **map, const BevpoolShape *shape,
                                      const BevpoolArrays *arrays, int32_t device, uint32_t flags,
                                      BevpoolError *error);

/* Computes the map of `batch` calibrations, one for each sample, which may differ only in cameras
 * and image transformation. `align` is a BevpoolAlign. `device`, the CPU or a GPU, makes the map;
 * both give the same bits. Waits for the device. During the call a GPU needs about 32 bytes a
 * frustum point besides the map, or 160 if `align` is not NEAREST. A rig that sees no cell gives a
 * map of 0 points. The caller destroys *map. */
BevpoolStatus bevpool_map_from_rigs(BevpoolMap **map, const BevpoolRig *rigs, int64_t batch,
                                    int32_t align, int32_t device, BevpoolError *error);

/* Makes a map that uses the caller's arrays and copies nothing. A launch reads the arrays when the
 * stream reaches this launch, so that the map may change from launch to launch. All arrays,
 * intervals included, lie on `device` and stay until the last launch is done. Only sizes are
 * checked: a wrong map reads and writes foreign memory. Allocates nothing on the device and waits
 * for nothing. A plan on a view needs a kernel without preparation (the forms of V3), else it is
 * BEVPOOL_UNSUPPORTED. The caller destroys *map. */
BevpoolStatus bevpool_map_view(BevpoolMap **map, const BevpoolShape *shape,
                               const BevpoolArrays *arrays, int32_t device, BevpoolError *error);

/* ---- BEVDet's preparation ------------------------------------------------------------------- */

/* Points of the frustum in the grid's frame, and the grid: what voxel_pooling_prepare_v2 takes. */
typedef struct BevpoolPoints {
    size_t size; /* sizeof(BevpoolPoints) */
    const void *points; /* (batch, camera, bin, h, w, 3), row-major, metres */
    int32_t wide, reserved; /* 1: doubles, else floats; arithmetic is in that format */
    double lower_m[3], cell_m[3]; /* of the grid: x, y, z; shape has their numbers */
} BevpoolPoints;

/* Where the prepared arrays go. Those of points have room for all points, those of intervals for as
 * many or for all cells, whichever is less. */
typedef struct BevpoolPrepared {
    size_t size; /* sizeof(BevpoolPrepared) */
    int32_t *ranks_bev, *ranks_depth, *ranks_feat, *interval_starts, *interval_lengths;
    int32_t *counts; /* [2]: points inside the grid, intervals */
} BevpoolPrepared;

/* Writes the bytes of workspace that bevpool_prepare() needs to *bytes. */
BevpoolStatus bevpool_prepare_bytes(const BevpoolShape *shape, int32_t device, size_t *bytes,
                                    BevpoolError *error);

/* Prepares BEVDet's five arrays, with the bits of its voxel_pooling_prepare_v2: a cell's number is
 * cut toward zero, points outside are dropped, points of a cell ascend. On a GPU only: it enqueues
 * on `stream`, allocates nothing, waits for nothing and may be captured. All memory is that GPU's;
 * the workspace begins on a multiple of 256 bytes. */
BevpoolStatus bevpool_prepare(const BevpoolShape *shape, const BevpoolPoints *points,
                              const BevpoolPrepared *out, void *workspace, size_t bytes,
                              int32_t device, void *stream, BevpoolError *error);

/* ---- moving cameras: a map that is made again on the stream --------------------------------- */

/* A camera of one sample at one step. The point of pixel (u, v) of the network's input at a depth
 * of d metres along the optical axis is origin + d * matrix * (u, v, 1), in the grid's frame. */
typedef struct BevpoolPose {
    double matrix[9]; /* (3, 3), row-major */
    double origin_m[3];
} BevpoolPose;

/* Computes *pose of a camera. `image` (3, 3) brings a pixel (u, v, 1) of the original image to the
 * network's input: resize, crop, flip, rotation. `bev` (4, 4) transforms points from the camera's
 * ego frame to the grid's, as BEVDet's bda does. Either may be NULL: no change. Fails if K or
 * `image` is singular or a number is not finite. */
BevpoolStatus bevpool_pose(BevpoolPose *pose, const BevpoolCamera *camera, const double image[9],
                           const double bev[16], BevpoolError *error);

/* The matrices of all cameras, as BEVDet has them: row-major floats, or doubles where `wide`. */
typedef struct BevpoolMatrices {
    size_t size; /* sizeof(BevpoolMatrices) */
    int64_t batch;
    int32_t cameras, wide;
    const void *sensor2ego; /* (batch, camera, 4, 4): a camera's frame to the vehicle's, metres */
    const void *intrinsics; /* (batch, camera, 3, 3) */
    const void *image_rotation; /* (batch, camera, 3, 3): resizes, flips, turns image coordinates */
    const void *image_translation; /* (batch, camera, 3): then moves them, in pixels of the input */
    const void *bev; /* (batch, bev_size, bev_size): the vehicle's frame to the grid's, or NULL */
    int32_t bev_size, reserved; /* 3 or 4; 0 where bev is NULL */
} BevpoolMatrices;

/* Makes the poses (batch, camera) of matrices, all in memory of the device. On a GPU it enqueues
 * one kernel on `stream`. A camera whose matrices are not finite or cannot be inverted sees no
 * cell. */
BevpoolStatus bevpool_poses(const BevpoolMatrices *matrices, BevpoolPose *poses, int32_t device,
                            void *stream, BevpoolError *error);

/* The sizes that stay the same while cameras move. Features are at linspace(0, input - 1, feat).
 * Cells are numbered as in BevpoolShape. */
typedef struct BevpoolFrustum {
    size_t size; /* sizeof(BevpoolFrustum) */
    int64_t batch;
    int32_t cameras; /* of a sample */
    int32_t align;   /* a BevpoolAlign */
    int32_t input_w, input_h, feat_w, feat_h, depth_bins;
    double depth_start_m, depth_step_m;
    const double *depths_m; /* [depth_bins], on the host: used in place of equal steps; or NULL */
    double x_min_m, x_max_m, y_min_m, y_max_m, z_min_m, z_max_m;
    int32_t nx, ny, nz;
    int32_t truncate;    /* 1: cell numbers are cut toward zero, as BEVDet does, which keeps points
                            up to a cell below the minimum */
    int64_t most_entries; /* GPU: room for pieces of an image column that fall into one cell. 0: six
                             for each column, slab of 16 rows and bin, weighted twelve */
} BevpoolFrustum;

/* Makes a map whose cameras move. The map has no points, and its plans have none. In each step
 * bevpool_plan_update() makes the map of this step in the caller's memory. On a GPU kernels are
 * V4's, whose channels are 80 or a multiple of 64. The caller destroys *map. */
BevpoolStatus bevpool_map_moving(BevpoolMap **map, const BevpoolFrustum *frustum, int32_t device,
                                 BevpoolError *error);

/* Makes a map for arrays that change from step to step, as a network's own preparation makes them.
 * Like a moving map this map has no points: in each step bevpool_plan_update_arrays() makes them.
 * It takes nearest cells without weights, on a GPU only. most_entries is as in BevpoolFrustum. The
 * caller destroys *map. */
BevpoolStatus bevpool_map_changing(BevpoolMap **map, const BevpoolShape *shape,
                                   int64_t most_entries, int32_t device, BevpoolError *error);

/* Frees a map as soon as no plan uses it; plans may outlive the handle. Accepts NULL. */
void bevpool_map_destroy(BevpoolMap *map);

/* Writes the sizes of a map to *shape. */
BevpoolStatus bevpool_map_shape(const BevpoolMap *map, BevpoolShape *shape, BevpoolError *error);

/* Writes the arrays of a map to *arrays. They lie in its device's memory and belong to the map. */
BevpoolStatus bevpool_map_arrays(const BevpoolMap *map, BevpoolArrays *arrays, BevpoolError *error);

/* ---- plans -------------------------------------------------------------------------------- */

/* A view transform: depth and feat as a network gives them, the depth as logits. Each array is (B *
 * N, D or C, H, W) with its own strides, in any order of memory. Both may be parts of one tensor (B
 * * N, D + C, H, W). The formats are FP32, FP16 and BF16. Backward, grad_depth is the gradient of
 * the logits, and each gradient has the strides of its array. Memory between the elements of a
 * gradient is not written. On a GPU features need no copy if they are dense with channels last and
 * begin on a multiple of 16 bytes. A pixel with a NaN, a +infinity or only -infinity among its
 * logits has NaN depths. */
typedef struct BevpoolView {
    int32_t softmax;   /* 1: depth = softmax over the bins of logits / temperature; 0: as given */
    float temperature; /* at least 1.17549e-38 (FLT_MIN) and finite; 0 counts as 1 */
    /* Distances in elements between cameras, bins or channels, rows, columns. All 0: dense. */
    int64_t depth_strides[4], feat_strides[4];
} BevpoolView;

typedef struct BevpoolOptions {
    size_t size; /* sizeof(BevpoolOptions); an older header's is accepted */
    int64_t channels;
    int32_t dtype;       /* a BevpoolDtype */
    int32_t direction;   /* a BevpoolDirection */
    int32_t feat_layout; /* a BevpoolLayout: of feat and grad_feat */
    int32_t out_layout;  /* a BevpoolLayout: of out and grad_out */
    const char *kernel;  /* a name from bevpool_kernel_name; NULL: the best one that fits */
    const BevpoolView *view; /* NULL: depth and feat are dense and no logits. Else feat_layout is
                                not used. Only bevpool_plan_create reads it */
} BevpoolOptions;

typedef struct BevpoolPlan BevpoolPlan;

/* Prepares a kernel for a map, on the map's device, and waits for it. The plan's memory comes in
 * part from the device's default memory pool. The call is quicker if the pool keeps freed memory
 * (its release threshold, set by the caller) or holds another plan. Launches take no memory. A plan
 * of the CPU uses OpenMP's number of threads at this call, or one thread if a fork has lost the
 * others. The plan keeps the map alive. The caller destroys *plan. */
BevpoolStatus bevpool_plan_create(BevpoolPlan **plan, BevpoolMap *map,
                                  const BevpoolOptions *options, BevpoolError *error);

/* Flags of bevpool_plan_check. */
enum { BEVPOOL_ON_VIEW = 1 }; /* the map is one of bevpool_map_view */

/* Checks whether a GPU's plan can be made for a map of these sizes: before there is a map, and on
 * machines without a GPU. *workspace_bytes receives the most workspace that its launches may need.
 * Of `arrays` only the counts are read, and whether weights exist. A kernel may still refuse the
 * map. Without options->kernel *workspace_bytes is the most of all kernels that fit. */
BevpoolStatus bevpool_plan_check(const BevpoolShape *shape, const BevpoolArrays *arrays,
                                 const BevpoolOptions *options, uint32_t flags,
                                 size_t *workspace_bytes, BevpoolError *error);

/* Frees a plan. All its launches must be done. Accepts NULL. */
void bevpool_plan_destroy(BevpoolPlan *plan);

/* Returns the name of the plan's kernel; the library owns this text. A NULL plan gives NULL. */
const char *bevpool_plan_kernel(const BevpoolPlan *plan);

/* Returns the bytes of workspace that a launch needs, perhaps 0. A NULL plan needs 0 bytes. */
size_t bevpool_plan_workspace_bytes(const BevpoolPlan *plan);

/* Returns the bytes of memory for the map of a plan on moving cameras; 0 for all others. */
size_t bevpool_plan_map_bytes(const BevpoolPlan *plan);

/* Makes the map of `poses` (sample, camera) in `memory`. `memory` lies on the plan's device and
 * begins on a multiple of 256 bytes. Poses may be in memory of the host or of that GPU. On a GPU
 * the function enqueues on `stream` and returns: it allocates nothing, waits for nothing and may be
 * captured. Poses stay until the stream has passed the update. Then BevpoolCall.map is `memory` in
 * any number of launches. Updates that may overlap need their own memory. A pose that is not finite
 * sees no cell. If the map needs more room than BevpoolFrustum.most_entries, launches take the map
 * as empty, and the first word of `memory` is 1; else this word is 0. */
BevpoolStatus bevpool_plan_update(const BevpoolPlan *plan, const BevpoolPose *poses, void *memory,
                                  size_t bytes, void *stream, BevpoolError *error);

/* As bevpool_plan_update(), for a map of bevpool_map_changing(). The arrays lie on the plan's GPU
 * and stay until the stream has passed the update. The GPU leaves out wrong points and points whose
 * depth has come before. The second word of `memory` is 1 if it has left out points, else 0.
 * Without intervals points may come in any order. */
BevpoolStatus bevpool_plan_update_arrays(const BevpoolPlan *plan, const BevpoolArrays *arrays,
                                         void *memory, size_t bytes, void *stream,
                                         BevpoolError *error);

/* The arrays that a launch reads or writes. */
typedef enum BevpoolRole {
    BEVPOOL_DEPTH = 0,
    BEVPOOL_FEAT = 1,
    BEVPOOL_FEAT_SCALES = 2, /* NVFP4: a byte for 16 channels of a row; INT8: an FP32 a channel */
    BEVPOOL_OUT = 3,
    BEVPOOL_GRAD_OUT = 4,
    BEVPOOL_GRAD_DEPTH = 5,
    BEVPOOL_GRAD_FEAT = 6,
    BEVPOOL_ROLES = 7
} BevpoolRole;

/* Returns the bytes of an array of the plan; 0 if the plan neither reads nor writes it. */
size_t bevpool_plan_bytes(const BevpoolPlan *plan, int32_t role);

/* Returns the name of a kernel of this build for a device (BEVPOOL_CPU, or any GPU) and a
 * direction. Indices 0, 1, ... list them in the table's order until NULL. Kernels that lose updates
 * on purpose are left out. */
const char *bevpool_kernel_name(int32_t device, int32_t direction, int32_t index);

/* Loads the code of a direction's default kernels, and makes the device's default memory pool. CUDA
 * does both at the first use: without this call the first plan takes about 14 ms longer (H200), and
 * the first plan of the other direction 5 ms. Call this function at the start of the program, while
 * no stream is captured. It creates CUDA's context on `device` if there is none. On the CPU it does
 * nothing. */
BevpoolStatus bevpool_warm_up(int32_t device, int32_t direction, BevpoolError *error);

/* ---- launches ----------------------------------------------------------------------------- */

/* An array of the caller's, in memory of the plan's device. It is dense unless a view gives
 * strides. Alignment: on a GPU dense arrays begin on a multiple of 16 bytes. Strided arrays, and
 * all on the CPU, begin on a multiple of one element. */
typedef struct BevpoolTensor {
    void *data;
    size_t bytes;  /* the whole size: checked against bevpool_plan_bytes() */
    int32_t dtype; /* a BevpoolDtype: checked against the plan. FEAT_SCALES: BEVPOOL_FP8 for a byte
                      a block, or BEVPOOL_FP32 */
    float scale;   /* of 4 or 8 bits: the tensor's scale, positive; 0 counts as 1. Else 0 or 1 */
} BevpoolTensor;

/* The arguments of one launch. Forward reads depth and feat and writes all of out. Backward reads
 * depth, feat and grad_out and writes all of grad_depth and grad_feat. Arrays that the plan does
 * not use are ignored. */
typedef struct BevpoolCall {
    size_t size; /* sizeof(BevpoolCall); an older header's is accepted */
    BevpoolTensor tensors[BEVPOOL_ROLES]; /* by BevpoolRole */
    void *workspace;        /* on the device, begins on a multiple of 256 bytes; any contents */
    size_t workspace_bytes; /* at least bevpool_plan_workspace_bytes() */
    void *stream;           /* a cudaStream_t of the plan's GPU; NULL: default. Unused by a CPU */
    const void *map;        /* moving cameras: the memory that bevpool_plan_update() was given */
} BevpoolCall;

/* Runs the plan's kernel once. On a GPU it checks the arguments, enqueues on the stream and
 * returns. It allocates nothing and waits for nothing, and it may be captured into a CUDA graph.
 * The arrays and the workspace must stay until the stream has passed the launch. Launches that may
 * overlap need their own workspaces and outputs. The calling thread's current GPU must be the
 * plan's. On the CPU the work is done when the call returns. The result does not depend on old
 * contents of outputs and workspace. An error that a GPU reports after the return belongs to the
 * stream: a later call may report it as BEVPOOL_DEVICE_FAILED. */
BevpoolStatus bevpool_run(const BevpoolPlan *plan, const BevpoolCall *call, BevpoolError *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
