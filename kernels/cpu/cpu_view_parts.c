/* SPDX-License-Identifier: MIT */
/* cpu_view_v2_bevdet, cpu_view_v4: the view transform, one part after the other.
 *
 * IDEA    As a framework runs it: a softmax over the depth bins, the features transposed to
 *         channels last, BEVDet's V2 or V4, and the grid transposed to channels first. Each part is
 *         a loop that knows nothing of the others.
 * WHO     A thread owns an image row of a camera in the softmax and in the first transposition, 64
 *         cells in the second.
 *
 *             softmax         transposition       V2 or V4         transposition
 *             logits  ------------------------->  (cell, c)  --->  (c, cell)
 *                             features  ------->
 * MEMORY  What one part hands to the next is written and read again, in the format of the network:
 *         depths, features, and the grid, which is the largest of them.
 * COST    An expf() a logit for the sum and one for the share; 4 times the logits' bytes, 2 times
 *         those of features and grid, more than pooling moves.
 * LIMITS  All of V4's gain stays within its part: the others take as long as before.
 * TRY     `bench --stage view`: what does V4 save of V2's time, and of the whole? */
#include "kernels/cpu/cpu_view.h"
#include "kernels/threads.h"

#include <math.h>

extern const BevKernel kernel_cpu_v2_bevdet, kernel_cpu_v4;

/* ---- softmax --------------------------------------------------------------------------------- */

/* Computes the depths of one pixel. Its first logit is element `from`, its first depth element
 * `to`. */
static void softmax_pixel(const BevProblem *problem, int64_t from, const BevTensor *depths,
                          int64_t to) {
    const BevShape *shape = &problem->shape;
    int64_t stride = problem->view.depth.channel, distance = shape->feat_h * shape->feat_w;
    float largest = -INFINITY, sum = 0, temperature = problem->view.temperature;
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        largest = fmaxf(largest, cpu_view_get(&problem->depth, from + bin * stride));
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        sum += expf((cpu_view_get(&problem->depth, from + bin * stride) - largest) / temperature);
    for (int64_t bin = 0; bin < shape->depth_bins; bin++) {
        float logit = cpu_view_get(&problem->depth, from + bin * stride);
        cpu_view_put(depths, to + bin * distance,
                     problem->view.softmax ? expf((logit - largest) / temperature) / sum : logit);
    }
}

static void softmax_all(const BevProblem *problem, const BevTensor *depths) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.depth;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t r = 0; r < shape->cameras * shape->feat_h; r++) {
        int64_t camera = r / shape->feat_h, row = r % shape->feat_h;
        int64_t to = (camera * shape->depth_bins * shape->feat_h + row) * shape->feat_w;
        for (int64_t w = 0; w < shape->feat_w; w++)
            softmax_pixel(problem, camera * s->camera + row * s->row + w * s->column, depths,
                          to + w);
    }
}

/* ---- one after the other --------------------------------------------------------------------- */

static void features_all(const BevProblem *problem, void *feat) {
    const BevShape *shape = &problem->shape;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t r = 0; r < shape->cameras * shape->feat_h; r++)
        cpu_view_features(problem, r / shape->feat_h, r % shape->feat_h, feat);
}

static bool run_parts(const BevKernel *pools, const BevProblem *problem, const BevPlan *plan,
                      Err *err) {
    size_t used;
    BevProblem pooling = cpu_view_inner(problem, problem->dtype, &used);
    softmax_all(problem, &pooling.depth);
    features_all(problem, pooling.feat.data);
    if (!pools->launch(&pooling, plan, NULL, err))
        return false;
    if (problem->out_samples)
        cpu_view_spread(problem, pooling.out.data);
    return true;
}

/* Defines the functions of a row of stage VIEW around the row `pools` of stage POOL. */
#define PARTS_AROUND(pools)                                                                        \
    static bool prepare_##pools(const BevProblem *problem, BevPlan **plan, Err *err) {             \
        return kernel_##pools.prepare(problem, plan, err);                                         \
    }                                                                                              \
    static size_t workspace_##pools(const BevProblem *problem, const BevPlan *plan) {              \
        size_t used;                                                                               \
        BevProblem pooling = cpu_view_inner(problem, problem->dtype, &used);                       \
        return used + kernel_##pools.workspace_bytes(&pooling, plan);                              \
    }                                                                                              \
    static bool launch_##pools(const BevProblem *problem, const BevPlan *plan, void *stream,       \
                               Err *err) {                                                         \
        (void)stream;                                                                              \
        return run_parts(&kernel_##pools, problem, plan, err);                                     \
    }
PARTS_AROUND(cpu_v2_bevdet)
PARTS_AROUND(cpu_v4)

/* clang-format off */
const BevKernel kernel_cpu_view_v2_bevdet = {
    .name = "cpu_view_v2_bevdet", .title = "View V2 (BEVDet)",
    .idea = "As a framework runs it: softmax, transposition, V2 (BEVDet), transposition.",
    .counterpart = "view_v2_bevdet", .where = BEV_CPU, .stage = BEV_VIEW, .is_baseline = true,
    .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .writes_first = true, .pools = "cpu_v2_bevdet", .prepare = prepare_cpu_v2_bevdet,
    .release = cpu_release, .workspace_bytes = workspace_cpu_v2_bevdet,
    .launch = launch_cpu_v2_bevdet,
};

const BevKernel kernel_cpu_view_v4 = {
    .name = "cpu_view_v4", .title = "View V4",
    .idea = "The same with V4: the pooling is fast, and nothing round it is.",
    .counterpart = "view_v4", .where = BEV_CPU, .stage = BEV_VIEW, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .writes_first = true,
    .pools = "cpu_v4", .prepare = prepare_cpu_v4, .release = cpu_release,
    .workspace_bytes = workspace_cpu_v4, .launch = launch_cpu_v4,
};
/* clang-format on */
