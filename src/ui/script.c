/* SPDX-License-Identifier: MIT */
#include "src/ui/script.h"

#include "src/base/data.h"
#include "src/base/progress.h"
#include "src/view/term/dashboard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_SCRIPT_BYTES = 1 << 20 };

/* ---- a frame --------------------------------------------------------------------------------- */

/* Writes the path of a file in the folder of the frames. */
static bool path_of(const Script *script, const char *name, char path[4096], Err *err) {
    return snprintf(path, 4096, "%s/%s", script->options->frames, name) < 4096 ||
           err_set(err, ERR_USAGE, script->options->frames, "", "is too long a path");
}

bool script_write_image(const Script *script, const char *name, Image *image, Err *err) {
    char path[4096];
    return path_of(script, name, path, err) && image_write(image, path, false, err);
}

static bool write_text(const Script *script, const char *name, Err *err) {
    char path[4096], *text = cells_to_text(&script->cells);
    bool ok = text ? path_of(script, name, path, err) && data_write(path, text, strlen(text), err)
                   : err_no_memory(err, name, "");
    free(text);
    return ok;
}

static bool write_frame(Script *script, Err *err) {
    const App *app = &script->app;
    char name[32];
    Image image = {0};
    script->cells.light = app->state.light;
    dashboard_draw(&script->cells, &app->state, app_live(app), app_picture(app), NULL);
    snprintf(name, sizeof name, "frame-%04d.txt", ++script->frames);
    if (!write_text(script, name, err))
        return false;
    snprintf(name, sizeof name, "frame-%04d.png", script->frames);
    bool ok = cells_image(&script->cells, 1, &image, err) &&
              script_write_image(script, name, &image, err);
    image_free(&image);
    progress_done(1);
    return ok;
}

static bool write_snapshot(Script *script, Err *err) {
    char name[256];
    Image image = {0};
    const LiveData *live = app_live(&script->app);
    State bare = script->app.state;
    bare.bare = true;
    state_snapshot_name(&bare, &live->job, live->stand_in, name, sizeof name);
    bool ok = window_image(SNAPSHOT_W, SNAPSHOT_H, state_text_scale(&bare), &bare, live,
                           app_picture(&script->app), &image, err) &&
              script_write_image(script, name, &image, err);
    image_free(&image);
    return ok;
}

/* ---- words ----------------------------------------------------------------------------------- */

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

/* ---- lessons --------------------------------------------------------------------------------- */

bool script_lesson_input(Script *script, const LessonInput *input, Err *err) {
    app_lesson_input(&script->app, input);
    return script_serve(script, err);
}

bool script_answer(Script *script, const char *rest, Err *err) {
    if (!script->app.desk.open)
        return refuse_line(script, "answer: no lesson is open; lesson NAME opens one", err);
    return script_lesson_input(script, &(LessonInput){.kind = INPUT_ANSWER, .text = rest}, err);
}

bool script_lesson_tick(Script *script, Err *err) {
    app_lesson_turn(&script->app, true);
    return script_serve(script, err);
}

/* ---- lines ----------------------------------------------------------------------------------- */

bool script_use_line(Script *script, char *line, Err *err) {
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
    for (char *line; !script->quit && (line = strsep(&text, "\n"));) {
        script->line++;
        if (!script_use_line(script, line, err))
            return false;
    }
    return script->frames > 0 || refuse_line(script, "no tick in it: no frame was written", err);
}

/* ---- the run --------------------------------------------------------------------------------- */

bool script_size(const char *text, int *columns, int *rows, Err *err) {
    return parse_size(text, "%dx%d%1s", columns, rows) ||
           err_set(err, ERR_USAGE, "--size", "for example 120x40",
                   "takes COLUMNSxROWS, each from 1 to %d, not '%.40s'", CELLS_MAX_EDGE, text);
}

static bool make_folder(const char *path, Err *err) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    return err_set(err, ERR_FAILED, path, "", "cannot be made: %s", strerror(errno));
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
    bool ok = data_read(path, MAX_SCRIPT_BYTES, &text, &length, err) &&
              make_folder(options->frames, err) && script_open(&script, options, err) &&
              play_script(&script, text, err);
    free(text);
    script_close(&script);
    return ok;
}
