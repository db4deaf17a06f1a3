/* Controls of the program itself. */
#include "src/state/control.h"
#include "src/state/help.h"

#include <string.h>

/* Where both have no room they look like the dashboard: no step leads from one to the other. */
unsigned control_page(State *state, const Command *command) {
    const Menu pages = {page_names, PAGE_COUNT};
    bool narrow = command->step && state->columns && state->columns < PAGE_BOTH_COLUMNS;
    Page now = narrow && state->page == PAGE_BOTH ? PAGE_DASHBOARD : state->page;
    int page = control_pick(state, command, &pages, (int)now);
    if (page < 0)
        return STEP_REDRAW;
    if (narrow && page == PAGE_BOTH)
        page = PAGE_DASHBOARD;
    state->page = (Page)page;
    SAY(state, command->action, "page: %s", page_names[page]);
    return STEP_REDRAW;
}

unsigned control_fullscreen(State *state, const Command *command) {
    if (!state->has_window) {
        SAY(state, command->action, "full screen: no window is open");
        return STEP_REDRAW;
    }
    state->fullscreen = control_switched(command, state->fullscreen);
    SAY(state, command->action, "full screen %s", state->fullscreen ? "on" : "off");
    return STEP_REDRAW | STEP_FULLSCREEN;
}

unsigned control_snapshot(State *state, const Command *command) {
    state->snapshots++;
    char name[128];
    state_snapshot_name(state, name, sizeof name);
    SAY(state, command->action, "snapshot %s", name);
    return STEP_REDRAW | STEP_SNAPSHOT;
}

unsigned control_record(State *state, const Command *command) {
    bool on = control_switched(command, state->recording);
    if (on == state->recording)
        return 0;
    state->recording = on;
    if (on)
        state->recorded_frames = 0;
    SAY(state, command->action, on ? "recording every frame" : "recording ended after %lld frames",
        (long long)state->recorded_frames);
    return STEP_REDRAW | STEP_RECORD;
}

/* One of the two parts of the help: its own key opens it, turns its pages and closes it after the
 * last one; the key of the other part changes over to that. */
static unsigned show_help(State *state, const Command *command, bool glossary, int pages) {
    bool shown = state->help && state->glossary == glossary;
    bool turns = command->step && shown && state->help_page + 1 < pages;
    state->help_page = turns ? state->help_page + 1 : 0;
    state->help = control_switched(command, shown) || turns;
    state->glossary = glossary;
    return STEP_REDRAW;
}

unsigned control_help(State *state, const Command *command) {
    return show_help(state, command, false, help_layout(state->columns, state->rows).pages);
}

unsigned control_glossary(State *state, const Command *command) {
    return show_help(state, command, true, help_glossary(state->columns, state->rows).pages);
}

unsigned control_escape(State *state, const Command *command) {
    if (state->help) {
        state->help = false;
        return STEP_REDRAW;
    }
    if (state->pinned)
        return control_unpin(state, command->action);
    return control_hide_cursor(state);
}

unsigned control_quit(State *state, const Command *command) {
    (void)state, (void)command;
    return STEP_QUIT;
}
