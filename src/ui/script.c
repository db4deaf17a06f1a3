/* SPDX-License-Identifier: MIT */
#include "src/ui/script.h"

#include "src/base/progress.h"
#include "src/view/term/dashboard.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_SCRIPT_BYTES = 1 << 20 };

/* Writes the path of a file in the folder of the frames. */
static bool path_of(const Script *script, const char *name, char path[4096], Err *err) {
    return snprintf(path, 4096, "%s/%s", script->options->frames, name) < 4096 ||
           err_set(err, ERR_USAGE, script->options->frames, "", "is too long a path");
}

/* Writes an image, if it was made, and frees it. */
static bool write_image(const Script *script, const char *name, bool made, Image *image, Err *err) {
    char path[4096];
    bool ok = made && path_of(script, name, path, err) && image_write(image, path, false, err);
    image_free(image);
    return ok;
}

/* Writes what a window shows of the state. */
static bool write_window(const Script *script, const char *name, const State *state, Err *err) {
    Image image = {0};
    bool made = window_image(SNAPSHOT_W, SNAPSHOT_H, state_text_scale(state), state,
                             app_live(&script->app), app_picture(&script->app), &image, err);
    return write_image(script, name, made, &image, err);
}

static bool write_frame(Script *script, Err *err) {
    const App *app = &script->app;
    char name[32], path[4096];
    Image image = {0};
    script->cells.light = app->state.light;
    dashboard_draw(&script->cells, &app->state, app_live(app), app_picture(app), NULL);
    snprintf(name, sizeof name, "frame-%04d.txt", ++script->frames);
    char *text = cells_to_text(&script->cells);
    bool ok = text ? path_of(script, name, path, err) && data_write(path, text, strlen(text), err)
                   : err_no_memory(err, name, "");
    free(text);
    if (!ok)
        return false;
    snprintf(name, sizeof name, "frame-%04d.png", script->frames);
    progress_done(1);
    return write_image(script, name, cells_image(&script->cells, 1, &image, err), &image, err);
}

static bool write_snapshot(Script *script, Err *err) {
    char name[256];
    const LiveData *live = app_live(&script->app);
    State bare = script->app.state;
    bare.bare = true;
    state_snapshot_name(&bare, &live->job, live->stand_in, name, sizeof name);
    return write_window(script, name, &bare, err);
}

bool script_serve(Script *script, Err *err) {
    App *app = &script->app;
    unsigned bits = app_todo(app);
    script->quit |= (bits & STEP_QUIT) != 0;
    if (app->failed) {
        *err = app->err;
        app->failed = false;
        return false;
    }
    return !(bits & STEP_SNAPSHOT) || write_snapshot(script, err);
}

static bool apply_event(Script *script, const Event *event, Err *err) {
    app_step(&script->app, event);
    return script_serve(script, err);
}

static bool refuse_line(const Script *script, const char *what, Err *err) {
    char where[256];
    snprintf(where, sizeof where, "%.200s:%d", script->options->file, script->line);
    return err_set(err, ERR_FAILED, where, "", "%s", what);
}

static bool use_tick(Script *script, const char *rest, Err *err) {
    double seconds;
    int count;
    if (!app_parse_tick(rest, &seconds, &count))
        return refuse_line(script, "tick takes seconds, at least 0, and how often, at least 1",
                           err);
    for (int i = 0; i < count; i++) {
        if (!apply_event(script, &(Event){.kind = EVENT_TICK, .seconds = seconds}, err))
            return false;
        if (!write_frame(script, err) || !script_lesson_tick(script, err))
            return false;
    }
    return true;
}

/* Parses columns and rows. `format` ends with %1s, which finds text that must not follow. */
static bool parse_size(const char *text, const char *format, int *columns, int *rows) {
    char more[2];
    return sscanf(text, format, columns, rows, more) == 2 && *columns >= 1 && *rows >= 1 &&
           *columns <= CELLS_MAX_EDGE && *rows <= CELLS_MAX_EDGE;
}

static bool use_size(Script *script, const char *rest, Err *err) {
    int columns, rows;
    if (!parse_size(rest, "%d %d %1s", &columns, &rows))
        return refuse_line(script, "size takes columns and rows, each from 1 to 1000", err);
    return cells_resize(&script->cells, columns, rows, err) &&
           apply_event(script, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows},
                       err);
}

static bool use_key(Script *script, const char *rest, Err *err) {
    char name[16], more[2];
    int32_t key = sscanf(rest, "%15s %1s", name, more) == 1 ? keys_named(name) : 0;
    if (!app_key(&script->app, key))
        return refuse_line(script, "key takes the name of one key that means something", err);
    return script_serve(script, err);
}

/* Puts the mouse over a pixel of a camera view, from the camera's number and the pixel. */
static bool use_pixel(Script *script, const char *rest, Err *err) {
    const BevShape *shape = &app_live(&script->app)->frame.shape;
    int camera, x, y;
    char more[2];
    if (sscanf(rest, "%d %d %d %1s", &camera, &x, &y, more) != 3 || camera < 0 || x < 0 || y < 0 ||
        camera >= shape->cameras || x >= shape->feat_w || y >= shape->feat_h)
        return refuse_line(script,
                           "pixel takes a camera from 0, a column and a row of its features", err);
    int64_t pixel = (camera * shape->feat_h + y) * shape->feat_w + x;
    return apply_event(script, &(Event){.kind = EVENT_PIXEL, .x = (double)pixel}, err);
}

/* Sets the line of text on the next frames; an empty text removes it. */
static bool use_say(Script *script, const char *rest, Err *err) {
    rest += strspn(rest, " \t");
    char *caption = script->app.state.caption;
    if (strlen(rest) >= sizeof script->app.state.caption)
        return refuse_line(script, "say takes one line of text, at most 199 bytes", err);
    snprintf(caption, sizeof script->app.state.caption, "%s", rest);
    return true;
}

bool script_lesson_input(Script *script, const LessonInput *input, Err *err) {
    app_lesson_input(&script->app, input);
    return script_serve(script, err);
}

/* Gives `rest`, the text after `answer`, to the lesson's question. */
static bool script_answer(Script *script, const char *rest, Err *err) {
    if (!script->app.desk.open)
        return refuse_line(script, "answer: no lesson is open; lesson NAME opens one", err);
    return script_lesson_input(script, &(LessonInput){.kind = INPUT_ANSWER, .text = rest}, err);
}

bool script_lesson_tick(Script *script, Err *err) {
    const bool pause_over = true; /* a script does not wait between the frames of an animation */
    app_lesson_turn(&script->app, pause_over);
    return script_serve(script, err);
}

/* Carries out a line: a word of `own`, or else the word of a control. */
static bool script_use_line(Script *script, char *line, Err *err) {
    static const struct {
        const char *word;
        bool (*use)(Script *script, const char *rest, Err *err);
    } own[] = {{"tick", use_tick},   {"size", use_size},        {"key", use_key},
               {"pixel", use_pixel}, {"answer", script_answer}, {"say", use_say}};
    line[strcspn(line, "#\r")] = '\0';
    line += strspn(line, " \t");
    if (!*line)
        return true;
    size_t length = strcspn(line, " \t");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i].word) == length && !strncmp(line, own[i].word, length))
            return own[i].use(script, line + length, err);
    Err why = {0};
    if (!app_words(&script->app, line, &why))
        return refuse_line(script, why.what, err);
    return script_serve(script, err);
}

/* Returns how many frames a script will write, for the progress. */
static int count_frames(const char *text) {
    int frames = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        double seconds;
        int count;
        line += strspn(line, " \t\n");
        if (!strncmp(line, "tick", 4) && app_parse_tick(line + 4, &seconds, &count))
            frames += count;
    }
    return frames;
}

static bool play_script(Script *script, char *text, Err *err) {
    progress_plan(count_frames(text));
    while (!script->quit && text) {
        char *line = strsep(&text, "\n"); /* text is NULL after the last line */
        script->line++;
        if (!script_use_line(script, line, err))
            return false;
    }
    return script->frames > 0 || refuse_line(script, "no tick in it: no frame was written", err);
}

bool script_size(const char *text, int *columns, int *rows, Err *err) {
    return parse_size(text, "%dx%d%1s", columns, rows) ||
           err_set(err, ERR_USAGE, "--size", "for example 120x40",
                   "takes COLUMNSxROWS, each from 1 to %d, not '%.40s'", CELLS_MAX_EDGE, text);
}

bool script_open(Script *script, const ScriptOptions *options, Err *err) {
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .script = true, .make_picture = picture_make};
    script->options = options;
    if (!cells_init(&script->cells, options->columns, options->rows, err))
        return false;
    script->cells.ascii = options->ascii;
    script->cells.color = !options->no_color;
    if (!app_open(&script->app, &options->app, &engine, err))
        return false;
    return apply_event(
        script, &(Event){.kind = EVENT_RESIZE, .columns = options->columns, .rows = options->rows},
        err);
}

void script_close(Script *script) {
    app_close(&script->app, 0);
    cells_free(&script->cells);
}

bool script_run(const ScriptOptions *options, Err *err) {
    static Script script; /* large */
    char *text = NULL;
    size_t length;
    const char *path = strcmp(options->file, "-") ? options->file : "/dev/stdin";
    bool ok = data_read(path, MAX_SCRIPT_BYTES, &text, &length, err);
    if (ok && mkdir(options->frames, 0777) < 0 && errno != EEXIST)
        ok = err_set(err, ERR_FAILED, options->frames, "", "cannot be made: %s", strerror(errno));
    ok = ok && script_open(&script, options, err) && play_script(&script, text, err);
    free(text);
    script_close(&script);
    return ok;
}

/* ---- lessons as plain text ------------------------------------------------------------------- */

static void print_wrapped(const char *ascii, int indent) {
    char line[PANE_BYTES];
    text_for_locale(ascii, line, sizeof line);
    printf("%*s", indent, "");
    text_wrap(line, strlen(line), indent, indent, PANEL_TEXT_WIDTH, stdout);
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

/* Prints a lesson's page as plain text, without the rows that list keys. */
static void print_pane(const LessonPane *pane) {
    const PaneText *body = &pane->body;
    PaneKind before = PANE_KEYS;
    for (int i = 0; i < body->count; i++) {
        PaneKind kind = body->rows[i].kind;
        bool indented = kind == PANE_CHOICE || is_block(kind) || kind == PANE_INPUT;
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
            print_wrapped(pane_row(body, i), indented && !body->rows[i].marked ? 2 : 0);
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
    if (!text || (*shown && !strcmp(text, *shown))) {
        free(text);
        return;
    }
    free(*shown);
    *shown = text;
    printf("\n%s", text);
}

/* Prints the newest line of the log if it is another line than `said`, and copies it to `said`. The
 * figures of the line are left out, because the lesson prints those that matter. */
static void print_log(const Log *log, char said[LOG_LENGTH]) {
    const LogLine *newest = &log->lines[0];
    const char *text = "";
    if (log->count)
        text = newest->said[0] ? newest->said : newest->text;
    if (strcmp(text, said) != 0)
        print_wrapped(text, 0);
    snprintf(said, LOG_LENGTH, "%s", text);
}

/* Uses a line of a learner: an answer, a word, or an empty line to go on. */
static bool use_plain_line(Script *script, char *line, Err *err) {
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line)
        return script_lesson_input(script, &(LessonInput){.kind = INPUT_ENTER}, err);
    bool number = isdigit((unsigned char)*line) || *line == '-' || *line == '.';
    return number ? script_answer(script, line, err) : script_use_line(script, line, err);
}

/* Ends running animations at once, because text has no pictures. */
static bool end_animations(Script *script, Err *err) {
    const LessonDesk *desk = &script->app.desk;
    while (desk->open && lesson_run_wants(&desk->run) == LESSON_WANTS_PAUSE)
        if (!script_lesson_tick(script, err))
            return false;
    return true;
}

/* Prints the lesson and reads the learner's lines, until the lesson ends. */
static bool run_plain_lesson(Script *script, Err *err) {
    char line[256], told[600], said[LOG_LENGTH] = "", *shown = NULL;
    progress_hide();
    puts("Answer with a number (an order: 2 1 3); Enter goes on; back, skip, quit are words.");
    if (!end_animations(script, err))
        return false;
    for (;;) {
        progress_end();
        const LessonPane *pane = &script->app.state.lesson;
        const bool open = script->app.desk.open;
        print_log(&script->app.state.log, said);
        /* After a mistake in an answer only the note is printed, not the page again. */
        const bool wrong_answer = open && pane->asks != ASKS_NOTHING && print_note(&pane->body);
        if (open && !wrong_answer) {
            print_title(pane);
            print_panel(script, &shown);
            print_pane(pane);
        }
        fputs("> ", stdout);
        fflush(stdout);
        if (!open || script->quit || pane->ended || !fgets(line, sizeof line, stdin))
            break;
        progress_begin("learn", script->options->quiet);
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

/* ---- lessons as Markdown --------------------------------------------------------------------- */

typedef struct {
    Script *script;
    FILE *out;
    char stem[256]; /* the beginning of the pictures' names */
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

/* Writes a row of a page as Markdown. Code, drawings and choices are blocks of rows. */
static void put_row(FILE *out, const PaneText *body, int row) {
    PaneKind kind = body->rows[row].kind;
    const char *bold = kind == PANE_QUESTION ? "**" : "", *text = pane_row(body, row);
    const bool code = is_block(kind), choice = kind == PANE_CHOICE;
    bool first = !row || body->rows[row - 1].kind != kind;
    bool last = row + 1 == body->count || body->rows[row + 1].kind != kind;
    if (choice)
        fprintf(out, "%d. ", atoi(text));
    if (code && first)
        fputs(kind == PANE_CODE ? "```c\n" : "```\n", out);
    fputs(kind == PANE_TERM ? "> " : bold, out);
    if (code)
        fputs(text, out);
    else
        put_text(out, choice ? text + 3 : text);
    fprintf(out, "%s\n", bold);
    if (code && last)
        fputs("```\n", out);
    if ((!code && !choice) || last)
        fputs("\n", out);
}

/* Leaves out what belongs to the screen or to a learner's answer. */
static void put_rows(FILE *out, const PaneText *body) {
    const unsigned left_out = 1u << PANE_KEYS | 1u << PANE_INPUT | 1u << PANE_NOTE |
                              1u << PANE_RIGHT | 1u << PANE_WRONG | 1u << PANE_HINT;
    for (int i = 0; i < body->count; i++)
        if (!(left_out >> body->rows[i].kind & 1))
            put_row(out, body, i);
}

/* Writes the window's picture without the lesson, where the picture has changed. */
static bool put_picture(Export *export, Err *err) {
    Script *script = export->script;
    const State *state = &script->app.state;
    char name[300], drawn[sizeof export->drawn];
    State alone = *state;
    snprintf(drawn, sizeof drawn, "%llu %d %d %d", (unsigned long long)state->job.serial,
             (int)state->chart, state->view, (int)state->compare);
    if (!strcmp(drawn, export->drawn))
        return true;
    memcpy(export->drawn, drawn, sizeof drawn);
    snprintf(name, sizeof name, "%s-%02d.png", export->stem, ++export->pictures);
    alone.lesson.open = false;
    fprintf(export->out, "![%s](%s)\n\n", "what the display shows", name);
    return write_window(script, name, &alone, err);
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
    const bool needs_picture = pane->asks == ASKS_NOTHING || pane->point == PANEL_BEV;
    if (needs_picture && !put_picture(export, err))
        return false;
    put_rows(export->out, &pane->body);
    return (pane->asks == ASKS_NOTHING || put_answer(export, err)) &&
           script_lesson_input(script, &(LessonInput){.kind = INPUT_SKIP}, err) &&
           end_animations(script, err);
}

static bool put_lesson(Export *export, Err *err) {
    Script *script = export->script;
    const Lesson *lesson = script->app.desk.lesson;
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
    const int length = slash && slash != path ? (int)(slash - path) : 1; /* "/", "." */
    const int needed = snprintf(folder, size, "%.*s", length, slash ? path : ".");
    data_stem(path, export->stem, sizeof export->stem);
    return (export->stem[0] && needed < (int)size) ||
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
