/* SPDX-License-Identifier: MIT */
/* What the files that parse lessons share. Private to src/learn. */
#pragma once

#include "src/learn/lesson.h"

typedef struct {
    Lesson *lesson;
    const char *where;
    int line;             /* of the word that is read now */
    LessonQuestion *open; /* the question that rows still belong to; NULL: none */
    Err *err;
} Reader;

/* Reports an error in the line that is read now. Returns false. */
bool reader_refuse(Reader *reader, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Parses an expression that stands in the line that is read now. */
bool reader_expression(Reader *reader, const char *text, Expression *expression);

/* Checks the expressions in the braces of a text, and reports the first mistake. */
bool reader_text(Reader *reader, const char *text);

/* Reads a row `FILE "TEXT" LINES`, which names lines of source, and appends it to lesson->codes. */
bool reader_code(Reader *reader, char *rest);

/* Reads the lines of source that all `codes` name. `where` is the lesson's file, for errors. */
bool lesson_read_codes(Lesson *lesson, const char *where, Err *err);

/* Checks a control with its argument, written as in a script. */
bool reader_control(Reader *reader, const char *text);

/* Cuts the first word off *rest and returns the word; "" where there is none. */
char *reader_word(char **rest);

/* A word of lessons, and the function that reads the rest of its line. */
typedef struct {
    const char *word; /* NULL ends a table */
    bool (*read)(Reader *reader, char *rest);
} LessonRow;

extern const LessonRow question_rows[]; /* of an open question: `choose`, `number`, `expect` ... */

/* Whether the question that ends here is complete. */
bool reader_close_question(Reader *reader);
