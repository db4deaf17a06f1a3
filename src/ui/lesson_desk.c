#include "src/ui/lesson_desk.h"

#include "src/state/live_text.h"

#include <stdio.h>
#include <string.h>

/* The scene on which a lesson begins that names none. */
static const char first_scene[] = "canonical";

/* ---- opening and closing --------------------------------------------------------------------- */

static bool find_path(const char *word, char *path, size_t size, Err *err) {
    static Course course; /* large; only the main thread opens lessons */
    static CourseProgress progress;
    course_read(&course);
    if (word[0])
        return course_find(&course, word, path, size, err);
    course_progress_read(&progress, NULL, 0);
    const char *next = course_next(&course, &progress);
    return next ? course_find(&course, next, path, size, err)
                : err_set(err, ERR_FAILED, "lesson", "bevscope learn FILE takes one",
                          "no lesson is installed");
}

/* Where the learner left it; a lesson that was changed since begins anew. */
static void take_up(LessonDesk *desk) {
    static CourseProgress progress;
    lesson_run_init(&desk->run, &desk->lesson, 0);
    if (desk->memory != DESK_KEEPS)
        return;
    course_progress_read(&progress, NULL, 0);
    const CourseProgressRow *row = course_progress_find(&progress, desk->lesson.name);
    bool same = row && row->pages == desk->lesson.page_count && row->page < row->pages;
    if (!same || row->page == 0)
        return;
    lesson_run_init(&desk->run, &desk->lesson, row->page);
    desk->run.answered = row->answered;
    desk->run.right = row->right;
    desk->run.asked = row->asked;
}

bool lesson_desk_open(LessonDesk *desk, const char *word, DeskMemory memory, State *state,
                      Err *err) {
    char path[COURSE_PATH];
    Lesson lesson;
    if (!find_path(word, path, sizeof path, err) || !lesson_load(path, &lesson, err))
        return false;
    lesson_free(&desk->lesson);
    desk->lesson = lesson;
    desk->open = true;
    desk->memory = memory;
    desk->saved_page = -1;
    take_up(desk);
    state->lesson = (LessonPane){.open = false};
    lesson_run_show(&desk->run, &state->lesson);
    return true;
}

/* Saves where the learner stands, where that has changed. A lesson that was only looked at leaves no
 * trace. */
static bool save(LessonDesk *desk, Err *err) {
    static CourseProgress progress;
    const LessonRun *run = &desk->run;
    int page = lesson_run_ended(run) ? run->lesson->page_count : run->page;
    bool looked = page == 0 && desk->saved_page <= 0 && !run->asked;
    if (desk->memory == DESK_FORGETS || looked || page == desk->saved_page ||
        run->page < run->target)
        return true;
    course_progress_read(&progress, NULL, 0);
    const CourseProgressRow *before = course_progress_find(&progress, desk->lesson.name);
    bool ended = lesson_run_ended(run);
    CourseProgressRow row = {.page = ended ? 0 : page,
                             .pages = desk->lesson.page_count,
                             .answered = ended ? desk->lesson.page_count : run->answered,
                             .right = run->right,
                             .asked = run->asked,
                             .done = ended || (before && before->done)};
    snprintf(row.name, sizeof row.name, "%s", desk->lesson.name);
    desk->saved_page = page; /* a failure is told once, not at every page */
    return course_progress_save(&row, err);
}

bool lesson_desk_close(LessonDesk *desk, State *state, Err *err) {
    if (!desk->open)
        return true;
    desk->saved_page = -1;
    bool ok = save(desk, err);
    desk->open = false;
    lesson_free(&desk->lesson);
    state->lesson = (LessonPane){.open = false};
    return ok;
}

/* ---- serving it ------------------------------------------------------------------------------ */

/* The scene that the lesson names first; it may wish for another later. */
static int scene_of(const Lesson *lesson, const Menu *scenes) {
    char name[64];
    for (int i = 0; i < lesson->step_count; i++)
        if (lesson->steps[i].kind == LESSON_CONTROL &&
            sscanf(lesson->steps[i].text, "scene %63s", name) == 1)
            return menu_find(scenes, name);
    return -1;
}

/* At once on the lesson's own scene: no figures of another one come between. */
static bool begin(const LessonDesk *desk, const LessonHost *host, Err *err) {
    const Menu *scenes = &host->state->menu.scenes;
    int scene = scene_of(&desk->lesson, scenes);
    if (scene < 0)
        scene = menu_find(scenes, first_scene);
    return host->reset(host->context, scene < 0 ? 0 : scene, err);
}

static bool apply_control(LessonDesk *desk, const LessonHost *host, Err *err) {
    char line[160];
    lesson_run_control(&desk->run, line, sizeof line);
    lesson_run_done(&desk->run);
    return host->control(host->context, line, err);
}

static bool take_figures(LessonDesk *desk, const LessonHost *host) {
    bool final = false;
    const LiveData *live = host->figures(host->context, &final);
    return live && lesson_run_figures(&desk->run, host->state, live, final);
}

bool lesson_desk_turn(LessonDesk *desk, const LessonHost *host, Err *err) {
    bool ok = true, more = desk->open;
    while (ok && more) {
        switch (lesson_run_wants(&desk->run)) {
        case LESSON_WANTS_RESET:
            lesson_run_done(&desk->run);
            ok = begin(desk, host, err);
            break;
        case LESSON_WANTS_CONTROL:
            more = host->scene_known(host->context);
            ok = !more || apply_control(desk, host, err);
            break;
        case LESSON_WANTS_FIGURES:
            more = take_figures(desk, host);
            break;
        default:
            more = false;
        }
    }
    if (desk->open)
        lesson_run_show(&desk->run, &host->state->lesson);
    Err unsaved;
    if (desk->open && !save(desk, &unsaved))
        host->tell(host->context, &unsaved);
    return ok;
}

bool lesson_desk_input(LessonDesk *desk, const LessonInput *input) {
    return desk->open && lesson_run_input(&desk->run, input);
}

/* ---- keys ------------------------------------------------------------------------------------ */

bool lesson_desk_wish(LessonWish wish, LessonInput *input) {
    static const LessonInputKind kinds[] = {
        [WISH_NEXT] = INPUT_NEXT, [WISH_BACK] = INPUT_BACK, [WISH_SKIP] = INPUT_SKIP};
    if (wish < WISH_NEXT)
        return false;
    *input = (LessonInput){.kind = kinds[wish]};
    return true;
}

bool lesson_desk_explain(const State *state, const LiveData *live, char *name, size_t size,
                         Err *err) {
    Finding findings[FINDINGS_MAX];
    int count = live ? live_findings(state, live, findings) : 0;
    if (state->finding >= count)
        return err_set(err, ERR_FAILED, "explain", "", "there is no finding %d%s",
                       state->finding + 1, count ? "" : " here (yet)");
    snprintf(name, size, "%d", findings[state->finding].lesson);
    return true;
}

bool lesson_desk_key(const LessonPane *pane, int32_t key, LessonInput *input) {
    if (!pane->open)
        return false;
    bool types =
        (key >= '0' && key <= '9') || ((key == '.' || key == '-') && pane->asks == ASKS_NUMBER);
    if (pane->asks != ASKS_NOTHING && types)
        *input = (LessonInput){.kind = INPUT_TYPE, .key = (char)key};
    else if (key == KEYCODE_ENTER)
        *input = (LessonInput){.kind = INPUT_ENTER};
    else if (key == KEYCODE_BACKSPACE)
        *input = (LessonInput){.kind = pane->asks == ASKS_NOTHING ? INPUT_BACK : INPUT_ERASE};
    else if (pane->asks == ASKS_CHOICE && (key == KEYCODE_UP || key == KEYCODE_DOWN))
        *input = (LessonInput){.kind = key == KEYCODE_UP ? INPUT_UP : INPUT_DOWN};
    else
        return false;
    return true;
}
