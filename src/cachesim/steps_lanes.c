/* SPDX-License-Identifier: MIT */
#include "src/cachesim/steps_lanes.h"

#include "kernels/cuda/v4/choices.h"

#include <math.h>
#include <string.h>

enum { QUAD = 4, HALF_TILE = 8 };

bool step_has_lane(const StepLanes *lanes, int lane) {
    int place = lane - lanes->first;
    return place >= 0 && place % lanes->stride == 0 && place / lanes->stride < lanes->count;
}

static bool is_tile(const Steps *steps) {
    return steps->form->owner == BEV_OWNS_TILE;
}

int step_lane_channel(const Steps *steps, const StepPoint *point, int lane) {
    /* In V4 four lanes share a cell. Number q of them holds the channels that number q of the four
     * lanes of an image row loads. */
    if (is_tile(steps))
        return point->first + lane % QUAD * v4_lane_channels(steps->out);
    int place = (lane - point->lanes.first) / point->lanes.stride;
    int share = (point->last - point->first + point->lanes.count - 1) / point->lanes.count;
    return point->first + place * share;
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

/* Adds a point to the registers of a lane. `now`: the point belongs to the step that is shown, not
 * to an earlier step. */
static void add_point(const Steps *steps, const StepValues *values, const StepPoint *point,
                      int lane, bool now, LaneRegisters *held) {
    int channel = step_lane_channel(steps, point, lane);
    float feature = feature_of(steps, values, point, channel);
    bool upper = is_tile(steps) && point->column >= HALF_TILE;
    if (now && !held->point) {
        held->point = point;
        held->depth = weighted_depth(values, point);
        held->feature = feature;
    }
    held->terms += now;
    held->channel = channel;
    *(upper ? &held->upper_cell : &held->cell) = point->cell;
    float *sum = upper ? &held->upper_sum : &held->sum;
    *sum = fmaf(weighted_depth(values, point), feature, steps->form->sums ? 0.0f : *sum);
}

/* Adds the points of a step to the registers of all lanes. */
static void add_points(const Steps *steps, const StepValues *values, const Step *step, bool now,
                       LaneRegisters lanes[WARP_LANES]) {
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        for (int k = 0; k < point->lanes.count; k++) {
            int lane = point->lanes.first + k * point->lanes.stride;
            add_point(steps, values, point, lane, now, &lanes[lane]);
        }
    }
}

/* Whether a recorded warp adds its sums to those of another block. */
static bool meets_other_block(const Steps *steps) {
    for (int i = 0; i < steps->step_count; i++)
        if (steps->steps[i].phase == PHASE_MEET)
            return true;
    return false;
}

/* Returns the sum of a cell's channel over all warps that share the cell. In V4 they may belong to
 * two blocks. NaN: not all of them were recorded. */
static float cell_sum(const Steps *steps, const StepValues *values, int32_t cell, int channel) {
    float sum = 0;
    if (steps->choice.warp >= 0 || steps->asked > steps->warp_count ||
        (steps->choice.block >= 0 && meets_other_block(steps)))
        return NAN;
    for (int w = 0; w < steps->warp_count; w++) {
        const StepWarp *warp = &steps->warps[w];
        const Step *first = &steps->steps[warp->first_step], *end = first + warp->step_count;
        for (const Step *step = first; step < end; step++)
            for (int i = 0; i < step->point_count; i++) {
                const StepPoint *point = &steps->points[step->first_point + i];
                if (point->cell == cell && channel >= point->first && channel < point->last)
                    sum = fmaf(weighted_depth(values, point),
                               feature_of(steps, values, point, channel), sum);
            }
    }
    return sum;
}

/* Replaces the sums of the lanes by those of all warps of the cell, as they are stored. */
static void join_sums(const Steps *steps, const StepValues *values,
                      LaneRegisters lanes[WARP_LANES]) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        LaneRegisters *held = &lanes[lane];
        held->joined = held->channel >= 0;
        if (held->cell >= 0)
            held->sum = cell_sum(steps, values, held->cell, held->channel);
        if (held->upper_cell >= 0)
            held->upper_sum = cell_sum(steps, values, held->upper_cell, held->channel);
    }
}

void steps_lanes(const Steps *steps, const StepValues *values, int number,
                 LaneRegisters lanes[WARP_LANES]) {
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    bool parts = is_tile(steps) || steps->form->owner == BEV_OWNS_PIECE;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes[lane] = (LaneRegisters){.channel = -1, .cell = -1, .upper_cell = -1};
    for (int i = steps->form->sums ? number : warp->first_step; i <= number; i++)
        add_points(steps, values, &steps->steps[i], i == number, lanes);
    if (parts && step->phase == PHASE_STORE)
        join_sums(steps, values, lanes);
}

/* ---- reductions and queues ------------------------------------------------------------------- */

/* Returns the lanes that add to memory in a step, bit i for lane i. */
static uint32_t lanes_that_add(const Steps *steps, const Step *step) {
    uint32_t mask = 0;
    for (int i = 0; i < step->instruction_count; i++) {
        const StepInstruction *in = &steps->instructions[step->first_instruction + i];
        for (int s = 0; s < in->span_count && in->access >= ACCESS_ADD; s++)
            for (int lane = 0; lane < WARP_LANES; lane++)
                if (step_has_lane(&steps->spans[in->first_span + s].lanes, lane))
                    mask |= (uint32_t)1 << lane;
    }
    return mask;
}

/* Fills the levels of the tree, as reduce_runs() in kernels/cuda/block_atomic.cu does. */
static void reduce_tree(StepTree *tree) {
    int head = 0;
    for (int level = 1; level < TREE_LEVELS; level++) {
        const float *before = tree->sums[level - 1];
        int step = 1 << (level - 1);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            bool same = lane + step < WARP_LANES && tree->cells[lane + step] == tree->cells[lane];
            tree->sums[level][lane] = before[lane] + (same ? before[lane + step] : 0.0f);
        }
    }
    for (int lane = 0; lane < WARP_LANES; lane++) {
        head = lane && tree->cells[lane] == tree->cells[lane - 1] ? head : lane;
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
    uint32_t adds = lanes_that_add(steps, step), queue = 0;
    if (!own || !(adds >> lane & 1))
        return 0;
    int channel = step_lane_channel(steps, own, lane);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        for (int other = 0; other < WARP_LANES && point->cell == own->cell; other++)
            if (step_has_lane(&point->lanes, other) && adds >> other & 1 &&
                step_lane_channel(steps, point, other) == channel)
                queue |= (uint32_t)1 << other;
    }
    return queue;
}

int steps_pass(const Steps *steps, int number) {
    const StepWarp *warp = &steps->warps[steps->steps[number].warp];
    return (int)(warp->block / (steps->blocks / steps->passes)) + 1;
}

/* ---- the map --------------------------------------------------------------------------------- */

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
