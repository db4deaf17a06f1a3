#include "src/view/panel/spots.h"

#include <stdio.h>

void spots_add(Spots *spots, Box box, Action action, int step, const char *argument) {
    if (!spots || spots->count == SPOTS_MAX)
        return;
    Command *command = &spots->list[spots->count].command;
    *command = (Command){.action = action, .step = step};
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    spots->list[spots->count++].box = box;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    for (int i = 0; i < spots->count; i++) {
        const Box *box = &spots->list[i].box;
        if (x >= box->x && x < box->x + box->w && y >= box->y && y < box->y + box->h)
            return &spots->list[i].command;
    }
    return NULL;
}
