/* SPDX-License-Identifier: MIT */
#include "src/live/live_race.h"

#include "src/base/ref.h"

#include <math.h>
#include <string.h>

static void destroy_race(void *contents) {
    LiveRace *race = contents;
    race_free(&race->race);
    ref_drop(race->map);
}

LiveRace *live_race_new(const State *state, const FrameInputs *inputs, const LiveData *live) {
    LiveRace *race = ref_new(sizeof *race, destroy_race);
    if (!race)
        return NULL;
    *race = (LiveRace){.map = ref_keep(inputs->map),
                       .shape = inputs->features->shape,
                       .dtype = state->job.config.dtype,
                       .align = state->job.config.align,
                       .gpu = state->gpu,
                       .edit = state->edit};
    for (int i = 0; i < RACE_KERNELS && race_kernel(i); i++) {
        const RecordedOnGpu *recorded =
            story_recorded(state, live_known_kernel(live, race_kernel(i)));
        race->known_us[i] = recorded ? recorded->us : NAN;
    }
    return race;
}

bool live_race_same(const LiveRace *a, const LiveRace *b) {
    return a && b && a->map == b->map && !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           a->dtype == b->dtype && a->align == b->align && a->gpu == b->gpu &&
           !memcmp(&a->edit, &b->edit, sizeof a->edit);
}

bool live_race_make(LiveRace *race, const MemoryModel *model, Err *err) {
    const BevProblem problem =
        bev_bare_problem(&race->shape, &race->map->map, BEV_FORWARD, race->dtype, race->align);
    race->made =
        race_make(model, &problem, race->gpu, &race->edit, race->known_us, &race->race, err);
    return race->made;
}
