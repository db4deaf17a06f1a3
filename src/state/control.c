/* SPDX-License-Identifier: MIT */
/* Helpers of all controls' handlers: numbers, switches, lists, and changes of the job. */
#include "src/state/control.h"

#include <string.h>
#include <strings.h>

/* ---- numbers --------------------------------------------------------------------------------- */

/* Completes the command with its number: the argument, or a step from the value `now`. A step stops
 * at the bounds of the row. Returns false, with a line in the log, outside of them. */
static bool take_number(State *state, Command *command) {
    const KeyRow *row = &keys[command->action];
    const double finest = 1e6; /* steps leave no rounding errors: ten of 0.1 and ten back give 0 */
    char value[64];
    double now = row->value(state, value, sizeof value);
    command->number = strtod(command->argument, NULL);
    if (command->step) {
        double next = row->scaled ? now * pow(row->step, command->step)
                                  : now + command->step * row->step;
        command->number = clamp(round(next * finest) / finest, row->lo, row->hi);
    }
    if (command->number >= row->lo && command->number <= row->hi)
        return true;
    SAY(state, command->action, "%s: %s is not from %g to %g%s%s", row->word, command->argument,
        row->lo, row->hi, value[0] ? ": still " : "", value);
    return false;
}

/* Logs the control's new value, and marks the job as changed where the row asks for it. */
static unsigned tell_value(State *state, const KeyRow *row, const char *idea) {
    char value[96];
    state_value(state, row->action, value, sizeof value);
    SAY(state, row->action, "%s %s%s%s", row->word, value, idea ? ": " : "", idea ? idea : "");
    if (row->asks & STEP_RUN)
        return control_told(state, row->asks & (STEP_RUN_VALUES & ~STEP_RUN));
    return STEP_REDRAW | row->asks;
}

unsigned control_set(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    unsigned changed = SET(*(double *)((char *)state + row->field), command->number);
    return tell_value(state, row, NULL) | changed;
}

/* ---- switches and lists of values ------------------------------------------------------------ */

bool control_switched(const Command *command, bool now) {
    return command->step ? !now : !strcmp(command->argument, "on");
}

unsigned control_toggle(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    bool *field = (bool *)((char *)state + row->field);
    unsigned changed = SET(*field, control_switched(command, *field));
    return SAY(state, command->action, "%s", row->says[*field]) | row->asks | changed;
}

int control_find(const State *state, const Command *command) {
    ValueName values[VALUES_MAX];
    int found = keys[command->action].list(state, values) - 1;
    while (found >= 0 && strcasecmp(values[found].name, command->argument))
        found--;
    return found;
}

int control_pick(State *state, const Command *command, int now) {
    ValueName values[VALUES_MAX];
    int count = keys[command->action].list(state, values);
    if (command->step && count)
        return wrapped(now + command->step, count);
    int found = control_find(state, command);
    if (found < 0)
        SAY(state, command->action, "%s: there is no \"%s\"", keys[command->action].word,
            command->argument);
    return found;
}

unsigned control_choose(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    ValueName values[VALUES_MAX];
    unsigned changed = SET(*(int *)((char *)state + row->field), command->place);
    if (command->action == ACTION_CHART && command->place)
        state->all = false; /* a chart has the tables' place */
    row->list(state, values);
    return tell_value(state, row, values[command->place].help) | changed;
}

/* ---- using a control ------------------------------------------------------------------------- */

/* Returns why the control does nothing here; NULL: it has what it needs. A scene that is not loaded
 * yet may have it. */
static const char *lacks(const State *state, Action action) {
    const SceneFacts *scene = &state->scene;
    const bool loaded = scene->nx > 0;
    if ((action >= ACTION_CAMERA && action < ACTION_REPAIR) || action == ACTION_ROUNDING)
        return scene->has_rig && scene->camera_count > 0 ? NULL
               : !loaded                                 ? "this scene is not loaded yet"
               : scene->has_operator ? "this scene is an operator: it has no cameras"
                                     : "this scene came without its cameras";
    if (action >= ACTION_STEPS_AT && action <= ACTION_STEPS_PAIR)
        return state->job.steps ? NULL : "no steps are shown; the word steps shows them";
    if (action >= ACTION_NEXT && action <= ACTION_SKIP)
        return state->lesson.open ? NULL : "no lesson is open; the word lesson opens one";
    if (action == ACTION_TEMPERATURE)
        return scene->has_world ? NULL : "this scene's depth is given, not rendered";
    if (action == ACTION_CHANNELS)
        return scene->has_world ? NULL : "the scene's tensors have their own";
    if (action == ACTION_SKEW)
        return scene->has_operator || !loaded ? NULL : "only operator scenes, as embedding_bag";
    if (action == ACTION_TRUTH)
        return scene->has_truth || !loaded ? NULL : "this scene has neither boxes nor LiDAR";
    if (action == ACTION_LIDAR)
        return scene->has_lidar || !loaded ? NULL : "this scene has no LiDAR";
    if (action == ACTION_FULLSCREEN)
        return state->has_window ? NULL : "no window is open";
    if (action == ACTION_COUNTERS)
        return state_where(state) == BEV_CUDA ? NULL : "only a GPU has them";
    return NULL;
}

unsigned control_use(State *state, const Command *given) {
    const KeyRow *row = &keys[given->action];
    const char *lacking = lacks(state, row->action);
    Command taken = *given, *command = &taken;
    if (lacking)
        return SAY(state, row->action, "%s: %s", row->word, lacking);
    if (row->group == GROUP_CAMERAS && !control_take_camera(state, command))
        return STEP_REDRAW;
    if (row->picks) {
        char now[96];
        command->place = control_pick(state, command, (int)row->value(state, now, sizeof now));
    }
    if (command->place < 0 || (row->argument == ARGUMENT_NUMBER && !take_number(state, command)))
        return STEP_REDRAW;
    return row->handler(state, command);
}

/* ---- changes of the job ---------------------------------------------------------------------- */

unsigned control_changed(State *state) {
    state->job.serial++;
    return STEP_REDRAW | STEP_RUN | STEP_CHANGE;
}

unsigned control_told(State *state, bool values_only) {
    unsigned bits = control_changed(state);
    log_await(&state->log, state->job.serial, &state->shown, values_only);
    return bits;
}

unsigned control_aligns(const State *state) {
    return state->scene.aligns ? state->scene.aligns : (1u << BEV_ALIGN_COUNT) - 1;
}
