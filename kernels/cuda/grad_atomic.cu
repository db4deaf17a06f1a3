/* SPDX-License-Identifier: MIT */
/* IDEA    The forward formula read backwards: a cell's gradient goes out to all points that fed the
 *         cell. Gather and scatter change places: forward, points meet in a cell; backward, they
 *         meet in a pixel (grad_feat), and channels meet in a depth element (grad_depth).
 * WHO     Thread i owns point t = i / tiles and channels 8 * (i % tiles) and up, as in `atomic`.
 *
 *             point t, channels  0 ..  7  --+--> grad_feat[pixel, 0 .. 7]
 *             point t, channels  8 .. 15  --+--> grad_feat[pixel, 8 .. 15]
 *                                           +--> grad_depth[element], once for each tile
 *
 * MEMORY  Neighbouring points lie in one cell, so that a row of grad_out is read from cache. Sums
 *         live in L2, where the additions happen.
 * COST    channels + channels / 8 atomics a point. Both gradients are cleared before, and encoded
 *         after where the format is narrower than FP32.
 * LIMITS  A pixel has about as many points as there are depth bins, and they all add to one row of
 *         grad_feat: on the canonical rig 50 additions to every address, where the forward way has
 *         13. They arrive in any order, so that two runs may differ in the last bits.
 * TRY     Time `bench canonical -k grad_atomic,grad_block`, then with `--channels 40`. Which
 *         gradient costs more? */
#include "kernels/cuda/grad_row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad.cuh"

namespace {

constexpr int TILE = 2 * QUAD, THREADS = 256;

template <BevDtype D, bool W, bool A>
__global__ void grad_atomic_kernel(Grad grad, GradSums sums) {
    int tiles = (grad.channels + TILE - 1) / TILE;
    int tile; // [0, tiles)
    int64_t t = divide(thread_number(), tiles, &tile);
    if (t >= grad.points)
        return;
    int element = grad.ranks_depth[t], pixel = grad.ranks_feat[t], cell = grad.ranks_bev[t];
    float weight = W ? grad.weights[t] : 1, dot = 0;
    float depth = weight * value_at<D>(grad.depth, element);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int c = tile * TILE + half * QUAD;
        float g[QUAD], f[QUAD];
        load_quad<D, A>(grad.grad_out, cell, c, grad.channels, g);
        load_quad<D, A>(grad.feat, pixel, c, grad.channels, f);
#pragma unroll
        for (int j = 0; j < QUAD; j++) {
            dot += g[j] * f[j];
            if (c + j < grad.channels)
                atomicAdd(sums.feat + (int64_t)pixel * grad.channels + c + j, depth * g[j]);
        }
    }
    atomicAdd(sums.depth + element, weight * dot);
}

bool grad_atomic_launch(const BevProblem *problem, const BevPlan *, void *stream_, Err *err) {
    int64_t tiles = (problem->shape.channels + TILE - 1) / TILE;
    unsigned blocks = blocks_for(problem->map.points * tiles, THREADS);
    auto add = [&]<BevDtype D, bool W, bool A, int>(const Grad &grad, GradSums sums,
                                                    cudaStream_t stream) {
        grad_atomic_kernel<D, W, A><<<blocks, THREADS, 0, stream>>>(grad, sums);
    };
    return grad_sums_launch(problem, "grad_atomic", stream_, err, add);
}

} // namespace
#endif

enum { GRAD_TILE = 8 };

static BevTraffic grad_atomic_bytes(const BevProblem *problem) {
    const BevAccess access = {.owner = BEV_OWNS_POINT, .tile = GRAD_TILE};
    double points = (double)problem->map.points, channels = (double)problem->shape.channels;
    double tiles = (double)((problem->shape.channels + GRAD_TILE - 1) / GRAD_TILE);
    double warps = bev_warps_an_owner(&access, problem); /* the lanes of a point read together */
    BevTraffic traffic = grad_traffic(problem, 12 * warps);
    traffic.depth *= warps;
    traffic.weight *= warps;
    traffic.feat = traffic.out_read;
    grad_add_atomics(problem, points * (channels + tiles), &traffic);
    return traffic;
}

/* clang-format off */
CUDA_ROW(grad_atomic) = {
    .name = "grad_atomic", .title = "ATOMIC",
    .idea = "Backward: every point adds to its pixel's row and to its depth element, by atomics.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS,
    .workspace_bytes = ON_CUDA(grad_sums_bytes),
    .launch = ON_CUDA(grad_atomic_launch), .bytes = grad_atomic_bytes,
};
/* clang-format on */
