/* SPDX-License-Identifier: MIT */
/* cpu_v4: columns instead of points.
 *
 * IDEA    On a real rig the points of a cell are related. A column of the image is a vertical plane
 *         in the world: its pixels at one depth land in one or two cells, seldom three. So a cell's
 *         points are a few entries, each a run down a column. Cells that see the same columns are
 *         pooled one after the other: a column's features, fetched once, serve them all from the
 *         first cache. A cell's sums stay in registers from its first entry to its last.
 * WHO     A thread owns a step, cells of about 1,000 points in all; whoever is free takes the next.
 *         A cell is a row of depths times a few columns of features:
 *
 *             step 7   cell 4711    [ d d d d d d d . . ]     [ f f f f f f ]  row 0
 *                      cell 4712    [ . . . . . d d d . ]  x  [ f f f f f f ]  row 1 of one column
 *                      cell 4911    [ d d d d d d d d d ]     [     ...     ]   ...
 * MEMORY  Features come from memory once, and then from the first cache. Depths are gathered one by
 *         one. Each output row is written once. Cells that see the same columns are written in the
 *         order of the output; all others are not.
 * COST    16 bytes an entry (11 to 24 points on camera rigs) and 8 a cell instead of 12 a point; P
 *         depths, P C features, cells C outputs. No atomics, no divisions.
 * LIMITS  A cell has one owner, however many points it has. A map without columns has an entry a
 *         point, and its features are not in the first cache: V3 with more bytes of map.
 * TRY     In prepare, leave the intervals in the order of the map: how much of the gain was
 *         the order, how much the registers? Two cells at a time, with each feature loaded once for
 *         both? Our answers are in samples/experiments/cpu.md. */
#include "kernels/cpu/cpu.h"
#include "kernels/regime.h"
#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An entry: points of one cell that go down an image column at one depth. From each point to the
 * next, ranks_feat and ranks_depth grow by feat_w. Any map can be cut into entries, in the worst
 * case one for every point. */
typedef struct {
    int32_t feat, depth; /* ranks of the first point */
    int32_t rows;        /* number of points, >= 1 */
    int32_t first_weight;
} V4Entry;

/* A cell with points. Its entries end where the next owner's entries begin. */
typedef struct {
    int32_t cell, first_entry;
} V4Owner;

struct BevPlan {
    CpuPlan base;
    int32_t *interval_of; /* [cells]: -1 for a cell without points */
    int64_t step_count;
    int32_t *steps;   /* [step_count + 1]: first owner of each step */
    V4Owner *owners;  /* [intervals + 1]; cells that see the same columns are neighbours */
    V4Entry *entries; /* sorted by owner, and an end mark */
    float *weights;   /* [points], in the order of the entries; NULL: all 1 */
};

enum { MOST_VECTORS = 12 };    /* vectors of sums: 16 registers hold them and a product */
enum { UNWEIGHTED, WEIGHTED }; /* constant arguments of the lanes' functions */

/* The product of one cell's entries with the features. FP32 sums go straight to the output, others
 * to the thread's row. */
typedef struct {
    const V4Entry *first, *end;
    const float *depth, *feat, *weights;
    int64_t feat_w, channels;
    int32_t cell;
    float *sums; /* [channels] */
} Product;

CPU_INLINE Product product_of(const BevProblem *problem, const BevPlan *plan,
                              const CpuStage *stage, int64_t k, float *sums) {
    const V4Owner *owner = &plan->owners[k];
    int64_t channels = stage->channels;
    bool direct = problem->out.dtype == BEV_FP32;
    return (Product){.first = plan->entries + owner->first_entry,
                     .end = plan->entries + owner[1].first_entry,
                     .depth = stage->depth,
                     .feat = stage->feat,
                     .weights = plan->weights,
                     .feat_w = problem->shape.feat_w,
                     .channels = channels,
                     .cell = owner->cell,
                     .sums = direct ? (float *)problem->out.data + owner->cell * channels : sums};
}

CPU_INLINE void store_product(const Product *p, const BevProblem *problem) {
    if (problem->out.dtype != BEV_FP32)
        cpu_store_sums(problem, p->cell, 0, p->channels, p->sums);
}

CPU_INLINE float depth_of(const Product *p, const V4Entry *entry, int64_t row, bool weighted) {
    float depth = p->depth[entry->depth + row * p->feat_w];
    return weighted ? depth * p->weights[entry->first_weight + row] : depth;
}

/* ---- vectors of 4, 8 and 16 channels --------------------------------------------------------- */

#define LANES_FILE "kernels/cpu/cpu_v4_lanes.inc"
#include "kernels/cpu/cpu_lanes.inc"

/* Pools the cells of a step for fewer channels than the shortest vector has lanes. */
static void pool_step_narrow(const BevProblem *problem, const BevPlan *plan, const CpuStage *stage,
                             int64_t step, float *sums) {
    for (int64_t k = plan->steps[step]; k < plan->steps[step + 1]; k++) {
        Product p = product_of(problem, plan, stage, k, sums);
        for (int64_t c = 0; c < p.channels; c++)
            p.sums[c] = 0;
        for (const V4Entry *entry = p.first; entry < p.end; entry++)
            for (int64_t row = 0; row < entry->rows; row++)
                cpu_add_scaled(p.sums, p.feat + (entry->feat + row * p.feat_w) * p.channels,
                               depth_of(&p, entry, row, plan->weights != NULL), p.channels);
        store_product(&p, problem);
    }
}

typedef void PoolStep(const BevProblem *problem, const BevPlan *plan, const CpuStage *stage,
                      int64_t step, float *sums);

/* ---- prepare --------------------------------------------------------------------------------- */

/* `prepare` sorts cells by the columns that they see, cuts their points into entries, and makes
 * steps of equal work. Its time is linear in points and cells; it reads only the map. Several
 * threads cut a large map, each a part of the cells. The plan does not depend on their number. */
enum {
    WEDGE_BYTES = 32 << 10, /* features that the first cache keeps from one cell to the next */
    STEP_POINTS = 1024,     /* a step is full with this many points */
    PART_POINTS = 32 << 10, /* fewest points worth waking a thread for */
    MOST_PARTS = 8,
    NONE = -1,
    ENTRIES = 0, /* number of the array `entries` in the plan's arrays */
};

/* The place of one point of the current interval, for its weight. */
typedef struct {
    int32_t entry, row;
} Place;

/* Owners [first, end), which one thread cuts. The number of entries is not known in advance. A part
 * has room for one entry a point, behind the room of the parts before it. */
typedef struct {
    int64_t first, end;
    int64_t points_before, entries;
    int32_t *next; /* [feature rows + feat_w]: open entry that waits for this row, or NONE */
    Place *places; /* [longest interval]; only for weighted maps */
} Part;

/* Arrays that exist only during `prepare`. */
typedef struct {
    CpuArrays arrays;
    int32_t *wedges; /* [wedges + 1]: where each wedge begins in `order` */
    int32_t *order;  /* [intervals]: interval numbers, sorted by wedge */
    int32_t part_count;
    Part parts[MOST_PARTS];
} Draft;

/* ---- the order of the cells ------------------------------------------------------------------ */

/* A wedge: the ground that a few neighbouring image columns see. */
typedef struct {
    int64_t columns, a_camera; /* columns of a wedge, wedges of a camera */
    int64_t count;
} Wedges;

static Wedges wedges_of(const BevShape *shape) {
    int64_t column_bytes = shape->feat_h * shape->channels * (int64_t)sizeof(float);
    int64_t columns = column_bytes < WEDGE_BYTES ? WEDGE_BYTES / column_bytes : 1;
    int64_t a_camera = (shape->feat_w + columns - 1) / columns;
    return (Wedges){columns, a_camera, shape->cameras * a_camera};
}

/* Returns the wedge of an interval's first point. */
static int64_t wedge_of_interval(const BevProblem *problem, Wedges wedges, int64_t interval) {
    const BevShape *shape = &problem->shape;
    int64_t feat = problem->map.ranks_feat[problem->map.interval_starts[interval]];
    int64_t camera = feat / (shape->feat_h * shape->feat_w), column = feat % shape->feat_w;
    return camera * wedges.a_camera + column / wedges.columns;
}

/* Sorts the intervals by wedge, and within a wedge by cell, which is the order of the output. */
static void order_intervals(const BevProblem *problem, const Draft *draft) {
    Wedges wedges = wedges_of(&problem->shape);
    for (int64_t i = 0; i < problem->map.intervals; i++)
        draft->wedges[wedge_of_interval(problem, wedges, i) + 1]++;
    for (int64_t w = 0; w < wedges.count; w++)
        draft->wedges[w + 1] += draft->wedges[w];
    for (int64_t i = 0; i < problem->map.intervals; i++)
        draft->order[draft->wedges[wedge_of_interval(problem, wedges, i)]++] = (int32_t)i;
}

/* Divides the owners into parts with about equal numbers of points. */
static void make_parts(const BevMap *map, Draft *draft) {
    int64_t k = 0, points = 0;
    for (int32_t p = 0; p < draft->part_count; p++) {
        Part *part = &draft->parts[p];
        part->first = k;
        part->points_before = points;
        while (k < map->intervals && points < map->points * (p + 1) / draft->part_count)
            points += map->interval_lengths[draft->order[k++]];
        part->end = k;
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Returns whether a point (feat, depth) lies one image row below the last point of the entry. */
static bool entry_continues(const V4Entry *entry, int64_t feat, int64_t depth, int64_t feat_w) {
    int64_t below = entry->rows * feat_w;
    return entry->feat + below == feat && entry->depth + below == depth;
}

/* Cuts an interval's points into entries [first, returned value). The rows of a column are not
 * neighbours in the map, so an entry stays open until a point of the next row below arrives. */
static int64_t cut_interval(const BevProblem *problem, int64_t interval, const Part *part,
                            V4Entry *entries, int64_t first) {
    const BevMap *map = &problem->map;
    int64_t feat_w = problem->shape.feat_w, count = first;
    int64_t start = map->interval_starts[interval], length = map->interval_lengths[interval];
    for (int64_t t = 0; t < length; t++) {
        int32_t feat = map->ranks_feat[start + t], depth = map->ranks_depth[start + t];
        int64_t entry = part->next[feat];
        if (entry < first || !entry_continues(&entries[entry], feat, depth, feat_w)) {
            entry = count++;
            entries[entry] = (V4Entry){.feat = feat, .depth = depth};
        }
        if (part->places)
            part->places[t] = (Place){(int32_t)entry, entries[entry].rows};
        entries[entry].rows++;
        part->next[feat + feat_w] = (int32_t)entry;
    }
    return count;
}

/* Copies the weights of an interval into the order of its entries. */
static void place_weights(const BevPlan *plan, const BevMap *map, int64_t interval,
                          const Place *places) {
    const float *weights = map->weights + map->interval_starts[interval];
    for (int64_t t = 0; t < map->interval_lengths[interval]; t++)
        plan->weights[plan->entries[places[t].entry].first_weight + places[t].row] = weights[t];
}

/* Makes the owners, entries and weights of one part. */
static void cut_part(BevPlan *plan, const BevProblem *problem, const Draft *draft, Part *part) {
    const BevMap *map = &problem->map;
    int64_t entries = part->points_before;
    int32_t weights = (int32_t)part->points_before;
    for (int64_t k = part->first; k < part->end; k++) {
        int64_t i = draft->order[k], first = entries;
        plan->owners[k] = (V4Owner){map->ranks_bev[map->interval_starts[i]], (int32_t)first};
        entries = cut_interval(problem, i, part, plan->entries, first);
        for (int64_t e = first; e < entries; e++) {
            plan->entries[e].first_weight = weights;
            weights += plan->entries[e].rows;
        }
        if (plan->weights)
            place_weights(plan, map, i, part->places);
    }
    part->entries = entries - part->points_before;
}

/* Closes the gaps between the entries of the parts, and sets the end marks. */
static void join_parts(BevPlan *plan, const BevMap *map, const Draft *draft) {
    int64_t entries = 0;
    for (const Part *part = draft->parts; part < draft->parts + draft->part_count; part++) {
        int64_t gap = part->points_before - entries;
        memmove(plan->entries + entries, plan->entries + part->points_before,
                (size_t)part->entries * sizeof *plan->entries);
        for (int64_t k = part->first; k < part->end; k++)
            plan->owners[k].first_entry -= (int32_t)gap;
        entries += part->entries;
    }
    plan->owners[map->intervals] = (V4Owner){NONE, (int32_t)entries};
    plan->entries[entries] = (V4Entry){.first_weight = (int32_t)map->points};
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int64_t points_before(const BevPlan *plan, int64_t owner) {
    return plan->entries[plan->owners[owner].first_entry].first_weight;
}

/* Makes steps: each takes owners until it has STEP_POINTS points. */
static void cut_steps(BevPlan *plan, int64_t owners) {
    int64_t begun = -STEP_POINTS; /* so that the first owner begins a step */
    for (int64_t k = 0; k < owners; k++)
        if (points_before(plan, k) - begun >= STEP_POINTS) {
            plan->steps[plan->step_count++] = (int32_t)k;
            begun = points_before(plan, k);
        }
    plan->steps[plan->step_count] = (int32_t)owners;
}

/* ---- prepare --------------------------------------------------------------------------------- */

static int32_t parts_for(const BevMap *map, int threads) {
    int64_t parts = threads < MOST_PARTS ? threads : MOST_PARTS;
    if (parts > map->points / PART_POINTS)
        parts = map->points / PART_POINTS;
    return parts > 0 ? (int32_t)parts : 1;
}

static bool take_draft(Draft *draft, const BevProblem *problem, int threads) {
    const BevMap *map = &problem->map;
    CpuArrays *arrays = &draft->arrays;
    draft->wedges =
        cpu_take_zeroed(arrays, wedges_of(&problem->shape).count, sizeof *draft->wedges);
    draft->order = cpu_take(arrays, map->intervals, sizeof *draft->order);
    draft->part_count = parts_for(map, threads);
    for (Part *part = draft->parts; part < draft->parts + draft->part_count; part++) {
        int64_t waiting = problem->feat.rows + problem->shape.feat_w;
        part->next = cpu_take(arrays, waiting, sizeof *part->next);
        if (part->next)
            memset(part->next, 0xff, (size_t)waiting * sizeof *part->next); /* NONE */
        if (map->weights)
            part->places = cpu_take(arrays, bev_longest_interval(map), sizeof *part->places);
    }
    return !arrays->failed;
}

/* Takes the plan's arrays with one entry a point; give_back_entries() frees the unused rest. */
static bool take_plan(BevPlan *plan, const BevMap *map) {
    CpuArrays *arrays = &plan->base.arrays;
    plan->entries = cpu_take(arrays, map->points, sizeof *plan->entries); /* array ENTRIES */
    plan->steps = cpu_take(arrays, map->points / STEP_POINTS + 1, sizeof *plan->steps);
    plan->owners = cpu_take(arrays, map->intervals, sizeof *plan->owners);
    if (map->weights)
        plan->weights = cpu_take(arrays, map->points, sizeof *plan->weights);
    return !arrays->failed;
}

static void give_back_entries(BevPlan *plan, int64_t owners) {
    size_t used = (size_t)plan->owners[owners].first_entry + 1;
    V4Entry *entries = realloc(plan->entries, used * sizeof *entries);
    if (entries)
        plan->base.arrays.array[ENTRIES] = plan->entries = entries;
}

static bool build_plan(BevPlan *plan, const BevProblem *problem) {
    int64_t cells = problem->shape.nx * problem->shape.ny;
    Draft draft = {.part_count = 0};
    bool ok = take_plan(plan, &problem->map) && take_draft(&draft, problem, plan->base.threads);
    if (ok) {
        order_intervals(problem, &draft);
        make_parts(&problem->map, &draft);
#pragma omp parallel for num_threads(bev_threads()) schedule(static, 1) if (draft.part_count > 1)
        for (int32_t p = 0; p < draft.part_count; p++)
            cut_part(plan, problem, &draft, &draft.parts[p]);
        join_parts(plan, &problem->map, &draft);
        cut_steps(plan, problem->map.intervals);
        give_back_entries(plan, problem->map.intervals);
    }
    cpu_free(&draft.arrays);
    plan->interval_of = cpu_keep(&plan->base.arrays, bev_intervals_of_cells(&problem->map, cells));
    return ok && plan->interval_of;
}
CPU_PREPARE(build_plan, "cpu_v4")

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const CpuStage stage = cpu_stage(problem, plan->base.threads);
    PoolStep *pool_step = WIDEST(pool_step, stage.channels);
#pragma omp parallel num_threads(stage.threads)
    {
        float *sums = cpu_sums(&stage);
        cpu_stage_fill(&stage, problem);
#pragma omp for schedule(dynamic) nowait
        for (int64_t step = 0; step < plan->step_count; step++)
            pool_step(problem, plan, &stage, step, sums);
#pragma omp for schedule(static)
        for (int64_t cell = 0; cell < problem->out.rows; cell++)
            if (plan->interval_of[cell] < 0)
                cpu_clear_cell(&problem->out, cell);
    }
    return true;
}

/* A launch reads the plan's entries in place of the map: a plan is made only to count them. */
static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    int64_t owners = problem->map.intervals;
    BevPlan *plan = NULL;
    traffic.index = NAN;
    if (problem->map.ranks_feat && prepare(problem, &plan, NULL))
        traffic.index = (double)plan->owners[owners].first_entry * sizeof(V4Entry) +
                        (double)owners * sizeof(V4Owner);
    cpu_release(plan);
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_v4 = {
    .name = "cpu_v4", .title = "V4",
    .idea = "Columns instead of points: sums stay in registers, features in the first cache.",
    .counterpart = "v4", .where = BEV_CPU, .is_default = true, .dtypes = BEV_ALL_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = cpu_workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
