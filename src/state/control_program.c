/* SPDX-License-Identifier: MIT */
/* Controls of the groups "Program" and "Lessons". */
#include "src/state/control.h"

#include "src/state/palette.h"

#include <stdarg.h>

const char *const page_names[PAGE_COUNT] = {"both", "dashboard", "bev"};

/* Chooses the page of the terminal. In narrow terminals the page "both" looks like the dashboard,
 * so keys skip "both". A lesson is shown on the page "both", so keys then do not skip the page. */
unsigned control_page(State *state, const Command *command) {
    const bool wide_page_open = state->bits.open || state->job.steps || state->chart != CHART_NONE;
    const int columns_needed = wide_page_open ? PAGE_BOTH_COLUMNS : PAGE_SMALL_COLUMNS;
    const bool too_narrow = state->columns && state->columns < columns_needed;
    const bool skips_both = command->step && too_narrow && !state->lesson.open;
    int page = skips_both && state->page == PAGE_BOTH ? PAGE_BEV : command->place;
    if (skips_both && page == PAGE_BOTH)
        page = PAGE_DASHBOARD;
    state->page = (Page)page;
    return SAY(state, command->action, "page: %s", page_names[page]);
}

unsigned control_fullscreen(State *state, const Command *command) {
    state->fullscreen = control_switched(command, state->fullscreen);
    return SAY(state, command->action, "full screen %s", state->fullscreen ? "on" : "off") |
           STEP_FULLSCREEN;
}

unsigned control_snapshot(State *state, const Command *command) {
    state->snapshots++;
    return SAY(state, command->action, "snapshot %lld of the picture",
               (long long)state->snapshots) |
           STEP_SNAPSHOT;
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

/* Opens or closes the keys or the glossary, as the command says, from the entry `first` on. */
static unsigned switch_help(State *state, const Command *command, int first) {
    const bool is_glossary = command->action == ACTION_GLOSSARY;
    state->help = control_switched(command, state->help && state->glossary == is_glossary);
    state->glossary = is_glossary;
    state->help_first = first;
    return STEP_REDRAW;
}

unsigned control_help(State *state, const Command *command) {
    return switch_help(state, command, 0);
}

/* Returns the glossary row of a word in the log: in the newest line with a known word, or in the
 * help of that line's control. NULL: no line has such a word. */
static const GlossaryRow *last_mentioned(const Log *log) {
    const GlossaryRow *row = NULL;
    for (int i = 0; i < log->count && !row; i++) {
        row = glossary_mentioned(log->lines[i].said);
        if (!row && log->lines[i].action < ACTION_COUNT)
            row = glossary_mentioned(keys[log->lines[i].action].help);
    }
    return row;
}

/* Opens or closes the glossary. An argument is "on", "off", or the word to open it at. */
unsigned control_glossary(State *state, const Command *command) {
    const GlossaryRow *row = command->step ? NULL : glossary_find(command->argument);
    Command switched = *command;
    if (!command->step && !row && !is_switch(command->argument))
        return SAY(state, command->action, "glossary: there is no \"%s\"", command->argument);
    if (row) /* "glossary align" opens the glossary, as "glossary on" does */
        snprintf(switched.argument, sizeof switched.argument, "on");
    else
        row = last_mentioned(&state->log);
    state->glossary_row = row ? (int)(row - glossary) : -1;
    return switch_help(state, &switched, row ? state->glossary_row : 0);
}

unsigned control_scroll(State *state, int steps) {
    if (state->help) {
        state->help_first = (int)clamp(state->help_first + steps, 0, help_entries(state) - 1);
        return STEP_REDRAW;
    }
    state->lesson.scroll += state->lesson.open ? steps : 0;
    return state->lesson.open ? STEP_REDRAW : 0;
}

unsigned control_commands(State *state, const Command *command) {
    const bool closes = command->step ? state->palette.open : !strcmp(command->argument, "off");
    const bool has_text = !command->step && !is_switch(command->argument);
    if (closes)
        palette_close(state);
    else
        palette_open(state, has_text ? command->argument : "");
    return STEP_REDRAW;
}

/* Asks for undo. The App keeps the earlier states. The argument `all` takes back every change. */
unsigned control_undo(State *state, const Command *command) {
    state->undo_wish = command->step ? 1 : 1000; /* more changes than the App keeps */
    return STEP_UNDO;
}

static unsigned switch_off_control(State *state, Action action) {
    return keys[action].handler(state, &(Command){.action = action, .argument = "off"});
}

/* Closes the first that is open: help, page, pinned cell, cursor, lesson, tables. */
unsigned control_escape(State *state, const Command *command) {
    if (SET(state->help, false))
        return STEP_REDRAW;
    const Action page = state->bits.open                ? ACTION_BITS
                        : state->job.steps              ? ACTION_STEPS
                        : state->race == RACE_GRIDS     ? ACTION_RACE
                        : state->race == RACE_STRAGGLER ? ACTION_STRAGGLER
                                                        : ACTION_COUNT;
    if (page < ACTION_COUNT)
        return switch_off_control(state, page);
    if (state->pinned)
        return control_unpin(state, command->action);
    if (SET(state->cursor_shown, false))
        return control_probe(state);
    if (state->lesson.open)
        return switch_off_control(state, ACTION_LESSON);
    return SET(state->all, false) ? STEP_REDRAW : 0;
}

unsigned control_quit(State *state, const Command *command) {
    (void)state, (void)command;
    return STEP_QUIT;
}

/* ---- lessons: the rows they show, and their controls ----------------------------------------- */

#define WORD_OF(id, word) word,
const char *const lesson_panels[PANEL_COUNT] = {LESSON_PANELS(WORD_OF)};

void pane_add(PaneText *pane, PaneKind kind, bool marked, const char *format, ...) {
    va_list args;
    if (pane->count == PANE_ROWS || pane->used + 1 >= PANE_BYTES)
        return;
    pane->rows[pane->count++] =
        (PaneRow){.kind = kind, .marked = marked, .at = (uint16_t)pane->used};
    va_start(args, format);
    vsnprintf(pane->text + pane->used, (size_t)(PANE_BYTES - pane->used), format, args);
    va_end(args);
    pane->used += (int)strlen(pane->text + pane->used) + 1;
}

const char *pane_row(const PaneText *pane, int row) {
    return pane->text + pane->rows[row].at;
}

void pane_append(PaneText *pane, const PaneText *more) {
    for (int i = 0; i < more->count; i++)
        pane_add(pane, more->rows[i].kind, more->rows[i].marked, "%s", pane_row(more, i));
}

/* ---- controls that ask the code of lessons, which is not part of the state, to act ----------- */

static unsigned wish_for_lesson(State *state, Action wish) {
    state->lesson_wish = wish;
    return STEP_LESSON | STEP_REDRAW;
}

/* Opens or closes a lesson, or the page of the workflow, which takes its place. */
unsigned control_lesson(State *state, const Command *command) {
    const char *word = keys[command->action].word;
    const bool closes = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    const bool names_lesson = command->action != ACTION_WORKFLOW && !command->step &&
                              strcmp(command->argument, "next") != 0;
    if (closes && !state->lesson.open)
        return SAY(state, command->action, "%s: none is open", word);
    snprintf(state->lesson_name, sizeof state->lesson_name, "%s",
             names_lesson ? command->argument : "");
    SAY(state, command->action, "%s %s", word,
        closes         ? "closed"
        : names_lesson ? state->lesson_name
                       : "opened");
    return wish_for_lesson(state, closes ? ACTION_ESCAPE : command->action);
}

unsigned control_tour(State *state, const Command *command) {
    SAY(state, command->action, "tour: two minutes, Esc ends it");
    return wish_for_lesson(state, command->action);
}

unsigned control_explain(State *state, const Command *command) {
    state->finding = (int)command->number - 1;
    SAY(state, command->action, "explain finding %d", state->finding + 1);
    return wish_for_lesson(state, command->action);
}

unsigned control_lesson_move(State *state, const Command *command) {
    return wish_for_lesson(state, command->action);
}
