#include "src/view/panel/spots.h"

#include <stdio.h>
#include <string.h>

void spots_add(Spots *spots, Box box, Action action, int step, const char *argument) {
    if (!spots || spots->count == SPOTS_MAX)
        return;
    Command *command = &spots->list[spots->count].command;
    *command = (Command){.action = action, .step = step};
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    spots->list[spots->count++].box = box;
}

static bool inside(const Box *box, double x, double y) {
    return x >= box->x && x < box->x + box->w && y >= box->y && y < box->y + box->h;
}

void spots_add_figure(Spots *spots, Box box, const Origin *origin) {
    if (!spots || spots->figure_count == FIGURES_MAX)
        return;
    spots->figures[spots->figure_count].box = box;
    spots->figures[spots->figure_count++].origin = *origin;
}

/* Of several figures the one drawn last, which is the smallest. */
const Origin *spots_figure(const Spots *spots, double x, double y) {
    for (int i = spots->figure_count - 1; i >= 0; i--)
        if (inside(&spots->figures[i].box, x, y))
            return &spots->figures[i].origin;
    return NULL;
}

bool spots_answer(const Spots *spots, double x, double y, const State *state, const LiveData *live,
                  char text[ORIGIN_TEXT_MAX]) {
    const Origin *origin = spots_figure(spots, x, y);
    if (origin)
        origin_text(state, live, origin, text);
    return origin != NULL;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    for (int i = 0; i < spots->count; i++)
        if (inside(&spots->list[i].box, x, y))
            return &spots->list[i].command;
    return NULL;
}

/* The control of a spot. A chip opens the palette with the control's word. */
static const KeyRow *control_at(const Spots *spots, double x, double y) {
    const Command *command = spots_at(spots, x, y);
    if (!command || command->action != ACTION_COMMANDS)
        return command ? &keys[command->action] : NULL;
    for (int i = 0; i < ACTION_COUNT; i++) {
        size_t length = strlen(keys[i].word);
        if (!strncmp(command->argument, keys[i].word, length) && command->argument[length] == ' ')
            return &keys[i];
    }
    return NULL;
}

Command spots_menu(const Spots *spots, double x, double y) {
    const KeyRow *control = control_at(spots, x, y);
    Command command = {.action = ACTION_COMMANDS};
    snprintf(command.argument, sizeof command.argument, "%s%s", control ? control->word : "on",
             control ? " " : "");
    return command;
}

bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command) {
    const KeyRow *control = control_at(spots, x, y);
    if (!control || control->group >= GROUP_LESSON || steps == 0)
        return false;
    *command = (Command){.action = control->action, .step = steps > 0 ? -1 : 1};
    return true;
}
