/* V4's `prepare` on the CPU: cells in the order of the columns that they see, their points cut into
 * entries, and steps of equal work. Linear in points and cells, from the map alone. */
#include "kernels/cpu_v4.h"

#include <stdlib.h>
#include <string.h>

enum {
    WEDGE_BYTES = 32 << 10, /* features that the first cache keeps from one cell to the next */
    STEP_POINTS = 1024,     /* a step is full when it has so many */
    NONE = -1,
};

/* What exists during `prepare` only. */
typedef struct {
    int32_t *wedges; /* [wedges + 1]: where each begins in `order` */
    int32_t *order;  /* [intervals]: intervals in the order of the owners */
    int32_t *next;   /* [feature rows + feat_w]: the entry that waits for this row, or NONE */
    int32_t *home;   /* [points]: a point's entry; weighted maps only */
} Draft;

/* ---- the order of the cells ------------------------------------------------------------------ */

/* A wedge: what a few neighbouring image columns see, as it lies on the ground. */
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

/* The wedge of an interval's first point. */
static int64_t wedge_at(const BevProblem *problem, Wedges wedges, int64_t interval) {
    const BevShape *shape = &problem->shape;
    int64_t feat = problem->map.ranks_feat[problem->map.interval_starts[interval]];
    int64_t camera = feat / (shape->feat_h * shape->feat_w), column = feat % shape->feat_w;
    return camera * wedges.a_camera + column / wedges.columns;
}

/* Sorts the intervals by wedge; within one they stay sorted by cell, as rows of the output lie. */
static void order_intervals(const BevProblem *problem, const Draft *draft) {
    Wedges wedges = wedges_of(&problem->shape);
    for (int64_t i = 0; i < problem->map.intervals; i++)
        draft->wedges[wedge_at(problem, wedges, i) + 1]++;
    for (int64_t w = 0; w < wedges.count; w++)
        draft->wedges[w + 1] += draft->wedges[w];
    for (int64_t i = 0; i < problem->map.intervals; i++)
        draft->order[draft->wedges[wedge_at(problem, wedges, i)]++] = (int32_t)i;
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool goes_on(const V4Entry *entry, int64_t feat, int64_t depth, int64_t feat_w) {
    int64_t below = entry->rows * feat_w;
    return entry->feat + below == feat && entry->depth + below == depth;
}

/* Cuts an interval's points into entries [first, returned value). The rows of a column are not
 * neighbours in the map, so each entry waits for the row below its last one. */
static int64_t cut_interval(const BevProblem *problem, int64_t interval, const Draft *draft,
                            V4Entry *entries, int64_t first) {
    const BevMap *map = &problem->map;
    int64_t feat_w = problem->shape.feat_w, count = first;
    int64_t start = map->interval_starts[interval], end = start + map->interval_lengths[interval];
    for (int64_t t = start; t < end; t++) {
        int32_t feat = map->ranks_feat[t], depth = map->ranks_depth[t];
        int64_t entry = draft->next[feat];
        if (entry < first || !goes_on(&entries[entry], feat, depth, feat_w)) {
            entry = count++;
            entries[entry] = (V4Entry){.feat = feat, .depth = depth};
        }
        entries[entry].rows++;
        draft->next[feat + feat_w] = (int32_t)entry;
        if (draft->home)
            draft->home[t] = (int32_t)entry;
    }
    return count;
}

static void cut_all(BevPlan *plan, const BevProblem *problem, const Draft *draft) {
    const BevMap *map = &problem->map;
    int64_t entries = 0;
    int32_t weights = 0;
    for (int64_t k = 0; k < map->intervals; k++) {
        int64_t i = draft->order[k], first = entries;
        plan->owners[k] = (V4Owner){map->ranks_bev[map->interval_starts[i]], (int32_t)first};
        entries = cut_interval(problem, i, draft, plan->entries, first);
        for (int64_t e = first; e < entries; weights += plan->entries[e++].rows)
            plan->entries[e].first_weight = weights;
    }
    plan->owners[map->intervals] = (V4Owner){NONE, (int32_t)entries};
    plan->entries[entries] = (V4Entry){.first_weight = weights};
}

static void place_weights(const BevPlan *plan, const BevProblem *problem, const Draft *draft) {
    const BevMap *map = &problem->map;
    for (int64_t t = 0; t < map->points; t++) {
        const V4Entry *entry = &plan->entries[draft->home[t]];
        int64_t row = (map->ranks_feat[t] - entry->feat) / problem->shape.feat_w;
        plan->weights[entry->first_weight + row] = map->weights[t];
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int64_t points_before(const BevPlan *plan, int64_t owner) {
    return plan->entries[plan->owners[owner].first_entry].first_weight;
}

/* Owners in a row until there are points enough. */
static void cut_steps(BevPlan *plan, int64_t owners) {
    int64_t begun = -STEP_POINTS;
    for (int64_t k = 0; k < owners; k++)
        if (points_before(plan, k) - begun >= STEP_POINTS) {
            plan->steps[plan->step_count++] = (int32_t)k;
            begun = points_before(plan, k);
        }
    plan->steps[plan->step_count] = (int32_t)owners;
}

/* ---- prepare --------------------------------------------------------------------------------- */

static bool draft_alloc(Draft *draft, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    size_t waiting = (size_t)(problem->feat.rows + problem->shape.feat_w);
    draft->wedges = calloc((size_t)wedges_of(&problem->shape).count + 1, sizeof *draft->wedges);
    draft->order = malloc(((size_t)map->intervals + 1) * sizeof *draft->order);
    draft->next = malloc(waiting * sizeof *draft->next);
    if (map->weights)
        draft->home = malloc(((size_t)map->points + 1) * sizeof *draft->home);
    if (!draft->wedges || !draft->order || !draft->next || (map->weights && !draft->home))
        return false;
    memset(draft->next, 0xff, waiting * sizeof *draft->next); /* NONE */
    return true;
}

static void draft_free(Draft *draft) {
    free(draft->wedges);
    free(draft->order);
    free(draft->next);
    free(draft->home);
}

/* Entries are fewer than points, how many is not known before: the rest is given back later. */
static bool plan_alloc(BevPlan *plan, const BevMap *map) {
    size_t points = (size_t)map->points, intervals = (size_t)map->intervals;
    plan->steps = malloc((points / STEP_POINTS + 2) * sizeof *plan->steps);
    plan->owners = malloc((intervals + 1) * sizeof *plan->owners);
    plan->entries = malloc((points + 1) * sizeof *plan->entries);
    if (map->weights)
        plan->weights = malloc((points + 1) * sizeof *plan->weights);
    return plan->steps && plan->owners && plan->entries && (plan->weights || !map->weights);
}

static void give_back_entries(BevPlan *plan, int64_t owners) {
    size_t used = (size_t)plan->owners[owners].first_entry + 1;
    V4Entry *entries = realloc(plan->entries, used * sizeof *entries);
    if (entries)
        plan->entries = entries;
}

static bool build(BevPlan *plan, const BevProblem *problem, Err *err) {
    Draft draft = {0};
    bool ok = plan_alloc(plan, &problem->map) && draft_alloc(&draft, problem);
    if (ok) {
        order_intervals(problem, &draft);
        cut_all(plan, problem, &draft);
        if (plan->weights)
            place_weights(plan, problem, &draft);
        cut_steps(plan, problem->map.intervals);
        give_back_entries(plan, problem->map.intervals);
    }
    draft_free(&draft);
    return ok || err_set(err, ERR_FAILED, "cpu_v4", "choose a smaller scene", "out of memory");
}

bool cpu_v4_prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    *plan = calloc(1, sizeof **plan);
    if (!*plan)
        return err_set(err, ERR_FAILED, "cpu_v4", "", "out of memory");
    if (build(*plan, problem, err) && cpu_empty_init(&(*plan)->empty, problem, err) &&
        cpu_stage_init(&(*plan)->stage, problem, err))
        return true;
    cpu_v4_release(*plan);
    *plan = NULL;
    return false;
}

void cpu_v4_release(BevPlan *plan) {
    if (!plan)
        return;
    cpu_stage_free(&plan->stage);
    cpu_empty_free(&plan->empty);
    free(plan->steps);
    free(plan->owners);
    free(plan->entries);
    free(plan->weights);
    free(plan);
}
