/* SPDX-License-Identifier: MIT */
/* IDEA    The pixels of an image column see the same cells. Gather a column's distinct rows of
 *         grad_out once; then both gradients are matrix products with these rows: grad_depth is
 *         rows x features, grad_feat is (depth summed by cell and pixel) x rows. Tensor cores do
 *         them with FP32 sums. Up to 80 channels features are read once, every output is written
 *         once, and no atomics are needed: a pixel belongs to one column and a bin to one warp.
 * WHO     A column is 32 pixels: 32 rows of one image column, or 16 rows of two. Some warps of a
 *         block own it; a warp owns a chunk of it, depth bins that fall into at most 16 cells, and
 *         its lanes own the pixels. Few columns: one a block, with 16 warps; more: two with 4 warps
 *         each; many: four with 4, FP32 two with 8.
 *
 *             cells of a chunk      features          dots        table: slot by bin, pixel
 *               [ g g g g ]       [ f f f f ] 32    [ x x x ]         [ 0 0 0 1 1 ]
 *            16 [ g g g g ]   x   [ f f f f ]    =  [ x x x ] 16      [ 1 1 1 1 2 ]  -> grad_depth
 *               [ g g g g ]       [ f f f f ]       [ x x x ]         [ - 2 2 2 2 ]
 *
 *             then all chunks of the column, each warp 16 pixels x 16 channels of grad_feat:
 *               [ depth sums, pixel x cell ]  x  [ the same rows g ]  -> grad_feat
 *
 * MEMORY  Rows go from L2 to shared memory past the registers, once a column: 11 to 24 points share
 *         a row. All depths of a block go there too, neighbours of an image row together; bin after
 *         bin they are replaced by their gradients and go back the same way. `prepare` makes the
 *         table: a byte a bin and pixel, 16 bins in one load of a lane; weighted maps have four
 *         bytes and four weights. grad_feat leaves in pieces of 16 bytes.
 * COST    Cells seen by a column, summed over all columns, x channels elements of grad_out, and
 *         depths and features, each once for every 64 channels (80 at once), grad_out of more than
 *         80 twice; both gradients once. Per chunk and 16 channels 4 products for the dots, and
 *         8 (BF16: 12) for grad_feat, whose depth sums are split into parts to keep FP32's bits.
 *         About 25 instructions a bin around them. Each warp goes through the code once or a few
 *         times, so that fetching it counts: loops that are not hot are not unrolled.
 * LIMITS  A bin with more than 16 cells, a pixel with more than four points in a bin, fewer than
 *         three points a bin and cell (a camera that rolls, random ranks) or 24 a chunk, or a
 *         number of channels that is not 80 nor a multiple of 64, and the warps of `grad_owner`
 *         serve instead. FP32 takes plain arithmetic: tensor cores would round its products. A sum
 *         that is no finite number is computed again point by point.
 * TRY     A third of the time on large problems is depths on their way in and out: eight bytes of a
 *         sector of 32. Give neighbouring blocks a cluster, and let each fetch whole sectors for
 *         all of them. What we tried, and what we predicted wrongly, is in
 *         samples/experiments/gradients.md. */
#include "kernels/cuda/grad_row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad_v4/behind.cuh"
#include "kernels/cuda/grad_v4/build.cuh"

namespace {

template <BevDtype D, bool W, int CHANNELS, int WARPS>
cudaError_t enqueue_columns(const Grad &grad, const GradV4Plan &plan, const ColumnMap &map,
                            bool behind, cudaStream_t stream) {
    auto kernel = grad_v4_kernel<D, W, CHANNELS, WARPS>;
    const ColumnShape &s = map.shape;
    size_t shared = ColumnShared<D, CHANNELS, WARPS>::bytes(plan.columns, grad.channels, s.bins);
    dim3 block(WARPS * WARP, (unsigned)plan.columns);
    dim3 grid(blocks_for(s.strips, plan.columns), (unsigned)(s.cameras * s.slabs),
              (unsigned)(grad.channels / CHANNELS));
    cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (status == cudaSuccess)
        status = launch_overlapped(kernel, grid, block, shared, behind, stream, grad, map);
    return status;
}

template <BevDtype D, bool W>
cudaError_t columns_launch(const Grad &grad, const GradV4Plan &plan, const ColumnMap &map,
                           bool behind, cudaStream_t stream) {
    return with_flag(grad.channels == 80, [&]<bool EIGHTY>() {
        constexpr int CHANNELS = EIGHTY ? 80 : 64;
        return plan.warps == 16
                   ? enqueue_columns<D, W, CHANNELS, 16>(grad, plan, map, behind, stream)
               : plan.warps == 8
                   ? enqueue_columns<D, W, CHANNELS, 8>(grad, plan, map, behind, stream)
                   : enqueue_columns<D, W, CHANNELS, 4>(grad, plan, map, behind, stream);
    });
}

// Takes the map of a moving plan from its memory; the columns without chunks are done behind.
template <BevDtype D, bool W>
cudaError_t moving_launch(const BevProblem *problem, const Grad &grad, const GradV4Plan &plan,
                          bool behind, cudaStream_t stream) {
    const ColumnShape &s = plan.map.shape;
    MovingColumns map = moving_columns(s, &plan.moving, problem->map.memory);
    ColumnMap columns = {s,          map.column_chunks, map.counts,
                         map.chunks, map.cells,         (const uint4 *)map.slots,
                         (const float4 *)map.weights};
    cudaError_t status = columns_launch<D, W>(grad, plan, columns, behind, stream);
    dim3 grid((unsigned)s.count(), WARP / 8);
    grad_v4_crowded_kernel<D, W ? 4 : 1><<<grid, 8 * WARP, 0, stream>>>(
        grad, moving_frame(&plan.moving, map.flags), s, map.counts);
    return status;
}

// Enqueues the gradients. `behind`: the previous kernel of the launch lets them start early.
bool enqueue_gradients(const BevProblem *problem, const BevPlan *opaque, bool behind, void *stream_,
                       Err *err) {
    const GradV4Plan *plan = (const GradV4Plan *)opaque;
    cudaStream_t stream = (cudaStream_t)stream_;
    cudaError_t status = cudaSuccess;
    Grad grad = grad_of(problem);
    if (!plan->in_columns)
        grad_owner_run(problem, plan->order, stream);
    else
        with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
            with_flag(plan->moves ? plan->weighted : plan->map.weights != NULL, [&]<bool W>() {
                status = plan->moves ? moving_launch<D, W>(problem, grad, *plan, behind, stream)
                                     : columns_launch<D, W>(grad, *plan, plan->map, behind, stream);
            });
        });
    return cuda_ok(status, NAME, err) && cuda_ok(cudaGetLastError(), NAME, err);
}

bool grad_v4_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    return enqueue_gradients(problem, plan, false, stream, err);
}

// ---- the whole view transform: a kernel in front and one behind --------------------------------

// Returns the problem between these two kernels. Its arrays follow each other in the workspace.
// grad_out stays the caller's if it has channels last.
BevProblem inner_problem(const BevProblem *problem, size_t *bytes) {
    BevProblem inner = *problem;
    size_t used = 0;
    for (BevTensor *t :
         {&inner.depth, &inner.feat, &inner.grad_depth, &inner.grad_feat, &inner.grad_out}) {
        if (t == &inner.grad_out && !problem->out_samples)
            break;
        t->data = problem->workspace ? (char *)problem->workspace + used : NULL;
        used += (bev_tensor_bytes(t) + 255) / 256 * 256;
    }
    *bytes = used;
    return inner;
}

size_t grad_view_workspace_bytes(const BevProblem *problem, const BevPlan *) {
    size_t bytes;
    inner_problem(problem, &bytes);
    return bytes;
}

template <BevDtype D>
cudaError_t enqueue_front(const BevProblem *problem, const BevProblem &inner, bool overlap,
                          cudaStream_t stream) {
    Front front = front_of(problem);
    front.to_depth = inner.depth.data;
    front.feat.to = inner.feat.data;
    if (problem->out_samples) {
        const BevShape &s = problem->shape;
        int64_t cells = s.nx * s.ny / problem->out_samples;
        last_launch<D>({problem->grad_out.data, inner.grad_out.data, NULL, cells, (int)s.channels},
                       problem->out_samples, stream);
        front.beside = overlap;
    }
    return front_launch<D, false>(front, front.beside, stream);
}

template <BevDtype D>
cudaError_t enqueue_behind(const BevProblem *problem, const BevProblem &inner, bool overlap,
                           cudaStream_t stream) {
    Behind behind = {};
    behind.depth = inner.depth.data;
    behind.grad = inner.grad_depth.data;
    behind.grad_feat = inner.grad_feat.data;
    behind.view = problem->view;
    behind.factor = 1 / problem->view.temperature;
    behind.f = frustums_of(problem->shape);
    behind.channels = (int)problem->shape.channels;
    behind.to_depth = problem->grad_depth.data;
    behind.to_feat = problem->grad_feat.data;
    return behind_launch<D>(behind, overlap, stream);
}

bool grad_view_launch(const BevProblem *problem, const BevPlan *opaque, void *stream, Err *err) {
    const GradV4Plan *plan = (const GradV4Plan *)opaque;
    size_t bytes;
    BevProblem inner = inner_problem(problem, &bytes);
    cudaError_t status = cudaSuccess;
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        status = enqueue_front<D>(problem, inner, plan->overlap, (cudaStream_t)stream);
    });
    if (feat_stays(problem))
        inner.feat.data = problem->feat.data;
    if (!cuda_ok(status, "grad_view", err) ||
        !enqueue_gradients(&inner, opaque, plan->overlap && plan->in_columns, stream, err))
        return false;
    bool overlap = plan->overlap && plan->in_columns;
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        status = enqueue_behind<D>(problem, inner, overlap, (cudaStream_t)stream);
    });
    return cuda_ok(status, "grad_view", err) && cuda_ok(cudaGetLastError(), "grad_view", err);
}

} // namespace
#endif

static BevTraffic grad_v4_bytes(const BevProblem *problem) {
    int64_t channels = problem->shape.channels;
    BevTraffic traffic = grad_traffic(problem, 8);
    if (channels != 80 && channels % 64)
        return grad_owner_traffic(problem);
    double points = (double)problem->map.points;
    double rows =
        points / (double)(problem->map.weights ? GRAD_WEIGHTED_POINTS_A_ROW : GRAD_POINTS_A_ROW);
    traffic.out_read *= rows / (points > 0 ? points : 1);
    traffic.index = rows / (double)GRAD_ROWS_A_CHUNK * (double)GRAD_CHUNK_BYTES;
    traffic.depth = (double)bev_tensor_bytes(&problem->depth);
    double elements = (double)problem->depth.row_len;
    if (problem->map.weights) { // of each bin and pixel, for both gradients
        traffic.index += 2 * elements * (double)GRAD_LAYERS;
        traffic.weight = 2 * elements * (double)GRAD_LAYERS * 4;
    }
    return traffic;
}

static BevTraffic grad_view_bytes(const BevProblem *problem) {
    BevTraffic traffic = grad_v4_bytes(problem);
    double depth = (double)bev_tensor_bytes(&problem->depth);
    double feat = (double)bev_tensor_bytes(&problem->feat);
    traffic.depth += 4 * depth; /* read and written in front, read twice behind */
    traffic.feat += 2 * feat;
    if (problem->out_samples) // is brought to channels last
        traffic.out_read += 2 * (double)bev_tensor_bytes(&problem->grad_out);
    traffic.grad_read += 2 * depth + feat;
    traffic.grad_write += depth + feat;
    return traffic;
}

/* clang-format off */
CUDA_ROW(grad_v4) = {
    .name = "grad_v4", .title = "V4",
    .idea = "Backward: a camera's columns as matrices: both gradients are products with the same "
            "rows.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .is_default = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .prepare = ON_CUDA(make_plan<GradV4Plan, grad_v4_build>),
    .release = ON_CUDA(release_plan<GradV4Plan>), .map_bytes = ON_CUDA(grad_v4_map_bytes),
    .update = ON_CUDA(grad_v4_update), .launch = ON_CUDA(grad_v4_launch),
    .bytes = grad_v4_bytes, .code = ON_CUDA((const void *)v4_heads_kernel),
};

CUDA_ROW(grad_view) = {
    .name = "grad_view", .title = "View",
    .idea = "Backward: softmax and features in front of the gradients of V4, logits behind them.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .stage = BEV_VIEW, .is_default = true,
    .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .writes_first = true,
    .prepare = ON_CUDA(make_plan<GradV4Plan, grad_v4_build>),
    .release = ON_CUDA(release_plan<GradV4Plan>),
    .workspace_bytes = ON_CUDA(grad_view_workspace_bytes),
    .map_bytes = ON_CUDA(grad_v4_map_bytes),
    .update = ON_CUDA(grad_v4_update),
    .launch = ON_CUDA(grad_view_launch),
    .bytes = grad_view_bytes,
    .code = ON_CUDA((const void *)v4_heads_kernel),
};
/* clang-format on */
