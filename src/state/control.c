/* SPDX-License-Identifier: MIT */
/* Helpers of all controls' handlers: numbers, switches, lists, and changes of the job. */
#include "src/state/control.h"

#include <string.h>
#include <strings.h>

/* ---- numbers --------------------------------------------------------------------------------- */

double control_moved(const Command *command, double now) {
    const KeyRow *row = &keys[command->action];
    if (!command->step)
        return strtod(command->argument, NULL);
    return row->scaled ? now * pow(row->step, command->step) : now + command->step * row->step;
}

bool control_number(State *state, const Command *command, double now, double *next) {
    const KeyRow *row = &keys[command->action];
    char value[64];
    *next = control_moved(command, now);
    if (command->step)
        *next = clamp(*next, row->lo, row->hi);
    if (*next >= row->lo && *next <= row->hi)
        return true;
    state_value(state, command->action, value, sizeof value);
    SAY(state, command->action, "%s: %s is not from %g to %g%s%s", row->word, command->argument,
        row->lo, row->hi, value[0] ? ": still " : "", value);
    return false;
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
    int *field = (int *)((char *)state + row->field), place = control_pick(state, command, *field);
    if (place < 0)
        return STEP_REDRAW;
    unsigned changed = SET(*field, place);
    row->list(state, values);
    return SAY(state, command->action, "%s %s%s%s", row->says[0], values[place].name,
               values[place].help ? ": " : "", values[place].help ? values[place].help : "") |
           row->asks | changed;
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
