/* SPDX-License-Identifier: MIT */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"
#include "kernels/regime.h"

#include <string.h>
#include <sys/param.h>

const BevKernel *traced_kernel(int place) {
    int count = 0;
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->access.owner && count++ == place)
            return bev_kernels[i];
    return NULL;
}

int traced_place(const BevKernel *kernel) {
    const BevKernel *row;
    for (int place = 0; (row = traced_kernel(place)); place++)
        if (row == kernel)
            return place;
    return -1;
}

/* ---- a sample of the multiprocessors --------------------------------------------------------- */

/* The additions of the busiest slice of the L2, divided by those of the mean slice. A sample has
 * too few additions to tell the busiest slice, so the ratio of the canonical scene is taken. */
static const double BUSIEST = 1.2;

static void scale_accesses(TraceCount accesses[TRACE_ARRAY_COUNT], double factor) {
    for (int array = 0; array < TRACE_ARRAY_COUNT; array++) {
        accesses[array].bytes *= factor;
        accesses[array].requests *= factor;
        accesses[array].sectors *= factor;
    }
}

/* Scales the sums of the sampled multiprocessors to the whole GPU. The longest interval is that of
 * the map, which the sample may have missed. */
static void scale_counts(TraceCounts *counts, const BevProblem *problem, double factor) {
    double *const sums[] = {&counts->atomics,  &counts->steps,      &counts->l2_sectors,
                            &counts->l2_reads, &counts->l2_partial, &counts->additions};
    scale_accesses(counts->read, factor);
    scale_accesses(counts->write, factor);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] *= factor;
    counts->busiest = BUSIEST * counts->additions;
    const BevOwner owner = counts->form->owner;
    const bool owns_interval = owner == BEV_OWNS_INTERVAL || owner == BEV_OWNS_CELL;
    if (!owns_interval || counts->longest <= 0)
        return;
    const int64_t longest = bev_longest_interval(&problem->map);
    const double times_longer = (double)longest / (double)counts->slowest;
    counts->indices = trace_waits_scaled(counts->indices, times_longer);
    counts->values = trace_waits_scaled(counts->values, times_longer);
    counts->longest = counts->slowest = longest;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* Room for one block on a multiprocessor. */
typedef struct {
    char *states; /* the states of the block's active warps */
    int warps;    /* the number of active warps */
    int blocks;   /* the number of blocks that started here */
} Room;

static void *state_of(const Launch *launch, const Room *room, int warp) {
    return room->states + (size_t)warp * launch->state_bytes;
}

/* Starts blocks from *next on in an empty room, until a block has a warp with work. Of `sample`
 * neighbouring blocks one is started. */
static void start_block(const Launch *launch, void *replay, Room *room, int sample, int64_t *next) {
    while (room->warps == 0 && *next < launch->blocks) {
        for (int warp = 0; warp < launch->warps; warp++)
            if (launch->begin(replay, *next, warp, state_of(launch, room, room->warps)))
                room->warps++;
        room->blocks += room->warps > 0;
        *next += sample;
    }
}

/* Gives every warp of a block a turn. If a warp ends, the last active warp moves to its place. */
static void give_turns(const Launch *launch, void *replay, Room *room) {
    int warp = 0;
    while (warp < room->warps) {
        if (launch->turn(replay, state_of(launch, room, warp))) {
            warp++;
            continue;
        }
        const int last = --room->warps;
        if (warp < last)
            memcpy(state_of(launch, room, warp), state_of(launch, room, last), launch->state_bytes);
    }
}

/* Asks the caller whether the replay goes on. False: the caller ends the replay. */
static bool replay_goes_on(const Memory *memory, Err *err) {
    const TraceWatch *watch = &memory->watch;
    return !watch->go_on || watch->go_on(watch->context) ||
           err_set(err, ERR_FAILED, memory->kernel->name, "", "the replay was ended early");
}

/* Gives each resident warp a turn, round after round, until no block is left. */
static bool run_all_warps(const Launch *launch, Memory *memory, void *replay, Room *rooms,
                          Err *err) {
    const int sample = memory->watch.sample, sms = TRACE_MULTIPROCESSORS / sample;
    int64_t next = 0;
    for (int r = 0; r < launch->resident; r++)
        for (int sm = 0; sm < sms; sm++)
            start_block(launch, replay, &rooms[sm * launch->resident + r], sample, &next);
    for (bool busy = true; busy;) {
        busy = false;
        if (!replay_goes_on(memory, err))
            return false;
        for (int i = 0; i < sms * launch->resident; i++) {
            memory->sm = i / launch->resident;
            give_turns(launch, replay, &rooms[i]);
            start_block(launch, replay, &rooms[i], sample, &next);
            busy |= rooms[i].warps > 0;
        }
        memory->counts->rounds++;
        if (memory->access->sums)
            slices_turn(&memory->slices);
    }
    for (int i = 0; i < sms * launch->resident; i++)
        memory->counts->waves = MAX(memory->counts->waves, rooms[i].blocks);
    memory_launched(memory);
    return true;
}

/* Runs only the warps that the recorder wants, one after the other. */
static bool run_recorded_warps(const Launch *launch, const Memory *memory, void *replay,
                               void *state, Err *err) {
    bool wanted = recorder_launch(memory->watch.recorder, launch);
    for (int64_t block = 0; wanted && block < launch->blocks; block++) {
        if (!replay_goes_on(memory, err))
            return false;
        for (int warp = 0; warp < launch->warps; warp++)
            if (launch->begin(replay, block, warp, state) &&
                recorder_wants(memory->watch.recorder, launch, replay, block, warp, state))
                while (launch->turn(replay, state)) {
                }
    }
    return true;
}

bool launch_run(const Launch *launch, Memory *memory, void *replay, Err *err) {
    if (memory->watch.scheduler)
        return !launch->pools ||
               scheduler_run(memory->watch.scheduler, launch, memory, replay, err);
    const bool recorded = memory->watch.recorder;
    int64_t count = recorded ? 1 : TRACE_MULTIPROCESSORS * launch->resident;
    size_t room_bytes = (size_t)launch->warps * launch->state_bytes;
    Room *rooms = cpu_take_zeroed(&memory->arrays, count, sizeof *rooms);
    char *states = cpu_take(&memory->arrays, count, room_bytes);
    if (!memory_taken(memory, err))
        return false;
    for (int64_t i = 0; i < count; i++)
        rooms[i].states = states + (size_t)i * room_bytes;
    return recorded ? run_recorded_warps(launch, memory, replay, states, err)
                    : run_all_warps(launch, memory, replay, rooms, err);
}

/* ---- replay ---------------------------------------------------------------------------------- */

bool trace_replay(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err) {
    const BevTensor *feat = &problem->feat;
    Memory memory = {.kernel = kernel,
                     .access = &kernel->access,
                     .problem = problem,
                     .counts = counts,
                     .with_reuse = reuse != NULL,
                     .watch = watch ? *watch : (TraceWatch){0}};
    memory.watch.sample = MAX(memory.watch.sample, 1);
    memory.feat = memory_place(&memory, TRACE_FEAT, "features",
                               bev_code_bytes(problem->dtype, feat->rows, feat->row_len));
    memory.scales = memory_place(&memory, TRACE_FEAT, "block scales",
                                 bev_block_scale_bytes(problem->dtype, feat->rows, feat->row_len));
    memory.depth = memory_place(&memory, TRACE_DEPTH, "depth", bev_tensor_bytes(&problem->depth));
    *counts = (TraceCounts){.form = &kernel->access};
    const bool tiles = kernel->access.owner == BEV_OWNS_TILE;
    const bool ok = tiles ? tiles_replay(&memory, err) : owners_replay(&memory, err);
    cpu_free(&memory.arrays);
    if (ok && memory.watch.sample > 1)
        scale_counts(counts, problem, memory.watch.sample);
    if (reuse)
        *reuse = ok ? memory.reuse : NULL;
    if (!ok)
        reuse_free(memory.reuse);
    return ok;
}
