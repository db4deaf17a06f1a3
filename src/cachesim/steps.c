/* SPDX-License-Identifier: MIT */
#include "src/cachesim/trace_internal.h"

#include "kernels/regime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

const char *const step_phases[PHASE_COUNT] = {
    [PHASE_OWNERS] = "find owners", [PHASE_POINTS] = "points",     [PHASE_STORE] = "store sums",
    [PHASE_TILE] = "find tile",     [PHASE_MULTIPLY] = "multiply", [PHASE_JOIN] = "add other sums",
    [PHASE_MEET] = "meet block",    [PHASE_CLEAR] = "clear cells", [PHASE_TRANSPOSE] = "transpose",
    [PHASE_PASS] = "pass",
};

const char *const step_accesses[] = {[ACCESS_READ] = "read",
                                     [ACCESS_WRITE] = "write",
                                     [ACCESS_ADD] = "+=",
                                     [ACCESS_ATOMIC] = "atomic"};

/* ---- the recorder ---------------------------------------------------------------------------- */

struct StepRecorder {
    const BevMap *map;
    Steps *steps;
    int32_t *interval_of; /* [cells] or -1 */
    int64_t last_sector;  /* the last sector of the current instruction, -1: none */
    int wave;             /* wave of the next instruction, as in StepInstruction */
    bool loaded;          /* the current wave has a load */
    bool failed;          /* memory ran out */
};

/* Appends a zeroed element to an array of Steps and returns it. A full array is doubled. NULL:
 * memory ran out. */
#define APPEND(recorder, field, count)                                                             \
    append(recorder, (void **)&(recorder)->steps->field, &(recorder)->steps->count,                \
           sizeof *(recorder)->steps->field)

static void *append(StepRecorder *recorder, void **array, int *count, size_t bytes) {
    enum { FIRST = 64 }; /* elements of the first array; later sizes are powers of two, too */
    const bool power_of_two = (*count & (*count - 1)) == 0;
    const bool full = *count == 0 || (*count >= FIRST && power_of_two);
    const int elements = *count ? 2 * *count : FIRST;
    void *larger = full && !recorder->failed ? realloc(*array, (size_t)elements * bytes) : *array;
    recorder->failed |= !larger;
    if (recorder->failed)
        return NULL;
    *array = larger;
    void *element = (char *)*array + (size_t)(*count)++ * bytes;
    memset(element, 0, bytes);
    return element;
}

bool recorder_launch(StepRecorder *recorder, const Launch *launch) {
    if (launch->pools) {
        recorder->steps->blocks = launch->blocks;
        recorder->steps->warps_a_block = launch->warps;
    }
    return launch->pools || recorder->steps->choice.passes;
}

/* Whether a warp that has begun works on a cell. */
static bool works_on_cell(const Launch *launch, const void *replay, const void *state,
                          int64_t cell) {
    WarpCells list;
    int count = launch->cells ? launch->cells(replay, state, list) : 0;
    while (count > 0 && list[count - 1] != cell)
        count--;
    return count > 0;
}

bool recorder_wants(StepRecorder *recorder, const Launch *launch, const void *replay, int64_t block,
                    int number, const void *state) {
    Steps *steps = recorder->steps;
    const StepChoice *choice = &steps->choice;
    if ((choice->block >= 0 && block != choice->block) ||
        (choice->warp >= 0 && number != choice->warp) ||
        (choice->cell >= 0 && !works_on_cell(launch, replay, state, choice->cell)))
        return false;
    steps->asked++;
    if (choice->most && steps->warp_count >= choice->most)
        return false;
    StepWarp *warp = APPEND(recorder, warps, warp_count);
    if (warp)
        *warp = (StepWarp){.launch = launch->name,
                           .block = block,
                           .number = number,
                           .first_step = steps->step_count};
    return warp != NULL;
}

void recorder_phase(StepRecorder *recorder, StepPhase phase) {
    Steps *steps = recorder->steps;
    Step *step = APPEND(recorder, steps, step_count);
    recorder->wave = 0;
    recorder->loaded = false;
    if (!step)
        return;
    StepWarp *warp = &steps->warps[steps->warp_count - 1];
    /* The next point of an owner needs no load: the warp computes the point's number. */
    const bool waits =
        warp->step_count > 0 &&
        (phase == PHASE_MULTIPLY || (phase == PHASE_POINTS && step[-1].phase == PHASE_OWNERS));
    *step = (Step){.phase = phase,
                   .warp = steps->warp_count - 1,
                   .waits = waits,
                   .first_instruction = steps->instruction_count,
                   .first_point = steps->point_count};
    warp->step_count++;
}

void recorder_point(StepRecorder *recorder, const StepPoint *seen) {
    StepPoint *point = APPEND(recorder, points, point_count);
    if (!point)
        return;
    const BevMap *map = recorder->map;
    *point = *seen;
    if (point->number < 0) { /* find the point with this depth in this cell */
        point->number = map->interval_starts[recorder->interval_of[point->cell]];
        while (map->ranks_depth[point->number] != point->depth)
            point->number++;
    }
    point->weight = map->weights ? map->weights[point->number] : 1;
    recorder->steps->steps[recorder->steps->step_count - 1].point_count++;
}

void recorder_wait(StepRecorder *recorder) {
    recorder->wave += recorder->loaded;
    recorder->loaded = false;
}

void recorder_instruction(StepRecorder *recorder, Place place, StepAccess access, int repeats) {
    Steps *steps = recorder->steps;
    StepInstruction *in = APPEND(recorder, instructions, instruction_count);
    recorder->last_sector = -1;
    recorder->loaded |= access == ACCESS_READ;
    if (!in)
        return;
    *in = (StepInstruction){.name = place.name,
                            .array = place.array,
                            .access = access,
                            .repeats = repeats,
                            .wave = recorder->wave,
                            .first_span = steps->span_count,
                            .first_sector = steps->sector_count};
    steps->steps[steps->step_count - 1].instruction_count++;
}

/* Records `times` requests for bytes [from, to) of sector `number`. */
static void touch_sector(StepRecorder *recorder, StepInstruction *in, int64_t number, int from,
                         int to, int times) {
    int place = in->sector_count - 1;
    while (place >= 0 && recorder->steps->sectors[in->first_sector + place].sector != number)
        place--;
    StepSector *sector = place >= 0 ? &recorder->steps->sectors[in->first_sector + place]
                                    : APPEND(recorder, sectors, sector_count);
    if (!sector)
        return;
    sector->sector = number;
    in->sector_count += place < 0;
    const uint64_t below_from = ((uint64_t)1 << from) - 1, below_to = ((uint64_t)1 << to) - 1;
    sector->times += times;
    sector->used |= (uint32_t)(below_to & ~below_from); /* bits from ... to - 1 */
}

/* Lanes that share a sector request the sector once. Additions request the sector each time. */
void recorder_span(StepRecorder *recorder, StepLanes lanes, int64_t byte, int64_t asked,
                   int64_t moved, int adds) {
    Steps *steps = recorder->steps;
    StepSpan *span = APPEND(recorder, spans, span_count);
    if (!span)
        return;
    StepInstruction *in = &steps->instructions[steps->instruction_count - 1];
    *span = (StepSpan){byte, (int32_t)asked, lanes};
    in->span_count++;
    in->bytes += (double)asked;
    for (int64_t s = byte / SECTOR; moved > 0 && s <= (byte + moved - 1) / SECTOR; s++) {
        int64_t from = byte - s * SECTOR, to = byte + moved - s * SECTOR;
        const bool requested_before = in->access < ACCESS_ADD && s == recorder->last_sector;
        const int requests = requested_before ? 0 : adds;
        in->sectors += requests;
        touch_sector(recorder, in, s, (int)MAX(from, 0), (int)MIN(to, SECTOR), requests);
        recorder->last_sector = s;
    }
}

/* ---- recording ------------------------------------------------------------------------------- */

const char *steps_unavailable(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->where == BEV_CPU)
        return "its accesses are not recorded: only those of CUDA kernels are";
    if (kernel->small_l2)
        return "it runs one of two others: choose v3_small_l2 or v3_large_l2";
    if (!kernel->access.owner)
        return "its row says nothing of its accesses (BevAccess)";
    return bev_refuses(kernel, problem);
}

/* Refuses a block or warp that the launch does not have, and a cell that no warp works on. */
static bool choice_check(const Steps *steps, const StepChoice *choice, Err *err) {
    const char *name = steps->kernel->name;
    long long block = choice->block, blocks = steps->blocks, x = choice->cell % steps->shape.nx;
    if (choice->block >= steps->blocks)
        return err_set(err, ERR_USAGE, name, "",
                       "there is no block %lld: its launch has blocks 0 to %lld", block,
                       blocks - 1);
    if (choice->warp >= steps->warps_a_block)
        return err_set(err, ERR_USAGE, name, "", "there is no warp %d: a block has warps 0 to %d",
                       choice->warp, steps->warps_a_block - 1);
    if (steps->warp_count || choice->passes)
        return true;
    if (choice->cell >= 0)
        return err_set(err, ERR_USAGE, name, "choose a cell with points",
                       "no warp works on cell %lld,%lld", x,
                       (long long)(choice->cell / steps->shape.nx));
    return err_set(err, ERR_USAGE, name, "choose a lower block or warp",
                   "no thread of block %lld, warp %d owns anything", block, choice->warp);
}

bool steps_record(const BevKernel *kernel, const BevProblem *problem, const StepChoice *choice,
                  Steps *steps, Err *err) {
    TraceCounts counts;
    *steps = (Steps){
        .choice = *choice, .kernel = kernel, .shape = problem->shape, .out = problem->out.dtype};
    StepRecorder recorder = {.map = &problem->map, .steps = steps};
    TraceWatch watch = {.recorder = &recorder};
    int64_t cells = problem->shape.nx * problem->shape.ny;
    const char *why = steps_unavailable(kernel, problem);
    if (why)
        return err_set(err, ERR_USAGE, kernel->name, "", "no steps: %s", why);
    if (choice->cell >= cells)
        return err_set(err, ERR_USAGE, kernel->name, "", "there is no cell %lld: the grid has %lld",
                       (long long)choice->cell, (long long)cells);
    recorder.interval_of = bev_intervals_of_cells(recorder.map, cells);
    if (!recorder.interval_of)
        return err_no_memory(err, kernel->name, "");
    Reuse **no_analysis = NULL;
    const bool replayed = trace_replay(kernel, problem, &watch, &counts, no_analysis, err);
    free(recorder.interval_of);
    if (!replayed)
        return false;
    if (recorder.failed)
        return err_no_memory(err, kernel->name, "");
    const BevAccess *form = steps->form = counts.form;
    int64_t tile = bev_access_tile(form, problem);
    int64_t channel_tiles = (problem->shape.channels + tile - 1) / tile;
    steps->in_flight = bev_points_in_flight(form, problem->dtype);
    steps->passes = form->tiles_outside ? (int)channel_tiles : 1;
    return choice_check(steps, choice, err);
}

void steps_free(Steps *steps) {
    free(steps->warps);
    free(steps->steps);
    free(steps->instructions);
    free(steps->spans);
    free(steps->sectors);
    free(steps->points);
    *steps = (Steps){0};
}

/* ---- totals ---------------------------------------------------------------------------------- */

StepTotals steps_totals(const Steps *steps, int end) {
    StepTotals totals = {0};
    for (int i = 0; i < end; i++) {
        const Step *step = &steps->steps[i];
        int last_wave = -1;
        totals.points += step->point_count;
        for (int k = 0; k < step->instruction_count; k++) {
            const StepInstruction *in = &steps->instructions[step->first_instruction + k];
            const bool reads = in->access == ACCESS_READ, adds = in->access >= ACCESS_ADD;
            const bool index = in->array == TRACE_RANKS || in->array == TRACE_OWNERS;
            totals.index_loads += index;
            totals.index_bytes += index ? in->bytes : 0;
            totals.read_bytes += reads ? in->bytes : 0;
            totals.written_bytes += reads ? 0 : in->bytes;
            totals.atomics += adds ? in->bytes / FLOAT : 0;
            totals.sectors += in->sectors;
            totals.lines += step_lines(steps, in);
            totals.moved += adds ? 0 : in->sectors * SECTOR;
            for (int s = 0; s < in->sector_count && !adds; s++)
                totals.used += __builtin_popcount(steps->sectors[in->first_sector + s].used);
            totals.waits += reads && in->wave != last_wave;
            last_wave = reads ? in->wave : last_wave;
        }
    }
    return totals;
}

void steps_totals_text(const Steps *steps, int number, char *text, size_t size) {
    StepTotals totals = steps_totals(steps, MIN(number + 1, steps->step_count));
    double used_percent = totals.moved > 0 ? 100 * totals.used / totals.moved : 0;
    snprintf(
        text, size,
        "so far: %.0f point%s; %.0f index loads, %.0f B; %.0f B read, %.0f B written; %.0f "
        "sectors in %.0f lines, %.0f %% of their bytes used; %.0f atomics; %.0f rounds of loads",
        totals.points, totals.points == 1 ? "" : "s", totals.index_loads, totals.index_bytes,
        totals.read_bytes, totals.written_bytes, totals.sectors, totals.lines, used_percent,
        totals.atomics, totals.waits);
}

int step_alike(const Steps *steps, const Step *step, int from) {
    const StepInstruction *first = &steps->instructions[step->first_instruction + from];
    const int left = step->instruction_count - from;
    int count = 1;
    for (; count < left; count++) {
        const StepInstruction *next = &first[count];
        if (next->name != first->name || next->access != first->access || next->wave != first->wave)
            break;
    }
    return count;
}

/* ---- questions ------------------------------------------------------------------------------- */

int step_lines(const Steps *steps, const StepInstruction *in) {
    int count = 0;
    for (int i = 0; i < in->sector_count; i++) {
        const StepSector *sectors = &steps->sectors[in->first_sector];
        bool seen = false;
        for (int k = i - 1; k >= 0 && !seen; k--)
            seen = sectors[k].sector / LINE_SECTORS == sectors[i].sector / LINE_SECTORS;
        count += !seen;
    }
    return count;
}

bool step_lane_bytes(const StepSpan *span, int lane, int64_t *from, int64_t *to) {
    if (!step_has_lane(&span->lanes, lane))
        return false;
    *from = span->byte;
    *to = span->byte + span->bytes;
    if (!span->lanes.same) { /* each lane has a share of the bytes; the last shares may be empty */
        int place = lane - span->lanes.first;
        int share = (span->bytes + span->lanes.count - 1) / span->lanes.count;
        *from = span->byte + place * share;
        *to = span->byte + MIN((place + 1) * share, span->bytes);
    }
    return *from < *to;
}

/* Returns the cell of an interval. -1: there is no interval. */
static int64_t cell_of(const BevMap *map, int64_t interval) {
    return interval < 0 ? -1 : map->ranks_bev[map->interval_starts[interval]];
}

int64_t steps_longest_cell(const BevMap *map) {
    int64_t longest = -1;
    for (int64_t i = 0; i < map->intervals; i++)
        if (longest < 0 || map->interval_lengths[i] > map->interval_lengths[longest])
            longest = i;
    return cell_of(map, longest);
}

int64_t steps_heaviest_cell(const BevMap *map, const float *depth) {
    enum { SEEN_FIRST = 10 }; /* a reader first sees the steps of this number of points */
    double most = -1;
    int64_t heaviest = -1;
    for (int64_t i = 0; i < map->intervals; i++) {
        const int32_t start = map->interval_starts[i];
        const int32_t end = start + MIN(map->interval_lengths[i], SEEN_FIRST);
        double mass = 0;
        for (int32_t t = start; t < end; t++)
            mass += depth[map->ranks_depth[t]] * (map->weights ? map->weights[t] : 1);
        if (mass > most) {
            most = mass;
            heaviest = i;
        }
    }
    return cell_of(map, heaviest);
}

int64_t steps_first_cell(const Steps *steps) {
    return steps->point_count ? steps->points[0].cell : -1;
}

void steps_interval(const BevMap *map, int32_t number, int32_t *first, int32_t *end) {
    int32_t cell = map->ranks_bev[number];
    *first = number;
    *end = number + 1;
    while (*first > 0 && map->ranks_bev[*first - 1] == cell)
        --*first;
    while (*end < map->points && map->ranks_bev[*end] == cell)
        ++*end;
}

int steps_read_before(const Steps *steps, const Step *step, int32_t number) {
    int times = 0;
    for (int i = step->first_point + step->point_count - 1; i >= 0; i--) {
        bool same = steps->points[i].number == number;
        if (same && i >= step->first_point)
            return -1;
        times += same;
    }
    return times;
}

StepPixel step_pixel(const BevShape *shape, int32_t depth) {
    int64_t plane = shape->feat_h * shape->feat_w;
    int64_t camera_and_bin = depth / plane, pixel = depth % plane;
    return (StepPixel){camera_and_bin / shape->depth_bins, camera_and_bin % shape->depth_bins,
                       pixel / shape->feat_w, pixel % shape->feat_w};
}

/* ---- lanes ----------------------------------------------------------------------------------- */

enum { QUAD = 4, HALF_TILE = 8 };

bool step_has_lane(const StepLanes *lanes, int lane) {
    return lane >= lanes->first && lane < lanes->first + lanes->count;
}

static bool is_tile(const Steps *steps) {
    return steps->form->owner == BEV_OWNS_TILE;
}

int step_lane_channel(const Steps *steps, const StepPoint *point, int lane) {
    /* In V4 four lanes share a cell. Number q of them holds the channels that number q of the four
     * lanes of an image row loads. */
    if (is_tile(steps))
        return point->first + lane % QUAD * v4_lane_channels(steps->out);
    int share = (point->last - point->first + point->lanes.count - 1) / point->lanes.count;
    return point->first + (lane - point->lanes.first) * share;
}

const StepPoint *step_lane_point(const Steps *steps, const Step *step, int lane) {
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        if (step_has_lane(&point->lanes, lane))
            return point;
    }
    return NULL;
}

static float weighted_depth(const StepValues *values, const StepPoint *point) {
    return values->depth[point->depth] * point->weight;
}

/* Returns a feature of the point. Lanes beyond the last channel get that of the last one. */
static float feature_of(const Steps *steps, const StepValues *values, const StepPoint *point,
                        int channel) {
    int64_t c = channel < steps->shape.channels ? channel : steps->shape.channels - 1;
    return values->feat[point->feat * steps->shape.channels + c];
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Adds a point to the registers of its lanes. `now`: the point belongs to the step that is shown,
 * not to an earlier step. */
static void add_point(const Steps *steps, const StepValues *values, const StepPoint *point,
                      bool now, LaneRegisters lanes[WARP_LANES]) {
    const float depth = weighted_depth(values, point);
    const bool is_upper = is_tile(steps) && point->column >= HALF_TILE;
    const bool sums_in_memory = steps->form->sums;
    for (int k = 0; k < point->lanes.count; k++) {
        int lane = point->lanes.first + k;
        LaneRegisters *held = &lanes[lane];
        int32_t *cell = is_upper ? &held->upper_cell : &held->cell;
        float *sum = is_upper ? &held->upper_sum : &held->sum;
        held->channel = step_lane_channel(steps, point, lane);
        float feature = feature_of(steps, values, point, held->channel);
        if (now && !held->point) {
            held->point = point;
            held->depth = depth;
            held->feature = feature;
        }
        held->terms += now;
        *cell = point->cell;
        *sum = fmaf(depth, feature, sums_in_memory ? 0.0f : *sum);
    }
}

/* Whether the choice of warps may have left out warps that share cells with recorded warps. In V4
 * they may belong to two blocks. */
static bool misses_warps(const Steps *steps) {
    bool meets = false; /* a recorded warp adds its sums to those of another block */
    for (int i = 0; i < steps->step_count; i++)
        meets |= steps->steps[i].phase == PHASE_MEET;
    const bool one_warp = steps->choice.warp >= 0, one_block = steps->choice.block >= 0;
    return one_warp || steps->asked > steps->warp_count || (one_block && meets);
}

/* Returns the sum of a cell's channel over all its warps. NaN: not all were recorded. */
static float cell_sum(const Steps *steps, const StepValues *values, int32_t cell, int channel) {
    float sum = 0;
    if (misses_warps(steps))
        return NAN;
    for (int i = 0; i < steps->point_count; i++) {
        const StepPoint *point = &steps->points[i];
        if (point->cell == cell && channel >= point->first && channel < point->last)
            sum =
                fmaf(weighted_depth(values, point), feature_of(steps, values, point, channel), sum);
    }
    return sum;
}

void steps_lanes(const Steps *steps, const StepValues *values, int number,
                 LaneRegisters lanes[WARP_LANES]) {
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    const bool has_parts = is_tile(steps) || steps->form->owner == BEV_OWNS_PIECE;
    /* Sums in registers grow from the warp's first step on. Sums in memory leave the registers. */
    const int first_step = steps->form->sums ? number : warp->first_step;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes[lane] = (LaneRegisters){.channel = -1, .cell = -1, .upper_cell = -1};
    const int points_end = step->first_point + step->point_count;
    for (int i = steps->steps[first_step].first_point; i < points_end; i++)
        add_point(steps, values, &steps->points[i], i >= step->first_point, lanes);
    if (!has_parts || step->phase != PHASE_STORE)
        return;
    /* A warp with parts of cells stores the sums of all warps of a cell. */
    for (int lane = 0; lane < WARP_LANES; lane++) {
        LaneRegisters *held = &lanes[lane];
        held->joined = held->channel >= 0;
        if (held->cell >= 0)
            held->sum = cell_sum(steps, values, held->cell, held->channel);
        if (held->upper_cell >= 0)
            held->upper_sum = cell_sum(steps, values, held->upper_cell, held->channel);
    }
}

/* ---- reductions and queues ------------------------------------------------------------------- */

/* Returns the lanes that add to memory in a step, bit i for lane i. */
static uint32_t lanes_that_add(const Steps *steps, const Step *step) {
    uint32_t mask = 0;
    for (int i = 0; i < step->instruction_count; i++) {
        const StepInstruction *in = &steps->instructions[step->first_instruction + i];
        if (in->access < ACCESS_ADD)
            continue;
        for (int s = 0; s < in->span_count; s++)
            for (int lane = 0; lane < WARP_LANES; lane++)
                if (step_has_lane(&steps->spans[in->first_span + s].lanes, lane))
                    mask |= (uint32_t)1 << lane;
    }
    return mask;
}

/* Fills the levels of the tree, as reduce_runs() in kernels/cuda/block_atomic.cu does. Neighbouring
 * lanes with the same cell form a run. In level k the lanes at multiples of 2^k from the run's head
 * have sums that are part of the result. */
static void reduce_tree(StepTree *tree) {
    int head = 0; /* the first lane of the run */
    for (int level = 1; level < TREE_LEVELS; level++) {
        const float *before = tree->sums[level - 1];
        int step = 1 << (level - 1);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            bool same = lane + step < WARP_LANES && tree->cells[lane + step] == tree->cells[lane];
            tree->sums[level][lane] = before[lane] + (same ? before[lane + step] : 0.0f);
        }
    }
    for (int lane = 0; lane < WARP_LANES; lane++) {
        const bool continues_run = lane > 0 && tree->cells[lane] == tree->cells[lane - 1];
        head = continues_run ? head : lane;
        for (int level = 0; level < TREE_LEVELS && tree->cells[lane] >= 0; level++)
            if ((lane - head) % (1 << level) == 0)
                tree->counts[level] |= (uint32_t)1 << lane;
    }
}

bool steps_tree(const Steps *steps, const StepValues *values, int number, StepTree *tree) {
    const Step *step = &steps->steps[number];
    if (!steps->form->merges || !step->point_count)
        return false;
    memset(tree, 0, sizeof *tree);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        const StepPoint *point = step_lane_point(steps, step, lane);
        tree->cells[lane] = point ? point->cell : -1;
        if (point && values)
            tree->sums[0][lane] =
                weighted_depth(values, point) *
                feature_of(steps, values, point, step_lane_channel(steps, point, lane));
    }
    reduce_tree(tree);
    tree->adds = lanes_that_add(steps, step);
    return true;
}

uint32_t steps_queue(const Steps *steps, int number, int lane) {
    const Step *step = &steps->steps[number];
    const StepPoint *own = step_lane_point(steps, step, lane);
    const uint32_t adding_lanes = lanes_that_add(steps, step);
    uint32_t queue = 0;
    if (!own || !(adding_lanes >> lane & 1))
        return 0;
    const int own_channel = step_lane_channel(steps, own, lane);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        if (point->cell != own->cell)
            continue;
        for (int other = 0; other < WARP_LANES; other++)
            if (adding_lanes >> other & 1 && step_has_lane(&point->lanes, other) &&
                step_lane_channel(steps, point, other) == own_channel)
                queue |= (uint32_t)1 << other;
    }
    return queue;
}

int steps_pass(const Steps *steps, int number) {
    const StepWarp *warp = &steps->warps[steps->steps[number].warp];
    const int64_t blocks_a_pass = steps->blocks / steps->passes;
    return (int)(warp->block / blocks_a_pass) + 1;
}
