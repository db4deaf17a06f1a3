/* Lessons in scripts: figures are computed at once and nothing is measured, so that the same
 * answers give the same bytes on every machine. */
#include "src/ui/script_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- serving the lesson ---------------------------------------------------------------------- */

/* A step back of time makes the renderer compute again. */
static bool reset(void *context, int scene, Err *err) {
    Script *script = context;
    state_begin_lesson(&script->state, scene);
    return script_step(script,
                       &(Event){.kind = EVENT_COMMAND, .command = {.action = ACTION_REPAIR}}, err);
}

static bool control(void *context, const char *line, Err *err) {
    char why[200];
    Event event = {.kind = EVENT_COMMAND};
    if (!keys_parse(line, &event.command, why, sizeof why))
        return script_refuse(context, why, err);
    return script_step(context, &event, err);
}

static const LiveData *newest(void *context, bool *final) {
    *final = true;
    return &((Script *)context)->live;
}

static bool scene_known(void *context) {
    (void)context;
    return true;
}

static void tell(void *context, const Err *err) {
    char line[512];
    err_line(err, line, sizeof line);
    state_step(&((Script *)context)->state, &(Event){.kind = EVENT_NOTE, .text = line});
}

static bool turn(Script *script, Err *err) {
    const LessonHost host = {script, &script->state, reset, control, newest, scene_known, tell};
    return lesson_desk_turn(&script->desk, &host, err);
}

bool script_open_lesson(Script *script, const char *word, Err *err) {
    return lesson_desk_open(&script->desk, word, script->options->memory, &script->state, err) &&
           turn(script, err);
}

/* ---- what the learner does ------------------------------------------------------------------- */

bool script_lesson_input(Script *script, const LessonInput *input, Err *err) {
    lesson_desk_input(&script->desk, input);
    return turn(script, err);
}

bool script_lesson_wish(Script *script, Err *err) {
    LessonInput input;
    State *state = &script->state;
    LessonWish wish = state->lesson_wish;
    state->lesson_wish = WISH_NOTHING;
    if (lesson_desk_wish(wish, &input))
        return script_lesson_input(script, &input, err);
    if (wish == WISH_EXPLAIN &&
        !lesson_desk_explain(state, &script->live, state->lesson_name, sizeof state->lesson_name,
                             err))
        return false;
    return wish != WISH_CLOSE ? script_open_lesson(script, state->lesson_name, err)
                             : lesson_desk_close(&script->desk, state, err);
}

bool script_answer(Script *script, const char *rest, Err *err) {
    if (!script->desk.open)
        return script_refuse(script, "answer: no lesson is open; lesson NAME opens one", err);
    const LessonInput input = {.kind = INPUT_ANSWER, .text = rest};
    return script_lesson_input(script, &input, err);
}

bool script_lesson_tick(Script *script, Err *err) {
    if (!script->desk.open || lesson_run_wants(&script->desk.run) != LESSON_WANTS_PAUSE)
        return true;
    lesson_run_done(&script->desk.run);
    return turn(script, err);
}
