/* Lessons in the live display. A lesson waits for the engine's figures without stopping the keys:
 * loop_lesson_turn() goes on with it whenever a frame, an input or a moment of an animation has
 * come. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"

#include <math.h>

/* So long a lesson waits for figures; what is unknown then counts as unknown. */
enum { PATIENCE_MS = 12000 };

/* ---- serving the lesson ---------------------------------------------------------------------- */

static void redraw(Loop *loop) {
    loop->term_dirty = loop->window_dirty = true;
}

static bool reset(void *context, int scene, Err *err) {
    Loop *loop = context;
    (void)err;
    state_begin_lesson(&loop->state, scene);
    loop_submit(loop);
    redraw(loop);
    return true;
}

static bool control(void *context, const char *line, Err *err) {
    char why[200];
    return loop_words(context, line, why, sizeof why) ||
           err_set(err, ERR_FAILED, "lesson", "", "%s", why);
}

static const LiveData *newest(void *context, bool *final) {
    Loop *loop = context;
    double now = clock_ms();
    if (!loop->frame || loop->frame->live.serial != loop->state.job.serial)
        return NULL;
    if (!loop->lesson_waits)
        loop->lesson_ms = now;
    loop->lesson_waits = true;
    *final = now - loop->lesson_ms > PATIENCE_MS;
    return &loop->frame->live;
}

static bool scene_known(void *context) {
    const Loop *loop = context;
    return loop->frame && loop->frame->state.job.scene == loop->state.job.scene;
}

static void tell(void *context, const Err *err) {
    loop_note_error(context, err);
}

void loop_lesson_turn(Loop *loop) {
    const LessonHost host = {loop, &loop->state, reset, control, newest, scene_known, tell};
    LessonDesk *desk = &loop->desk;
    Err err;
    if (!desk->open)
        return;
    LessonWants before = lesson_run_wants(&desk->run);
    if (before == LESSON_WANTS_PAUSE && clock_ms() >= loop->lesson_pause_ms)
        lesson_run_done(&desk->run);
    else if (before == LESSON_WANTS_PAUSE || before == LESSON_WANTS_INPUT)
        return;
    if (!lesson_desk_turn(desk, &host, &err))
        loop_note_error(loop, &err);
    LessonWants after = lesson_run_wants(&desk->run);
    if (after != LESSON_WANTS_FIGURES)
        loop->lesson_waits = false;
    if (after == LESSON_WANTS_PAUSE)
        loop->lesson_pause_ms = clock_ms() + 1e3 * lesson_run_pause(&desk->run);
    if (after != before)
        redraw(loop);
}

double loop_lesson_in_ms(const Loop *loop) {
    bool pauses = loop->desk.open && lesson_run_wants(&loop->desk.run) == LESSON_WANTS_PAUSE;
    return pauses ? loop->lesson_pause_ms - clock_ms() : INFINITY;
}

/* ---- what the learner does ------------------------------------------------------------------- */

static void use_input(Loop *loop, const LessonInput *input) {
    if (!lesson_desk_input(&loop->desk, input))
        return;
    lesson_run_show(&loop->desk.run, &loop->state.lesson);
    loop_lesson_turn(loop);
    redraw(loop);
}

bool loop_lesson_key(Loop *loop, int32_t key) {
    LessonInput input;
    LessonPane *pane = &loop->state.lesson;
    if (pane->open && (key == KEYCODE_SHIFT_UP || key == KEYCODE_SHIFT_DOWN)) {
        pane->scroll += key == KEYCODE_SHIFT_UP ? -1 : 1;
        redraw(loop);
        return true;
    }
    if (!lesson_desk_key(pane, key, &input))
        return false;
    use_input(loop, &input);
    return true;
}

bool loop_open_lesson(Loop *loop, const char *word, DeskMemory memory, Err *err) {
    if (!lesson_desk_open(&loop->desk, word, memory, &loop->state, err))
        return false;
    loop->lesson_waits = false;
    redraw(loop);
    return true;
}

void loop_lesson_wish(Loop *loop) {
    LessonInput input;
    Err err = {.kind = ERR_FAILED};
    LessonWish wish = loop->state.lesson_wish;
    loop->state.lesson_wish = WISH_NOTHING;
    bool ok = true;
    if (lesson_desk_wish(wish, &input))
        use_input(loop, &input);
    else if (wish != WISH_CLOSE) {
        State *state = &loop->state;
        if (wish == WISH_EXPLAIN)
            ok = lesson_desk_explain(state, loop->frame ? &loop->frame->live : NULL,
                                     state->lesson_name, sizeof state->lesson_name, &err);
        ok = ok && loop_open_lesson(loop, state->lesson_name, DESK_KEEPS, &err);
        if (ok)
            loop_lesson_turn(loop);
    } else
        ok = lesson_desk_close(&loop->desk, &loop->state, &err);
    if (!ok)
        loop_note_error(loop, &err);
}
