/* SPDX-License-Identifier: MIT */
/* Controls of the group "Lessons". The code of lessons lies above the state. A control therefore
 * notes a wish, and STEP_LESSON reports it. */
#include "src/cachesim/findings.h"
#include "src/state/control.h"

#include <stdio.h>
#include <string.h>

static unsigned wish_for_lesson(State *state, LessonWish what) {
    state->lesson_wish = what;
    return STEP_LESSON | STEP_REDRAW;
}

unsigned control_lesson(State *state, const Command *command) {
    bool off = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    if (off && !state->lesson.open)
        return SAY(state, command->action, "lesson: none is open");
    bool next = command->step || !strcmp(command->argument, "next");
    snprintf(state->lesson_name, sizeof state->lesson_name, "%s", next ? "" : command->argument);
    SAY(state, command->action, "lesson %s",
        off                       ? "closed"
        : state->lesson_name[0] ? state->lesson_name
                                  : "opened");
    return wish_for_lesson(state, off ? WISH_CLOSE : WISH_OPEN);
}

unsigned control_tour(State *state, const Command *command) {
    SAY(state, command->action, "tour: two minutes, Esc ends it");
    return wish_for_lesson(state, WISH_TOUR);
}

unsigned control_explain(State *state, const Command *command) {
    state->finding = (int)command->number - 1;
    SAY(state, command->action, "explain finding %d", state->finding + 1);
    return wish_for_lesson(state, WISH_EXPLAIN);
}

/* Opens or closes the page of the workflow, which takes the place of a lesson. */
unsigned control_workflow(State *state, const Command *command) {
    bool off = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    if (off && !state->lesson.open)
        return SAY(state, command->action, "workflow: it is not open");
    SAY(state, command->action, "workflow %s", off ? "closed" : "opened");
    return wish_for_lesson(state, off ? WISH_CLOSE : WISH_WORKFLOW);
}

unsigned control_lesson_move(State *state, const Command *command) {
    return wish_for_lesson(state, command->action == ACTION_NEXT   ? WISH_NEXT
                                  : command->action == ACTION_BACK ? WISH_BACK
                                                                   : WISH_SKIP);
}
