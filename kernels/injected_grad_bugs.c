/* SPDX-License-Identifier: MIT */
/* The injected bugs of gradients. Each bug changes a copy of the map before the gradients are
 * computed, or the gradients after that. The CPU's owner kernel computes them, so that every run
 * gives the same bits. A problem without points gets correct gradients. */
#include "kernels/injected_bugs.h"

#include "kernels/codec.h"
#include "kernels/cpu/cpu_grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const BevKernel kernel_cpu_grad_owner;
static const BevKernel *const correct_kernel = &kernel_cpu_grad_owner;

/* What a bug may change: the correct gradients, decoded to FP32. */
typedef struct {
    const BevProblem *problem;
    float *depth, *feat;
} Gradients;

/* ---- in the map ------------------------------------------------------------------------------ */

typedef void InMap(const BevProblem *problem, BevMap *map);

static void drop_point(const BevProblem *problem, BevMap *map) {
    (void)problem;
    map->points--;
}

/* Swaps the cells of the first and the last point. */
static void swap_cells(const BevProblem *problem, BevMap *map) {
    (void)problem;
    int32_t first = map->ranks_bev[0];
    map->ranks_bev[0] = map->ranks_bev[map->points - 1];
    map->ranks_bev[map->points - 1] = first;
}

/* Adds one point twice and the next point not at all, as colliding atomics would. */
static void add_one_twice(const BevProblem *problem, BevMap *map) {
    (void)problem;
    int64_t from = map->points / 2, to = from + 1 < map->points ? from + 1 : 0;
    map->ranks_depth[to] = map->ranks_depth[from];
    map->ranks_feat[to] = map->ranks_feat[from];
    map->ranks_bev[to] = map->ranks_bev[from];
}

static void forget_weights(const BevProblem *problem, BevMap *map) {
    (void)problem;
    map->weights = NULL;
}

/* Reads cell (x, y) from x * ny + y in place of y * nx + x. */
static void transpose_grid(const BevProblem *problem, BevMap *map) {
    int32_t nx = (int32_t)problem->shape.nx, ny = (int32_t)problem->shape.ny;
    for (int64_t t = 0; t < map->points; t++)
        map->ranks_bev[t] = map->ranks_bev[t] % nx * ny + map->ranks_bev[t] / nx;
}

/* ---- in the gradients ------------------------------------------------------------------------ */

typedef void InGradients(const Gradients *g);

static float weight_of(const BevMap *map, int64_t t) {
    return map->weights ? map->weights[t] : 1;
}

/* Each bin gets the gradient of the next bin; the last bin keeps its own. */
static void take_next_bin(const Gradients *g) {
    const BevShape *shape = &g->problem->shape;
    int64_t image = shape->feat_h * shape->feat_w, bins = shape->depth_bins;
    for (int64_t camera = 0; camera < shape->cameras; camera++) {
        float *first = g->depth + camera * bins * image;
        memmove(first, first + image, (size_t)((bins - 1) * image) * sizeof *first);
    }
}

static void miss_last_channel(const Gradients *g) {
    int64_t channels = g->problem->shape.channels;
    for (int64_t pixel = 0; pixel < g->problem->feat.rows; pixel++)
        g->feat[pixel * channels + channels - 1] = 0;
}

/* Ends the dot product of grad_out and features one channel early. */
static void shorten_dot(const Gradients *g) {
    const BevMap *map = &g->problem->map;
    int64_t c = g->problem->shape.channels - 1;
    for (int64_t t = 0; t < map->points; t++)
        g->depth[map->ranks_depth[t]] -=
            weight_of(map, t) * bev_tensor_at(&g->problem->grad_out, map->ranks_bev[t], c) *
            bev_tensor_at(&g->problem->feat, map->ranks_feat[t], c);
}

/* Stores the sums of the last point's pixel without this point, its last bin. */
static void lose_last_bin(const Gradients *g) {
    const BevMap *map = &g->problem->map;
    int64_t t = map->points - 1, channels = g->problem->shape.channels;
    for (int64_t c = 0; c < channels; c++)
        g->feat[map->ranks_feat[t] * channels + c] -=
            weight_of(map, t) * bev_tensor_at(&g->problem->depth, 0, map->ranks_depth[t]) *
            bev_tensor_at(&g->problem->grad_out, map->ranks_bev[t], c);
}

/* The first bin without a point, else the last bin, keeps an old value (7). */
static void keep_one_old_bin(const Gradients *g) {
    const BevMap *map = &g->problem->map;
    int64_t bins = g->problem->depth.row_len, i = 0;
    bool *reached = calloc((size_t)bins, sizeof *reached);
    for (int64_t t = 0; reached && t < map->points; t++)
        reached[map->ranks_depth[t]] = true;
    while (reached && i < bins - 1 && reached[i])
        i++;
    g->depth[i] = 7;
    free(reached);
}

static void set_one_nan(const Gradients *g) {
    g->feat[g->problem->map.ranks_feat[0] * g->problem->shape.channels] = NAN;
}

static void flip_sign(const Gradients *g) {
    for (int64_t i = 0; i < g->problem->depth.row_len; i++)
        g->depth[i] = -g->depth[i];
}

/* ---- the kernel ------------------------------------------------------------------------------ */

struct BevPlan {
    BevMap map; /* a copy, changed by the bug */
    BevPlan *inner;
    InGradients *in_gradients;
    float *depth, *feat;
};

static void release(BevPlan *plan) {
    if (!plan)
        return;
    correct_kernel->release(plan->inner);
    free(plan->map.ranks_depth);
    free(plan->map.ranks_feat);
    free(plan->map.ranks_bev);
    free(plan->depth);
    free(plan->feat);
    free(plan);
}

static int32_t *copy_ranks(const int32_t *ranks, int64_t count) {
    int32_t *copy = malloc((size_t)(count + 1) * sizeof *copy);
    return copy ? memcpy(copy, ranks, (size_t)count * sizeof *copy) : NULL;
}

static float *allocate_values(const BevTensor *tensor) {
    return malloc((size_t)(tensor->rows * tensor->row_len) * sizeof(float));
}

static bool prepare(const BevProblem *problem, InMap *in_map, InGradients *in_gradients,
                    BevPlan **out, Err *err) {
    BevPlan *plan = *out = calloc(1, sizeof *plan);
    if (!plan)
        return err_no_memory(err, "injected bug", "");
    BevMap *map = &plan->map;
    *map = problem->map;
    map->ranks_depth = copy_ranks(map->ranks_depth, map->points);
    map->ranks_feat = copy_ranks(map->ranks_feat, map->points);
    map->ranks_bev = copy_ranks(map->ranks_bev, map->points);
    plan->in_gradients = in_gradients;
    plan->depth = allocate_values(&problem->grad_depth);
    plan->feat = allocate_values(&problem->grad_feat);
    bool ok =
        (map->ranks_depth && map->ranks_feat && map->ranks_bev && plan->depth && plan->feat) ||
        err_no_memory(err, "injected bug", "choose a smaller scene");
    if (ok && in_map && map->points > 0)
        in_map(problem, map);
    BevProblem spoilt = *problem;
    spoilt.map = *map;
    if (ok && correct_kernel->prepare(&spoilt, &plan->inner, err))
        return true;
    release(plan);
    *out = NULL;
    return false;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return correct_kernel->workspace_bytes(problem, plan->inner);
}

static void change_gradients(const BevProblem *problem, const BevPlan *plan) {
    const Gradients gradients = {problem, plan->depth, plan->feat};
    bev_tensor_decode(&problem->grad_depth, 0, problem->grad_depth.rows, plan->depth);
    bev_tensor_decode(&problem->grad_feat, 0, problem->grad_feat.rows, plan->feat);
    plan->in_gradients(&gradients);
    BevTensor depth = problem->grad_depth, feat = problem->grad_feat;
    bev_tensor_encode(&depth, plan->depth);
    bev_tensor_encode(&feat, plan->feat);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    BevProblem spoilt = *problem;
    spoilt.map = plan->map;
    if (!correct_kernel->launch(&spoilt, plan->inner, stream, err))
        return false;
    if (plan->in_gradients && problem->map.points > 0)
        change_gradients(problem, plan);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    return bev_traffic(correct_kernel, problem);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define WEIGHTED (1u << BEV_BILINEAR | 1u << BEV_LATTICE)
#define INJECTED_BUGS(D)                                                                           \
    D(1, "dropped-point", "One point, the last of all, is left out.",                              \
      drop_point, NULL, FINE, CPU_ALL_ALIGNS, NULL)                                                \
    D(2, "swapped-cells", "Two points far from each other read each other's cells of grad_out.",   \
      swap_cells, NULL, FINE, CPU_ALL_ALIGNS, NULL)                                                \
    D(3, "added-twice", "One point is added twice, the next one not at all.",                      \
      add_one_twice, NULL, FINE, CPU_ALL_ALIGNS, NULL)                                             \
    D(4, "no-weights", "The weights of bilinear points are forgotten.",                            \
      forget_weights, NULL, FINE, WEIGHTED, NULL)                                                  \
    D(5, "neighbour-bin", "Every bin of depth has the gradient of the next bin.",                  \
      NULL, take_next_bin, FINE, CPU_ALL_ALIGNS, "grad_depth")                                     \
    D(6, "last-channel", "The gradient of every pixel's last channel is never summed.",            \
      NULL, miss_last_channel, FINE, CPU_ALL_ALIGNS, "grad_feat")                                  \
    D(7, "short-dot", "The dot products of grad_depth end a channel early.",                       \
      NULL, shorten_dot, FINE, CPU_ALL_ALIGNS, "grad_depth")                                       \
    D(8, "last-bin", "One pixel's gradient is stored before its last bin is added.",               \
      NULL, lose_last_bin, FINE, CPU_ALL_ALIGNS, "grad_feat")                                      \
    D(9, "not-cleared", "A bin of depth that no point reaches keeps what was there.",              \
      NULL, keep_one_old_bin, FINE, CPU_ALL_ALIGNS, "grad_depth")                                  \
    D(10, "one-nan", "One gradient of a feature is not a number.",                                 \
      NULL, set_one_nan, ALWAYS, CPU_ALL_ALIGNS, "grad_feat")                                      \
    D(11, "wrong-sign", "The gradient of depth has the other sign.",                               \
      NULL, flip_sign, ALWAYS, CPU_ALL_ALIGNS, "grad_depth")                                       \
    D(12, "transposed", "Cell (x, y) of grad_out is read from x * ny + y.",                        \
      transpose_grid, NULL, FINE, CPU_ALL_ALIGNS, NULL)

#define PREPARE(number, name, what, in_map, in_gradients, a, aligns, output)                       \
    static bool prepare_##number(const BevProblem *problem, BevPlan **plan, Err *err) {            \
        return prepare(problem, in_map, in_gradients, plan, err);                                  \
    }

#define ROW(number, word, sentence, in_map, in_gradients, a, where_it_is, wrong)                   \
    {.name = word, .what = sentence, .gate_a = CAUGHT_##a, .gate_c = CAUGHT_ALWAYS,                \
     .output = wrong,                                                                              \
     .kernel = {.name = "grad_bug_" #number, .title = "BUG " #number,                        \
                .idea = "Correct gradients with one injected bug: find it in the gates, in the "   \
                        "bins of a pixel and in training.",                                        \
                .where = BEV_CPU, .direction = BEV_BACKWARD, .dtypes = CPU_GRAD_DTYPES,            \
                .aligns = where_it_is, .deterministic = true, .wrong_on_purpose = true,            \
                .prepare = prepare_##number, .release = release,                                   \
                .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes}},
/* clang-format on */

INJECTED_BUGS(PREPARE)

const InjectedBug injected_grad_bugs[] = {INJECTED_BUGS(ROW)};
const int injected_grad_bug_count = sizeof injected_grad_bugs / sizeof *injected_grad_bugs;
