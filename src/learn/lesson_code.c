/* SPDX-License-Identifier: MIT */
/* Reads the lines of source that a lesson shows. A text of their first line finds them, so that a
 * change elsewhere in the file does no harm. */
#include "src/learn/lesson_internal.h"

#include "src/base/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_BYTES = 1 << 20 };

bool reader_code(Reader *reader, char *rest) {
    static const char form[] = "for example: source kernels/cuda/v2.cu \"for (int\" 6";
    Lesson *lesson = reader->lesson;
    char *file = reader_word(&rest), *end = *rest == '"' ? strchr(rest + 1, '"') : NULL, more[2];
    int lines;
    if (!end || end == rest + 1)
        return reader_refuse(reader, form,
                             "source takes a file, a text in quotes and a number of lines");
    *end = '\0';
    if (sscanf(end + 1, "%d %1s", &lines, more) != 1 || lines < 1 || lines > LESSON_CODE_LINES)
        return reader_refuse(reader, form, "source shows 1 to %d lines", LESSON_CODE_LINES);
    if ((strncmp(file, "kernels/", 8) != 0 && strncmp(file, "samples/", 8) != 0) ||
        strstr(file, ".."))
        return reader_refuse(reader, "name a file below kernels/ or samples/",
                             "\"%s\" is no source of this program", file);
    if (lesson->code_count == LESSON_SOURCES)
        return reader_refuse(reader, "", "more than %d sources", LESSON_SOURCES);
    lesson->codes[lesson->code_count++] =
        (LessonCode){.file = file, .first = rest + 1, .lines = lines, .line = reader->line};
    return true;
}

/* Copies `code->lines` lines of `source`, from the first line that contains code->first.
 * `code->line` is the row's number in the lesson before, and the line number in the source
 * afterwards. */
static bool take_lines(LessonCode *code, const char *source) {
    const char *found = strstr(source, code->first), *begin = found, *end = found;
    if (!found)
        return false;
    while (begin > source && begin[-1] != '\n')
        begin--;
    for (int i = 0; i < code->lines && *end; i++) {
        end += strcspn(end, "\n");
        end += i + 1 < code->lines && *end;
    }
    code->line = 1;
    for (const char *at = source; at < begin; at++)
        code->line += *at == '\n';
    code->text = strndup(begin, (size_t)(end - begin));
    return code->text != NULL;
}

static bool read_code(LessonCode *code, const char *lesson, Err *err) {
    char path[4096], where[256], *source = NULL;
    size_t length;
    snprintf(where, sizeof where, "%.200s:%d", lesson, code->line);
    bool ok = data_path(code->file, path, sizeof path, err) &&
              data_read(path, SOURCE_BYTES, &source, &length, err);
    if (!ok)
        return err_set(err, ERR_FAILED, where, "name a file below kernels/ or samples/",
                       "there is no source %s", code->file);
    if (!take_lines(code, source))
        ok = err_set(err, ERR_FAILED, where, "copy a part of the first line to show",
                     "no line of %s has the text \"%.80s\"", code->file, code->first);
    free(source);
    return ok;
}

bool lesson_read_codes(Lesson *lesson, const char *where, Err *err) {
    for (int i = 0; i < lesson->code_count; i++)
        if (!read_code(&lesson->codes[i], where, err))
            return false;
    return true;
}
