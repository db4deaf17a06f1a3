/* SPDX-License-Identifier: MIT */
/* Runs a lesson by a state machine without clock, I/O and heap. Its caller, the loop of the screens
 * or a script, asks what the machine wants, and does it:
 *
 *     while (run.phase != PHASE_END)
 *         switch (lesson_run_wants(&run)) {
 *         case LESSON_WANTS_RESET:   begin with a fresh State, then lesson_run_done(&run)
 *         case LESSON_WANTS_CONTROL: apply lesson_run_control(&run), then lesson_run_done(&run)
 *         case LESSON_WANTS_FIGURES: lesson_run_figures(...), with figures of the newest job
 *         case LESSON_WANTS_PAUSE:   after the seconds of the step: lesson_run_done(&run)
 *         case LESSON_WANTS_INPUT:   lesson_run_input(&run, ...) when the learner does something
 *         }
 *
 * To go back a page, the machine restarts the lesson and runs to that page without stops. */
#pragma once

#include "src/learn/lesson.h"

typedef enum {
    LESSON_WANTS_RESET,
    LESSON_WANTS_CONTROL,
    LESSON_WANTS_FIGURES,
    LESSON_WANTS_PAUSE,
    LESSON_WANTS_INPUT
} LessonWants;

typedef enum {
    INPUT_ANSWER, /* `text`: the full answer of a script, "3" or "2 1 4 3" */
    INPUT_TYPE,   /* `key`: a digit, a point or a minus sign */
    INPUT_ERASE,
    INPUT_UP, /* the choice above or below */
    INPUT_DOWN,
    INPUT_ENTER, /* gives the answer that was typed or chosen; else goes on */
    INPUT_NEXT,  /* goes on; ends an animation; not past a question */
    INPUT_BACK,
    INPUT_SKIP /* leaves the question out, also when it is to be asked again; or goes on */
} LessonInputKind;

typedef struct {
    LessonInputKind kind;
    char key;
    const char *text;
} LessonInput;

typedef enum { VERDICT_NONE, VERDICT_RIGHT, VERDICT_WRONG, VERDICT_VOID } LessonVerdict;

/* The states of the machine. */
typedef enum {
    PHASE_RESET,
    PHASE_ENTER, /* carries out the steps of the page, up to its question, then the others */
    PHASE_PAUSE, /* a frame of an animation is seen */
    PHASE_TEXT,  /* the page is read */
    PHASE_ASK,   /* the question is open */
    PHASE_JUDGE, /* waits for the figures of the answer */
    PHASE_VERDICT,
    PHASE_AGAIN, /* applies a row of `again` before the question is asked again */
    PHASE_END
} LessonPhase;

enum { ANSWER_TYPED = 32 };
typedef struct {
    const Lesson *lesson; /* borrowed */
    LessonPhase phase;
    int page, target;   /* pages before `target` pass without a stop */
    int step;           /* the next step to carry out */
    int frame;          /* of an animation */
    int again;          /* how often the question was asked again */
    unsigned explained; /* sources of figures that were explained: 1u << FigureSource */
    bool alone;         /* a quiz: the run ends behind the question of page `target` */
    bool hurries;       /* the learner does not want to wait for unknown figures */
    int answered;       /* the questions of the first `answered` pages were counted */
    int right, asked;   /* score */
    int skipped;        /* questions that the learner skipped */
    int void_count;     /* answers that could not be judged */
    LessonPanel point;
    Value names[EXPRESSION_NAMES];
    char typed[ANSWER_TYPED]; /* the learner's answer: a number, an order such as "2 1 3", or the
                                 digit of the marked choice, from 1 */
    LessonVerdict verdict;
    /* The right answer to the question judged last, in words, and as a learner types it. */
    char solution[400], right_answer[ANSWER_TYPED];
    char note[200];   /* the mistake in an input; "": none */
    PaneText undrawn; /* the page's text in front of its drawing */
    PaneText page_text, reveal;
} LessonRun;

/* Begins the lesson at page `page` (from 0). The lesson must outlive the run. The caller may then
 * set `right`, `asked` and `answered` to the score so far. */
void lesson_run_init(LessonRun *run, const Lesson *lesson, int page);

LessonWants lesson_run_wants(const LessonRun *run);
void lesson_run_control(const LessonRun *run, char *line, size_t size);
void lesson_run_done(LessonRun *run);

/* Gives the machine the figures of the newest job. `final`: unknown figures stay unknown. False:
 * needed figures are missing, and the machine waits for newer ones. */
bool lesson_run_figures(LessonRun *run, const State *state, const LiveData *live, bool final);

/* Gives the machine an input. Returns false where the input means nothing now. */
bool lesson_run_input(LessonRun *run, const LessonInput *input);

void lesson_run_show(const LessonRun *run, LessonPane *pane);

/* ---- what the files of the machine share ----------------------------------------------------- */

const LessonQuestion *lesson_run_question(const LessonRun *run); /* of this page; NULL: none */
bool lesson_run_asks_again(const LessonRun *run); /* behind the wrong answer, after a change */

/* Draws the live scene into the pane. `frame`: from 0, below lesson_drawing_frames(). */
void lesson_add_drawing(PaneText *pane, LessonDrawing what, int frame, const LiveData *live);
int lesson_drawing_frames(LessonDrawing what);

/* Explains each source of figures in `text`, such as "(model)", once in a lesson. */
void lesson_explain_sources(LessonRun *run, PaneText *pane, const char *text);
