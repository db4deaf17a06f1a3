/* SPDX-License-Identifier: MIT */
/* The driver of the State. Every screen has an App: terminal, window, plain lines, scripts, and the
 * pictures of the command line. A screen turns its input into events and words, and draws the state
 * and the frame of its App.
 *
 *     key, word, event --> app_step() --> state_step() --> engine_request()
 *     app_take_frame() <-- engine_take(): one EVENT_FRAME, then app_live(), app_picture() are new
 *
 * The bits of app_todo() say what a screen must do itself: draw, quit, write a picture. The App
 * serves an open lesson on the way. Only one thread uses an App. */
#pragma once

#include "src/learn/course.h"
#include "src/live/engine.h"
#include "src/view/bev/picture.h"

/* ---- what there is to choose from ------------------------------------------------------------ */

enum { APP_MAX_SCENES = 64 };

/* The menu of all known scenes, then those of the command line. `menu` borrows the names here. */
typedef struct {
    StateMenu menu;
    SceneName scenes[APP_MAX_SCENES];
    const char *names[APP_MAX_SCENES + 2];
    char title_texts[APP_MAX_SCENES][128];
    const char *titles[APP_MAX_SCENES + 2]; /* of the scenes; NULL: a scene of the command line */
    Course course;
    const char *lessons[COURSE_LESSONS + 1]; /* the lessons and the quiz */
    const char *lesson_ideas[COURSE_LESSONS + 1];
} AppMenu;

/* Returns the position of a scene in the menu, and adds a scene that the menu lacks. `scene` is a
 * name or a path, which must outlive the menu. */
int app_menu_scene(AppMenu *menu, const char *scene);

/* Opens the menu. `where` is a mask of 1u << BevWhere. */
void app_menu_open(AppMenu *menu, unsigned where);

/* ---- a lesson that is open ------------------------------------------------------------------- */

/* Where a lesson begins, and whether the learner's progress is saved. */
typedef enum {
    DESK_FORGETS, /* at the first page; no progress is saved */
    DESK_KEEPS,   /* where the learner left the lesson; progress is saved */
    DESK_RENEWS   /* at the first page; progress is saved */
} DeskMemory;

typedef struct {
    bool open;
    bool page; /* shows the workflow in place of a lesson */
    DeskMemory memory;
    Lesson *lesson; /* owned; NULL: none */
    LessonRun run;
    int saved_page;  /* the page that progress was saved with; -1: not yet */
    int saved_asked; /* the number of answered questions in the saved progress */
    bool waits;      /* the lesson waits for figures that only more launches can bring */
    double waits_ms; /* the time when this wait began */
    double pause_ms; /* the time of the next frame of the lesson's animation */
    Quiz quiz;       /* the lesson is open for a question of this quiz; count 0: for no quiz */
} LessonDesk;

/* ---- undo ------------------------------------------------------------------------------------ */

enum { UNDO_STEPS = 50 };
typedef struct {
    struct {
        State *before;   /* the state before the change; owned */
        Action change;   /* the control that made the change */
    } steps[UNDO_STEPS]; /* the newest last */
    int count;
    Action last; /* the control of the last change; ACTION_COUNT: the next change is a new step */
    const State *lesson; /* the state before the lesson that is open; NULL: none is */
} Undo;

/* Keeps a copy of `before` as an undo step, and returns the copy. NULL: the change continues the
 * last change of the same control, or there is no memory. */
State *undo_push(Undo *undo, const State *before, Action action);

/* Returns the number of changes since a lesson was opened, with the opening. 0: none is open. */
int undo_lesson_steps(const Undo *undo);

void undo_free(Undo *undo);

/* ---- tour.c ---------------------------------------------------------------------------------- */

typedef struct {
    char *text;       /* the script; NULL: none is played */
    const char *at;   /* the next line of the script */
    double due_ms;    /* the time at which that line is used */
    double said_ms;   /* the time until which the caption stays */
    uint64_t request; /* the engine's number of the picture that the last line asked for */
} Tour;

/* ---- the App --------------------------------------------------------------------------------- */

enum { APP_MAX_WORDS = 32, APP_WORD = 80 };
typedef struct AppOptions {
    const char *scene;  /* a name or a path */
    const char *other;  /* the scene that it is compared with; NULL: none */
    const char *scales; /* a file of ranges, used from the beginning; NULL: none */
    const Gpu *gpu;     /* this machine's, a row of gpus[]; NULL: none, or not in the table */
    bool paused;        /* the world stands still */
    double time_s;      /* moment of the moving world to begin with */
    int word_count;
    char words[APP_MAX_WORDS][APP_WORD]; /* controls that are used first: "dtype fp8" */
    const char *lesson;                  /* opened first, as app_open_lesson takes it; NULL: none */
    int64_t seed;                        /* the seed of a quiz; 0: the program chooses one */
    DeskMemory memory;                   /* whether the lesson's progress is kept */
    bool tour;                           /* begins with the tour */
} AppOptions;

typedef struct {
    const AppOptions *options;
    AppMenu menu;
    State state;
    Engine *engine;
    bool script;              /* the engine is a script's: frames come at once, an error ends all */
    uint64_t request;         /* the engine's number of the newest request */
    const EngineFrame *frame; /* the newest; NULL: none yet */
    LiveData nothing;         /* shown before the first frame */
    unsigned todo;            /* STEP_* bits for the screens */
    LessonDesk desk;
    Undo undo;
    Tour tour;
    bool tried;  /* a try of the palette has changed the state, and has the newest undo step */
    bool serves; /* a lesson or the tour gives the commands: no changes by the user */
    bool failed; /* nothing can be shown, or a script's line has failed: `err` says why */
    Err err;
    uint64_t loads, errors, notes; /* the counters of the newest frame, as in EngineFrame */
    bool empty;                    /* the map of the last frame has no point */
    ScatterStats map;              /* of the last frame */
    KernelConfig config;           /* of the last frame */
    char remark[sizeof((Scene *)0)->remark]; /* of the last frame's scene */
    char error_text[sizeof((LiveData *)0)->error_text];
} App;

/* Adds the word of a control to the options, such as "dtype fp8". `value` NULL: adds nothing. */
void app_word(AppOptions *options, const char *control, const char *value);

/* Opens state and engine, uses the words of the options and opens the lesson. An engine of a script
 * has then computed the first frame. Any other engine was asked for this frame. Close the App with
 * app_close, also after a failure. */
bool app_open(App *app, const AppOptions *options, const EngineOptions *engine, Err *err);

/* Saves the lesson's progress and closes the engine, if it ends within `patience_ms`. False: a
 * thread still computes, and the process can only be left with _exit(). */
bool app_close(App *app, double patience_ms);

/* Applies an event and does what it asks for. */
void app_step(App *app, const Event *event);

/* Asks the engine for a frame of the state as it is. */
void app_request(App *app);

/* Uses a key: the open lesson takes it, or it is a control. False: the key means nothing. */
bool app_key(App *app, int32_t key);

/* Takes back the last `steps` changes. If the opening of a lesson is one of them, the lesson is
 * closed. More than UNDO_STEPS also closes help and page. */
void app_undo(App *app, int steps);

/* Returns the state that screens draw. Before the first frame of a new scene, this state has the
 * scene of the last frame, because the screens still show its figures. */
State app_drawn(const App *app);

/* Carries out a line as in a script: a control and its argument. */
bool app_words(App *app, const char *line, Err *err);

/* Takes the newest frame and gives it to the state. Returns false if there is no new frame. `pace`
 * has the measured times of answers to keys; NULL: none are measured. */
bool app_take_frame(App *app, const Pace *pace);

/* Log a line. An error ends a script, a warning does not. */
void app_note(App *app, const char *text);
void app_note_warning(App *app, const Err *err);
void app_note_error(App *app, const Err *err);

/* Returns the bits of state_step() since the last call. STEP_RUN or STEP_LOOK: the engine was asked
 * for a frame, and the next drawing shows it. STEP_REDRAW: draw at once, before a frame comes. */
unsigned app_todo(App *app);

const LiveData *app_live(const App *app);
const Picture *app_picture(const App *app); /* NULL before the first frame */

/* ---- lesson.c -------------------------------------------------------------------------------- */

/* Opens a lesson by number, name or path. "" is the next lesson, "quiz" the quiz. */
bool app_open_lesson(App *app, const char *word, DeskMemory memory, Err *err);
bool app_close_lesson(App *app, Err *err);

/* Continues the lesson as far as possible. `pause_over`: beyond a frame of its animation. */
void app_lesson_turn(App *app, bool pause_over);

void app_lesson_input(App *app, const LessonInput *input);

/* Gives a key to the open lesson. False: the lesson does not use this key. */
bool app_lesson_key(App *app, int32_t key);

/* Carries out the state's request to the lesson: STEP_LESSON. */
void app_lesson_wish(App *app);

/* Milliseconds until the lesson's animation goes on; INFINITY: no animation runs. */
double app_lesson_in_ms(const App *app);

/* Writes the page of the workflow anew for the newest frame. */
void app_show_page(App *app);

/* Whether the figures of the page that is open are there. */
bool app_page_is_known(const App *app);

/* ---- tour.c ---------------------------------------------------------------------------------- */

/* Parses what follows the word `tick` of a script: nothing, S or S N, and perhaps a comment. */
bool app_parse_tick(const char *arguments, double *seconds, int *count);

/* Plays samples/demo.keys with its captions until a key or a click; undo takes all of it back. */
bool app_open_tour(App *app, Err *err);
void app_close_tour(App *app);

/* Continues the tour as far as is possible now. */
void app_tour_turn(App *app);

/* Milliseconds until the tour's next line. INFINITY: no tour, or its picture has not come yet. */
double app_tour_in_ms(const App *app);
