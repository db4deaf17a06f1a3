/* What scripts and lessons as text share. Private to src/ui: script.c, lesson_text.c, and the test
 * that takes every lesson. */
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

/* Opens everything and renders the first frame. Close it with script_close, also after an error. */
bool script_open(Script *script, const ScriptOptions *options, Err *err);
void script_close(Script *script);

/* Carries out the effects of events and inputs so far. Their error is the line's error. */
bool script_serve(Script *script, Err *err);

/* A line as scripts have it, with its comment. */
bool script_use_line(Script *script, char *line, Err *err);

/* Writes a picture into the folder of the frames. */
bool script_write_image(const Script *script, const char *name, Image *image, Err *err);

bool script_lesson_input(Script *script, const LessonInput *input, Err *err);
/* `answer ...` */
bool script_answer(Script *script, const char *rest, Err *err);
/* A frame of an animation is over. */
bool script_lesson_tick(Script *script, Err *err);
