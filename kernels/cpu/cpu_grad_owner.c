/* SPDX-License-Identifier: MIT */
/* cpu_grad_owner: a pixel has one owner.
 *
 * IDEA    Both gradients of a point belong to its pixel: the features' gradient to the pixel, the
 *         depth's to one of the pixel's bins. So the points are sorted once more, by pixel, and
 *         whoever owns a pixel writes all that it gets: nothing is added twice to memory, no
 *         atomics.
 * WHO     A thread owns a pixel at a time, with all its bins; whoever is free takes the next ones.
 *
 *             pixel 17   bin 0  cell 812   g . f -> grad_depth    d g -> sums
 *                        bin 1  cell 861   g . f -> grad_depth    d g -> sums
 *                        bin 2  no point   0     -> grad_depth
 *                        ...                              sums -> grad_feat
 * MEMORY  Features and their gradients go by in order, once. Rows of grad_out are gathered, one for
 *         each point: neighbouring bins lie in neighbouring cells, far apart where y differs. The
 *         elements of grad_depth are a whole image apart from bin to bin.
 * COST    8 bytes a point (12 with a weight), P C elements of grad_out, each element of the
 *         features and of both gradients once, 4 P C operations. No atomics.
 * LIMITS  A pixel's points have one owner; a row of grad_out is gathered by every pixel that looks
 *         at its cell, 11 to 13 of a column of 16 rows, 22 to 24 of 32.
 * TRY     Sort by image column instead of row (cpu_pixels_sort has it): what do the caches say? */
#include "kernels/codec.h"
#include "kernels/cpu/cpu_grad.h"

enum { LANES = 16 };  /* partial sums of a dot product */
enum { PIXELS = 16 }; /* pixels that a thread takes at a time */

typedef struct {
    int32_t depth, cell;
} OwnedPoint;

struct BevPlan {
    CpuPlan base;
    int32_t *starts;    /* [pixels + 1]: where a pixel begins in `points` */
    OwnedPoint *points; /* sorted by pixel, then by depth element */
    float *weights;     /* [points] in the same order; NULL: all 1 */
};

/* ---- prepare --------------------------------------------------------------------------------- */

static bool build_plan(BevPlan *plan, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    CpuArrays *arrays = &plan->base.arrays, draft = {.count = 0};
    CpuPixels pixels;
    plan->points = cpu_take(arrays, map->points, sizeof *plan->points);
    if (map->weights)
        plan->weights = cpu_take(arrays, map->points, sizeof *plan->weights);
    bool ok = cpu_pixels_sort(&pixels, arrays, &draft, problem, CPU_ROW_BY_ROW);
    plan->starts = pixels.starts;
    for (int64_t i = 0; ok && i < map->points; i++) {
        int32_t t = pixels.points[i];
        plan->points[i] = (OwnedPoint){map->ranks_depth[t], map->ranks_bev[t]};
        if (plan->weights)
            plan->weights[i] = map->weights[t];
    }
    cpu_free(&draft);
    return ok;
}
CPU_PREPARE(build_plan, "cpu_grad_owner")

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Returns the floats of decoded grad_out; 0 for FP32, which is read as it is. */
static int64_t decoded_floats(const BevProblem *problem) {
    return problem->grad_out.dtype == BEV_FP32 ? 0
                                               : problem->grad_out.rows * problem->grad_out.row_len;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return cpu_grad_bytes(problem, plan->base.threads, decoded_floats(problem));
}

static void decode_grad_out(const BevProblem *problem, float *values) {
    int64_t row_len = problem->grad_out.row_len;
    if (!decoded_floats(problem))
        return;
#pragma omp for schedule(static)
    for (int64_t row = 0; row < problem->grad_out.rows; row++)
        bev_tensor_decode(&problem->grad_out, row, 1, values + row * row_len);
}

/* Returns the sum of a[c] * b[c]. The order of additions is the same on all machines. */
CPU_INLINE float dot(const float *a, const float *b, int64_t channels) {
    float sums[LANES] = {0}, sum = 0;
    int64_t c = 0;
    for (; c + LANES <= channels; c += LANES)
        CPU_SIMD
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += a[c + lane] * b[c + lane];
    for (; c < channels; c++)
        sum += a[c] * b[c];
    for (int lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* The arrays that the owner of one pixel reads and writes. */
typedef struct {
    const float *depth, *feat, *grad_out; /* feat: the pixel's row */
    float *grad_depth, *sums;
} PixelJob;

/* Computes both gradients of one pixel: grad_depth of all its bins, and `sums` for grad_feat. */
CPU_CLONES
static void make_pixel_gradients(const BevPlan *plan, const BevProblem *problem, int64_t pixel,
                                 const PixelJob *job) {
    const BevShape *shape = &problem->shape;
    int64_t image = shape->feat_h * shape->feat_w, channels = shape->channels;
    int64_t element = pixel / image * shape->depth_bins * image + pixel % image;
    for (int64_t c = 0; c < channels; c++)
        job->sums[c] = 0;
    int64_t i = plan->starts[pixel], end = plan->starts[pixel + 1];
    for (int64_t bin = 0; bin < shape->depth_bins; bin++, element += image) {
        float sum = 0;
        for (; i < end && plan->points[i].depth == element; i++) {
            const float *row = job->grad_out + plan->points[i].cell * channels;
            float weight = plan->weights ? plan->weights[i] : 1;
            sum += weight * dot(row, job->feat, channels);
            cpu_add_scaled(job->sums, row, weight * job->depth[element], channels);
        }
        job->grad_depth[element] = sum;
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    CpuGrad grad = cpu_grad(problem, plan->base.threads);
    const float *grad_out = decoded_floats(problem) ? grad.own : problem->grad_out.data;
    int64_t channels = problem->shape.channels, pixels = problem->feat.rows;
#pragma omp parallel num_threads(grad.stage.threads)
    {
        cpu_stage_fill(&grad.stage, problem);
        decode_grad_out(problem, grad.own);
#pragma omp for schedule(dynamic, PIXELS)
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            float *sums = cpu_grad_row(&grad, problem, pixel);
            const float *feat = grad.stage.feat + pixel * channels;
            const PixelJob job = {grad.stage.depth, feat, grad_out, grad.grad_depth, sums};
            make_pixel_gradients(plan, problem, pixel, &job);
            cpu_grad_store(problem, pixel, sums);
        }
        cpu_grad_encode_depth(&grad, problem);
    }
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    double points = (double)problem->map.points, element = bev_dtypes[problem->dtype].bits / 8.0;
    return (BevTraffic){
        .feat = (double)bev_tensor_bytes(&problem->feat),
        .depth = points * element,
        .index = points * sizeof(OwnedPoint) + (double)problem->feat.rows * sizeof(int32_t),
        .weight = problem->map.weights ? points * sizeof(float) : 0,
        .out_read = points * (double)problem->shape.channels * element,
        .grad_write = (double)bev_output_bytes(problem),
    };
}

/* clang-format off */
const BevKernel kernel_cpu_grad_owner = {
    .name = "cpu_grad_owner", .title = "OWNER", .counterpart = "grad_owner",
    .idea = "Backward: points sorted by pixel; a pixel's owner writes both its gradients once.",
    .where = BEV_CPU, .direction = BEV_BACKWARD, .is_baseline = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
