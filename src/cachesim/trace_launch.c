/* SPDX-License-Identifier: MIT */
/* Replays a launch: starts blocks on multiprocessors and gives warps turns until all have ended. */
#include "src/cachesim/trace_internal.h"

#include <stdlib.h>
#include <string.h>

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

/* Gives every warp of a block a turn. The last active warp moves to the place of one that ends. */
static void give_turns(const Launch *launch, void *replay, Room *room) {
    for (int warp = 0; warp < room->warps; warp++)
        if (!launch->turn(replay, state_of(launch, room, warp))) {
            room->warps--;
            if (warp < room->warps)
                memcpy(state_of(launch, room, warp), state_of(launch, room, room->warps),
                       launch->state_bytes);
            warp--;
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
    const int sample = memory->sample, sms = TRACE_MULTIPROCESSORS / sample;
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
        if (rooms[i].blocks > memory->counts->waves)
            memory->counts->waves = rooms[i].blocks;
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
        return !launch->pools || scheduler_run(memory->watch.scheduler, launch, replay, err);
    int count = memory->watch.recorder ? 1 : TRACE_MULTIPROCESSORS * launch->resident;
    size_t room_bytes = (size_t)launch->warps * launch->state_bytes;
    Room *rooms = calloc((size_t)count, sizeof *rooms);
    char *states = malloc((size_t)count * room_bytes);
    bool ok = (rooms && states) || err_no_memory(err, memory->kernel->name, "");
    for (int i = 0; ok && i < count; i++)
        rooms[i].states = states + (size_t)i * room_bytes;
    if (ok)
        ok = memory->watch.recorder ? run_recorded_warps(launch, memory, replay, states, err)
                                    : run_all_warps(launch, memory, replay, rooms, err);
    free(rooms);
    free(states);
    return ok;
}
