/* What happens to the state of the live display, what is asked of the engine, what comes back. */
#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/scene/scatter.h"
#include "src/ui/loop_internal.h"
#include "src/ui/rescue.h"

#include <math.h>
#include <string.h>

enum { ECHO_MS = 80 }; /* a key whose picture takes longer is acknowledged before it */

/* ---- the engine ------------------------------------------------------------------------------ */

static void destroy_picture(void *contents) {
    window_picture_free(contents);
}

/* Draws a frame's pictures, on the engine's thread; keeps the previous ones if nothing changed. */
static void *make_picture(const State *state, const LiveData *live, void *previous,
                          const GiveUp *give_up, Err *err) {
    WindowPicture picture;
    bool same;
    if (!window_picture(state, live, previous, give_up, &picture, &same, err))
        return NULL;
    if (same)
        return ref_keep(previous);
    WindowPicture *shared = ref_new(sizeof *shared, destroy_picture);
    if (shared)
        *shared = picture;
    else {
        window_picture_free(&picture);
        err_set(err, ERR_FAILED, "picture", "", "out of memory");
    }
    return shared;
}

bool loop_open_engine(Loop *loop, Err *err) {
    EngineOptions options = {.where = loop->options->where, .background = true};
    options.make_picture = make_picture;
    options.thread_begin = rescue_thread_begin;
    options.thread_end = rescue_thread_end;
    return engine_open(&loop->engine, &options, err);
}

void loop_submit(Loop *loop) {
    loop->request = engine_request(loop->engine, &loop->state);
}

/* ---- events ---------------------------------------------------------------------------------- */

bool loop_step(Loop *loop, const Event *event) {
    unsigned bits = state_step(&loop->state, event);
    if (bits & STEP_REDRAW)
        loop->term_dirty = loop->window_dirty = true;
    if (bits & (STEP_RUN | STEP_LOOK))
        loop_submit(loop);
    if (bits & STEP_QUIT)
        loop->quit = true;
    if (bits & STEP_LESSON)
        loop_lesson_wish(loop);
    if (bits & STEP_SNAPSHOT)
        loop_snapshot(loop);
    if (bits & STEP_RECORD)
        loop_recording(loop);
    if (bits & STEP_FULLSCREEN && loop->window)
        sdl_window_fullscreen(loop->window, loop->state.fullscreen);
    return bits & STEP_REDRAW;
}

void loop_note(Loop *loop, const char *text) {
    loop_step(loop, &(Event){.kind = EVENT_NOTE, .text = text});
}

void loop_note_error(Loop *loop, const Err *err) {
    char line[512];
    err_line(err, line, sizeof line);
    loop_note(loop, line);
}

void loop_slow(Loop *loop) {
    char text[sizeof loop->state.waiting];
    slow_text(&loop->slow, &loop->menu.menu.scenes, engine_doing(loop->engine), clock_ms(), text,
              sizeof text);
    if (strcmp(text, loop->state.waiting) != 0)
        loop_step(loop, &(Event){.kind = EVENT_WAITING, .text = text});
}

static void note_asked(Loop *loop) {
    int scene = loop->state.job.scene;
    bool loads = !loop->frame || loop->frame->state.job.scene != scene;
    slow_asked(&loop->slow, scene, loads, loop->request, clock_ms());
}

void loop_submit_first(Loop *loop) {
    loop_submit(loop);
    note_asked(loop);
}

/* How things stood before a key or a click. */
typedef struct {
    uint64_t request;
    bool term_dirty, window_dirty;
} Before;

static Before before_it(const Loop *loop) {
    return (Before){loop->request, loop->term_dirty, loop->window_dirty};
}

/* A key is answered by the frame that it asks the engine for; where it asks for none, by drawing
 * the old frame again with the new state. */
static void await_answer(Loop *loop, const Before *before, bool redraw, double arrived_ms) {
    bool asked = loop->request != before->request;
    if (asked)
        note_asked(loop);
    if (asked || redraw)
        pace_key(&loop->pace, arrived_ms, asked ? loop->request : 0, loop_screens(loop));
    if (!asked || loop->state.lesson.open)
        return;
    loop->term_dirty = before->term_dirty; /* drawing the old frame would delay the new one */
    loop->window_dirty = before->window_dirty && !loop->gave_way;
    if (!loop->echoes)
        loop->echo_ms = clock_ms() + ECHO_MS;
    loop->echoes = true;
}

void loop_key(Loop *loop, int32_t key, double arrived_ms) {
    Event event = {.kind = EVENT_COMMAND};
    const Before before = before_it(loop);
    bool lesson = loop_lesson_key(loop, key);
    if (!lesson && !keys_find(key, &event.command))
        return;
    await_answer(loop, &before, lesson || loop_step(loop, &event), arrived_ms);
}

void loop_click(Loop *loop, const Event *event, double arrived_ms) {
    const Before before = before_it(loop);
    await_answer(loop, &before, loop_step(loop, event), arrived_ms);
}

double loop_echo_in_ms(const Loop *loop) {
    return loop->echoes ? loop->echo_ms - clock_ms() : INFINITY;
}

void loop_echo(Loop *loop) {
    if (loop_echo_in_ms(loop) > 0)
        return;
    loop->echoes = false;
    loop->term_dirty = loop->window_dirty = true;
}

bool loop_words(Loop *loop, const char *line, char *why, size_t size) {
    Event event = {.kind = EVENT_COMMAND};
    if (!keys_parse(line, &event.command, why, size))
        return false;
    loop_step(loop, &event);
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

const LiveData *loop_live(const Loop *loop) {
    return loop->frame ? &loop->frame->live : &loop->nothing;
}

const WindowPicture *loop_picture(const Loop *loop) {
    return loop->frame ? loop->frame->picture : NULL;
}

/* After a device error this process cannot use the GPU any more: the CPU takes over. */
static void leave_device(Loop *loop) {
    char why[160];
    if (!(loop->state.menu.where & 1u << BEV_CUDA) ||
        loop->state.job.config.kernel->where != BEV_CUDA)
        return;
    loop->state.menu.where = 1u << BEV_CPU;
    loop_words(loop, "backend cpu", why, sizeof why);
}

/* Each error once, also where a newer picture came before it was told; again after a frame without
 * it. */
static void note_error(Loop *loop, const EngineFrame *frame) {
    char line[sizeof loop->error_text];
    if (frame->errors != loop->errors)
        err_line(&frame->err, line, sizeof line);
    else
        memcpy(line, frame->live.error_text, sizeof loop->error_text);
    loop->errors = frame->errors;
    if (line[0] && strcmp(loop->error_text, line) != 0)
        loop_note(loop, line);
    memcpy(loop->error_text, line, sizeof loop->error_text);
}

/* Each note once, also those of frames that newer ones replaced before they were taken. */
static void note_notes(Loop *loop, const EngineFrame *frame) {
    if (frame->notes > loop->notes + ENGINE_NOTES)
        loop->notes = frame->notes - ENGINE_NOTES;
    while (loop->notes < frame->notes)
        loop_note(loop, frame->note[++loop->notes % ENGINE_NOTES]);
}

void loop_take_frame(Loop *loop) {
    const EngineFrame *frame = engine_take(loop->engine);
    if (!frame)
        return;
    if (!frame->loads) { /* the scene that was asked for cannot be shown at all */
        *loop->err = frame->err;
        loop->failed = loop->quit = true;
        return;
    }
    loop->frame = frame;
    slow_answered(&loop->slow, frame->request, clock_ms());
    slow_shown(&loop->slow, &frame->live);
    loop->term_dirty = loop->window_dirty = true;
    loop->echoes = loop->echoes && frame->request < loop->request;
    if (frame->loads != loop->loads) {
        loop->loads = frame->loads;
        loop_step(loop, &(Event){.kind = EVENT_SCENE, .scene = &frame->facts});
    }
    const Headline headline = live_headline(&frame->live);
    ShownWarps warps;
    bool recorded = live_warps(&frame->live, &warps);
    loop_step(loop, &(Event){.kind = EVENT_RESULT,
                             .headline = &headline,
                             .warps = recorded ? &warps : NULL});
    note_error(loop, frame);
    bool empty = frame->inputs.map && frame->inputs.map->map.points == 0;
    if (empty && !loop->empty)
        loop_note(loop, scatter_empty);
    loop->empty = empty;
    note_notes(loop, frame);
    if (frame->device_lost)
        leave_device(loop);
}
