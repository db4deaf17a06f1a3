/* SPDX-License-Identifier: MIT */
/* IDEA    Add up inside the block first. Points are sorted by pixel once, in prepare; then the
 *         points of a block go to few targets, and one atomic a block and target is left.
 * WHO     A warp owns 32 consecutive points, one after the other; its lanes own channels. A block
 *         of 16 warps joins the runs of equal pixels that go on from warp to warp.
 *
 *             pixel     5 5 5 5 5 6 6 6 | 6 6 6 6 6 6 6 6 | 6 6 7 7 7 ...
 *             warp      0               | 1               | 2
 *             adds 5:   warp 0, alone
 *             adds 6:   warp 0, with the sums of warps 1 and 2 from shared memory
 *
 * MEMORY  The row of grad_out is read once a point, coalesced; a pixel's features once a run. A
 *         run's sums are in registers, the first run of each warp also in shared memory. The dot
 *         product of grad_depth is added over the lanes by shuffles.
 * COST    Atomics: channels * (pixels + blocks) for grad_feat, about one a depth element. 12 bytes
 *         of indices a point, 16 with weights, all read once.
 * LIMITS  Neighbours in this order lie in different cells: rows of grad_out come from L2. Blocks
 *         still meet at pixels that straddle a border, in any order. Both gradients are cleared
 *         before and encoded after.
 * TRY     Other numbers of points a warp and of warps a block: fewer atomics against fewer warps
 *         that can hide the waiting. samples/experiments/gradients.md has what we measured. */
#include "kernels/cuda/grad_row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad.cuh"

namespace {

constexpr char NAME[] = "grad_block";
constexpr int WARP_POINTS = 32;
// Warps of a block: fewer if the rows in shared memory are long.
template <int GROUPS> constexpr int BLOCK_WARPS = GROUPS == 1 ? 16 : 8;
constexpr int NO_PIXEL = -1;

// The channels of one row that a lane has: 4 at a time, 128 apart.
template <int GROUPS> struct Row {
    float v[GROUPS][QUAD];

    // Calls f(channel, value) for each of the lane's channels that exists.
    template <typename F> __device__ void each(int channels, F f) {
#pragma unroll
        for (int n = 0; n < GROUPS; n++)
#pragma unroll
            for (int j = 0; j < QUAD; j++) {
                int c = (n * WARP + (int)threadIdx.x % WARP) * QUAD + j;
                if (c < channels)
                    f(c, v[n][j]);
            }
    }

    template <BevDtype D, bool A>
    __device__ void load(const void *rows, int64_t row, int channels) {
#pragma unroll
        for (int n = 0; n < GROUPS; n++)
            load_quad<D, A>(rows, row, (n * WARP + (int)threadIdx.x % WARP) * QUAD, channels, v[n]);
    }

    __device__ void add_to(float *sums, int64_t row, int channels) {
        each(channels, [&](int c, float v) { atomicAdd(sums + row * channels + c, v); });
    }
};

template <BevDtype D, bool W, bool A, int GROUPS>
__global__ void __launch_bounds__(BLOCK_WARPS<GROUPS> *WARP)
    grad_block_kernel(Grad grad, PixelPoints points, GradSums sums) {
    constexpr int WARPS = BLOCK_WARPS<GROUPS>;
    extern __shared__ float first_run[]; // [WARPS][channels]: sums of each warp's first run
    __shared__ int first_pixel[WARPS], last_pixel[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, channels = grad.channels;
    int64_t t = ((int64_t)blockIdx.x * WARPS + warp) * WARP_POINTS;
    int64_t end = min(t + WARP_POINTS, grad.points);
    float *mine = first_run + warp * channels;
    Row<GROUPS> feat, run = {};
    int pixel = t < end ? points.pixels[t] : NO_PIXEL, element = -1, runs = 0;
    float dots = 0;
    if (lane == 0)
        first_pixel[warp] = pixel;
    if (t < end)
        feat.template load<D, A>(grad.feat, pixel, channels);
    for (; t < end; t++) {
        int next_pixel = points.pixels[t], next_element = points.elements[t];
        if (next_element != element) {
            if (lane == 0 && element >= 0)
                atomicAdd(sums.depth + element, dots);
            element = next_element, dots = 0;
        }
        if (next_pixel != pixel) {
            if (runs++)
                run.add_to(sums.feat, pixel, channels);
            else
                run.each(channels, [&](int c, float v) { mine[c] = v; });
            pixel = next_pixel, run = {};
            feat.template load<D, A>(grad.feat, pixel, channels);
        }
        Row<GROUPS> out;
        out.template load<D, A>(grad.grad_out, points.cells[t], channels);
        float weight = W ? points.weights[t] : 1, dot = 0;
        float depth = weight * value_at<D>(grad.depth, element);
#pragma unroll
        for (int n = 0; n < GROUPS; n++)
#pragma unroll
            for (int j = 0; j < QUAD; j++) {
                dot += out.v[n][j] * feat.v[n][j];
                run.v[n][j] += depth * out.v[n][j];
            }
        dots += weight * warp_sum(dot);
    }
    if (lane == 0 && element >= 0)
        atomicAdd(sums.depth + element, dots);
    if (runs == 0)
        run.each(channels, [&](int c, float v) { mine[c] = v; });
    if (lane == 0)
        last_pixel[warp] = pixel;
    __syncthreads();

    if (pixel == NO_PIXEL)
        return;
    bool continues_run =
        warp > 0 && last_pixel[warp - 1] == first_pixel[warp]; // of an earlier warp
    if (runs && !continues_run)
        for (int c = lane; c < channels; c += WARP)
            atomicAdd(sums.feat + (int64_t)first_pixel[warp] * channels + c, mine[c]);
    if (!runs && continues_run)
        return;
    for (int next = warp + 1; next < WARPS && first_pixel[next] == pixel; next++)
        run.each(channels, [&](int c, float &v) { v += first_run[next * channels + c]; });
    run.add_to(sums.feat, pixel, channels);
}

bool grad_block_launch(const BevProblem *problem, const BevPlan *plan, void *stream_, Err *err) {
    const PixelPoints &points = *(const PixelOrder *)plan;
    auto add = [&]<BevDtype D, bool W, bool A, int GROUPS>(const Grad &grad, GradSums sums,
                                                           cudaStream_t stream) {
        constexpr int WARPS = BLOCK_WARPS<GROUPS>;
        unsigned blocks = blocks_for(grad.points, WARPS * WARP_POINTS);
        size_t shared = (size_t)(WARPS * grad.channels) * sizeof(float);
        grad_block_kernel<D, W, A, GROUPS>
            <<<blocks, WARPS * WARP, shared, stream>>>(grad, points, sums);
    };
    return grad_sums_launch(problem, NAME, stream_, err, add);
}

} // namespace
#endif

/* Points that a warp owns; a block has 16 warps, or 8 if a row has more than 128 channels. */
enum { GRAD_POINTS_A_WARP = 32 };

static BevTraffic grad_block_bytes(const BevProblem *problem) {
    double points = (double)problem->map.points, pixels = (double)problem->feat.rows;
    double depths = (double)problem->depth.row_len, channels = (double)problem->shape.channels;
    double warps = points / (double)GRAD_POINTS_A_WARP, blocks = warps / (channels > 128 ? 8 : 16);
    BevTraffic traffic = grad_traffic(problem, 12);
    traffic.feat *= (pixels + warps) / pixels;
    grad_add_atomics(problem,
                     channels * (pixels + blocks) + (points < depths ? points : depths) + warps,
                     &traffic);
    return traffic;
}

/* clang-format off */
CUDA_ROW(grad_block) = {
    .name = "grad_block", .title = "BLOCK",
    .idea = "Backward: points sorted by pixel: a block adds up first, "
            "one atomic a block and target.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS,
    .prepare = ON_CUDA(make_plan<PixelOrder, make_order<NAME>>),
    .release = ON_CUDA(release_plan<PixelOrder>), .workspace_bytes = ON_CUDA(grad_sums_bytes),
    .launch = ON_CUDA(grad_block_launch), .bytes = grad_block_bytes,
};
/* clang-format on */
