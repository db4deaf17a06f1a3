/* SPDX-License-Identifier: MIT */
/* The injected bugs of forward pooling, and how all bugs run. Forward, one thread pools interval by
 * interval, so that even a wrong map gives the same bits in every run. Backward, the CPU's owner
 * kernel computes the gradients, for the same reason. */
#include "kernels/injected_bugs.h"

#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"
#include "kernels/regime.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- in the map ------------------------------------------------------------------------------ */

static int64_t longest_interval(const BevMap *map) {
    int64_t best = 0;
    for (int64_t i = 1; i < map->intervals; i++)
        if (map->interval_lengths[i] > map->interval_lengths[best])
            best = i;
    return best;
}

static double depth_of(const Spoilt *p, int64_t t) {
    return bev_tensor_at(&p->problem->depth, 0, p->map.ranks_depth[t]);
}

/* Returns the point of interval i whose depth differs most from point t's and which reads another
 * feature row. Swapping equal points would change nothing. */
static int64_t most_different_point(const Spoilt *p, int64_t i, int64_t t) {
    const BevMap *map = &p->map;
    int64_t first = map->interval_starts[i], found = first;
    double most = 0, depth = depth_of(p, t);
    for (int64_t u = first; u < first + map->interval_lengths[i]; u++) {
        double d = fabs(depth_of(p, u) - depth);
        if (d > most && map->ranks_feat[u] != map->ranks_feat[t]) {
            most = d;
            found = u;
        }
    }
    return found;
}

static void swap_ranks(int32_t *ranks, int64_t t, int64_t u) {
    int32_t rank = ranks[t];
    ranks[t] = ranks[u];
    ranks[u] = rank;
}

/* Sets `*t` to the first point of the longest interval. Returns the point of a neighbouring
 * interval that differs most from point `*t`, or without a neighbour `*t` itself. */
static int64_t pair_of_neighbours(const Spoilt *p, int64_t *t) {
    const int64_t longest = longest_interval(&p->map);
    const int64_t neighbour = longest > 0 ? longest - 1 : longest + 1;
    *t = p->map.interval_starts[longest];
    return p->map.intervals > 1 ? most_different_point(p, neighbour, *t) : *t;
}

static void drop_point(Spoilt *p) {
    p->map.interval_lengths[longest_interval(&p->map)]--;
}

/* Leaves out the first point of one interval: among intervals of two points and more, the one whose
 * first point adds most. */
static void start_one_late(Spoilt *p) {
    BevMap *map = &p->map;
    int64_t found = -1;
    double most = 0;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t t = map->interval_starts[i];
        double adds = depth_of(p, t) * (map->weights ? map->weights[t] : 1);
        if (map->interval_lengths[i] > 1 && adds > most) {
            most = adds;
            found = i;
        }
    }
    if (found < 0)
        return;
    map->interval_starts[found]++;
    map->interval_lengths[found]--;
}

static void shift_starts(Spoilt *p) {
    for (int64_t i = 0; i + 1 < p->map.intervals; i++)
        p->map.interval_starts[i]++;
}

static void swap_features(Spoilt *p) {
    int64_t i = longest_interval(&p->map), t = p->map.interval_starts[i];
    swap_ranks(p->map.ranks_feat, t, most_different_point(p, i, t));
}

static void swap_depths(Spoilt *p) {
    int64_t t, u = pair_of_neighbours(p, &t);
    swap_ranks(p->map.ranks_depth, t, u);
}

/* Swaps two points of neighbouring intervals; the intervals stay as they are. */
static void swap_points(Spoilt *p) {
    int64_t t, u = pair_of_neighbours(p, &t);
    swap_ranks(p->map.ranks_depth, t, u);
    swap_ranks(p->map.ranks_feat, t, u);
}

/* Every point takes the depth of the next bin. Points of the last bin keep theirs. */
static void take_next_bin(Spoilt *p) {
    const BevShape *shape = &p->problem->shape;
    int64_t bin = shape->feat_h * shape->feat_w;
    for (int64_t t = 0; t < p->map.points; t++)
        if (p->map.ranks_depth[t] / bin % shape->depth_bins + 1 < shape->depth_bins)
            p->map.ranks_depth[t] += (int32_t)bin;
}

static void add_in_halves(Spoilt *p) {
    p->halves = true;
}

void injected_transpose_grid(Spoilt *p) {
    int32_t nx = (int32_t)p->problem->shape.nx, ny = (int32_t)p->problem->shape.ny;
    for (int64_t t = 0; t < p->map.points; t++)
        p->map.ranks_bev[t] = p->map.ranks_bev[t] % nx * ny + p->map.ranks_bev[t] / nx;
}

/* ---- in the sums ----------------------------------------------------------------------------- */

static size_t row_bytes(const Spoilt *p) {
    return (size_t)p->problem->shape.channels * sizeof(float);
}

static float *row_of(const Spoilt *p, int64_t cell) {
    return p->values[0] + cell * p->problem->shape.channels;
}

static int64_t cells_of(const Spoilt *p) {
    return p->problem->shape.nx * p->problem->shape.ny;
}

static void miss_last_channel(Spoilt *p) {
    int64_t channels = p->problem->shape.channels;
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        row_of(p, cell)[channels - 1] = 0;
}

/* Writes the rows of the output as if each were one channel shorter than it is. Of the last row a
 * value for each other cell is left over. */
static void use_short_stride(Spoilt *p) {
    int64_t channels = p->problem->shape.channels, cells = cells_of(p);
    for (int64_t cell = 0; cell < cells; cell++)
        memmove(p->values[0] + cell * (channels - 1), row_of(p, cell), row_bytes(p));
    memset(p->values[0] + cells * (channels - 1) + 1, 0, (size_t)(cells - 1) * sizeof(float));
}

/* Replaces each cell by the mean of itself and the next cell in x, a shift by half a cell. */
static void average_neighbours(Spoilt *p) {
    int64_t nx = p->problem->shape.nx, channels = p->problem->shape.channels;
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        for (int64_t c = 0; c < channels; c++) {
            float *at = row_of(p, cell) + c;
            *at = 0.5f * (*at + (cell % nx + 1 < nx ? at[channels] : 0));
        }
}

/* Cells without points keep old values, of an earlier moment when everything lay CELLS cells
 * further ahead. */
static void keep_old_cells(Spoilt *p) {
    enum { CELLS = 3 };
    int64_t nx = p->problem->shape.nx;
    int32_t *interval_of = bev_intervals_of_cells(&p->problem->map, cells_of(p));
    for (int64_t cell = 0; interval_of && cell < cells_of(p); cell++)
        if (interval_of[cell] < 0 && cell % nx >= CELLS && interval_of[cell - CELLS] >= 0)
            memcpy(row_of(p, cell), row_of(p, cell - CELLS), row_bytes(p));
    free(interval_of);
}

/* Fills the first cell without points, else the last cell, with NaN: the value of memory that no
 * kernel has written. */
static void leave_unwritten(Spoilt *p) {
    int32_t *interval_of = bev_intervals_of_cells(&p->problem->map, cells_of(p));
    int64_t cell = 0;
    while (interval_of && cell + 1 < cells_of(p) && interval_of[cell] >= 0)
        cell++;
    free(interval_of);
    float *row = row_of(p, cell);
    for (int64_t c = 0; c < p->problem->shape.channels; c++)
        row[c] = p->problem->out.dtype == BEV_INT8 ? FLT_MAX : NAN; /* INT8 has no NaN */
}

/* Replaces the largest output by NaN. A format without NaN encodes it as 0. */
static void set_one_nan(Spoilt *p) {
    int64_t largest = 0;
    for (int64_t i = 0; i < cells_of(p) * p->problem->shape.channels; i++)
        if (fabsf(p->values[0][i]) > fabsf(p->values[0][largest]))
            largest = i;
    p->values[0][largest] = NAN;
}

static void halve_all(Spoilt *p) {
    for (int64_t i = 0; i < cells_of(p) * p->problem->shape.channels; i++)
        p->values[0][i] /= 2;
}

/* ---- how bugs run ---------------------------------------------------------------------------- */

extern const BevKernel kernel_cpu_grad_owner;
static const BevKernel *const correct_gradients = &kernel_cpu_grad_owner;

struct BevPlan {
    CpuPlan base;
    Spoil *in_map, *in_values;
    Spoilt spoilt;
    float *depth, *feat; /* forward: decoded */
    BevPlan *inner;      /* backward: the plan of correct_gradients for the spoilt map */
};

static float *take_values(CpuArrays *arrays, const BevTensor *tensor) {
    return cpu_take(arrays, tensor->rows * tensor->row_len, sizeof(float));
}

static bool build_plan(BevPlan *plan, const BevProblem *problem) {
    CpuArrays *arrays = &plan->base.arrays;
    BevMap *map = &plan->spoilt.map;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    for (int i = bev_outputs(problem, outputs); i-- > 0;)
        plan->spoilt.values[i] = take_values(arrays, outputs[i]);
    plan->depth = take_values(arrays, &problem->depth);
    plan->feat = take_values(arrays, &problem->feat);
    *map = problem->map;
    bev_map_place(map, cpu_take(arrays, (int64_t)bev_map_place(map, NULL), 1));
    return !arrays->failed;
}

/* Copies the problem's map, and spoils the copy if the bug does. */
static Spoilt spoil_map(const BevPlan *plan, const BevProblem *problem) {
    Spoilt s = plan->spoilt;
    BevMap given = problem->map;
    const BevMapArrays from = bev_map_arrays(&given), to = bev_map_arrays(&s.map);
    s.problem = problem;
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        if (from.count[i])
            memcpy(*to.array[i], *from.array[i], (size_t)from.count[i] * sizeof(int32_t));
    if (plan->in_map && given.points)
        plan->in_map(&s);
    return s;
}

bool injected_prepare(const BevProblem *problem, Spoil *in_map, Spoil *in_values, BevPlan **plan,
                      Err *err) {
    if (!cpu_prepare(problem, plan, sizeof **plan, build_plan, "injected bug", err))
        return false;
    (*plan)->in_map = in_map;
    (*plan)->in_values = in_values;
    if (problem->direction == BEV_FORWARD)
        return true;
    BevProblem spoilt = *problem;
    spoilt.map = spoil_map(*plan, problem).map;
    if (correct_gradients->prepare(&spoilt, &(*plan)->inner, err))
        return true;
    injected_release(*plan);
    *plan = NULL;
    return false;
}

void injected_release(BevPlan *plan) {
    if (plan)
        correct_gradients->release(plan->inner);
    cpu_release(plan);
}

size_t injected_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return plan->inner ? correct_gradients->workspace_bytes(problem, plan->inner) : 0;
}

static void add_point(const BevPlan *plan, const Spoilt *s, int64_t t, float *row) {
    int64_t channels = s->problem->shape.channels;
    float depth = plan->depth[s->map.ranks_depth[t]] * (s->map.weights ? s->map.weights[t] : 1);
    const float *feat = plan->feat + s->map.ranks_feat[t] * channels;
    cpu_add_scaled(row, feat, depth, channels);
    for (int64_t c = 0; s->halves && c < channels; c++)
        row[c] = (float)bev_code_value(BEV_FP16, bev_code(BEV_FP16, row[c]));
}

/* Sums all intervals. A wrong map may name a cell in several intervals; the last one then stays. */
static void pool_intervals(const BevPlan *plan, const Spoilt *s) {
    const BevProblem *problem = s->problem;
    bev_tensor_decode(&problem->depth, 0, problem->depth.rows, plan->depth);
    bev_tensor_decode(&problem->feat, 0, problem->feat.rows, plan->feat);
    memset(s->values[0], 0, (size_t)cells_of(s) * row_bytes(s));
    for (int64_t i = 0; i < s->map.intervals; i++) {
        int64_t start = s->map.interval_starts[i], end = start + s->map.interval_lengths[i];
        float *row = row_of(s, s->map.ranks_bev[start]);
        memset(row, 0, row_bytes(s));
        for (int64_t t = start; t < end; t++)
            add_point(plan, s, t, row);
    }
}

/* Computes the gradients of the spoilt map, and decodes them. */
static bool find_gradients(const BevPlan *plan, const Spoilt *s, Err *err) {
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    BevProblem spoilt = *s->problem;
    spoilt.map = s->map;
    if (!correct_gradients->launch(&spoilt, plan->inner, NULL, err))
        return false;
    for (int i = bev_outputs(&spoilt, outputs); i-- > 0;)
        bev_tensor_decode(outputs[i], 0, outputs[i]->rows, s->values[i]);
    return true;
}

bool injected_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream;
    Spoilt spoilt = spoil_map(plan, problem);
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    if (!plan->inner)
        pool_intervals(plan, &spoilt);
    else if (!find_gradients(plan, &spoilt, err))
        return false;
    if (plan->in_values && problem->map.points > 0)
        plan->in_values(&spoilt);
    for (int i = bev_outputs(problem, outputs); i-- > 0;)
        bev_tensor_encode(outputs[i], spoilt.values[i]);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    return bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* All injected bugs of forward pooling. The lesson "The gate that sleeps" has the first eleven,
 * without number 7. */
/* clang-format off */
#define INJECTED_BUGS(D)                                                                           \
    D(1, "dropped-point", "One point, the last of the longest interval, is left out.",             \
      drop_point, NULL, FINE, ALWAYS)                                                              \
    D(2, "swapped-ranks", "Two points of a cell take each other's features.",                      \
      swap_features, NULL, FINE, ALWAYS)                                                           \
    D(3, "tail-channel", "The last channel of every cell is never summed.",                        \
      NULL, miss_last_channel, ALWAYS, ALWAYS)                                                     \
    D(4, "transposed", "Cell (x, y) is written to x * ny + y in the place of y * nx + x.",         \
      injected_transpose_grid, NULL, ALWAYS, ALWAYS)                                               \
    D(5, "row-stride", "Rows of the output are taken to be one channel shorter than they are.",    \
      NULL, use_short_stride, ALWAYS, ALWAYS)                                                      \
    D(6, "half-cell", "Half a cell off: each cell is the mean of itself and the next.",            \
      NULL, average_neighbours, ALWAYS, ALWAYS)                                                    \
    D(7, "unsorted", "Two points of different cells have changed places: the map is not sorted.",  \
      swap_points, NULL, FINE, ALWAYS)                                                             \
    D(8, "not-cleared", "Cells without points keep what the frame before left in them.",           \
      NULL, keep_old_cells, ALWAYS, ALWAYS)                                                        \
    D(9, "fp16-sums", "Sums are kept in FP16 and rounded after every point.",                      \
      add_in_halves, NULL, FINE, NEVER)                                                            \
    D(10, "neighbour-bin", "Every point takes the depth of the next bin.",                         \
      take_next_bin, NULL, ALWAYS, ALWAYS)                                                         \
    D(11, "late-start", "One interval starts a point late.", start_one_late, NULL, FINE, ALWAYS)   \
    D(12, "shifted-starts", "All intervals but the last start a point late.",                      \
      shift_starts, NULL, ALWAYS, ALWAYS)                                                          \
    D(13, "swapped-depths", "Two points of neighbouring cells take each other's depths.",          \
      swap_depths, NULL, FINE, ALWAYS)                                                             \
    D(14, "never-written", "One cell without points is never written.",                            \
      NULL, leave_unwritten, ALWAYS, ALWAYS)                                                       \
    D(15, "one-nan", "One output is not a number.", NULL, set_one_nan, ALWAYS, ALWAYS)             \
    D(16, "scaled-twice", "A scale is applied twice: every output is half of what it should be.",  \
      NULL, halve_all, ALWAYS, ALWAYS)

#define ROW(number, word, sentence, in_map, in_values, a, c)                                       \
    {.name = word, .what = sentence, .gate_a = CAUGHT_##a, .gate_c = CAUGHT_##c,                   \
     .kernel = {.name = "bug_" #number, .title = "BUG " #number,                                   \
                .idea = "A correct pooling with one injected bug: find it in the picture, the "    \
                        "error view and the gates.",                                               \
                .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,              \
                .deterministic = true, .wrong_on_purpose = true, .prepare = prepare_##number,      \
                .release = injected_release, .workspace_bytes = injected_workspace_bytes,          \
                .launch = injected_launch, .bytes = bytes}},
/* clang-format on */

INJECTED_BUGS(PREPARE)

const InjectedBug injected_bugs[] = {INJECTED_BUGS(ROW)};
const int injected_bug_count = sizeof injected_bugs / sizeof *injected_bugs;

const InjectedBug *injected_bugs_of(BevDirection direction, int *count) {
    bool backward = direction == BEV_BACKWARD;
    *count = backward ? injected_grad_bug_count : injected_bug_count;
    return backward ? injected_grad_bugs : injected_bugs;
}

const InjectedBug *injected_bug_of(const BevKernel *kernel) {
    int count;
    const InjectedBug *list = injected_bugs_of(kernel->direction, &count);
    for (int i = 0; i < count; i++)
        if (&list[i].kernel == kernel)
            return &list[i];
    return NULL;
}
