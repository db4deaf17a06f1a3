/* SPDX-License-Identifier: MIT */
/* IDEA    A warp owns a pixel: it has the pixel's features and the sums of grad_feat in registers,
 *         and goes through the pixel's points by depth. No atomics, no clearing, no workspace,
 *         and nothing is computed twice: one read of a row of grad_out serves both gradients.
 * WHO     Lanes own channels. The bin of a point says which lane keeps its dot product.
 *
 *             points      bin 0   bin 1   bin 3   ...    of pixel p, sorted
 *             grad_feat   every lane adds depth * grad_out to its own channels
 *             grad_depth  lane 0  lane 1  lane 3         32 bins are stored together
 *
 * MEMORY  Rows of grad_out coalesced, one a point, four under way at a time. The elements of a
 *         pixel are feat_h * feat_w apart: each store of grad_depth is a sector of its own.
 * COST    points * channels elements of grad_out, 8 bytes of indices a point (12 with weights), one
 *         depth a point; features and both gradients once. Five shuffles a point.
 * LIMITS  Neighbouring pixels of a column read the same rows again: 11 to 24 times in all. Needs
 *         points sorted by pixel, and maps in which a depth element belongs to one pixel.
 * TRY     Four points by eight lanes instead of one by 32: fewer shuffles, and rows of 80 channels
 *         leave fewer lanes idle. */
#include "kernels/cuda/grad_row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad.cuh"

namespace {

constexpr char NAME[] = "grad_owner";
constexpr int OWNER_THREADS = 128;

// The depth elements of a pixel: `bins` of them, `plane` apart.
struct PixelDepths {
    int bins, plane; // plane = feat_h * feat_w
};

// Collects one value for each of the bins [base, base + 32), in the lane of that bin.
template <BevDtype D> struct BinWindow {
    void *grad_depth;
    int64_t first; // index of the pixel's element of bin 0
    int base, plane, bins;
    float mine;

    __device__ void store() {
        int bin = base + (int)threadIdx.x % WARP;
        if (bin < bins)
            value_put<D>(grad_depth, first + (int64_t)bin * plane, mine);
        base += WARP, mine = 0;
    }
    // Adds `value` to `bin`. Bins arrive in ascending order; bins left out get 0.
    __device__ void add(int bin, float value) {
        while (bin >= base + WARP)
            store();
        if (bin - base == (int)threadIdx.x % WARP)
            mine += value;
    }
    __device__ void store_rest() {
        while (base < bins)
            store();
    }
};

template <BevDtype D, bool W, bool A, int GROUPS>
__global__ void __launch_bounds__(OWNER_THREADS)
    grad_owner_kernel(Grad grad, PixelPoints points, PixelDepths depths) {
    constexpr int BATCH = GROUPS == 1 ? 4 : 1; // points whose rows are loaded together
    int64_t pixel = thread_number() / WARP;
    int lane = threadIdx.x % WARP;
    if (pixel >= grad.pixels)
        return;
    int first = points.starts[pixel], end = points.starts[pixel + 1], in_plane;
    int64_t camera = divide(pixel, depths.plane, &in_plane);
    int64_t element0 = camera * depths.bins * depths.plane + in_plane;
    BinWindow<D> window = {grad.grad_depth, element0, 0, depths.plane, depths.bins, 0};
    float feat[GROUPS][QUAD], sum[GROUPS][QUAD] = {};
#pragma unroll
    for (int n = 0; n < GROUPS; n++)
        load_quad<D, A>(grad.feat, pixel, (n * WARP + lane) * QUAD, grad.channels, feat[n]);
    for (int t = first; t < end; t += BATCH) {
        float out[BATCH][GROUPS][QUAD], weight[BATCH], depth[BATCH];
        int element[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            int at = min(t + b, end - 1);
            element[b] = points.elements[at];
            weight[b] = W ? points.weights[at] : 1;
            depth[b] = weight[b] * value_at<D>(grad.depth, element[b]);
#pragma unroll
            for (int n = 0; n < GROUPS; n++)
                load_quad<D, A>(grad.grad_out, points.cells[at], (n * WARP + lane) * QUAD,
                                grad.channels, out[b][n]);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            if (t + b >= end)
                break;
            float dot = 0;
#pragma unroll
            for (int n = 0; n < GROUPS; n++)
#pragma unroll
                for (int j = 0; j < QUAD; j++) {
                    dot += out[b][n][j] * feat[n][j];
                    sum[n][j] += depth[b] * out[b][n][j];
                }
            window.add((int)((element[b] - element0) / depths.plane), weight[b] * warp_sum(dot));
        }
    }
    window.store_rest();
#pragma unroll
    for (int n = 0; n < GROUPS; n++)
        store_quad<D, A>(grad.grad_feat, pixel, (n * WARP + lane) * QUAD, grad.channels, sum[n]);
}

} // namespace

void grad_owner_run(const BevProblem *problem, const PixelPoints &points, cudaStream_t stream) {
    Grad grad = grad_of(problem);
    const BevShape &s = problem->shape;
    PixelDepths depths = {(int)s.depth_bins, (int)(s.feat_h * s.feat_w)};
    unsigned blocks = blocks_for(grad.pixels * WARP, OWNER_THREADS);
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        with_rows(problem, [&]<bool W, bool A, int GROUPS>() {
            grad_owner_kernel<D, W, A, GROUPS>
                <<<blocks, OWNER_THREADS, 0, stream>>>(grad, points, depths);
        });
    });
}

namespace {

bool grad_owner_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    grad_owner_run(problem, *(const PixelOrder *)plan, (cudaStream_t)stream);
    return cuda_ok(cudaGetLastError(), NAME, err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(grad_owner) = {
    .name = "grad_owner", .title = "OWNER",
    .idea = "Backward: a warp owns a pixel: both gradients from one read of grad_out, no atomics.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .prepare = ON_CUDA(make_plan<PixelOrder, make_regular_order<NAME>>),
    .release = ON_CUDA(release_plan<PixelOrder>),
    .launch = ON_CUDA(grad_owner_launch), .bytes = grad_owner_traffic,
};
/* clang-format on */
