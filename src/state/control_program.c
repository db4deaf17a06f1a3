/* Controls of the group "Program", and the helpers that all handlers share. */
#include "src/state/control.h"
#include "src/state/glossary.h"
#include "src/state/help.h"

#include <string.h>

const char *const page_names[PAGE_COUNT] = {"both", "dashboard", "bev"};

int control_pick(State *state, const Command *command, Menu menu, int now) {
    if (command->step)
        return wrapped(now + command->step, menu.count);
    int found = menu_find(&menu, command->argument);
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

/* On a narrow terminal the page "both" looks like the dashboard: keys skip it, but not in a lesson,
 * which is shown there. */
unsigned control_page(State *state, const Command *command) {
    bool narrow = command->step && state->columns && state->columns < PAGE_BOTH_COLUMNS &&
                  !state->lesson.open;
    Page now = narrow && state->page == PAGE_BOTH ? PAGE_DASHBOARD : state->page;
    int page = control_pick(state, command, (Menu){page_names, PAGE_COUNT}, (int)now);
    if (page < 0)
        return STEP_REDRAW;
    if (narrow && page == PAGE_BOTH)
        page = PAGE_DASHBOARD;
    state->page = (Page)page;
    return SAY(state, command->action, "page: %s", page_names[page]);
}

unsigned control_fullscreen(State *state, const Command *command) {
    if (!state->has_window)
        return SAY(state, command->action, "full screen: no window is open");
    state->fullscreen = control_switched(command, state->fullscreen);
    return SAY(state, command->action, "full screen %s", state->fullscreen ? "on" : "off") |
           STEP_FULLSCREEN;
}

unsigned control_snapshot(State *state, const Command *command) {
    state->snapshots++;
    char name[128];
    state_snapshot_name(state, name, sizeof name);
    return SAY(state, command->action, "snapshot %s", name) | STEP_SNAPSHOT;
}

unsigned control_record(State *state, const Command *command) {
    bool on = control_switched(command, state->recording);
    if (on == state->recording)
        return 0;
    state->recording = on;
    if (on)
        state->recorded_frames = 0;
    return SAY(state, command->action,
               on ? "recording every frame" : "recording ended after %lld frames",
               (long long)state->recorded_frames) |
           STEP_RECORD;
}

/* One of the two parts of the help: its own key opens it at page `first`, turns its pages, the first
 * after the last one, and closes it when it is back where it began; the key of the other part
 * changes over to that. */
static unsigned show_help(State *state, const Command *command, bool of_words, int pages,
                          int first) {
    bool shown = state->help && state->glossary == of_words;
    int next = (state->help_page + 1) % pages;
    bool turns = command->step && shown && next != first;
    state->help_page = turns ? next : first;
    state->help = control_switched(command, shown) || turns;
    state->glossary = of_words;
    return STEP_REDRAW;
}

unsigned control_help(State *state, const Command *command) {
    return show_help(state, command, false, help_layout(state->columns, state->rows).pages, 0);
}

/* What the newest line that has a word of the glossary says; else what its control is about. */
static const GlossaryRow *last_mentioned(const Log *log) {
    const GlossaryRow *row = NULL;
    for (int i = 0; i < log->count && !row; i++) {
        row = glossary_mentioned(log->lines[i].said);
        if (!row && log->lines[i].action < ACTION_COUNT)
            row = glossary_mentioned(keys[log->lines[i].action].help);
    }
    return row;
}

unsigned control_glossary(State *state, const Command *command) {
    HelpLayout layout = help_glossary(state->columns, state->rows);
    if (!state->help || !state->glossary) {
        const GlossaryRow *row = last_mentioned(&state->log);
        int height;
        state->glossary_row = row ? (int)(row - glossary) : -1;
        state->glossary_first =
            row ? help_glossary_place(&layout, state->columns, state->glossary_row, &height).page
                : 0;
    }
    return show_help(state, command, true, layout.pages, state->glossary_first % layout.pages);
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
