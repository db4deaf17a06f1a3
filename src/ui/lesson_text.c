/* SPDX-License-Identifier: MIT */
#include "src/ui/lesson_text.h"

#include "src/state/glossary.h"
#include "src/ui/script_internal.h"
#include "src/view/term/dashboard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_WIDTH = PANEL_TEXT_WIDTH };

/* ---- plain text ------------------------------------------------------------------------------ */

static void print_wrapped(const char *ascii, int indent) {
    char line[PANE_BYTES];
    text_for_locale(ascii, line, sizeof line);
    const char *text = line;
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = glossary_line(text, TEXT_WIDTH - indent);
        printf("%*s%.*s\n", indent, "", (int)length, text);
    }
}

static void print_title(const LessonPane *pane) {
    printf("\n-- %s", pane->title);
    if (pane->steps)
        printf(", %d of %d", pane->step, pane->steps);
    if (pane->asked)
        printf(", %d of %d right", pane->right, pane->asked);
    puts("");
}

/* Prints the mistake in an answer. Returns false where there is none. */
static bool print_note(const PaneText *body) {
    bool any = false;
    for (int i = 0; i < body->count; i++)
        if (body->rows[i].kind == PANE_NOTE) {
            print_wrapped(pane_row(body, i), 0);
            any = true;
        }
    return any;
}

/* Whether lines of this kind stay as they are. */
static bool is_block(PaneKind kind) {
    return kind == PANE_CODE || kind == PANE_DRAWING;
}

/* Prints a page without its rows of keys: plain lessons take words instead. */
static void print_pane(const LessonPane *pane) {
    const PaneText *body = &pane->body;
    PaneKind before = PANE_KEYS;
    for (int i = 0; i < body->count; i++) {
        PaneKind kind = body->rows[i].kind;
        bool inside = kind == PANE_CHOICE || is_block(kind) || kind == PANE_INPUT;
        if (kind == PANE_KEYS)
            continue;
        if (kind != before || kind == PANE_TEXT)
            puts("");
        if (body->rows[i].marked)
            printf("> ");
        if (is_block(kind)) {
            printf("  ");
            text_put(pane_row(body, i), stdout);
            puts("");
        } else
            print_wrapped(pane_row(body, i), inside && !body->rows[i].marked ? 2 : 0);
        before = kind;
    }
}

void lesson_text_print(const LessonPane *pane) {
    print_title(pane);
    print_pane(pane);
}

/* Prints the panel that the lesson points at, where its text has changed. `shown` keeps the last
 * text; the caller calls free(*shown). */
static void print_panel(Script *script, char **shown) {
    const State *state = &script->app.state;
    if (state->lesson.point == PANEL_STEPS && !state->job.steps)
        return; /* switched off since it was pointed at */
    char *text = dashboard_panel_text(state->lesson.point, state, app_live(&script->app),
                                      app_picture(&script->app));
    bool same = text && *shown && !strcmp(text, *shown);
    if (!text || same) {
        free(text);
        return;
    }
    free(*shown);
    *shown = text;
    printf("\n%s", text);
}

/* Prints new lines of the log without their figures. A lesson prints the figures that matter. */
static void print_log(const Log *log, char said[LOG_LENGTH]) {
    const char *text = !log->count             ? ""
                       : log->lines[0].said[0] ? log->lines[0].said
                                               : log->lines[0].text;
    if (strcmp(text, said) != 0)
        print_wrapped(text, 0);
    snprintf(said, LOG_LENGTH, "%s", text);
}

static bool is_answer(const char *line) {
    return isdigit((unsigned char)*line) || *line == '-' || *line == '.';
}

static bool use_plain_line(Script *script, char *line, Err *err) {
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line) {
        const LessonInput next = {.kind = INPUT_ENTER};
        return script_lesson_input(script, &next, err);
    }
    return is_answer(line) ? script_answer(script, line, err) : script_use_line(script, line, err);
}

/* Ends running animations at once, because text has no pictures. */
static bool end_animations(Script *script, Err *err) {
    bool ok = true;
    while (ok && script->app.desk.open &&
           lesson_run_wants(&script->app.desk.run) == LESSON_WANTS_PAUSE)
        ok = script_lesson_tick(script, err);
    return ok;
}

static bool take_plain(Script *script, Err *err) {
    char line[256], told[600], said[LOG_LENGTH] = "", *shown = NULL;
    puts("Answer with a number (an order: 2 1 3); Enter goes on; back, skip, quit are words.");
    if (!end_animations(script, err))
        return false;
    for (;;) {
        print_log(&script->app.state.log, said);
        const LessonPane *pane = &script->app.state.lesson;
        if (script->app.desk.open && !(pane->asks != ASKS_NOTHING && print_note(&pane->body))) {
            print_title(&script->app.state.lesson);
            print_panel(script, &shown);
            print_pane(&script->app.state.lesson);
        }
        fputs("> ", stdout);
        fflush(stdout);
        if (!script->app.desk.open || script->quit || script->app.state.lesson.ended ||
            !fgets(line, sizeof line, stdin))
            break;
        Err slip;
        script->line++;
        if (!use_plain_line(script, line, &slip) || !end_animations(script, &slip)) {
            err_line(&slip, told, sizeof told); /* a slip of the learner ends nothing */
            puts(told);
        }
    }
    free(shown);
    puts("");
    return fflush(stdout) == 0 ||
           err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
}

bool lesson_plain(const ScriptOptions *options, Err *err) {
    Script *script = calloc(1, sizeof *script);
    if (!script)
        return err_set(err, ERR_FAILED, "lesson", "", "out of memory");
    ScriptOptions plain = *options;
    plain.file = "standard input";
    plain.frames = ".";
    bool ok = script_open(script, &plain, err) && take_plain(script, err);
    script_close(script);
    free(script);
    return ok;
}
