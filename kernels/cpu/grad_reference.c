/* SPDX-License-Identifier: MIT */
/* grad_reference: backward pooling, written down.
 *
 * IDEA    Gather and scatter change places. Every point takes the row of its cell in grad_out back
 *         to where it came from: times its features into its depth's gradient, times its depth into
 *         its pixel's. In double precision, in the order of the points.
 * WHO     One thread does everything.
 *
 *             point:    0  1  2  3  4  5  6 ...          for each point
 *             thread:   0  0  0  0  0  0  0 ...              for each channel
 * MEMORY  The points are sorted by cell, so grad_out is read in order, and the two gradients are
 *         added to wherever a point came from: the scattered accesses are now the writes.
 * COST    Points P, channels C: 12 P bytes of indices, 2 P C elements of features and grad_out,
 *         32 P C bytes of sums read and written, 4 P C operations. No atomics.
 * LIMITS  Slow on purpose. Both gradients are double until the end: 8 bytes for each element of
 *         depth and features beside the problem itself.
 * TRY     Leave out the weights and ask `bevscope verify --direction backward`: nearest passes,
 *         bilinear fails, and the adjoint identity says so without any reference. */
#include "kernels/cpu/cpu.h"

/* Returns the workspace bytes: both gradients as doubles. */
static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    (void)plan;
    int64_t values = problem->depth.row_len + problem->feat.rows * problem->feat.row_len;
    return (size_t)values * sizeof(double);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)plan, (void)stream;
    double *of_depth = problem->workspace, *of_feat = of_depth + problem->depth.row_len;
    if (!bev_reference_backward(problem, of_depth, of_feat, NULL, NULL))
        return err_no_memory(err, "grad_reference", "");
    cpu_encode_doubles(&problem->grad_depth, of_depth);
    cpu_encode_doubles(&problem->grad_feat, of_feat);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    double points = (double)problem->map.points, terms = points * (double)problem->shape.channels;
    double grads = (double)(problem->depth.row_len + problem->feat.rows * problem->feat.row_len);
    int bits = bev_dtypes[problem->dtype].bits;
    return (BevTraffic){
        .feat = terms * bits / 8,
        .depth = points * bits / 8,
        .index = 3 * sizeof(int32_t) * points,
        .weight = problem->map.weights ? points * sizeof(float) : 0,
        .out_read = terms * bits / 8,
        .grad_read = (2 * terms + grads) * sizeof(double),
        .grad_write = (2 * terms + grads) * sizeof(double) + grads * bits / 8,
    };
}

/* clang-format off */
const BevKernel kernel_grad_view_reference = {
    .name = "grad_view_reference", .title = "View REF",
    .idea = "Backward: the formula and the softmax's gradient in double precision, one thread.",
    .where = BEV_CPU, .direction = BEV_BACKWARD, .stage = BEV_VIEW,
    .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};

const BevKernel kernel_grad_reference = {
    .name = "grad_reference", .title = "REF",
    .idea = "Backward: the formula in double precision, one point after the other, one thread.",
    .where = BEV_CPU, .direction = BEV_BACKWARD,
    .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
