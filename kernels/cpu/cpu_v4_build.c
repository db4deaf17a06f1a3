/* V4's `prepare` on the CPU: cells in the order of the columns that they see, their points cut into
 * entries, and steps of equal work. Linear in points and cells, from the map alone. Large maps are
 * cut by several threads, each its part of the cells: the same plan for any number of them. */
#include "kernels/cpu/cpu_v4.h"

#include <stdlib.h>
#include <string.h>

enum {
    WEDGE_BYTES = 32 << 10, /* features that the first cache keeps from one cell to the next */
    STEP_POINTS = 1024,     /* a step is full when it has so many */
    PART_POINTS = 32 << 10, /* fewer are not worth waking a thread for */
    MOST_PARTS = 8,
    NONE = -1,
};

/* Where a point of the interval at hand has its weight. */
typedef struct {
    int32_t entry, row;
} Place;

/* Owners [first, end) that one thread cuts. Entries of a part begin where its points would, as if
 * each had one of its own: how many there are is not known before. */
typedef struct {
    int64_t first, end;
    int64_t points_before, entries;
    int32_t *next; /* [feature rows + feat_w]: the entry that waits for this row, or NONE */
    Place *places; /* [longest interval]; weighted maps only */
} Part;

/* What exists during `prepare` only. */
typedef struct {
    int32_t *wedges; /* [wedges + 1]: where each begins in `order` */
    int32_t *order;  /* [intervals]: intervals in the order of the owners */
    int32_t part_count;
    Part parts[MOST_PARTS];
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

/* Parts of as many points. */
static void deal_out(const BevMap *map, Draft *draft) {
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

static bool goes_on(const V4Entry *entry, int64_t feat, int64_t depth, int64_t feat_w) {
    int64_t below = entry->rows * feat_w;
    return entry->feat + below == feat && entry->depth + below == depth;
}

/* Cuts an interval's points into entries [first, returned value). The rows of a column are not
 * neighbours in the map, so each entry waits for the row below its last one. */
static int64_t cut_interval(const BevProblem *problem, int64_t interval, const Part *part,
                            V4Entry *entries, int64_t first) {
    const BevMap *map = &problem->map;
    int64_t feat_w = problem->shape.feat_w, count = first;
    int64_t start = map->interval_starts[interval], length = map->interval_lengths[interval];
    for (int64_t t = 0; t < length; t++) {
        int32_t feat = map->ranks_feat[start + t], depth = map->ranks_depth[start + t];
        int64_t entry = part->next[feat];
        if (entry < first || !goes_on(&entries[entry], feat, depth, feat_w)) {
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

static void place_weights(const BevPlan *plan, const BevMap *map, int64_t interval,
                          const Place *places) {
    const float *weights = map->weights + map->interval_starts[interval];
    for (int64_t t = 0; t < map->interval_lengths[interval]; t++)
        plan->weights[plan->entries[places[t].entry].first_weight + places[t].row] = weights[t];
}

static void cut_part(BevPlan *plan, const BevProblem *problem, const Draft *draft, Part *part) {
    const BevMap *map = &problem->map;
    int64_t entries = part->points_before;
    int32_t weights = (int32_t)part->points_before;
    for (int64_t k = part->first; k < part->end; k++) {
        int64_t i = draft->order[k], first = entries;
        plan->owners[k] = (V4Owner){map->ranks_bev[map->interval_starts[i]], (int32_t)first};
        entries = cut_interval(problem, i, part, plan->entries, first);
        for (int64_t e = first; e < entries; weights += plan->entries[e++].rows)
            plan->entries[e].first_weight = weights;
        if (plan->weights)
            place_weights(plan, map, i, part->places);
    }
    part->entries = entries - part->points_before;
}

/* Closes the gaps between the parts' entries. */
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

static void cut_all(BevPlan *plan, const BevProblem *problem, Draft *draft) {
#pragma omp parallel for schedule(static, 1) if (draft->part_count > 1)
    for (int32_t p = 0; p < draft->part_count; p++)
        cut_part(plan, problem, draft, &draft->parts[p]);
    join_parts(plan, &problem->map, draft);
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

static int32_t parts_for(const BevMap *map, int threads) {
    int64_t parts = threads < MOST_PARTS ? threads : MOST_PARTS;
    if (parts > map->points / PART_POINTS)
        parts = map->points / PART_POINTS;
    return parts > 0 ? (int32_t)parts : 1;
}

static bool part_alloc(Part *part, const BevProblem *problem, int32_t longest) {
    size_t waiting = (size_t)(problem->feat.rows + problem->shape.feat_w);
    part->next = malloc(waiting * sizeof *part->next);
    if (problem->map.weights)
        part->places = malloc(((size_t)longest + 1) * sizeof *part->places);
    if (!part->next || (problem->map.weights && !part->places))
        return false;
    memset(part->next, 0xff, waiting * sizeof *part->next); /* NONE */
    return true;
}

static bool draft_alloc(Draft *draft, const BevProblem *problem, int threads) {
    const BevMap *map = &problem->map;
    int32_t longest = 0;
    for (int64_t i = 0; i < map->intervals; i++)
        longest = map->interval_lengths[i] > longest ? map->interval_lengths[i] : longest;
    draft->wedges = calloc((size_t)wedges_of(&problem->shape).count + 1, sizeof *draft->wedges);
    draft->order = malloc(((size_t)map->intervals + 1) * sizeof *draft->order);
    draft->part_count = parts_for(map, threads);
    bool ok = draft->wedges && draft->order;
    for (int32_t p = 0; ok && p < draft->part_count; p++)
        ok = part_alloc(&draft->parts[p], problem, longest);
    return ok;
}

static void draft_free(Draft *draft) {
    for (int32_t p = 0; p < draft->part_count; p++) {
        free(draft->parts[p].next);
        free(draft->parts[p].places);
    }
    free(draft->wedges);
    free(draft->order);
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
    bool ok = plan_alloc(plan, &problem->map) && draft_alloc(&draft, problem, plan->stage.threads);
    if (ok) {
        order_intervals(problem, &draft);
        deal_out(&problem->map, &draft);
        cut_all(plan, problem, &draft);
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
    if (cpu_stage_init(&(*plan)->stage, problem, err) && build(*plan, problem, err) &&
        cpu_empty_init(&(*plan)->empty, problem, err))
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
