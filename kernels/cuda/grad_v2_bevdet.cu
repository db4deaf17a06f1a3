/* SPDX-License-Identifier: MIT */
/* IDEA    The backward kernel that training code ships today, in our own words: a thread owns a
 *         pixel, that is an interval of points sorted by feature, and does all of it alone.
 * WHO     Thread i owns pixel i: first the dot product of each of its points, channel by channel,
 *         then the sum over its points of each channel.
 *
 *             thread 0    pixel 0: 50 points x 80 channels, and the same again
 *             thread 1    pixel 1: 50 points x 80 channels, and the same again
 *              ...
 *             thread 4223 pixel 4223                   (canonical: no further thread exists)
 *
 * MEMORY  Lanes hold different pixels, so that each load of a warp asks for 32 elements from 32
 *         rows, and for one channel of them. grad_out is read twice, element by element.
 * COST    2 * points * channels loads of grad_out, points * channels loads of features; 12 bytes of
 *         indices a point for grad_depth, 8 a point and channel for grad_feat: indices, depth and
 *         weight are read again for every channel. No atomics. Both gradients are cleared before.
 * LIMITS  The whole problem has as many threads as pixels: 4,224 on the canonical rig, 132 warps
 *         for a GPU that holds several thousand. Each thread has the loads of four points under
 *         way.
 * TRY     Give each pixel to a warp and its channels to the lanes: that is `grad_owner`. Which of
 *         the two changes it more, the number of threads or the coalescing? */
#include "kernels/cuda/grad_row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad.cuh"

namespace {

constexpr char NAME[] = "grad_v2_bevdet";
constexpr int THREADS = 256;

template <BevDtype D, bool W> __global__ void grad_v2_kernel(Grad grad, PixelPoints points) {
    int64_t pixel = thread_number();
    if (pixel >= grad.pixels)
        return;
    int first = points.starts[pixel], end = points.starts[pixel + 1];
    int64_t row = pixel * grad.channels;
    float sum = 0;
    for (int t = first; t < end; t++) {
        int64_t out = (int64_t)points.cells[t] * grad.channels;
        float dot = 0;
        for (int c = 0; c < grad.channels; c++)
            dot += value_at<D>(grad.grad_out, out + c) * value_at<D>(grad.feat, row + c);
        sum += W ? points.weights[t] * dot : dot;
        int element = points.elements[t];
        if (t + 1 < end && points.elements[t + 1] == element)
            continue; // points of one depth element: their sum is written once
        value_put<D>(grad.grad_depth, element, sum);
        sum = 0;
    }
    for (int c = 0; c < grad.channels && first < end; c++) {
        sum = 0;
        for (int t = first; t < end; t++) {
            float depth = value_at<D>(grad.depth, points.elements[t]);
            float out = value_at<D>(grad.grad_out, (int64_t)points.cells[t] * grad.channels + c);
            sum += (W ? points.weights[t] * depth : depth) * out;
        }
        value_put<D>(grad.grad_feat, row + c, sum);
    }
}

bool grad_v2_launch(const BevProblem *problem, const BevPlan *plan, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const PixelPoints &points = *(const PixelOrder *)plan;
    if (!grad_clear(problem, NAME, stream, err))
        return false;
    Grad grad = grad_of(problem);
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        with_flag(grad.weights, [&]<bool W>() {
            grad_v2_kernel<D, W>
                <<<blocks_for(grad.pixels, THREADS), THREADS, 0, stream>>>(grad, points);
        });
    });
    return cuda_ok(cudaGetLastError(), NAME, err);
}

} // namespace
#endif

static BevTraffic grad_v2_bytes(const BevProblem *problem) {
    double channels = (double)problem->shape.channels;
    BevTraffic traffic = grad_traffic(problem, 12 + 8 * channels);
    traffic.depth *= channels;
    traffic.index += 8 * (double)problem->feat.rows; /* where each pixel's points begin and end */
    traffic.weight *= 1 + channels;
    traffic.feat = traffic.out_read;
    traffic.out_read *= 2;
    traffic.grad_write *= 2; /* the gradients are cleared first */
    return traffic;
}

/* clang-format off */
CUDA_ROW(grad_v2_bevdet) = {
    .name = "grad_v2_bevdet", .title = "V2 (BEVDet)",
    .idea = "Backward: a thread owns a pixel and its interval of points: "
            "no atomics, and few threads.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .is_baseline = true,
    .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .prepare = ON_CUDA(make_plan<PixelOrder, make_regular_order<NAME>>),
    .release = ON_CUDA(release_plan<PixelOrder>),
    .launch = ON_CUDA(grad_v2_launch), .bytes = grad_v2_bytes,
};
/* clang-format on */
