/* SPDX-License-Identifier: MIT */
/* Schedules of the race's kernels on the shipped rig: laws that they must obey, and who waits for
 * whom. */
#include "src/cachesim/schedule.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

static MemoryModel *model_of(const BevProblem *problem, const Gpu *gpu) {
    MemoryModel *model = malloc(sizeof *model);
    unsigned bits = 0;
    for (int i = 0; race_kernel(i); i++)
        bits |= model_bits(race_kernel(i));
    model_begin(model, problem, gpu, 1);
    need(model_replay(model, problem, bits, &err), &err);
    return model;
}

/* No multiprocessor holds more blocks than it has room for, and all blocks have an end. */
static void test_lane(const Schedule *lane, const BevProblem *problem) {
    const char *name = lane->kernel->name;
    const BlockSpan *last = schedule_last_block(lane);
    bool in_time = true, in_range = true;
    for (int64_t i = 0; i < lane->block_count; i++) {
        const BlockSpan *span = &lane->blocks[i];
        in_time &= span->begin_us >= 0 && span->end_us >= span->begin_us;
        in_range &= span->multiprocessor >= 0 && span->multiprocessor < lane->multiprocessors;
    }
    tap_ok(in_time && in_range, "%s: a block begins before it ends", name);
    tap_ok(fabs(last->end_us / lane->latency_us - 1) < 1e-5, "%s: the last ends at %.1f us", name,
           lane->latency_us);
    double own = lane->own_us / lane->latency_us;
    tap_ok(own > 0.5 && own < 1.5, "%s: before scaling the end is near (%.2f)", name, own);
    int64_t unwritten = 0, cells = lane->cell_count;
    for (int64_t i = 0; i < cells; i++)
        unwritten += isnan(lane->last_us[i]);
    bool owns_cells = lane->kernel->access.owner >= BEV_OWNS_CELL;
    tap_ok(unwritten == (owns_cells ? 0 : cells - problem->map.intervals),
           "%s: writes every cell that it owns", name);
    double end_us = lane->latency_us * (1 + 1e-5);
    tap_ok(schedule_done(lane, 0) < 0.01 && schedule_done(lane, end_us) == 1,
           "%s: nothing is done at first, all at last", name);
}

/* Whether the steps of all blocks are those that the replay has counted. A warp whose owners have
 * no point takes a turn, but no step. */
static void test_work(const Schedule *lane, const PredictedKernel *row) {
    double steps = 0;
    for (int64_t i = 0; i < lane->block_count; i++)
        steps += lane->blocks[i].steps;
    double counted = row->profile.counts.steps;
    tap_ok(steps >= counted && steps < 1.1 * counted, "%s: work is conserved (%.0f, %.0f steps)",
           lane->kernel->name, steps, counted);
}

/* V2+DO ends with the cell of 352 points, V4's multiprocessors end together. */
static void test_straggler(const Race *race) {
    const Schedule *slow = race_straggler(race), *v4 = &race->lanes[race->count - 1];
    tap_ok(!strcmp(slow->kernel->name, "v2_do") && race->longest_points == 352,
           "V2+DO waits for a cell of %lld points", (long long)race->longest_points);
    tap_ok(slow->last_us[race->longest_cell] == (float)schedule_last_block(slow)->end_us,
           "its last block writes that cell");
    tap_ok(schedule_ended_us(slow, 0.5) < 0.7 * slow->latency_us,
           "half of its multiprocessors end by %.0f %%",
           100 * schedule_ended_us(slow, 0.5) / slow->latency_us);
    double spread_us = v4->latency_us - schedule_ended_us(v4, 0);
    tap_ok(spread_us < 0.05 * slow->latency_us,
           "V4's multiprocessors end within %.1f us, of V2+DO's %.1f", spread_us, slow->latency_us);
}

TAP_SUITE(schedule) {
    OpenProblem *opened = open_problem("canonical", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    const BevProblem *problem = opened->view;
    static const char *const names[] = {"h200", "a6000"};
    const double unknown[RACE_KERNELS] = {NAN, NAN, NAN, NAN},
                 known[RACE_KERNELS] = {216, 80, 27, 5};
    for (int i = 0; i < 2; i++) {
        MemoryModel *model = model_of(problem, gpu_find(names[i]));
        Race race;
        need(race_make(model, problem, 0, NULL, i ? unknown : known, &race, &err), &err);
        tap_ok(race.count == RACE_KERNELS, "%s: four kernels run", names[i]);
        tap_ok(race.source == (i ? SOURCE_MODEL : SOURCE_RECORDED) &&
                   (i || race_end_us(&race) == 216),
               "%s: all latencies have one source", names[i]);
        for (int lane = 0; lane < race.count; lane++) {
            test_work(&race.lanes[lane],
                      model_of_kernel(model, race_kernel(lane), gpu_find(names[i])));
            if (i)
                test_lane(&race.lanes[lane], problem);
        }
        test_straggler(&race);
        race_free(&race);
        free(model);
    }
    close_problem(opened);
}
