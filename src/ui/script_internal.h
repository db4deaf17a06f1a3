/* SPDX-License-Identifier: MIT */
/* What scripts and lessons as text share. Private to both and to the test of lessons. */
#pragma once

#include "src/ui/script.h"
#include "src/view/term/cells.h"
#include "src/view/window/window_image.h"

typedef struct {
    const ScriptOptions *options;
    App app;
    Cells cells;
    int frames, line;
    bool quit;
} Script;

/* Opens everything and renders the first frame. script_close must follow, also after an error. */
bool script_open(Script *script, const ScriptOptions *options, Err *err);
void script_close(Script *script);

/* Carries out the effects of events and inputs so far. An error of theirs is returned. */
bool script_serve(Script *script, Err *err);

/* Carries out one line of a script, which may end with a comment. */
bool script_use_line(Script *script, char *line, Err *err);

/* Writes a picture into the folder of the frames. */
bool script_write_image(const Script *script, const char *name, Image *image, Err *err);

bool script_lesson_input(Script *script, const LessonInput *input, Err *err);
/* Gives `rest`, the text after `answer`, to the lesson's question. */
bool script_answer(Script *script, const char *rest, Err *err);
/* Ends one frame of an animation. */
bool script_lesson_tick(Script *script, Err *err);
