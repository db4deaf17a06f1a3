/* SPDX-License-Identifier: MIT */
/* Steps of single warps: all of them add up to what the replay counts, for every traced kernel.
 * What has no steps: tests/cli/scripts/refused.words. */
#include "src/cachesim/steps.h"
#include "src/cachesim/trace_internal.h"
#include "tests/cachesim/trace_check.h"

static Err err; /* why a step failed */
static const StepChoice everything = {.cell = -1, .block = -1, .warp = -1, .passes = true};

/* What the longest cell's warps do. */
static StepChoice longest(const BevProblem *problem) {
    return (StepChoice){steps_longest_cell(&problem->map), .block = -1, .warp = -1, .most = 128};
}

/* steps_free() frees them. */
static Steps record(const BevKernel *kernel, const BevProblem *problem, StepChoice choice) {
    Steps steps;
    need(steps_record(kernel, problem, &choice, &steps, &err), &err);
    return steps;
}

static StepChoice of_cell(int64_t cell) {
    return (StepChoice){.cell = cell, .block = -1, .warp = -1};
}

/* Sums over the instructions that access an array like this, as the replay counts them. A plain +=
 * counts as a read and as a write. */
static TraceCount steps_count(const Steps *steps, TraceArray array, bool write) {
    TraceCount count = {0};
    for (int i = 0; i < steps->instruction_count; i++) {
        const StepInstruction *in = &steps->instructions[i];
        bool counts = in->access == ACCESS_ADD || write == (in->access != ACCESS_READ);
        if (in->array != array || !counts)
            continue;
        count.bytes += in->bytes;
        count.requests += in->repeats;
        count.sectors += in->sectors;
    }
    return count;
}

static bool same(const TraceCount *steps, const TraceCount *replay, int array, const char *what) {
    bool equal = steps->bytes == replay->bytes && steps->requests == replay->requests &&
                 steps->sectors == replay->sectors;
    if (!equal)
        tap_note(
            "array %d %s: steps %.0f bytes, %.0f requests, %.0f sectors; replay %.0f, %.0f, %.0f",
            array, what, steps->bytes, steps->requests, steps->sectors, replay->bytes,
            replay->requests, replay->sectors);
    return equal;
}

/* A warp asks for each sector once in an instruction: the sectors that a picture shows are those
 * that are counted. */
static bool each_once(const Steps *steps) {
    for (int i = 0; i < steps->instruction_count; i++) {
        const StepInstruction *in = &steps->instructions[i];
        double times = 0;
        for (int s = 0; s < in->sector_count; s++)
            times += steps->sectors[in->first_sector + s].times;
        if (times != in->sectors)
            return false;
    }
    return true;
}

static void test_sums(const char *scene, const BevProblem *problem, const char *only) {
    const BevKernel *kernel;
    for (int i = 0; (kernel = next_traced(problem, &i));) {
        if (only && strcmp(only, kernel->name))
            continue;
        TraceCounts counts = count(kernel->name, problem);
        Steps steps = record(kernel, problem, everything);
        bool equal = true;
        for (int a = 0; a < TRACE_ARRAY_COUNT; a++) {
            TraceCount read = steps_count(&steps, (TraceArray)a, false);
            TraceCount write = steps_count(&steps, (TraceArray)a, true);
            equal &= same(&read, &counts.read[a], a, "read");
            equal &= same(&write, &counts.write[a], a, "written");
        }
        StepTotals totals = steps_totals(&steps, steps.step_count);
        bool atomic = steps.form->sums != BEV_SUMS_PLAIN;
        tap_ok(equal, "%s %s %s: the steps add up to the counts", scene,
               bev_dtypes[problem->dtype].name, kernel->name);
        tap_ok(!atomic || totals.atomics == counts.atomics, "and so do the atomics");
        tap_ok(each_once(&steps), "sectors shown are sectors counted");
        steps_free(&steps);
    }
}

/* All kernels, or the one of that name. */
static void test_scene(const char *name, int64_t channels, BevDtype dtype, BevAlign align,
                       const char *kernel) {
    OpenProblem *opened = open_problem(name, dtype, align, channels, BEV_FORWARD);
    test_sums(name, opened->view, kernel);
    close_problem(opened);
}

static int64_t map_points(const BevMap *map, int64_t cell) {
    int64_t points = 0;
    for (int64_t t = 0; t < map->points; t++)
        points += map->ranks_bev[t] == cell;
    return points;
}

/* The warps that work on a cell are those that have a point of it, or store it. */
static void test_owner(const BevProblem *problem) {
    int64_t cell = steps_longest_cell(&problem->map);
    const BevKernel *kernel;
    for (int i = 0; (kernel = next_traced(problem, &i));) {
        Steps steps = record(kernel, problem, of_cell(cell));
        int points = 0, tiles = (int)(problem->shape.channels / steps.form->tile);
        for (int p = 0; p < steps.point_count; p++)
            points += steps.points[p].cell == cell;
        bool all = points >= map_points(&problem->map, cell) && steps.asked == steps.warp_count;
        if (steps.form->tiles_outside)
            all &= points == map_points(&problem->map, cell) * tiles;
        tap_ok(all, "%s: its warps take all points of a cell%s", kernel->name,
               steps.form->tiles_outside ? ", once a tile of channels" : "");
        steps_free(&steps);
    }
}

/* ---- what lanes hold ------------------------------------------------------------------------- */

/* The sum of a cell's channel, from the map alone. */
static double sum_of(const BevProblem *problem, const StepValues *values, int32_t cell,
                     int channel) {
    const BevMap *map = &problem->map;
    double sum = 0;
    for (int64_t t = 0; t < map->points; t++)
        if (map->ranks_bev[t] == cell)
            sum += (double)values->depth[map->ranks_depth[t]] *
                   (map->weights ? (double)map->weights[t] : 1.0) *
                   (double)values->feat[map->ranks_feat[t] * problem->shape.channels + channel];
    return sum;
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-5 * (1 + fabs(a));
}

/* When its sums are stored, a register holds its cell's sum. */
static bool stored_right(const Steps *steps, const BevProblem *problem, const StepValues *values,
                         int number, int *compared) {
    LaneRegisters lanes[WARP_LANES];
    bool right = true;
    steps_lanes(steps, values, number, lanes);
    for (int i = 0; i < WARP_LANES; i++) {
        const LaneRegisters *held = &lanes[i];
        if (held->channel < 0 || held->channel >= problem->shape.channels)
            continue;
        if (held->cell >= 0)
            right &= near(sum_of(problem, values, held->cell, held->channel), held->sum);
        if (held->upper_cell >= 0)
            right &=
                near(sum_of(problem, values, held->upper_cell, held->channel), held->upper_sum);
        *compared += (held->cell >= 0) + (held->upper_cell >= 0);
    }
    return right;
}

static void test_kernel_registers(const BevKernel *kernel, const BevProblem *problem,
                                  const StepValues *values, int64_t cell) {
    Steps steps = record(kernel, problem, of_cell(cell));
    bool right = true;
    int compared = 0;
    for (int n = 0; n < steps.step_count && !steps.form->sums; n++)
        if (steps.steps[n].phase == PHASE_STORE)
            right &= stored_right(&steps, problem, values, n, &compared);
    if (!steps.form->sums)
        tap_ok(right && compared > 0, "%s: registers hold their cells' sums when stored (%d)",
               kernel->name, compared);
    steps_free(&steps);
}

static void test_registers(const BevProblem *problem, const StepValues *values, int64_t cell) {
    const BevKernel *kernel;
    for (int i = 0; (kernel = next_traced(problem, &i));)
        test_kernel_registers(kernel, problem, values, cell);
}

/* A cell of a tile with two blocks, and one of these blocks alone, which does not know the sum. */
static void test_pair(void) {
    OpenProblem *opened = open_problem("small", BEV_FP16, BEV_BILINEAR, 0, BEV_FORWARD);
    TileDraft draft;
    LaneRegisters lanes[WARP_LANES];
    const BevKernel *v4 = bev_kernel_find("v4");
    need(tile_draft_make(opened->view, BEV_MULTIPROCESSORS, &draft), &err);
    const BevMap *map = &opened->view->map;
    int pairs = draft.schedule.counts[PAIR_CLASS];
    int64_t tile = 0; /* the first one with two blocks */
    while (pairs && draft.step_counts[tile] <= TILE_WARPS * draft.schedule.portion)
        tile++;
    int32_t cell = map->ranks_bev[map->interval_starts[draft.order[tile * TILE_CELLS]]];
    tap_ok(pairs > 0, "bilinear small has tiles with two blocks: %d", pairs);
    StepValues values = {opened->workload.features->depth, opened->workload.features->feat};
    test_kernel_registers(v4, opened->view, &values, cell);
    Steps steps = record(v4, opened->view, of_cell(cell));
    StepChoice block = {.cell = -1, .block = steps.warps[0].block, .warp = -1};
    steps_free(&steps);
    steps = record(v4, opened->view, block);
    int unknown = 0, last = steps.step_count - 1;
    steps_lanes(&steps, &values, last, lanes);
    for (int i = 0; i < WARP_LANES; i++)
        unknown += lanes[i].cell >= 0 && isnan(lanes[i].sum);
    tap_ok(steps.steps[last].phase == PHASE_STORE && unknown > 0,
           "a block of two does not show its half as the sum");
    steps_free(&steps);
    tile_draft_free(&draft);
    close_problem(opened);
}

/* Ones in, so that a sum counts its points: each first lane of a run has the run's length, exactly,
 * and lanes that add are such lanes. */
static bool tree_right(const StepTree *tree) {
    bool right = true;
    for (int lane = 0, head = 0; lane < WARP_LANES; lane++) {
        bool first = !lane || tree->cells[lane] != tree->cells[lane - 1];
        bool last = lane + 1 == WARP_LANES || tree->cells[lane + 1] != tree->cells[lane];
        uint32_t bit = (uint32_t)1 << lane;
        head = first ? lane : head;
        if (tree->cells[lane] < 0)
            continue;
        right &= !(tree->counts[TREE_LEVELS - 1] & bit) == !first && (first || !(tree->adds & bit));
        right &= !first || !lane || tree->adds & bit; /* only lane 0's run may have begun before */
        if (last)
            right &= tree->sums[TREE_LEVELS - 1][head] == (float)(lane - head + 1);
    }
    return right;
}

static void test_meetings(const BevProblem *problem) {
    size_t depths = (size_t)problem->depth.row_len;
    size_t feats = (size_t)(problem->feat.rows * problem->feat.row_len), most = depths + feats;
    float *ones = malloc(most * sizeof *ones);
    for (size_t i = 0; ones && i < most; i++)
        ones[i] = 1;
    StepValues values = {ones, ones};
    Steps trees = record(bev_kernel_find("block_atomic"), problem, longest(problem));
    Steps queues = record(bev_kernel_find("v2"), problem, longest(problem));
    StepTree tree;
    bool right = ones != NULL, whole = false, queued = true;
    for (int n = 0; n < trees.step_count && right; n++) {
        right = steps_tree(&trees, &values, n, &tree) && tree_right(&tree);
        int left[TREE_LEVELS];
        for (int level = 0; level < TREE_LEVELS; level++)
            left[level] = __builtin_popcount(tree.counts[level]);
        whole |= !memcmp(left, (int[]){32, 16, 8, 4, 2, 1}, sizeof left);
    }
    tap_ok(right, "shuffles leave each run's sum in its first lane, which adds it");
    tap_ok(whole, "32 lanes of one cell become 16, 8, 4, 2, 1");
    for (int n = 0; n < queues.step_count; n++) {
        const StepInstruction *add = &queues.instructions[queues.steps[n].first_instruction +
                                                          queues.steps[n].instruction_count - 1];
        int waiting = 0, times = 0;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            int lanes = __builtin_popcount(steps_queue(&queues, n, lane));
            waiting = lanes > waiting ? lanes : waiting;
        }
        for (int s = 0; s < add->sector_count; s++) {
            int of_sector = queues.sectors[add->first_sector + s].times;
            times = of_sector > times ? of_sector : times;
        }
        queued &= times == 8 * waiting; /* a sector holds a lane's 8 channels */
    }
    tap_ok(queued, "lanes queue as the replay counts additions to a sector");
    tap_ok(queues.passes == 10 && steps_pass(&queues, 0) == 1 &&
               steps_pass(&queues, queues.step_count - 1) == 10,
           "tiles outside: ten passes, the first and the last one shown");
    int32_t number = queues.points[0].number;
    tap_ok(steps_read_before(&queues, &queues.steps[0], number) == -1 &&
               steps_read_before(&queues, &queues.steps[queues.step_count - 1], number) > 8,
           "a point's indices are read again in each pass");
    steps_free(&trees);
    steps_free(&queues);
    free(ones);
}

static void test_canonical(void) {
    OpenProblem *opened = open_problem("canonical", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    const BevProblem *problem = opened->view;
    test_owner(problem);
    StepValues values = {opened->workload.features->depth, opened->workload.features->feat};
    test_registers(problem, &values, 100 * problem->shape.nx + 125);
    test_meetings(problem);
    close_problem(opened);
}

TAP_SUITE(steps) {
    test_scene("toy", 0, BEV_FP16, BEV_BILINEAR, NULL);
    test_scene("toy", 0, BEV_FP16, BEV_NEAREST, NULL);
    test_scene("toy", 0, BEV_FP32, BEV_NEAREST, NULL);
    test_scene("toy", 0, BEV_FP8, BEV_BILINEAR, NULL);
    test_scene("toy", 64, BEV_FP16, BEV_NEAREST, "v4");
    test_canonical();
    test_pair();
}

TAP_HARD_SUITE(steps_scenes) {
    test_scene("asymmetric", 16, BEV_FP16, BEV_NEAREST, NULL);
    test_scene("asymmetric", 8, BEV_FP16, BEV_BILINEAR, NULL);
    test_scene("asymmetric", 64, BEV_NVFP4, BEV_NEAREST, "v4");
    test_scene("asymmetric", 64, BEV_FP32, BEV_NEAREST, "v4");
    test_scene("asymmetric", 64, BEV_FP16, BEV_BILINEAR, "v4");
}
