#include "src/state/control.h"

#include <string.h>

int control_pick(State *state, const Command *command, const Menu *menu, int now) {
    if (command->step)
        return wrapped(now + command->step, menu->count);
    int found = menu_find(menu, command->argument);
    if (found < 0)
        SAY(state, command->action, "%s: there is no \"%s\"", keys[command->action].word,
            command->argument);
    return found;
}

double control_moved(const Command *command, double now, double step) {
    return command->step ? now + command->step * step : strtod(command->argument, NULL);
}

double control_scaled(const Command *command, double now, double factor) {
    if (!command->step)
        return strtod(command->argument, NULL);
    return command->step > 0 ? now * factor : now / factor;
}

bool control_switched(const Command *command, bool now) {
    return command->step ? !now : !strcmp(command->argument, "on");
}

unsigned control_changed(State *state) {
    state->job.serial++;
    return STEP_REDRAW | STEP_RUN;
}

unsigned control_changed_and_told(State *state) {
    unsigned bits = control_changed(state);
    log_await(&state->log, state->job.serial, &state->shown);
    return bits;
}

unsigned control_aligns(const State *state) {
    return state->scene.aligns ? state->scene.aligns : (1u << BEV_ALIGN_COUNT) - 1;
}
