/* The lesson of a test, read from a text. */
#pragma once

#include "src/learn/lesson.h"

#include <string.h>

static Lesson lesson; /* the last one read; free it with lesson_free */

/* Errors name the file x.lesson. */
static inline bool parse(const char *text, Err *err) {
    lesson_free(&lesson);
    return lesson_parse(text, strlen(text), "x.lesson", &lesson, err);
}
