/* Lessons as text: asked and answered line by line where there is no terminal, and written as
 * Markdown. Nothing is measured; figures come from formulas, recordings and the model. */
#pragma once

#include "src/ui/script.h"

/* Prints the title and the rows of a pane, without its keys. */
void lesson_text_print(const LessonPane *pane);

/* Prints the lesson of `options` and reads answers, controls and the words next, back, skip and
 * quit from standard input, a line each; an empty line goes on. `options->file` is not read. */
bool lesson_plain(const ScriptOptions *options, Err *err);

/* Writes the lesson with its answers as Markdown to `path`, and its pictures beside it. */
bool lesson_export(const ScriptOptions *options, const char *path, Err *err);
