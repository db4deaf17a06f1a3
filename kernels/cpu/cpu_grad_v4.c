/* SPDX-License-Identifier: MIT */
/* cpu_grad_v4: columns, the other way.
 *
 * IDEA    The pixels of an image column look at the same hundred or so cells: a vertical plane in
 *         the world. Their rows of grad_out are gathered once, decoded once and lie side by side,
 *         and both gradients of the column are products with that one small matrix G: features
 *         times G transposed are the dot products of grad_depth, depths times G is grad_feat. Each
 *         row of G that is loaded serves both. A pixel's features and its gradient stay in
 *         registers while its points go by.
 * WHO     A thread owns a few neighbouring columns; whoever is free takes the next.
 *
 *             column 7      G: cells 812, 861, ...   [ g g g g ... ]
 *             pixel row 0   F f f f    points: G0 G0 G1 G4 ...   -> dots, and sums in registers
 *             pixel row 1   F f f f    points: G0 G1 G1 G3 ...
 * MEMORY  G is gathered once, and then comes from the first and second cache. Features are read and
 *         their gradient is written once, an image row apart. Elements of grad_depth are cleared in
 *         order and then stored one by one.
 * COST    8 bytes a point (12 with a weight), C elements for each cell of each column, each element
 *         of features and gradients once, P depths, 4 P C operations and P sums across a register.
 * LIMITS  Products leave the zeros out, so each point needs a sum across lanes. Where each point of
 *         a column reaches another cell, G has a row for each point: the result is right, but no
 *         faster than by cpu_grad_owner.
 * TRY     Point at grad_out itself instead of gathering G: what is the copy worth in FP32, what in
 *         FP16? Let two pixels pass at a time, with each row of G loaded once for both. */
#include "kernels/codec.h"
#include "kernels/cpu/cpu_grad.h"

#include <string.h>

typedef struct {
    int32_t depth, row; /* index into depth; row in the column's G */
} ColumnPoint;

struct BevPlan {
    CpuPlan base;
    int64_t columns, most_rows, most_points; /* most rows of a G, most points of a pixel */
    int32_t *starts;                         /* [pixels + 1]: first point of each pixel */
    ColumnPoint *points;
    float *weights;       /* [points]; NULL: all 1 */
    int32_t *cell_starts; /* [columns + 1]: first element of each column in `cells` */
    int32_t *cells;       /* the cell of each row of each column's G */
};

enum { MOST_VECTORS = 12 }; /* most vectors of a pixel's features that stay in registers */
enum { COLUMNS = 4 };       /* columns that a thread takes at a time */
enum { UNWEIGHTED, WEIGHTED, STORES_DOTS = 0, ADDS_DOTS }; /* arguments of multiply_block */

/* The product of one pixel's points with the column's G. */
typedef struct {
    const ColumnPoint *first, *end;
    const float *weights, *depth, *rows, *feat; /* feat: the pixel's row */
    float *sums, *dots;                         /* sums: [channels]; dots: [the pixel's points] */
    int64_t channels;
} PixelProduct;

/* ---- vectors of 4, 8 and 16 channels --------------------------------------------------------- */

#define LANES_FILE "kernels/cpu/cpu_grad_v4_lanes.inc"
#include "kernels/cpu/cpu_lanes.inc"

/* Computes the product for fewer channels than the shortest vector has lanes. */
static void multiply_narrow(const PixelProduct *p) {
    memset(p->sums, 0, (size_t)p->channels * sizeof *p->sums);
    for (const ColumnPoint *point = p->first; point < p->end; point++) {
        const float *row = p->rows + point->row * p->channels;
        float weight = p->weights ? p->weights[point - p->first] : 1, dot = 0;
        for (int64_t c = 0; c < p->channels; c++)
            dot += p->feat[c] * row[c];
        cpu_add_scaled(p->sums, row, weight * p->depth[point->depth], p->channels);
        p->dots[point - p->first] = dot;
    }
}

typedef void Multiply(const PixelProduct *p);

/* ---- prepare --------------------------------------------------------------------------------- */

/* Numbers the cells that the points of one column reach, in the order of the points. seen[cell] is
 * the last column (from 1) that reached the cell, number[cell] the cell's row in the column's G. */
static void number_cells(BevPlan *plan, const BevMap *map, const int32_t *order, int64_t column,
                         int64_t first, int64_t end, int32_t *seen, int32_t *number) {
    int32_t begin = plan->cell_starts[column], count = begin;
    for (int64_t i = first; i < end; i++) {
        int32_t t = order[i], cell = map->ranks_bev[t];
        if (seen[cell] != column + 1) {
            seen[cell] = (int32_t)column + 1;
            number[cell] = count - begin;
            plan->cells[count++] = cell;
        }
        plan->points[i] = (ColumnPoint){map->ranks_depth[t], number[cell]};
        if (plan->weights)
            plan->weights[i] = map->weights[t];
    }
    plan->cell_starts[column + 1] = count;
    if (count - begin > plan->most_rows)
        plan->most_rows = count - begin;
}

static bool build_plan(BevPlan *plan, const BevProblem *problem) {
    const BevShape *shape = &problem->shape;
    const BevMap *map = &problem->map;
    int64_t cells = shape->nx * shape->ny;
    CpuArrays *arrays = &plan->base.arrays, draft = {.count = 0};
    CpuPixels pixels;
    plan->columns = shape->cameras * shape->feat_w;
    plan->points = cpu_take(arrays, map->points, sizeof *plan->points);
    plan->cells = cpu_take(arrays, map->points, sizeof *plan->cells);
    plan->cell_starts = cpu_take_zeroed(arrays, plan->columns, sizeof *plan->cell_starts);
    if (map->weights)
        plan->weights = cpu_take(arrays, map->points, sizeof *plan->weights);
    int32_t *seen = cpu_take_zeroed(&draft, cells, sizeof *seen);
    int32_t *number = cpu_take(&draft, cells, sizeof *number);
    bool ok = cpu_pixels_sort(&pixels, arrays, &draft, problem, CPU_BY_COLUMN);
    plan->starts = pixels.starts;
    for (int64_t column = 0; ok && column < plan->columns; column++)
        number_cells(plan, map, pixels.points, column, plan->starts[column * shape->feat_h],
                     plan->starts[(column + 1) * shape->feat_h], seen, number);
    for (int64_t pixel = 0; ok && pixel < problem->feat.rows; pixel++)
        if (plan->starts[pixel + 1] - plan->starts[pixel] > plan->most_points)
            plan->most_points = plan->starts[pixel + 1] - plan->starts[pixel];
    cpu_free(&draft);
    return ok;
}
CPU_PREPARE(build_plan, "cpu_grad_v4")

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Returns the floats of a thread: the column's G, a pixel's dot products, and a cache line (16). */
static int64_t thread_floats(const BevProblem *problem, const BevPlan *plan) {
    return plan->most_rows * problem->shape.channels + plan->most_points + 16;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    int threads = plan->base.threads;
    return cpu_grad_bytes(problem, threads, threads * thread_floats(problem, plan));
}

static void gather_cells(const BevProblem *problem, const BevPlan *plan, int64_t column,
                         float *rows) {
    int64_t channels = problem->shape.channels;
    for (int64_t i = plan->cell_starts[column]; i < plan->cell_starts[column + 1]; i++) {
        bev_tensor_decode(&problem->grad_out, plan->cells[i], 1, rows);
        rows += channels;
    }
}

/* Stores grad_depth of a pixel's points. Points of one element are neighbours and add up. */
static void store_dots(const PixelProduct *p, float *grad_depth) {
    for (const ColumnPoint *point = p->first; point < p->end;) {
        int32_t element = point->depth;
        float sum = 0;
        for (; point < p->end && point->depth == element; point++) {
            int64_t i = point - p->first;
            sum += p->weights ? p->weights[i] * p->dots[i] : p->dots[i];
        }
        grad_depth[element] = sum;
    }
}

/* Computes both gradients of one column: gathers its G, then multiplies pixel by pixel. */
static void make_column_gradients(const BevProblem *problem, const BevPlan *plan,
                                  const CpuGrad *grad, Multiply *multiply, int64_t column) {
    const BevShape *shape = &problem->shape;
    float *rows = grad->own + cpu_thread() * thread_floats(problem, plan);
    gather_cells(problem, plan, column, rows);
    for (int64_t h = 0; h < shape->feat_h; h++) {
        int64_t place = column * shape->feat_h + h, first = plan->starts[place];
        int64_t pixel = (column / shape->feat_w * shape->feat_h + h) * shape->feat_w +
                        column % shape->feat_w;
        const PixelProduct p = {.first = plan->points + first,
                                .end = plan->points + plan->starts[place + 1],
                                .weights = plan->weights ? plan->weights + first : NULL,
                                .depth = grad->stage.depth,
                                .rows = rows,
                                .feat = grad->stage.feat + pixel * shape->channels,
                                .sums = cpu_grad_row(grad, problem, pixel),
                                .dots = rows + plan->most_rows * shape->channels,
                                .channels = shape->channels};
        multiply(&p);
        store_dots(&p, grad->grad_depth);
        cpu_grad_store(problem, pixel, p.sums);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    CpuGrad grad = cpu_grad(problem, plan->base.threads);
    Multiply *multiply = WIDEST(multiply, problem->shape.channels);
    BevTensor sums = problem->grad_depth;
    sums.dtype = BEV_FP32;
    sums.data = grad.grad_depth;
#pragma omp parallel num_threads(grad.stage.threads)
    {
        cpu_stage_fill(&grad.stage, problem);
        cpu_clear(&grad.stage, &sums);
#pragma omp for schedule(dynamic, COLUMNS)
        for (int64_t column = 0; column < plan->columns; column++)
            make_column_gradients(problem, plan, &grad, multiply, column);
        cpu_grad_encode_depth(&grad, problem);
    }
    return true;
}

enum { USUAL_PIXELS = 8 }; /* assumed: pixels of a column that reach the same cell */

static BevTraffic bytes(const BevProblem *problem) {
    double points = (double)problem->map.points, element = bev_dtypes[problem->dtype].bits / 8.0;
    return (BevTraffic){
        .feat = (double)bev_tensor_bytes(&problem->feat),
        .depth = points * element,
        .index = points * sizeof(ColumnPoint) + (double)problem->feat.rows * sizeof(int32_t),
        .weight = problem->map.weights ? points * sizeof(float) : 0,
        .out_read = points / USUAL_PIXELS * (double)problem->shape.channels * element,
        .grad_write = (double)bev_output_bytes(problem) + points * sizeof(float),
    };
}

/* clang-format off */
const BevKernel kernel_cpu_grad_v4 = {
    .name = "cpu_grad_v4", .title = "V4", .counterpart = "grad_v4",
    .idea = "Backward: a column's rows of grad_out gathered once; both gradients from registers.",
    .where = BEV_CPU, .direction = BEV_BACKWARD, .is_default = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
