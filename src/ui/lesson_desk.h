/* A lesson that is open: its file, where the learner stands, and how the display serves it. Private
 * to src/ui: the live loop, scripts and plain text each have one. */
#pragma once

#include "src/learn/course.h"
#include "src/learn/lesson_run.h"

/* DESK_FORGETS: the lesson begins at its beginning, and no progress is saved. DESK_KEEPS: it goes
 * on where it was left. DESK_RENEWS: it begins at its beginning, and progress is saved. */
typedef enum { DESK_FORGETS, DESK_KEEPS, DESK_RENEWS } DeskMemory;

typedef struct {
    bool open;
    DeskMemory memory;
    Lesson lesson;
    LessonRun run;
    int saved_page; /* the page that progress was saved with; -1: not yet */
} LessonDesk;

/* What the display does for a lesson. */
typedef struct {
    void *context;
    State *state;
    /* Begins with a fresh state on the scene of that position in the menu. */
    bool (*reset)(void *context, int scene, Err *err);
    /* Applies a control's line. */
    bool (*control)(void *context, const char *line, Err *err);
    /* The newest figures. NULL: they are not of the newest job yet. *final: what is unknown in them
     * stays unknown. */
    const LiveData *(*figures)(void *context, bool *final);
    /* Whether facts of the scene that the state asks for are known. */
    bool (*scene_known)(void *context);
    /* Tells the learner of a failure that ends nothing: progress that cannot be kept. */
    void (*tell)(void *context, const Err *err);
} LessonHost;

/* Opens a lesson by number, name or path; "": the next one of the course. */
bool lesson_desk_open(LessonDesk *desk, const char *word, DeskMemory memory, State *state,
                      Err *err);

/* Saves progress. The state shows no lesson any more. */
bool lesson_desk_close(LessonDesk *desk, State *state, Err *err);

/* Brings the lesson all that it wants, until it waits for input, a pause or figures; then shows it
 * in the state. */
bool lesson_desk_turn(LessonDesk *desk, const LessonHost *host, Err *err);

/* An input of the learner. False: it means nothing here. */
bool lesson_desk_input(LessonDesk *desk, const LessonInput *input);

/* The input that a wish of the state is; false: it is none. */
bool lesson_desk_wish(LessonWish wish, LessonInput *input);

/* The name of the lesson that explains the state's finding; false: there is no such finding (yet). */
bool lesson_desk_explain(const State *state, const LiveData *live, char *name, size_t size,
                         Err *err);

/* The input that a key is while a lesson is open. False: the key is a control as always. */
bool lesson_desk_key(const LessonPane *pane, int32_t key, LessonInput *input);
