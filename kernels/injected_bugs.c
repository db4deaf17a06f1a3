/* SPDX-License-Identifier: MIT */
/* The injected bugs of forward pooling. Each bug changes a copy of the map before the points are
 * summed, or the sums before they are encoded. One thread pools interval by interval, so that even
 * a wrong map gives the same bits in every run. A problem without points is pooled correctly. */
#include "kernels/injected_bugs.h"

#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a bug may change. `sums` and `spare` have shape (cell, c). */
typedef struct {
    const BevProblem *problem;
    BevMap map; /* a copy of the problem's map */
    float *sums, *spare;
    bool halves; /* true: sums are rounded to FP16 after every point */
} Pooling;

/* ---- in the map ------------------------------------------------------------------------------ */

static int64_t longest_interval(const BevMap *map) {
    int64_t best = 0;
    for (int64_t i = 1; i < map->intervals; i++)
        if (map->interval_lengths[i] > map->interval_lengths[best])
            best = i;
    return best;
}

static double depth_of(const Pooling *p, int64_t t) {
    return bev_tensor_at(&p->problem->depth, 0, p->map.ranks_depth[t]);
}

/* Returns the point of interval i whose depth differs most from point t's and which reads another
 * feature row. Swapping equal points would change nothing. */
static int64_t most_different_point(const Pooling *p, int64_t i, int64_t t) {
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
 * interval that differs most from it. */
static int64_t pair_of_neighbours(const Pooling *p, int64_t *t) {
    int64_t i = longest_interval(&p->map);
    *t = p->map.interval_starts[i];
    return p->map.intervals > 1 ? most_different_point(p, i ? i - 1 : i + 1, *t) : *t;
}

static void drop_point(Pooling *p) {
    p->map.interval_lengths[longest_interval(&p->map)]--;
}

/* Leaves out the first point of one interval: among intervals of two points and more, the one whose
 * first point adds most. */
static void start_one_late(Pooling *p) {
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

static void shift_starts(Pooling *p) {
    for (int64_t i = 0; i + 1 < p->map.intervals; i++)
        p->map.interval_starts[i]++;
}

static void swap_features(Pooling *p) {
    int64_t i = longest_interval(&p->map), t = p->map.interval_starts[i];
    swap_ranks(p->map.ranks_feat, t, most_different_point(p, i, t));
}

static void swap_depths(Pooling *p) {
    int64_t t, u = pair_of_neighbours(p, &t);
    swap_ranks(p->map.ranks_depth, t, u);
}

/* Swaps two points of neighbouring intervals; the intervals stay as they are. */
static void swap_points(Pooling *p) {
    int64_t t, u = pair_of_neighbours(p, &t);
    swap_ranks(p->map.ranks_depth, t, u);
    swap_ranks(p->map.ranks_feat, t, u);
}

/* Every point takes the depth of the next bin. Points of the last bin keep theirs. */
static void take_next_bin(Pooling *p) {
    const BevShape *shape = &p->problem->shape;
    int64_t bin = shape->feat_h * shape->feat_w;
    for (int64_t t = 0; t < p->map.points; t++)
        if (p->map.ranks_depth[t] / bin % shape->depth_bins + 1 < shape->depth_bins)
            p->map.ranks_depth[t] += (int32_t)bin;
}

static void add_in_halves(Pooling *p) {
    p->halves = true;
}

/* ---- in the sums ----------------------------------------------------------------------------- */

static size_t row_bytes(const Pooling *p) {
    return (size_t)p->problem->shape.channels * sizeof(float);
}

static float *row_of(const Pooling *p, float *grid, int64_t cell) {
    return grid + cell * p->problem->shape.channels;
}

static int64_t cells_of(const Pooling *p) {
    return p->problem->shape.nx * p->problem->shape.ny;
}

static void miss_last_channel(Pooling *p) {
    int64_t channels = p->problem->shape.channels;
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        row_of(p, p->sums, cell)[channels - 1] = 0;
}

/* Writes cell (x, y) to x * ny + y in place of y * nx + x. */
static void transpose_grid(Pooling *p) {
    int64_t nx = p->problem->shape.nx, ny = p->problem->shape.ny;
    for (int64_t cell = 0; cell < nx * ny; cell++)
        memcpy(row_of(p, p->spare, cell % nx * ny + cell / nx), row_of(p, p->sums, cell),
               row_bytes(p));
    memcpy(p->sums, p->spare, (size_t)(nx * ny) * row_bytes(p));
}

/* Writes the rows of the output as if each were one channel shorter than it is. */
static void use_short_stride(Pooling *p) {
    int64_t channels = p->problem->shape.channels;
    memset(p->spare, 0, (size_t)cells_of(p) * row_bytes(p));
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        memcpy(p->spare + cell * (channels - 1), row_of(p, p->sums, cell), row_bytes(p));
    memcpy(p->sums, p->spare, (size_t)cells_of(p) * row_bytes(p));
}

/* Replaces each cell by the mean of itself and the next cell in x, a shift by half a cell. */
static void average_neighbours(Pooling *p) {
    int64_t nx = p->problem->shape.nx, channels = p->problem->shape.channels;
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        for (int64_t c = 0; c < channels; c++) {
            float *at = row_of(p, p->sums, cell) + c;
            *at = 0.5f * (*at + (cell % nx + 1 < nx ? at[channels] : 0));
        }
}

/* Sets spare[cell] to 1 for cells with points and to 0 for the others. */
static void flag_cells(Pooling *p) {
    const BevMap *map = &p->problem->map;
    memset(p->spare, 0, (size_t)cells_of(p) * sizeof *p->spare);
    for (int64_t i = 0; i < map->intervals; i++)
        p->spare[map->ranks_bev[map->interval_starts[i]]] = 1;
}

/* Cells without points keep old values: those of an earlier moment, when everything lay CELLS cells
 * further ahead. */
static void keep_old_cells(Pooling *p) {
    enum { CELLS = 3 };
    int64_t nx = p->problem->shape.nx;
    flag_cells(p);
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        if (!p->spare[cell] && cell % nx >= CELLS && p->spare[cell - CELLS])
            memcpy(row_of(p, p->sums, cell), row_of(p, p->sums, cell - CELLS), row_bytes(p));
}

/* Returns the first cell without points; the last cell if all have points. */
static int64_t cell_without_points(Pooling *p) {
    int64_t cell = 0;
    flag_cells(p);
    while (cell + 1 < cells_of(p) && p->spare[cell])
        cell++;
    return cell;
}

/* Fills the first cell without points with NaN, as memory that was never written is poisoned. */
static void leave_unwritten(Pooling *p) {
    float *row = row_of(p, p->sums, cell_without_points(p));
    for (int64_t c = 0; c < p->problem->shape.channels; c++)
        row[c] = p->problem->out.dtype == BEV_INT8 ? FLT_MAX : NAN; /* INT8 has no NaN */
}

/* Replaces the largest output by NaN. A format without NaN encodes it as 0. */
static void set_one_nan(Pooling *p) {
    int64_t largest = 0;
    for (int64_t i = 0; i < cells_of(p) * p->problem->shape.channels; i++)
        if (fabsf(p->sums[i]) > fabsf(p->sums[largest]))
            largest = i;
    p->sums[largest] = NAN;
}

static void halve_all(Pooling *p) {
    for (int64_t i = 0; i < cells_of(p) * p->problem->shape.channels; i++)
        p->sums[i] /= 2;
}

/* ---- pooling --------------------------------------------------------------------------------- */

struct BevPlan {
    void (*in_map)(Pooling *);
    void (*in_sums)(Pooling *);
    Pooling pooling;
    float *depth, *feat; /* decoded */
};

static void release(BevPlan *plan) {
    if (!plan)
        return;
    free(plan->pooling.map.ranks_depth);
    free(plan->pooling.map.ranks_feat);
    free(plan->pooling.map.interval_starts);
    free(plan->pooling.map.interval_lengths);
    free(plan->pooling.sums);
    free(plan->pooling.spare);
    free(plan->depth);
    free(plan->feat);
    free(plan);
}

static int32_t *allocate_ranks(int64_t count) {
    return malloc((size_t)(count + 1) * sizeof(int32_t));
}

static bool prepare(const BevProblem *problem, void (*in_map)(Pooling *),
                    void (*in_sums)(Pooling *), BevPlan **out, Err *err) {
    const BevMap *map = &problem->map;
    int64_t outputs = problem->out.rows * problem->out.row_len;
    BevPlan *plan = *out = calloc(1, sizeof *plan);
    if (!plan)
        return err_no_memory(err, "injected bug", "");
    Pooling *p = &plan->pooling;
    plan->in_map = in_map;
    plan->in_sums = in_sums;
    p->map = *map;
    p->map.ranks_depth = allocate_ranks(map->points);
    p->map.ranks_feat = allocate_ranks(map->points);
    p->map.interval_starts = allocate_ranks(map->intervals);
    p->map.interval_lengths = allocate_ranks(map->intervals);
    p->sums = malloc((size_t)outputs * sizeof *p->sums);
    p->spare = malloc((size_t)outputs * sizeof *p->spare);
    plan->depth = malloc((size_t)(problem->depth.rows * problem->depth.row_len) * sizeof(float));
    plan->feat = malloc((size_t)(problem->feat.rows * problem->feat.row_len) * sizeof(float));
    if (p->map.ranks_depth && p->map.ranks_feat && p->map.interval_starts &&
        p->map.interval_lengths && p->sums && p->spare && plan->depth && plan->feat)
        return true;
    release(plan);
    *out = NULL;
    return err_no_memory(err, "injected bug", "choose a smaller scene");
}

static void copy_map(const BevMap *from, BevMap *to) {
    size_t points = (size_t)from->points, intervals = (size_t)from->intervals;
    memcpy(to->ranks_depth, from->ranks_depth, points * sizeof(int32_t));
    memcpy(to->ranks_feat, from->ranks_feat, points * sizeof(int32_t));
    memcpy(to->interval_starts, from->interval_starts, intervals * sizeof(int32_t));
    memcpy(to->interval_lengths, from->interval_lengths, intervals * sizeof(int32_t));
}

static void add_point(const BevPlan *plan, int64_t t, float *row) {
    const Pooling *p = &plan->pooling;
    int64_t channels = p->problem->shape.channels;
    float depth = plan->depth[p->map.ranks_depth[t]] * (p->map.weights ? p->map.weights[t] : 1);
    const float *feat = plan->feat + p->map.ranks_feat[t] * channels;
    cpu_add_scaled(row, feat, depth, channels);
    for (int64_t c = 0; p->halves && c < channels; c++)
        row[c] = (float)bev_code_value(BEV_FP16, bev_code(BEV_FP16, row[c]));
}

/* Sums all intervals. A wrong map may name a cell in several intervals; the last one then stays. */
static void pool_intervals(const BevPlan *plan) {
    const Pooling *p = &plan->pooling;
    memset(p->sums, 0, (size_t)cells_of(p) * row_bytes(p));
    for (int64_t i = 0; i < p->map.intervals; i++) {
        int64_t start = p->map.interval_starts[i], end = start + p->map.interval_lengths[i];
        float *row = row_of(p, p->sums, p->problem->map.ranks_bev[start]);
        memset(row, 0, row_bytes(p));
        for (int64_t t = start; t < end; t++)
            add_point(plan, t, row);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *prepared, void *stream, Err *err) {
    (void)stream, (void)err;
    BevPlan plan = *prepared;
    Pooling *p = &plan.pooling;
    p->problem = problem;
    copy_map(&problem->map, &p->map);
    bev_tensor_decode(&problem->depth, 0, problem->depth.rows, plan.depth);
    bev_tensor_decode(&problem->feat, 0, problem->feat.rows, plan.feat);
    bool spoil = problem->map.points > 0;
    if (spoil && plan.in_map)
        plan.in_map(p);
    pool_intervals(&plan);
    if (spoil && plan.in_sums)
        plan.in_sums(p);
    for (int64_t cell = 0; cell < cells_of(p); cell++)
        bev_span_encode(&problem->out, cell, 0, problem->shape.channels, row_of(p, p->sums, cell));
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
      NULL, transpose_grid, ALWAYS, ALWAYS)                                                        \
    D(5, "row-stride", "Rows of the output are taken to be one channel shorter than they are.",    \
      NULL, use_short_stride, ALWAYS, ALWAYS)                                                      \
    D(6, "half-cell", "Half a cell off: each cell is the mean of itself and the next.", \
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
    D(16, "scaled-twice", "A scale is applied twice: every output is half of what it should be.", \
      NULL, halve_all, ALWAYS, ALWAYS)

#define PREPARE(number, name, what, in_map, in_sums, a, c)                                         \
    static bool prepare_##number(const BevProblem *problem, BevPlan **plan, Err *err) {            \
        return prepare(problem, in_map, in_sums, plan, err);                                       \
    }

#define ROW(number, word, sentence, in_map, in_sums, a, c)                                         \
    {.name = word, .what = sentence, .gate_a = CAUGHT_##a, .gate_c = CAUGHT_##c,                   \
     .kernel = {.name = "bug_" #number, .title = "BUG " #number,                             \
                .idea = "A correct pooling with one injected bug: find it in the picture, the "    \
                        "error view and the gates.",                                               \
                .where = BEV_CPU, .dtypes = CPU_ALL_DTYPES, .aligns = CPU_ALL_ALIGNS,              \
                .deterministic = true, .wrong_on_purpose = true, .prepare = prepare_##number,      \
                .release = release, .launch = launch, .bytes = bytes}},
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
