/* SPDX-License-Identifier: MIT */
/* Lessons as text: a dialogue line by line where there is no terminal, and Markdown files. Nothing
 * is measured. Figures come from formulas, recordings and the model. */
#pragma once

#include "src/ui/script.h"

/* Prints the title and the rows of a pane, without its keys. */
void lesson_text_print(const LessonPane *pane);

/* Prints the lesson of `options`. Reads answers, controls and the words next, back, skip and quit
 * from standard input, one a line. An empty line goes on. `options->file` is not read. */
bool lesson_plain(const ScriptOptions *options, Err *err);

/* Writes the lesson with its answers as Markdown to `path`, and its pictures beside that file. */
bool lesson_export(const ScriptOptions *options, const char *path, Err *err);
