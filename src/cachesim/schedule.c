/* SPDX-License-Identifier: MIT */
#include "src/cachesim/schedule.h"

#include "src/cachesim/findings.h"
#include "src/cachesim/trace_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

/* ---- warps and multiprocessors --------------------------------------------------------------- */

/* A warp that waits for its next step. */
typedef struct {
    double ready_us;
    int32_t left; /* the number of steps that follow; 0: the warp ends */
    int room;     /* the number of its block's room on the multiprocessor */
    void *state;
} Waiting;

typedef struct {
    double free_us; /* when the last step was issued */
    double next_us; /* when the first waiting warp goes on; INFINITY: no warp waits */
    int count;
    Waiting waiting[GPU_MOST_WARPS]; /* in ascending order of ready_us */
} Multiprocessor;

/* A place for a block on a multiprocessor. */
typedef struct {
    int64_t block;
    int warps; /* the number of warps that have not ended */
    char *states;
} Room;

struct Scheduler {
    Schedule *schedule;
    double issue_us; /* the time for which a step occupies the multiprocessor */
    double wait_us;  /* the time for which the warp waits after a step */
    int most_warps;  /* the number of warps that a multiprocessor holds */
    const Launch *launch;
    void *replay;
    int resident; /* the number of rooms of a multiprocessor */
    int64_t next; /* the next block to start */
    Multiprocessor *multiprocessors;
    Room *rooms; /* [multiprocessors][resident] */
};

/* Sets the time at which the first waiting warp goes on. A warp that only ends need not wait for
 * the multiprocessor. */
static void set_next_us(Multiprocessor *mp) {
    const Waiting *first = mp->waiting;
    if (mp->count == 0)
        mp->next_us = INFINITY;
    else
        mp->next_us = first->left ? fmax(first->ready_us, mp->free_us) : first->ready_us;
}

/* Adds a warp to those that wait, which stay in order. */
static void add_waiting(Multiprocessor *mp, Waiting warp) {
    int place = mp->count++;
    assert(place < GPU_MOST_WARPS);
    for (; place > 0 && mp->waiting[place - 1].ready_us > warp.ready_us; place--)
        mp->waiting[place] = mp->waiting[place - 1];
    mp->waiting[place] = warp;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Starts the next block that has work, at time `us`, in empty room `number` of a multiprocessor. */
static void start_block(Scheduler *scheduler, int sm, int number, double us) {
    const Launch *launch = scheduler->launch;
    Room *room = &scheduler->rooms[sm * scheduler->resident + number];
    while (room->warps == 0 && scheduler->next < launch->blocks) {
        room->block = scheduler->next++;
        BlockSpan *span = &scheduler->schedule->blocks[room->block];
        *span = (BlockSpan){sm, 0, (float)us, (float)us};
        for (int warp = 0; warp < launch->warps; warp++) {
            void *state = room->states + (size_t)room->warps * launch->state_bytes;
            if (!launch->begin(scheduler->replay, room->block, warp, state))
                continue;
            int32_t turns = launch->turns(state);
            room->warps++;
            span->steps += turns;
            add_waiting(&scheduler->multiprocessors[sm], (Waiting){us, turns, number, state});
        }
    }
}

/* Ends a warp, which has written its cells. The last warp of a block also ends the block, and the
 * block's room takes the next block. */
static void end_warp(Scheduler *scheduler, int sm, const Waiting *warp) {
    Room *room = &scheduler->rooms[sm * scheduler->resident + warp->room];
    Schedule *schedule = scheduler->schedule;
    WarpCells list;
    const float us = (float)warp->ready_us;
    int count = scheduler->launch->cells(scheduler->replay, warp->state, list);
    for (int i = 0; i < count; i++) {
        if (isnan(schedule->first_us[list[i]]))
            schedule->first_us[list[i]] = us;
        schedule->last_us[list[i]] = us; /* ends come in ascending order, nearly */
    }
    if (--room->warps > 0)
        return;
    schedule->blocks[room->block].end_us = us;
    start_block(scheduler, sm, warp->room, warp->ready_us);
}

/* Gives the multiprocessor's first waiting warp its next step, or ends the warp. */
static void run_first_warp(Scheduler *scheduler, int sm) {
    Multiprocessor *mp = &scheduler->multiprocessors[sm];
    double now = mp->next_us;
    Waiting warp = mp->waiting[0];
    mp->count--;
    for (int i = 0; i < mp->count; i++)
        mp->waiting[i] = mp->waiting[i + 1];
    if (warp.left > 0) {
        mp->free_us = now + scheduler->issue_us;
        warp.left--;
        warp.ready_us = mp->free_us + scheduler->wait_us;
        add_waiting(mp, warp);
    } else {
        end_warp(scheduler, sm, &warp);
    }
    set_next_us(mp);
}

/* Runs the multiprocessor whose next event comes first, until no warp waits. */
static void run_blocks(Scheduler *scheduler) {
    const Multiprocessor *all = scheduler->multiprocessors;
    const int count = scheduler->schedule->multiprocessors;
    for (int room = 0; room < scheduler->resident; room++)
        for (int sm = 0; sm < count; sm++)
            start_block(scheduler, sm, room, 0);
    for (int sm = 0; sm < count; sm++)
        set_next_us(&scheduler->multiprocessors[sm]);
    for (int first = 0; isfinite(all[first].next_us);) {
        run_first_warp(scheduler, first);
        first = 0;
        for (int sm = 1; sm < count; sm++)
            if (all[sm].next_us < all[first].next_us)
                first = sm;
    }
}

bool scheduler_run(Scheduler *scheduler, const Launch *launch, Memory *memory, void *replay,
                   Err *err) {
    Schedule *schedule = scheduler->schedule;
    CpuArrays *arrays = &memory->arrays;
    int resident = MAX(MIN(launch->resident, scheduler->most_warps / launch->warps), 1);
    int64_t rooms = (int64_t)schedule->multiprocessors * resident;
    size_t room_bytes = (size_t)launch->warps * launch->state_bytes;
    char *states = cpu_take(arrays, rooms, room_bytes);
    scheduler->launch = launch;
    scheduler->replay = replay;
    scheduler->resident = resident;
    scheduler->rooms = cpu_take_zeroed(arrays, rooms, sizeof *scheduler->rooms);
    scheduler->multiprocessors =
        cpu_take_zeroed(arrays, schedule->multiprocessors, sizeof *scheduler->multiprocessors);
    schedule->block_count = launch->blocks;
    schedule->blocks = cpu_take_zeroed(&schedule->arrays, launch->blocks, sizeof *schedule->blocks);
    schedule->first_us = cpu_take(&schedule->arrays, schedule->cell_count, sizeof(float));
    schedule->last_us = cpu_take(&schedule->arrays, schedule->cell_count, sizeof(float));
    arrays->failed |= schedule->arrays.failed;
    if (!memory_taken(memory, err))
        return false;
    for (int64_t i = 0; i < rooms; i++)
        scheduler->rooms[i].states = states + (size_t)i * room_bytes;
    for (int64_t i = 0; i < schedule->cell_count; i++)
        schedule->first_us[i] = schedule->last_us[i] = NAN;
    run_blocks(scheduler);
    return true;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static void scale_times(Schedule *schedule, float factor) {
    for (int64_t i = 0; i < schedule->block_count; i++) {
        schedule->blocks[i].begin_us *= factor;
        schedule->blocks[i].end_us *= factor;
    }
    for (int64_t i = 0; i < schedule->cell_count; i++) {
        schedule->first_us[i] *= factor;
        schedule->last_us[i] *= factor;
    }
}

/* Makes the schedule of a kernel that was replayed on `problem`. All times are scaled: the last
 * block ends at `latency_us`. Fails without memory, or where the kernel refuses the problem. */
static bool schedule_make(const PredictedKernel *kernel, const BevProblem *problem, const Gpu *gpu,
                          const Prediction *prediction, double latency_us, Schedule *schedule,
                          Err *err) {
    const TraceCounts *profile = &kernel->profile.counts;
    const double *terms = prediction->term_us;
    /* The throughput terms overlap as in predict.h. They bound the steps of all multiprocessors. */
    const double steps_us = hypot(hypot(terms[TERM_ISSUE], terms[TERM_L2]), terms[TERM_DRAM]);
    TraceCounts unused;
    *schedule = (Schedule){.kernel = kernel->kernel,
                           .limiter = prediction->limiter,
                           .longest = profile->longest,
                           .latency_us = latency_us,
                           .multiprocessors = gpu->sms,
                           .cell_count = problem->shape.nx * problem->shape.ny};
    findings_reason(kernel, prediction, bev_longest_interval(&problem->map), schedule->reason,
                    sizeof schedule->reason);
    Scheduler scheduler = {.schedule = schedule,
                           .issue_us = steps_us * gpu->sms / profile->steps,
                           .wait_us = terms[TERM_DEPENDENT_LOADS] / (double)profile->longest,
                           .most_warps = gpu->sm_warps};
    const TraceWatch watch = {.scheduler = &scheduler, .multiprocessors = gpu->sms};
    if (!trace_replay(kernel->kernel, problem, &watch, &unused, NULL, err))
        return false;
    const BlockSpan *last = schedule_last_block(schedule);
    schedule->own_us = last ? last->end_us : 0;
    if (!(schedule->own_us > 0))
        return err_set(err, ERR_FAILED, "schedule", "", "the kernel has no work");
    scale_times(schedule, (float)(latency_us / schedule->own_us));
    return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

double schedule_written(const Schedule *schedule, int64_t cell, double us) {
    double first = schedule->first_us[cell], last = schedule->last_us[cell];
    if (!(us >= first)) /* also if the cell is never written: `first` is NaN */
        return 0;
    return (float)us >= schedule->last_us[cell] ? 1 : (us - first) / (last - first);
}

double schedule_done(const Schedule *schedule, double us) {
    double done = 0, all = 0;
    for (int64_t i = 0; i < schedule->cell_count; i++) {
        all += !isnan(schedule->first_us[i]);
        done += schedule_written(schedule, i, us);
    }
    return all > 0 ? done / all : 1;
}

double schedule_ended_us(const Schedule *schedule, double share) {
    int count = schedule->multiprocessors;
    double *ends = calloc((size_t)count, sizeof *ends);
    for (int64_t i = 0; ends && i < schedule->block_count; i++) {
        const BlockSpan *span = &schedule->blocks[i];
        ends[span->multiprocessor] = fmax(ends[span->multiprocessor], span->end_us);
    }
    if (ends)
        sort_ascending(ends, count);
    double us = ends ? ends[(int)fmin(share * count, count - 1)] : NAN;
    free(ends);
    return us;
}

const BlockSpan *schedule_last_block(const Schedule *schedule) {
    const BlockSpan *last = schedule->block_count ? schedule->blocks : NULL;
    for (int64_t i = 1; i < schedule->block_count; i++)
        if (schedule->blocks[i].end_us > last->end_us)
            last = &schedule->blocks[i];
    return last;
}

/* ---- a race ---------------------------------------------------------------------------------- */

const BevKernel *race_kernel(int place) {
    const BevKernel *ladder[BEV_RUNGS];
    return place < bev_ladder(BEV_CUDA, BEV_FORWARD, ladder) ? ladder[place] : NULL;
}

KernelSet race_kernels(void) {
    KernelSet set = 0;
    for (int place = 0; race_kernel(place); place++)
        set |= kernel_bit(race_kernel(place));
    return set;
}

bool race_make(const MemoryModel *model, const BevProblem *problem, int gpu, const GpuEdit *edit,
               const double known_us[RACE_KERNELS], Race *race, Err *err) {
    Gpu on = model_gpu(model, gpu, edit);
    const BevMap *map = &problem->map;
    size_t cells = (size_t)(problem->shape.nx * problem->shape.ny);
    bool all_known = true;
    *race = (Race){.gpu = on,
                   .nx = problem->shape.nx,
                   .ny = problem->shape.ny,
                   .longest_cell = steps_longest_cell(map),
                   .longest_points = bev_longest_interval(map),
                   .points = calloc(cells, sizeof *race->points)};
    for (int i = 0; race_kernel(i); i++)
        if (model_of_kernel(model, race_kernel(i), &on))
            all_known &= isfinite(known_us[i]);
    race->source = all_known ? SOURCE_RECORDED : SOURCE_MODEL;
    bool ok = race->points || err_no_memory(err, "race", "");
    for (int64_t i = 0; ok && i < map->intervals; i++)
        race->points[map->ranks_bev[map->interval_starts[i]]] = map->interval_lengths[i];
    for (int i = 0; ok && race_kernel(i) && race->count < RACE_KERNELS; i++) {
        const PredictedKernel *row = model_of_kernel(model, race_kernel(i), &on);
        if (!row)
            continue;
        Prediction prediction = model_predict(model, row, gpu, edit);
        double us = all_known ? known_us[i] : prediction.latency_us;
        Schedule *lane = &race->lanes[race->count++];
        ok = schedule_make(row, problem, &on, &prediction, us, lane, err);
        lane->rung = race_kernel(i);
    }
    return ok;
}

void race_free(Race *race) {
    for (int i = 0; i < race->count; i++)
        cpu_free(&race->lanes[i].arrays);
    free(race->points);
    *race = (Race){.count = 0};
}

double race_end_us(const Race *race) {
    double end = 0;
    for (int i = 0; i < race->count; i++)
        end = fmax(end, race->lanes[i].latency_us);
    return end;
}

/* Whether lane `a` comes before lane `b`: latency-bound kernels first, then the slower kernel. */
static bool straggles_more(const Schedule *a, const Schedule *b) {
    const bool a_is_latency_bound = a->limiter == TERM_DEPENDENT_LOADS;
    const bool b_is_latency_bound = b->limiter == TERM_DEPENDENT_LOADS;
    if (a_is_latency_bound != b_is_latency_bound)
        return a_is_latency_bound;
    return a->latency_us > b->latency_us;
}

const Schedule *race_straggler(const Race *race) {
    const Schedule *straggler = NULL;
    for (int i = 0; i < race->count; i++)
        if (!straggler || straggles_more(&race->lanes[i], straggler))
            straggler = &race->lanes[i];
    return straggler;
}
