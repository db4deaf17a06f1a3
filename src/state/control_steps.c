/* SPDX-License-Identifier: MIT */
/* Controls of the recorded steps of warps: which warps, which step, and how fast the steps play. */
#include "src/state/control.h"

#include <string.h>

enum { LANES = 32 };

void control_steps_reset(State *state) {
    state->job.steps_kernels[0] = state->job.steps_kernels[1] = NULL;
    state->job.steps_block = state->job.steps_warp = -1;
    state->step_at = 0;
    state->step_lane = -1;
    state->step_speed = state->step_clock = 0;
}

unsigned control_steps(State *state, const Command *command) {
    state->job.steps = control_switched(command, state->job.steps);
    control_steps_reset(state);
    if (state->job.steps)
        SAY(state, command->action, "steps of %s: %s goes forward, %s runs, %s: panels again",
            state->job.config.kernel->title, key_of(ACTION_STEPS_AT).name,
            key_of(ACTION_STEPS_SPEED).name, key_of(ACTION_STEPS).name);
    else
        SAY(state, command->action, "steps off");
    return control_changed(state);
}

/* Shows another step. The screen and scripts count steps from 1, the state counts from 0. */
unsigned control_steps_at(State *state, const Command *command) {
    int count = state->shown.step_count;
    unsigned changed =
        SET(state->step_at, (int)clamp(command->number, 1, count > 0 ? count : 1e6) - 1);
    return SAY(state, command->action, "step %d%s%s", state->step_at + 1,
               state->step_at == 0 && command->step < 0 ? ": the first" : "",
               count > 0 && state->step_at == count - 1 ? ": the last" : "") |
           changed;
}

/* ---- running --------------------------------------------------------------------------------- */

unsigned control_steps_speed(State *state, const Command *command) {
    int last = state->shown.step_count - 1;
    unsigned changed = SET(state->step_speed, command->number);
    state->step_clock = 0;
    if (state->step_speed > 0 && last > 0 && state->step_at >= last)
        state->step_at = 0;
    else if (state->step_speed < 0 && state->step_at == 0 && last > 0)
        state->step_at = last;
    if (state->step_speed == 0)
        return SAY(state, command->action, "step %d: still", state->step_at + 1) | changed;
    return SAY(state, command->action, "%g steps a second%s", fabs(state->step_speed),
               state->step_speed < 0 ? ", backwards" : "") |
           changed;
}

unsigned control_steps_tick(State *state, double seconds) {
    const double almost = 1e-9; /* ten times 0.1 are a little less than 1 */
    int last = state->shown.step_count - 1;
    if (!state->job.steps || state->step_speed == 0 || last < 0)
        return 0;
    state->step_clock += seconds * state->step_speed;
    int moved = (int)(state->step_clock + copysign(almost, state->step_clock));
    if (!moved)
        return 0;
    state->step_clock -= moved;
    state->step_at = (int)clamp(state->step_at + moved, 0, last);
    if (state->step_at > 0 && state->step_at < last)
        return STEP_REDRAW;
    state->step_speed = 0;
    return SAY(state, ACTION_STEPS_SPEED, "step %d: the %s", state->step_at + 1,
               state->step_at ? "last" : "first");
}

/* ---- which warps ----------------------------------------------------------------------------- */

ShortText state_steps_of(const State *state) {
    const Job *job = &state->job;
    ShortText of = {"cell"};
    if (state->step_lane >= 0)
        snprintf(of.text, sizeof of.text, "%lld,%d,%d", (long long)job->steps_block,
                 job->steps_warp, state->step_lane);
    else if (job->steps_warp >= 0)
        snprintf(of.text, sizeof of.text, "%lld,%d", (long long)job->steps_block, job->steps_warp);
    else if (job->steps_block >= 0)
        snprintf(of.text, sizeof of.text, "%lld", (long long)job->steps_block);
    return of;
}

/* Chooses whose steps are shown. Another block or warp begins at its first step. */
static unsigned follow_warps(State *state, Action action, int64_t block, int warp, int lane) {
    Job *job = &state->job;
    bool same = job->steps_block == block && job->steps_warp == warp;
    job->steps_block = block;
    job->steps_warp = warp;
    unsigned changed = SET(state->step_lane, lane);
    if (!same)
        state->step_at = 0;
    SAY(state, action, "steps of %s%s",
        lane >= 0    ? "thread: block, warp, lane "
        : warp >= 0  ? "warp: block, warp "
        : block >= 0 ? "block "
                     : "all warps on the ",
        state_steps_of(state).text);
    return same ? STEP_REDRAW | changed : control_changed(state);
}

/* Follows the warps of numbers: block, or block,warp, or block,warp,lane; or "cell". */
unsigned control_steps_of(State *state, const Command *command) {
    const char *text = command->argument;
    long long block;
    int warp = -1, lane = -1;
    char rest;
    if (command->step || !strcmp(text, "cell"))
        return follow_warps(state, command->action, -1, -1, -1);
    int found = sscanf(text, "%lld,%d,%d%c", &block, &warp, &lane, &rest);
    bool fits = found >= 1 && found <= 3 && block >= 0 && (found < 2 || warp >= 0) &&
                (found < 3 || (lane >= 0 && lane < LANES)) && text[strlen(text) - 1] != ',';
    if (!fits)
        return SAY(state, command->action,
                   "steps-of: '%s' is not cell, BLOCK, BLOCK,WARP or BLOCK,WARP,LANE", text);
    return follow_warps(state, command->action, block, warp, lane);
}

/* ---- which kernels --------------------------------------------------------------------------- */

ShortText state_steps_pair(const State *state) {
    const BevKernel *const *kernels = state->job.steps_kernels;
    ShortText pair = {"own"};
    if (kernels[0])
        snprintf(pair.text, sizeof pair.text, "%s%s%s", kernels[0]->name, kernels[1] ? "," : "",
                 kernels[1] ? kernels[1]->name : "");
    return pair;
}

/* Finds the kernels named by "v2" or "v2,v2_do". "own" names none. Returns false where a name is
 * unknown, or the kernel's accesses are not described. */
static bool find_kernels(const char *names, const BevKernel *kernels[2]) {
    char first[64], second[64] = "";
    kernels[0] = kernels[1] = NULL;
    if (!strcmp(names, "own"))
        return true;
    int found = sscanf(names, "%63[^,],%63[^,]", first, second);
    kernels[0] = found >= 1 ? bev_kernel_find(first) : NULL;
    kernels[1] = found == 2 ? bev_kernel_find(second) : NULL;
    return kernels[0] && (found == 1 || kernels[1]) && strchr(names, ',') == strrchr(names, ',');
}

unsigned control_steps_pair(State *state, const Command *command) {
    const BevKernel *kernels[2];
    const char *names = command->step ? "own" : command->argument;
    if (!find_kernels(names, kernels))
        return SAY(state, command->action,
                   "steps-pair: '%s' is not own, a kernel, or two such as v2,v2_do", names);
    control_steps_reset(state);
    memcpy(state->job.steps_kernels, kernels, sizeof kernels);
    SAY(state, command->action, "steps of %s", names);
    return control_changed(state);
}
