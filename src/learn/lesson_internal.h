/* What the parser's files share. Private to src/learn. */
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

/* Checks the expressions in the braces of a text. */
bool reader_text(Reader *reader, const char *text);

/* Adds a row for lines of source, `FILE "TEXT" LINES`: the last one of `codes`. */
bool reader_code(Reader *reader, char *rest);

/* Reads the lines of source of all rows. `where` is the lesson's file, for errors. */
bool lesson_read_codes(Lesson *lesson, const char *where, Err *err);

/* A control and its argument, as in a script. */
bool reader_control(Reader *reader, const char *text);

/* Cuts the first word off; returns it, "" where there is none. */
char *reader_word(char **rest);

/* A word of lessons, and what reads its row. */
typedef struct {
    const char *word; /* NULL ends a table */
    bool (*read)(Reader *reader, char *rest);
} LessonRow;

extern const LessonRow question_rows[]; /* of an open question: `choose`, `number`, `expect` ... */

/* Whether the question that ends here is complete. */
bool reader_close_question(Reader *reader);
