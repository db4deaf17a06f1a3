/* SPDX-License-Identifier: MIT */
/* IDEA    The view transform as a framework runs it, kernel by kernel: a softmax over the depth
 *         bins, the features transposed to channels last, BEVDet's V2 or V4, and the grid
 *         transposed to channels first. Each kernel is what one would write for it alone.
 * WHO     Softmax: a thread owns a pixel and goes down its bins three times. Transpositions: a
 *         block owns 32 x 32 elements.
 *
 *             logits   --softmax-->  depths   \
 *                                               V2 or V4  --  (cell, c)  --transpose-->  (c, cell)
 *             features --transpose-> (pixel, c) /
 *
 * MEMORY  All that one kernel hands to the next is written to memory and read again: depths once,
 *         features once, and the grid, which is the largest of them.
 * COST    Logits are read three times, depths written once; features and grid are read and written
 *         once more than pooling alone does. Four launches, five with V2, which clears first, or
 *         where V4 transposes its depths.
 * LIMITS  A pixel's bins are a chain of loads and exponentials in one thread, and 6 cameras of 16 x
 *         44 pixels are 4,224 threads where a GPU runs a quarter of a million.
 * TRY     Give a pixel 32 threads and let a warp join the maximum and the sum: how much of the
 *         softmax is left? Then ask what `view` saves beyond that. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/v4/tools.cuh"

extern "C" const BevKernel kernel_v2_bevdet, kernel_v4;

namespace {

constexpr int THREADS = 256, EDGE = 32, EDGE_ROWS = 8;

// ---- softmax -----------------------------------------------------------------------------------

struct Logits {
    BevView view;
    int64_t pixels; // of all cameras
    int bins, height, width;
};

// Each thread makes the depths, (camera, bin, h, w), of one pixel. All depths of a pixel become NaN
// if a logit is NaN or +infinity, or if all logits are -infinity.
template <BevDtype D>
__global__ void softmax_kernel(const DepthCode<D> *logits, Logits in, DepthCode<D> *depths) {
    int64_t pixel = thread_number();
    if (pixel >= in.pixels)
        return;
    int row, column;
    int64_t camera = divide(divide(pixel, in.width, &column), in.height, &row);
    int64_t distance = (int64_t)in.height * in.width;
    const BevStrides &s = in.view.depth;
    logits += camera * s.camera + row * s.row + column * s.column;
    depths += camera * in.bins * distance + (int64_t)row * in.width + column;
    float largest = -INFINITY, sum = 0;
    for (int bin = 0; bin < in.bins; bin++)
        largest = fmaxf(largest, Codec<D>::decode(logits[bin * s.channel]));
    auto power = [&](int bin) {
        return expf((Codec<D>::decode(logits[bin * s.channel]) - largest) / in.view.temperature);
    };
    for (int bin = 0; in.view.softmax && bin < in.bins; bin++)
        sum += power(bin);
    for (int bin = 0; bin < in.bins; bin++)
        depths[bin * distance] =
            in.view.softmax ? Codec<D>::encode(power(bin) / sum) : logits[bin * s.channel];
}

// ---- transpositions ----------------------------------------------------------------------------

// Images of `rows` x `columns` elements. Element (r, c) lies at r * channel + c / width * row + c %
// width * column.
struct Images {
    BevStrides strides;
    int64_t rows, columns;
    int width;
};

// Transposes (image, row, column) to (image, column, row), dense.
template <typename Code> __global__ void transpose_kernel(const Code *from, Images in, Code *to) {
    __shared__ Code square[EDGE][EDGE + 1];
    int64_t first_row = (int64_t)blockIdx.x * EDGE, first_column = (int64_t)blockIdx.y * EDGE;
    int64_t c = first_column + threadIdx.x;
    int part;
    int64_t line = divide(c, in.width, &part);
    from += blockIdx.z * in.strides.camera + line * in.strides.row + part * in.strides.column;
    to += blockIdx.z * in.rows * in.columns;
    for (int i = (int)threadIdx.y; i < EDGE; i += EDGE_ROWS)
        if (first_row + i < in.rows && c < in.columns)
            square[i][threadIdx.x] = from[(first_row + i) * in.strides.channel];
    __syncthreads();
    int64_t r = first_row + threadIdx.x;
    for (int i = (int)threadIdx.y; i < EDGE; i += EDGE_ROWS)
        if (first_column + i < in.columns && r < in.rows)
            to[(first_column + i) * in.rows + r] = square[threadIdx.x][i];
}

template <typename Code>
void transpose(const void *from, const Images &in, int64_t images, void *to, cudaStream_t stream) {
    dim3 grid(blocks_for(in.rows, EDGE), blocks_for(in.columns, EDGE), (unsigned)images);
    transpose_kernel<<<grid, dim3(EDGE, EDGE_ROWS), 0, stream>>>((const Code *)from, in,
                                                                 (Code *)to);
}

// ---- one after the other -----------------------------------------------------------------------

// Returns the problem of the row that pools: its arrays follow each other in the workspace.
BevProblem pooling_problem(const BevProblem *problem, Arena *arena) {
    BevProblem pooling = *problem;
    pooling.stage = BEV_POOL;
    pooling.out_samples = 0;
    char *depth, *feat, *out = (char *)problem->out.data;
    arena->take(&depth, (int64_t)bev_tensor_bytes(&problem->depth));
    arena->take(&feat, (int64_t)bev_tensor_bytes(&problem->feat));
    if (problem->out_samples)
        arena->take(&out, (int64_t)bev_tensor_bytes(&problem->out));
    pooling.depth.data = depth;
    pooling.feat.data = feat;
    pooling.out.data = out;
    pooling.workspace = arena->base ? arena->base + arena->used : NULL;
    return pooling;
}

template <const BevKernel &POOLS>
size_t parts_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    Arena arena = {};
    BevProblem pooling = pooling_problem(problem, &arena);
    return arena.used + (POOLS.workspace_bytes ? POOLS.workspace_bytes(&pooling, plan) : 0);
}

template <const BevKernel &POOLS>
bool parts_prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    Arena arena = {};
    BevProblem pooling = pooling_problem(problem, &arena);
    return POOLS.prepare(&pooling, plan, err);
}

void parts_release(BevPlan *plan) {
    kernel_v4.release(plan);
}

template <const BevKernel &POOLS>
bool parts_launch(const BevProblem *problem, const BevPlan *plan, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const BevShape &s = problem->shape;
    Arena arena = {(char *)problem->workspace, 0};
    BevProblem pooling = pooling_problem(problem, &arena);
    int64_t samples = problem->out_samples, pixels = s.feat_h * s.feat_w;
    int64_t cells = s.nx * s.ny / (samples ? samples : 1);
    Logits logits = {problem->view, s.cameras * pixels, (int)s.depth_bins, (int)s.feat_h,
                     (int)s.feat_w};
    Images features = {problem->view.feat, s.channels, pixels, (int)s.feat_w};
    Images grid = {{cells * s.channels, s.channels, 0, 1}, cells, s.channels, (int)s.channels};
    bool ok = true;
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        using Code = DepthCode<D>;
        softmax_kernel<D><<<blocks_for(logits.pixels, THREADS), THREADS, 0, stream>>>(
            (const Code *)problem->depth.data, logits, (Code *)pooling.depth.data);
        transpose<Code>(problem->feat.data, features, s.cameras, pooling.feat.data, stream);
        ok = cuda_ok(cudaGetLastError(), "view", err) && POOLS.launch(&pooling, plan, stream, err);
        if (ok && samples)
            transpose<Code>(pooling.out.data, grid, samples, problem->out.data, stream);
    });
    return ok && cuda_ok(cudaGetLastError(), "view", err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(view_v2_bevdet) = {
    .name = "view_v2_bevdet", .title = "View V2 (BEVDet)",
    .idea = "As a framework runs it: softmax, transposition, V2 (BEVDet), transposition.",
    .where = BEV_CUDA, .stage = BEV_VIEW, .is_baseline = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .writes_first = true, .pools = "v2_bevdet",
    .workspace_bytes = ON_CUDA(parts_workspace_bytes<kernel_v2_bevdet>),
    .launch = ON_CUDA(parts_launch<kernel_v2_bevdet>),
};

CUDA_ROW(view_v4) = {
    .name = "view_v4", .title = "View V4",
    .idea = "The same with V4: the pooling is fast, and nothing round it is.",
    .where = BEV_CUDA, .stage = BEV_VIEW, .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .writes_first = true, .pools = "v4",
    .prepare = ON_CUDA(parts_prepare<kernel_v4>),
    .release = ON_CUDA(parts_release), .workspace_bytes = ON_CUDA(parts_workspace_bytes<kernel_v4>),
    .launch = ON_CUDA(parts_launch<kernel_v4>),
};
/* clang-format on */
