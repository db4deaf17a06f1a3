/* SPDX-License-Identifier: MIT */
#include "src/ui/script.h"

#include "src/base/data.h"
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
    printf("%*s", indent, "");
    text_wrap(line, strlen(line), indent, indent, TEXT_WIDTH, stdout);
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

/* Whether a row keeps its line breaks, as code and drawings do. */
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

/* Prints the newest line of the log, without its figures, if it is not the line `said`; the lesson
 * prints the figures that matter. Keeps the line in `said`. */
static void print_log(const Log *log, char said[LOG_LENGTH]) {
    const char *text = !log->count             ? ""
                       : log->lines[0].said[0] ? log->lines[0].said
                                               : log->lines[0].text;
    if (strcmp(text, said) != 0)
        print_wrapped(text, 0);
    snprintf(said, LOG_LENGTH, "%s", text);
}

/* Uses a line of a learner: an answer, a word, or an empty line to go on. */
static bool use_plain_line(Script *script, char *line, Err *err) {
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line) {
        const LessonInput next = {.kind = INPUT_ENTER};
        return script_lesson_input(script, &next, err);
    }
    bool number = isdigit((unsigned char)*line) || *line == '-' || *line == '.';
    return number ? script_answer(script, line, err) : script_use_line(script, line, err);
}

/* Ends running animations at once, because text has no pictures. */
static bool end_animations(Script *script, Err *err) {
    bool ok = true;
    while (ok && script->app.desk.open &&
           lesson_run_wants(&script->app.desk.run) == LESSON_WANTS_PAUSE)
        ok = script_lesson_tick(script, err);
    return ok;
}

/* Prints the lesson and reads the learner's lines, until the lesson ends. */
static bool run_plain_lesson(Script *script, Err *err) {
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
    static Script script; /* large */
    ScriptOptions plain = *options;
    plain.file = "standard input";
    plain.frames = ".";
    bool ok = script_open(&script, &plain, err) && run_plain_lesson(&script, err);
    script_close(&script);
    return ok;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

typedef struct {
    Script *script;
    FILE *out;
    char stem[256]; /* of the pictures' names */
    int pictures;
    char drawn[64]; /* what the last picture shows: job, chart, view and comparison */
} Export;

/* Writes text for Markdown. Signs that Markdown would read as marks get a backslash. */
static void put_text(FILE *out, const char *ascii) {
    char micro[PANE_BYTES];
    text_micro(ascii, micro, sizeof micro);
    for (const char *text = micro; *text; text++)
        fprintf(out, strchr("*_`<>|#", *text) ? "\\%c" : "%c", *text);
}

/* Writes a row of a page as Markdown. */
static void put_row(FILE *out, const PaneText *body, int row) {
    PaneKind kind = body->rows[row].kind;
    const char *bold = kind == PANE_QUESTION ? "**" : "";
    const char *text = pane_row(body, row);
    bool code = is_block(kind);
    bool first = code && body->rows[row - 1].kind != kind;
    bool last = code && (row + 1 == body->count || body->rows[row + 1].kind != kind);
    if (kind == PANE_CHOICE)
        fprintf(out, "%d. ", atoi(text));
    if (first)
        fputs(kind == PANE_CODE ? "```c\n" : "```\n", out);
    fputs(kind == PANE_TERM ? "> " : bold, out);
    if (code)
        fputs(text, out);
    else
        put_text(out, kind == PANE_CHOICE ? text + 3 : text);
    fprintf(out, "%s\n", bold);
    if (last)
        fputs("```\n", out);
    if (!code || last)
        fputs(kind == PANE_CHOICE ? "" : "\n", out);
}

/* Whether the row is left out of Markdown: it belongs to the screen or to a learner's answer. */
static bool is_of_screen(PaneKind kind) {
    return kind == PANE_KEYS || kind == PANE_INPUT || kind == PANE_NOTE || kind == PANE_RIGHT ||
           kind == PANE_WRONG || kind == PANE_HINT;
}

static void put_rows(FILE *out, const PaneText *body) {
    for (int i = 0; i < body->count; i++) {
        if (!is_of_screen(body->rows[i].kind))
            put_row(out, body, i);
        if (body->rows[i].kind == PANE_CHOICE &&
            (i + 1 == body->count || body->rows[i + 1].kind != PANE_CHOICE))
            fputs("\n", out);
    }
}

/* Writes the window's picture without the lesson, where the picture has changed. */
static bool put_picture(Export *export, Err *err) {
    Script *script = export->script;
    const State *state = &script->app.state;
    char name[300], drawn[sizeof export->drawn];
    Image image = {0};
    snprintf(drawn, sizeof drawn, "%llu %d %d %d", (unsigned long long)state->job.serial,
             (int)state->chart, state->view, (int)state->compare);
    if (!strcmp(drawn, export->drawn))
        return true;
    memcpy(export->drawn, drawn, sizeof drawn);
    snprintf(name, sizeof name, "%s-%02d.png", export->stem, ++export->pictures);
    LessonPane pane = script->app.state.lesson;
    script->app.state.lesson.open = false;
    bool ok = window_image(1280, 860, 1, state, app_live(&script->app), app_picture(&script->app),
                           &image, err) &&
              script_write_image(script, name, &image, err);
    script->app.state.lesson = pane;
    image_free(&image);
    fprintf(export->out, "![%s](%s)\n\n", "what the display shows", name);
    return ok;
}

/* Gives some valid answer. Markdown shows the right answer whatever was given. */
static bool answer_somehow(Script *script, Err *err) {
    const LessonQuestion *question = lesson_run_question(&script->app.desk.run);
    char answer[32] = "1";
    if (question->asks == ASKS_NUMBER)
        snprintf(answer, sizeof answer, "%.6g", question->lo);
    for (int i = 1; question->asks == ASKS_ORDER && i < question->choice_count; i++)
        text_add(answer, sizeof answer, " %d", i + 1);
    return script_answer(script, answer, err);
}

static bool put_answer(Export *export, Err *err) {
    Script *script = export->script;
    fputs("<details><summary>The answer</summary>\n\n", export->out);
    if (!answer_somehow(script, err) || !put_picture(export, err))
        return false;
    const LessonRun *run = &script->app.desk.run;
    put_text(export->out, run->solution);
    fputs("\n\n", export->out);
    put_rows(export->out, &run->reveal);
    fputs("</details>\n\n", export->out);
    return true;
}

static bool put_page(Export *export, Err *err) {
    Script *script = export->script;
    const LessonPane *pane = &script->app.state.lesson;
    bool looks = pane->asks == ASKS_NOTHING || pane->point == PANEL_BEV;
    if (looks && !put_picture(export, err))
        return false;
    put_rows(export->out, &pane->body);
    const LessonInput go = {.kind = INPUT_SKIP};
    return (pane->asks == ASKS_NOTHING || put_answer(export, err)) &&
           script_lesson_input(script, &go, err) && end_animations(script, err);
}

static bool put_lesson(Export *export, Err *err) {
    Script *script = export->script;
    const Lesson *lesson = &script->app.desk.lesson;
    fprintf(export->out,
            "# %s\n\n%d minutes. Written by `bevscope learn %s --export`; figures are "
            "of formulas, recordings and the model, as they say.\n\n",
            lesson->title, lesson->minutes, lesson->name);
    if (!end_animations(script, err))
        return false;
    while (!script->app.state.lesson.ended)
        if (!put_page(export, err))
            return false;
    return true;
}

/* Splits a path into its folder and the file's name without suffix, export->stem. */
static bool split_path(const char *path, char *folder, size_t size, Export *export, Err *err) {
    const char *slash = strrchr(path, '/');
    int n = snprintf(folder, size, "%.*s", slash ? (int)(slash - path + !(slash - path)) : 1,
                     slash ? path : ".");
    data_stem(path, export->stem, sizeof export->stem);
    return (export->stem[0] && n < (int)size) ||
           err_set(err, ERR_USAGE, path, "for example: lesson.md", "is no name of a file");
}

bool lesson_export(const ScriptOptions *options, const char *path, Err *err) {
    static Script script; /* large */
    char folder[4096];
    MemoryStream text;
    if (!memory_stream_open(&text, err))
        return false;
    Export export = {.script = &script, .out = text.stream};
    ScriptOptions own = *options;
    own.file = "lesson";
    own.frames = folder;
    bool ok = split_path(path, folder, sizeof folder, &export, err) &&
              script_open(&script, &own, err) && put_lesson(&export, err);
    ok = memory_stream_close(&text, path, ok ? err : NULL) && ok &&
         data_write(path, text.bytes, text.length, err);
    free(text.bytes);
    script_close(&script);
    return ok;
}
