/* IDEA    The pixels of an image column see the same cells. Gather a column's distinct rows of
 *         grad_out once; then both gradients are matrix products with these rows: grad_depth is
 *         rows x features, grad_feat is (depth summed by cell and pixel) x rows. Tensor cores do
 *         them with FP32 sums. Features are read once, every output is written once, and no
 *         atomics are needed, because a pixel belongs to one column and a bin to one warp.
 * WHO     A block owns a column: 32 pixels, as 32 rows of one image column or 16 rows of two. A warp
 *         owns a chunk of it: depth bins that fall into at most 16 cells, a lane a pixel.
 *
 *             cells of a chunk      features          dots         entries pick
 *               [ g g g g ]       [ f f f f ] 32    [ x x x ]      (bin, cell, pixels)
 *            16 [ g g g g ]   x   [ f f f f ]    =  [ x x x ] 16   -> grad_depth
 *               [ g g g g ]       [ f f f f ]       [ x x x ]
 *
 *             then all chunks of the block, each warp 16 pixels x 16 channels of grad_feat:
 *               [ depth sums, pixel x cell ]  x  [ the same rows g ]  -> grad_feat
 *
 * MEMORY  Rows go from L2 to shared memory past the registers, once a column: 10 to 20 points share
 *         a row. A column's depths of one bin are a warp's load; with 16 image rows, two and two are
 *         neighbours. The map is 8 bytes an entry, that is for about ten points, and 80 a chunk;
 *         weighted maps have 32 weights an entry.
 * COST    Cells seen by a column, summed over all columns, x channels elements of grad_out; depths,
 *         features and both gradients once. Per chunk and 16 channels 4 products for the dots, and
 *         4 to 12 for grad_feat, whose depth sums are split into parts to keep FP32's bits.
 * LIMITS  A bin with more than 16 cells, fewer than three points an entry (a camera that rolls,
 *         random ranks) or an odd number of channels, and the warps of `grad_owner` serve instead.
 *         FP32 takes plain arithmetic: tensor cores would round its products. A sum that is no
 *         finite number is computed again point by point.
 * TRY     Chunks of 32 cells: half as many warps, each with more to do between its waits. Columns of
 *         64 pixels: fewer rows to gather, half as many blocks. Our answers, and those that were
 *         wrong, are in samples/experiments/gradients.md. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad_v4/build.cuh"

namespace {

template <BevDtype D, bool W, int CHANNELS, int WARPS>
cudaError_t columns_enter(const Grad &grad, const ColumnMap &map, cudaStream_t stream) {
    auto kernel = grad_v4_kernel<D, W, CHANNELS, WARPS>;
    size_t shared = ColumnShared<D, CHANNELS, WARPS>::bytes(grad.channels);
    dim3 grid((unsigned)map.shape.count(), (unsigned)(grad.channels / CHANNELS));
    cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (status == cudaSuccess)
        kernel<<<grid, WARPS * WARP, shared, stream>>>(grad, map);
    return status;
}

template <BevDtype D, bool W>
cudaError_t columns_launch(const Grad &grad, const GradV4Plan &plan, cudaStream_t stream) {
    cudaError_t status = cudaSuccess;
    with_flag(grad.channels == 80, [&]<bool EIGHTY>() {
        constexpr int CHANNELS = EIGHTY ? 80 : 64;
        status = plan.warps == 16  ? columns_enter<D, W, CHANNELS, 16>(grad, plan.map, stream)
                 : plan.warps == 8 ? columns_enter<D, W, CHANNELS, 8>(grad, plan.map, stream)
                                   : columns_enter<D, W, CHANNELS, 4>(grad, plan.map, stream);
    });
    return status;
}

bool grad_v4_launch(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    const GradV4Plan *plan = (const GradV4Plan *)opaque;
    cudaStream_t stream = (cudaStream_t)stream_;
    cudaError_t status = cudaSuccess;
    Grad grad = grad_of(problem);
    if (!plan->in_columns)
        grad_owner_run(problem, plan->order, stream);
    else
        with_grad_dtype(problem->dtype, [&]<BevDtype D>() {
            with_flag(grad.weights, [&]<bool W>() {
                status = columns_launch<D, W>(grad, *plan, stream);
            });
        });
    return cuda_ok(status, NAME, err) && cuda_ok(cudaGetLastError(), NAME, err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(grad_v4) = {
    .name = "grad_v4", .title = "V4",
    .idea = "A camera's columns as matrices: both gradients are products with the same rows.",
    .where = BEV_CUDA, .direction = BEV_BACKWARD, .is_default = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .unsupported = channels_unsupported, .prepare = ON_CUDA(make_plan<GradV4Plan, grad_v4_build>),
    .release = ON_CUDA(release_plan<GradV4Plan>), .launch = ON_CUDA(grad_v4_launch),
};
/* clang-format on */
