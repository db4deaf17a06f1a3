/* bevscope learn [LESSON]: the list of lessons, or one of them in the live display, in a script, as
 * plain text or as Markdown. */
#include "src/cli/live.h"
#include "src/cli/selection.h"
#include "src/learn/course.h"
#include "src/learn/lesson.h"
#include "src/run/machine.h"
#include "src/scene/scene.h"
#include "src/ui/lesson_text.h"
#include "src/ui/script.h"

/* ---- the list -------------------------------------------------------------------------------- */

static void progress_text(const CourseProgressRow *row, char *text, size_t size) {
    if (!row)
        snprintf(text, size, "new");
    else if (row->page > 0)
        snprintf(text, size, "at %d of %d, %d of %d right", row->page + 1, row->pages, row->right,
                 row->asked);
    else if (row->done)
        snprintf(text, size, "done, %d of %d right", row->right, row->asked);
    else
        snprintf(text, size, "begun");
}

static void list_lesson(const char *name, const CourseProgress *progress) {
    char path[COURSE_PATH], text[64];
    Lesson lesson;
    Err err;
    Course one = {.count = 1};
    snprintf(one.names[0], sizeof one.names[0], "%s", name);
    if (!course_find(&one, name, path, sizeof path, &err) || !lesson_load(path, &lesson, &err)) {
        char line[600];
        err_line(&err, line, sizeof line);
        printf("%-34s cannot be taken: %s\n", name, line);
        return;
    }
    progress_text(course_progress_find(progress, name), text, sizeof text);
    printf("%-34s %2d min  %-28s %s\n", name, lesson.minutes, text, lesson.title);
    lesson_free(&lesson);
}

static bool list_lessons(Err *err) {
    static Course course;
    static CourseProgress progress;
    char complaint[512];
    course_read(&course);
    course_progress_read(&progress, complaint, sizeof complaint);
    for (int i = 0; i < course.count; i++)
        list_lesson(course.names[i], &progress);
    if (complaint[0])
        printf("\n%s\n", complaint);
    const char *next = course_next(&course, &progress);
    if (next)
        printf("\nNext: bevscope learn %s\n", next);
    if (!course.count)
        return err_set(err, ERR_FAILED, "samples/lessons", "bevscope learn FILE takes one",
                       "no lesson is installed");
    return fflush(stdout) == 0 ||
           err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
}

/* ---- one lesson ------------------------------------------------------------------------------ */

static bool take_script(const Options *options, const ScriptOptions *script, Err *err) {
    ScriptOptions one = *script;
    return script_size(options->size ? options->size : "120x40", &one.columns, &one.rows, err) &&
           script_run(&one, err);
}

static bool take_live(const Options *options, Err *err) {
    LoopOptions loop = {.app = {.scene = preset_world,
                                .lesson = options->arguments[0],
                                .memory = options->again ? DESK_RENEWS : DESK_KEEPS},
                        .color = (TermColor)choices_find(CHOICE_COLOR, options->color),
                        .ascii = options->ascii,
                        .no_window = options->no_window,
                        .no_mouse = options->no_mouse};
    if (!select_devices(options->device, &loop.where, err))
        return false;
    return live_run(&loop, err);
}

bool cmd_learn(const Options *options, Err *err) {
    if (!options->argument_count)
        return list_lessons(err);
    const ScriptOptions script = {
        .app = {.scene = "canonical", .lesson = options->arguments[0]},
        .file = options->script,
        .frames = options->frames ? options->frames : "frames",
        .columns = 120,
        .rows = 40,
        .ascii = options->ascii,
        .no_color = choices_find(CHOICE_COLOR, options->color) == TERM_COLOR_NEVER,
    };
    if (options->export)
        return lesson_export(&script, options->export, err);
    if (options->script)
        return take_script(options, &script, err);
    if (options->plain || term_impossible()) {
        ScriptOptions plain = script;
        plain.app.memory = options->again ? DESK_RENEWS : DESK_KEEPS;
        return lesson_plain(&plain, err);
    }
    return take_live(options, err);
}
