/* A lesson: one text file, read and checked as a whole before it begins. The format stands in
 * samples/lessons/README.md. A lesson is a list of steps, grouped into pages: what is shown until
 * the learner goes on. Steps only go forward, so no file can make an endless loop. */
#pragma once

#include "kernels/err.h"
#include "src/learn/expression.h"
#include "src/state/lesson_pane.h"

enum {
    LESSON_BYTES = 64 << 10,
    LESSON_STEPS = 400,
    LESSON_QUESTIONS = 40,
    LESSON_CHOICES = 9,
    LESSON_ORDER = 6,
    LESSON_WORDS = 8, /* of `run` and of `again`, each */
    LESSON_SHOWS = 4,
    LESSON_CODES = 3,       /* `source` rows of a question */
    LESSON_CODE_LINES = 12, /* of one of them */
    LESSON_SOURCES = 400,   /* all `source` rows */
    LESSON_FRAMES = 200     /* of an animation */
};

typedef enum {
    LESSON_SAY,
    LESSON_TERM,  /* number: row of the glossary */
    LESSON_POINT, /* number: LessonPanel */
    LESSON_LET,   /* number: index of the name */
    LESSON_CONTROL,
    LESSON_ANIMATE,
    LESSON_SOURCE,  /* number: row of `codes` */
    LESSON_QUESTION /* number: row of `questions` */
} LessonKind;

/* Lines of a source file. */
typedef struct {
    const char *file, *first; /* path below the data folder; a text of the first line */
    int lines;                /* how many */
    int line;                 /* where it begins, from 1; 0: not read */
    char *text;               /* the lines; owned */
} LessonCode;

typedef struct {
    const char *text;
    Expression value; /* whether the choice is right; of an order: what it is ordered by */
} LessonChoice;

/* Rows of a question. */
typedef struct {
    const char *rows[LESSON_WORDS];
    int count;
} LessonTexts;

typedef struct {
    int line;
    const char *text;
    LessonAsks asks;
    LessonChoice choices[LESSON_CHOICES]; /* of choice and order */
    int choice_count;
    double lo, hi; /* of a number */
    const char *unit;
    Expression expected;
    double within;
    bool percent; /* `within` is relative */
    LessonTexts run, again, show;
    const char *why, *hint; /* NULL: none */
    int codes[LESSON_CODES], code_count;
} LessonQuestion;

typedef struct {
    LessonKind kind;
    int line, number;
    const char *text;      /* say: the paragraph; control: its line */
    Expression expression; /* let */
    const char *word;      /* animate: a control that takes a number */
    double from, to, seconds;
    int frames;
} LessonStep;

typedef struct {
    int first, count; /* steps */
} LessonPage;

typedef struct {
    char name[64];     /* "02-ten-times-the-indices"; the file's name without folder and suffix */
    const char *title; /* never NULL */
    int minutes;
    char *bytes; /* all texts point into it */
    LessonStep *steps;
    int step_count;
    LessonQuestion *questions;
    int question_count;
    LessonPage *pages;
    int page_count;
    LessonCode *codes;
    int code_count;
    NameTable names;
    OpPool pool;
    KernelSet model_kernels; /* whose memory model it asks for */
} Lesson;

/* Reads and checks a file: its text, and that all lines of source that it shows are there. Errors
 * say file, line, what is wrong and what to do. Free it with lesson_free. */
bool lesson_load(const char *path, Lesson *lesson, Err *err);

/* The same from memory; `where` begins the errors. Sources are not read. */
bool lesson_parse(const char *text, size_t length, const char *where, Lesson *lesson, Err *err);

/* Accepts NULL and a zeroed lesson. */
void lesson_free(Lesson *lesson);
