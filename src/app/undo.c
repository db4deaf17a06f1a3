/* Undo: a copy of the State from before each change that the user made. Several moves of a control
 * that is held down are one change. */
#include "src/app/app.h"

#include <stdlib.h>
#include <string.h>

/* Forgets one of the states. */
static void drop(Undo *undo, int at) {
    if (undo->lesson == undo->states[at])
        undo->lesson = NULL;
    free(undo->states[at]);
    undo->count--;
    size_t behind = (size_t)(undo->count - at);
    memmove(undo->states + at, undo->states + at + 1, behind * sizeof *undo->states);
    memmove(undo->changes + at, undo->changes + at + 1, behind * sizeof *undo->changes);
}

State *undo_push(Undo *undo, const State *before, Action action) {
    bool again = undo->count && keys[action].held && undo->last == action;
    undo->last = action;
    State *kept = again ? NULL : malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *before;
    if (undo->count == UNDO_STEPS)
        drop(undo, undo->states[0] == undo->lesson); /* the oldest, but not that of the lesson */
    undo->changes[undo->count] = action;
    undo->states[undo->count++] = kept;
    return kept;
}

int undo_lesson_steps(const Undo *undo) {
    int at = 0;
    while (at < undo->count && undo->states[at] != undo->lesson)
        at++;
    return undo->count - at;
}

void app_undo(App *app, int steps) {
    Undo *undo = &app->undo;
    char value[64], line[160];
    Err err;
    if (!undo->count) {
        app_note(app, "nothing to undo");
        return;
    }
    int to = undo->count > steps ? undo->count - steps : 0;
    if (undo->lesson && undo->count - to >= undo_lesson_steps(undo) && !app_close_lesson(app, &err))
        app_note_error(app, &err);
    Action action = undo->changes[to];
    state_restore(&app->state, undo->states[to]);
    while (undo->count > to)
        drop(undo, undo->count - 1);
    undo->last = ACTION_COUNT;
    state_value(&app->state, action, value, sizeof value);
    snprintf(line, sizeof line, "undo: %s%s%s again%s",
             value[0] ? keys[action].word : "the picture", value[0] ? " " : "", value,
             undo->count ? "" : "; that was the first change");
    app_note(app, line);
    app_request(app);
}

void undo_free(Undo *undo) {
    while (undo->count)
        drop(undo, undo->count - 1);
}
