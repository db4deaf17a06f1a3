#include "src/cachesim/trace_launch.h"

#include <stdlib.h>
#include <string.h>

/* Room for one block: the states of its warps that are under way. */
typedef struct {
    char *states;
    int warps;
} Room;

static void *state_of(const Launch *launch, const Room *room, int warp) {
    return room->states + (size_t)warp * launch->state_bytes;
}

/* Takes blocks from `next` on, until one has a warp with work. */
static void fill(const Launch *launch, void *walk, Room *room, int64_t *next) {
    while (room->warps == 0 && *next < launch->blocks) {
        for (int warp = 0; warp < launch->warps; warp++)
            if (launch->begin(walk, *next, warp, state_of(launch, room, room->warps)))
                room->warps++;
        ++*next;
    }
}

/* A turn for every warp. */
static void turns(const Launch *launch, void *walk, int sm, Room *room) {
    for (int warp = 0; warp < room->warps; warp++)
        if (!launch->turn(walk, sm, state_of(launch, room, warp))) {
            room->warps--;
            if (warp < room->warps)
                memcpy(state_of(launch, room, warp), state_of(launch, room, room->warps),
                       launch->state_bytes);
            warp--;
        }
}

/* False: told to end. */
static bool run(const Launch *launch, void *walk, Room *rooms, const TraceWatch *watch) {
    int64_t next = 0;
    for (int r = 0; r < launch->resident; r++)
        for (int sm = 0; sm < TRACE_MULTIPROCESSORS; sm++)
            fill(launch, walk, &rooms[sm * launch->resident + r], &next);
    for (bool busy = true; busy;) {
        busy = false;
        if (watch && watch->go_on && !watch->go_on(watch->context))
            return false;
        for (int i = 0; i < TRACE_MULTIPROCESSORS * launch->resident; i++) {
            turns(launch, walk, i / launch->resident, &rooms[i]);
            fill(launch, walk, &rooms[i], &next);
            busy |= rooms[i].warps > 0;
        }
        if (launch->round)
            launch->round(walk);
    }
    return true;
}

bool launch_run(const Launch *launch, void *walk, const TraceWatch *watch, const char *where,
                Err *err) {
    int count = TRACE_MULTIPROCESSORS * launch->resident;
    size_t room_bytes = (size_t)launch->warps * launch->state_bytes;
    Room *rooms = calloc((size_t)count, sizeof *rooms);
    char *states = malloc((size_t)count * room_bytes);
    bool have = rooms && states, ended = false;
    for (int i = 0; have && i < count; i++)
        rooms[i].states = states + (size_t)i * room_bytes;
    if (have)
        ended = !run(launch, walk, rooms, watch);
    free(rooms);
    free(states);
    if (ended)
        return err_set(err, ERR_FAILED, where, "", "the walk was ended early");
    return have || err_set(err, ERR_FAILED, where, "", "no memory for %d blocks", count);
}
