/* SPDX-License-Identifier: MIT */
/* Reads the parts of a lesson's rows: words, expressions, texts, controls. Reports their errors. */
#include "src/learn/lesson_internal.h"

#include "src/state/keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool reader_refuse(Reader *reader, const char *hint, const char *format, ...) {
    char where[256], what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(where, sizeof where, "%.200s:%d", reader->where, reader->line);
    return err_set(reader->err, ERR_FAILED, where, hint, "%s", what);
}

char *reader_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t");
    size_t length = strcspn(word, " \t");
    *rest = word + length;
    if (**rest)
        *(*rest)++ = '\0';
    *rest += strspn(*rest, " \t");
    return word;
}

bool reader_expression(Reader *reader, const char *text, Expression *expression) {
    char why[200];
    Lesson *lesson = reader->lesson;
    if (!expression_parse(text, &lesson->names, &lesson->pool, expression, why, sizeof why))
        return reader_refuse(reader, "", "%s", why);
    lesson->model_kernels |= expression_model_kernels(&lesson->pool, *expression);
    return true;
}

bool reader_text(Reader *reader, const char *text) {
    char inner[256];
    if (!*text)
        return reader_refuse(reader, "", "a text is missing");
    for (const char *at = text; (at = strchr(at, '{'));) {
        const char *end = strchr(at, '}');
        Expression unused;
        if (!end || end - at >= (int)sizeof inner)
            return reader_refuse(reader, "an expression ends with }", "a { is not closed");
        snprintf(inner, sizeof inner, "%.*s", (int)(end - at - 1), at + 1);
        OpPool *pool = &reader->lesson->pool;
        int before = pool->count;
        if (!reader_expression(reader, inner, &unused))
            return false;
        pool->count = before; /* parsed again when the text is shown */
        at = end;
    }
    return true;
}

bool reader_control(Reader *reader, const char *text) {
    static const Action not_here[] = {ACTION_QUIT,     ACTION_RECORD, ACTION_LESSON, ACTION_EXPLAIN,
                                      ACTION_WORKFLOW, ACTION_NEXT,   ACTION_BACK,   ACTION_SKIP,
                                      ACTION_UNDO,     ACTION_TOUR};
    char why[200];
    Command command;
    if (!keys_parse(text, &command, why, sizeof why))
        return reader_refuse(reader, "", "%s", why);
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
        if (command.action == not_here[i])
            return reader_refuse(reader, "leave that to the learner", "a lesson may not use \"%s\"",
                                 keys[command.action].word);
    return true;
}
