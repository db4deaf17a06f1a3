#include "src/view/panel/spots.h"

#include <math.h>
#include <stdio.h>

void spots_clear(Spots *spots) {
    if (!spots)
        return;
    spots->count = spots->figure_count = 0;
    spots->time.w = 0;
}

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

bool spots_on_time(const Spots *spots, double x, double y) {
    const Box *bar = &spots->time;
    double slack = bar->h > 1 ? 3 : 0; /* in pixels: a thin bar is hard to hit */
    return bar->w > 0 && inside(&(Box){bar->x, bar->y - slack, bar->w, bar->h + 2 * slack}, x, y);
}

/* A command's box before those of the figures in it: a click is about the whole row. */
const Box *spots_box(const Spots *spots, double x, double y) {
    if (spots_on_time(spots, x, y))
        return &spots->time;
    for (int i = 0; i < spots->count; i++)
        if (inside(&spots->list[i].box, x, y))
            return &spots->list[i].box;
    for (int i = spots->figure_count - 1; i >= 0; i--)
        if (inside(&spots->figures[i].box, x, y))
            return spots->figures[i].origin.topic == ORIGIN_PICTURE ? NULL : &spots->figures[i].box;
    return NULL;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    for (int i = 0; i < spots->count; i++)
        if (inside(&spots->list[i].box, x, y))
            return &spots->list[i].command;
    return NULL;
}

const KeyRow *spots_control(const Spots *spots, double x, double y) {
    const Command *command = spots_at(spots, x, y);
    if (!command || command->action != ACTION_COMMANDS)
        return command ? &keys[command->action] : NULL;
    return keys_beginning(command->argument);
}

Command spots_drag_time(const Spots *spots, double x, const State *state) {
    Command command = {.action = ACTION_STEP};
    double part = fmax(0, fmin((x - spots->time.x) / spots->time.w, 1));
    double to_s = spots->from_s + part * (spots->to_s - spots->from_s);
    snprintf(command.argument, sizeof command.argument, "%.3f", to_s - state->job.time_s);
    return command;
}

Command spots_menu(const Spots *spots, double x, double y) {
    const KeyRow *control = spots_control(spots, x, y);
    Command command = {.action = ACTION_COMMANDS};
    snprintf(command.argument, sizeof command.argument, "%s%s", control ? control->word : "on",
             control ? " " : "");
    return command;
}

bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command) {
    const KeyRow *control = spots_control(spots, x, y);
    if (!control || control->group >= GROUP_LESSON || steps == 0)
        return false;
    *command = (Command){.action = control->action, .step = steps > 0 ? -1 : 1};
    return true;
}
