/* Undo: a copy of the State from before each change that the user made. Several moves of a control
 * that is held down are one change. */
#include "src/app/app.h"

#include <stdlib.h>
#include <string.h>

void undo_push(Undo *undo, const State *before, Action action) {
    bool again = undo->count && keys[action].held && undo->last == action;
    undo->last = action;
    State *kept = again ? NULL : malloc(sizeof *kept);
    if (!kept)
        return;
    *kept = *before;
    if (undo->count == UNDO_STEPS) {
        free(undo->states[0]);
        memmove(undo->states, undo->states + 1, (UNDO_STEPS - 1) * sizeof *undo->states);
        undo->count--;
    }
    undo->states[undo->count++] = kept;
}

/* The first control whose value differs: "dtype FP16". */
static void first_change(const State *before, const State *after, char *text, size_t size) {
    char was[64], now[64];
    snprintf(text, size, "the picture");
    for (int i = 0; i < ACTION_COUNT; i++) {
        state_value(before, (Action)i, was, sizeof was);
        state_value(after, (Action)i, now, sizeof now);
        if (keys[i].group < GROUP_LESSON && strcmp(was, now) != 0) {
            snprintf(text, size, "%s %s", keys[i].word, now);
            return;
        }
    }
}

void app_undo(App *app, int steps) {
    Undo *undo = &app->undo;
    char change[96], line[160];
    if (!undo->count) {
        app_note(app, "nothing to undo");
        return;
    }
    int to = undo->count > steps ? undo->count - steps : 0;
    State now = app->state;
    state_restore(&app->state, undo->states[to]);
    while (undo->count > to)
        free(undo->states[--undo->count]);
    undo->last = ACTION_COUNT;
    first_change(&now, &app->state, change, sizeof change);
    snprintf(line, sizeof line, "undo: %s again%s", change,
             undo->count ? "" : "; that was the first change");
    app_note(app, line);
    app_request(app);
}

void undo_free(Undo *undo) {
    while (undo->count)
        free(undo->states[--undo->count]);
}
