/* SPDX-License-Identifier: MIT */
/* Controls of the groups "Program" and "Lessons". */
#include "src/state/control.h"

#include "src/state/palette.h"

#include <stdarg.h>

const char *const page_names[PAGE_COUNT] = {"both", "dashboard", "bev"};

/* Chooses the page of the terminal. Where the page "both" looks like the dashboard, keys skip it.
 * In a lesson they do not, because the lesson is shown there. */
unsigned control_page(State *state, const Command *command) {
    bool wide = state->bits.open || state->job.steps || state->chart != CHART_NONE;
    int least = wide ? PAGE_BOTH_COLUMNS : PAGE_SMALL_COLUMNS;
    bool narrow = command->step && state->columns && state->columns < least && !state->lesson.open;
    int page = narrow && state->page == PAGE_BOTH ? PAGE_BEV : command->place;
    if (narrow && page == PAGE_BOTH)
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

/* Shows the keys or the glossary, the two parts of the help, from the entry `first` on. */
static unsigned show_help(State *state, const Command *command, bool of_words, int first) {
    state->help = control_switched(command, state->help && state->glossary == of_words);
    state->glossary = of_words;
    state->help_first = first;
    return STEP_REDRAW;
}

unsigned control_help(State *state, const Command *command) {
    return show_help(state, command, false, 0);
}

/* Returns the glossary row of a word that the log mentions: in the newest line with a known word,
 * or in the help of that line's control. NULL: none. */
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
unsigned control_glossary(State *state, const Command *from) {
    const GlossaryRow *row = from->step ? NULL : glossary_find(from->argument);
    Command taken = *from;
    if (!from->step && !row && !is_switch(from->argument))
        return SAY(state, from->action, "glossary: there is no \"%s\"", from->argument);
    if (row)
        snprintf(taken.argument, sizeof taken.argument, "on");
    row = row ? row : last_mentioned(&state->log);
    state->glossary_row = row ? (int)(row - glossary) : -1;
    return show_help(state, &taken, true, row ? state->glossary_row : 0);
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
    bool off = command->step ? state->palette.open : !strcmp(command->argument, "off");
    bool on = command->step || !strcmp(command->argument, "on");
    if (off)
        palette_close(state);
    else
        palette_open(state, on ? "" : command->argument);
    return STEP_REDRAW;
}

/* Asks for undo. The App keeps the earlier states. The argument `all` takes back every change. */
unsigned control_undo(State *state, const Command *command) {
    state->undo_wish = command->step ? 1 : 1000;
    return STEP_UNDO;
}

static unsigned switch_off_control(State *state, Action action) {
    return keys[action].handler(state, &(Command){.action = action, .argument = "off"});
}

unsigned control_escape(State *state, const Command *command) {
    if (state->help) {
        state->help = false;
        return STEP_REDRAW;
    }
    const Action page = state->bits.open                ? ACTION_BITS
                        : state->job.steps              ? ACTION_STEPS
                        : state->race == RACE_GRIDS     ? ACTION_RACE
                        : state->race == RACE_STRAGGLER ? ACTION_STRAGGLER
                                                        : ACTION_COUNT;
    if (page < ACTION_COUNT)
        return switch_off_control(state, page);
    if (state->pinned)
        return control_unpin(state, command->action);
    if (state->cursor_shown) {
        state->cursor_shown = false;
        return control_probe(state);
    }
    if (state->lesson.open)
        return switch_off_control(state, ACTION_LESSON);
    const bool all = state->all;
    state->all = false;
    return all ? STEP_REDRAW : 0;
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

/* ---- controls: the code of lessons, above the state, carries out a wish ---------------------- */

static unsigned wish_for_lesson(State *state, Action wish) {
    state->lesson_wish = wish;
    return STEP_LESSON | STEP_REDRAW;
}

/* Opens or closes a lesson, or the page of the workflow, which takes its place. */
unsigned control_lesson(State *state, const Command *command) {
    const char *word = keys[command->action].word;
    bool workflow = command->action == ACTION_WORKFLOW;
    bool off = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    bool named = !workflow && !command->step && strcmp(command->argument, "next");
    if (off && !state->lesson.open)
        return SAY(state, command->action, "%s: none is open", word);
    snprintf(state->lesson_name, sizeof state->lesson_name, "%s", named ? command->argument : "");
    SAY(state, command->action, "%s %s", word,
        off     ? "closed"
        : named ? state->lesson_name
                : "opened");
    return wish_for_lesson(state, off ? ACTION_ESCAPE : command->action);
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
