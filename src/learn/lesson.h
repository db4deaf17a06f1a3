/* SPDX-License-Identifier: MIT */
/* A lesson is a text file, whose format samples/lessons/README.md explains. The whole file is read
 * and checked before the lesson begins. A lesson is a list of steps in pages, and the learner sees
 * one page at a time. Steps only go forward, so no file can loop for ever. */
#pragma once

#include "src/learn/expression.h"

enum {
    LESSON_BYTES = 64 << 10,
    LESSON_STEPS = 400,
    LESSON_QUESTIONS = 40,
    LESSON_CHOICES = 9,
    LESSON_ORDER = 6,
    LESSON_WORDS = 8, /* of `again` */
    LESSON_SHOWS = 4,
    LESSON_CODES = 3,       /* `source` rows of a question */
    LESSON_CODE_LINES = 12, /* lines of one piece of source */
    LESSON_SOURCES = 400,   /* all `source` rows */
    LESSON_FRAMES = 200     /* frames of an animation */
};

typedef enum {
    LESSON_SAY,
    LESSON_TERM,  /* number: row of the glossary */
    LESSON_POINT, /* number: LessonPanel */
    LESSON_MARK,  /* text: the name of the page that begins here */
    LESSON_LET,   /* number: index of the name */
    LESSON_CONTROL,
    LESSON_ANIMATE,
    LESSON_SOURCE,   /* number: row of `codes` */
    LESSON_DRAW,     /* number: LessonDrawing; several frames play as an animation */
    LESSON_QUESTION, /* number: row of `questions`; the page stops here for the answer */
    LESSON_RUN       /* as LESSON_CONTROL, behind the answer to the question of the page */
} LessonKind;

/* The drawings of a lesson. The scene must have one camera and a few pixels. */
typedef enum {
    DRAW_RAYS,   /* rays from the camera, cut by the planes of depth bins */
    DRAW_POINTS, /* the grid over the rays: pairs inside are filled, pairs outside hollow */
    DRAW_CELLS,  /* as DRAW_POINTS, with the number of points of each cell */
    DRAW_SORT,   /* the table of points, sorted by cell step by step */
    DRAW_COUNT
} LessonDrawing;
extern const char *const lesson_drawings[DRAW_COUNT]; /* "rays", "points", ... */

typedef struct {
    const char *file; /* path below the data folder */
    int lines, line;  /* how many; where the first is, from 1 */
    char *text;       /* the lines; owned */
} LessonCode;

typedef struct {
    const char *text;
    const char *value; /* of a choice: the expression that is true if it is right; of an order: the
                          figure of the kernel */
    const char *wrong; /* of a choice: the text for a learner who took it; NULL: nothing */
} LessonChoice;

/* Several texts of a question: what `again` or `show` list. */
typedef struct {
    const char *rows[LESSON_WORDS];
    int count;
} LessonTexts;

typedef struct {
    int line, step; /* line of the file; index of the lesson's step of kind LESSON_QUESTION */
    const char *text;
    LessonAsks asks;
    LessonChoice choices[LESSON_CHOICES]; /* of choice and order */
    int choice_count;
    double lo, hi; /* of a number */
    const char *unit;
    char figures[LESSON_ORDER][96]; /* of an order: "latency(v2)" */
    const char *expected;           /* of a number: the expression; NULL: none yet */
    double within;
    bool percent; /* `within` is relative */
    LessonTexts again, show;
    const char *why, *hint; /* NULL: none */
    int codes[LESSON_CODES], code_count;
} LessonQuestion;

typedef struct {
    LessonKind kind;
    int number;
    const char *text; /* say: the paragraph; control: its line; let: the expression */
    const char *word; /* animate: a control that takes a number */
    double from, to, seconds;
    int frames;
} LessonStep;

typedef struct {
    int first, count;               /* steps */
    const LessonQuestion *question; /* NULL: none */
} LessonPage;

typedef struct {
    char name[64];     /* "02-ten-times-the-indices"; the file's name without folder and suffix */
    const char *title; /* never NULL */
    int minutes;
    LessonStep steps[LESSON_STEPS + 1];
    int step_count;
    LessonQuestion questions[LESSON_QUESTIONS];
    int question_count;
    LessonPage pages[LESSON_STEPS];
    int page_count;
    int asking_pages; /* the number of pages up to the last page with a question */
    LessonCode codes[LESSON_SOURCES];
    int code_count;
    NameTable names;
    KernelSet model_kernels;      /* kernels whose memory model the lesson asks for */
    char bytes[LESSON_BYTES + 2]; /* the file: all texts lie in it */
} Lesson;

/* Reads and checks a lesson's file. An error has the file, the line, the mistake and a remedy. */
Lesson *lesson_load(const char *path, Err *err);

/* Returns the page that `mark` names, from 0; -1: no page has that name. */
int lesson_page(const Lesson *lesson, const char *mark);

/* Reads and checks a lesson from memory. Errors begin with `where`. */
Lesson *lesson_parse(const char *text, size_t length, const char *where, Err *err);

void lesson_free(Lesson *lesson); /* accepts NULL */
