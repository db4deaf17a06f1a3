/* SPDX-License-Identifier: MIT */
/* bevscope [live] [SCENE], demo and learn: start the live display from the options. Lessons can
 * also be listed, run as a script or as plain text, and written as Markdown. */
#include "src/base/progress.h"
#include "src/base/rescue.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/ui/script.h"
#include "src/ui/loop.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

/* Runs the display to its end. Does not return after a signal, or if a thread still works. */
static bool run_display(const LoopOptions *options, Err *err) {
    enum { LARGE = 256 << 10 };
    LoopEnd end;
    progress_end(); /* the display shows its own */
    /* By default malloc has a heap for each thread, and keeps freed blocks of up to 32 MB there.
     * The program's memory would then grow with each change of sizes. With these settings small
     * blocks share one heap, and large blocks (grids, maps) go back to the system. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    bool ok = loop_run(options, &end, err);
    if (end.signal)
        rescue_die(end.signal);
    if (ok && end.threads_left) { /* exit() would free memory that the threads use */
        fflush(stdout);
        _exit(0);
    }
    return ok;
}

/* Runs the display. The memory model begins with this machine's GPU, if the table has it. */
static bool run_display_here(LoopOptions *loop, Err *err) {
    Machine machine;
    if (loop->where & 1u << BEV_CUDA) {
        machine_read(&machine);
        loop->app.gpu = gpu_of_device(machine.gpu);
    }
    return run_display(loop, err);
}

static ScriptOptions script_options(const Options *options, const AppOptions *app) {
    return (ScriptOptions){
        .app = *app,
        .file = options->script,
        .frames = options->frames ? options->frames : "frames",
        .columns = 120,
        .rows = 40,
        .ascii = options->ascii,
        .no_color = choices_find(CHOICE_COLOR, options->color) == TERM_COLOR_NEVER,
        .quiet = options->quiet,
    };
}

/* Runs a script, on the CPU: the same input gives the same bytes on every machine. */
static bool run_script(const Options *options, const AppOptions *app, Err *err) {
    ScriptOptions script = script_options(options, app);
    progress_step("frames of the script", 0, 1);
    return (!options->size || script_size(options->size, &script.columns, &script.rows, err)) &&
           script_run(&script, err);
}

static LoopOptions screen_options(const Options *options) {
    return (LoopOptions){.color = (TermColor)choices_find(CHOICE_COLOR, options->color),
                         .pixels = (Pixels)choices_find(CHOICE_PIXELS, options->pixels),
                         .ascii = options->ascii,
                         .no_window = options->no_window,
                         .no_mouse = options->no_mouse,
                         .no_terminal = options->plain || term_impossible() != NULL};
}

bool cmd_live(const Options *options, Err *err) {
    LoopOptions loop = screen_options(options);
    loop.app.scene = options->argument_count ? options->arguments[0] : preset_world;
    loop.app.other = options->compare;
    bool by_channel = options->scales && !strcmp(options->scales, "channel");
    loop.app.scales = by_channel ? NULL : options->scales;
    app_word(&loop.app, "scales", by_channel ? "channel" : NULL);
    loop.app.time_s = options->time_s;
    ScaleRanges unused; /* a broken file of ranges must fail before the display opens */
    if (loop.app.scales && !ranges_read(&unused, options->scales, err))
        return false;
    if (!select_single(options, "takes one name", "keys change it later", err) ||
        !select_devices(options->script ? "cpu" : options->device, &loop.where, err) ||
        !select_words(options, loop.where, &loop.app, err))
        return false;
    if (options->script)
        return run_script(options, &loop.app, err);
    loop.app.paused = loop.no_terminal; /* so that the figures of printed lines settle */
    return run_display_here(&loop, err);
}

bool cmd_demo(const Options *options, Err *err) {
    LoopOptions loop = screen_options(options);
    loop.app.scene = "canonical";
    loop.app.tour = true;
    if (loop.no_terminal)
        return err_set(err, ERR_FAILED, "demo",
                       "bevscope live --script samples/demo.keys writes it as pictures", "%s",
                       term_impossible());
    return select_devices(options->device, &loop.where, err) &&
           select_words(options, loop.where, &loop.app, err) && run_display_here(&loop, err);
}

/* ---- learn ----------------------------------------------------------------------------------- */

/* Returns how far the user has come in a lesson. */
static ShortText progress_text(const CourseProgressRow *row) {
    if (row->pages && row->page > 0)
        return short_text("at %d of %d, %d of %d right", row->page + 1, row->pages, row->right,
                          row->asked);
    if (row->pages && row->done)
        return short_text("done, %d of %d right", row->right, row->asked);
    return short_text(row->pages ? "begun" : "new");
}

static void list_lesson(const Course *course, const char *name) {
    char path[COURSE_PATH];
    Err err;
    const bool found = course_find(course, name, path, sizeof path, &err);
    Lesson *lesson = found ? lesson_load(path, &err) : NULL;
    if (!lesson) {
        char line[600];
        err_line(&err, line, sizeof line);
        printf("%-34s cannot be taken: %s\n", name, line);
        return;
    }
    const CourseProgressRow row = course_progress(name);
    printf("%-34s %2d min  %-28s %s\n", name, lesson->minutes, progress_text(&row).text,
           lesson->title);
    lesson_free(lesson);
}

static bool list_lessons(Err *err) {
    static Course course;
    course_read(&course);
    for (int i = 0; i < course.count; i++)
        list_lesson(&course, course.names[i]);
    const char *next = course_next(&course);
    if (next)
        printf("\nNext: bevscope learn %s\n", next);
    if (!course.count)
        return err_set(err, ERR_FAILED, "samples/lessons", "bevscope learn FILE takes one",
                       "no lesson is installed");
    return true;
}

static bool run_lesson(const Options *options, const char *name, Err *err) {
    AppOptions app = {.scene = "canonical", .lesson = name, .seed = options->seed};
    ScriptOptions script = script_options(options, &app);
    if (options->export)
        return lesson_export(&script, options->export, err);
    if (options->script)
        return run_script(options, &app, err);
    script.app.memory = app.memory = options->again ? DESK_RENEWS : DESK_KEEPS;
    LoopOptions loop = screen_options(options);
    if (loop.no_terminal)
        return lesson_plain(&script, err);
    loop.app = app;
    loop.app.scene = preset_world;
    return select_devices(options->device, &loop.where, err) && run_display(&loop, err);
}

bool cmd_learn(const Options *options, Err *err) {
    const char *name = options->argument_count ? options->arguments[0] : NULL;
    if (name && options->quiz)
        return err_set(err, ERR_USAGE, "--quiz", "leave one out", "it stands in place of a lesson");
    const char *lesson = options->quiz ? quiz_word : name;
    return lesson ? run_lesson(options, lesson, err) : list_lessons(err);
}
