/* What happens to the live display's state, and what that asks of the engine. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"

#include <math.h>

enum { ECHO_MS = 80 }; /* a key whose picture takes longer is acknowledged before it */

/* Whether the picture of `a` would not do for `b`, although both pool the same. */
static bool looks_different(const State *a, const State *b) {
    return a->view != b->view || a->channel != b->channel || a->colormap != b->colormap ||
           a->range_locked != b->range_locked || a->strip != b->strip || a->chart != b->chart ||
           a->compare != b->compare || a->playing != b->playing || a->counts != b->counts;
}

void loop_submit(Loop *loop, bool run) {
    if (!run && !looks_different(&loop->submitted, &loop->state))
        return;
    loop->submitted = loop->state;
    loop->request = engine_request(loop->engine, &loop->state);
}

bool loop_step(Loop *loop, const Event *event) {
    unsigned bits = state_step(&loop->state, event);
    if (bits & STEP_REDRAW)
        loop->term_dirty = loop->window_dirty = true;
    loop_submit(loop, bits & STEP_RUN);
    if (bits & STEP_QUIT)
        loop->quit = true;
    if (bits & STEP_SNAPSHOT)
        loop_snapshot(loop);
    if (bits & STEP_RECORD)
        loop_recording(loop);
    if (bits & STEP_FULLSCREEN && loop->window)
        window_fullscreen(loop->window, loop->state.fullscreen);
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

/* The picture that answers is the one that was asked for just now; else the old one, drawn again.
 */
void loop_key(Loop *loop, int32_t key, double arrived_ms) {
    Event event = {.kind = EVENT_COMMAND};
    uint64_t before = loop->request;
    bool term_dirty = loop->term_dirty, window_dirty = loop->window_dirty;
    if (!keys_find(key, &event.command))
        return;
    bool redraw = loop_step(loop, &event), asked = loop->request != before;
    if (asked || redraw)
        pace_key(&loop->pace, arrived_ms, asked ? loop->request : 0, loop_screens(loop));
    if (!asked)
        return;
    loop->term_dirty = term_dirty; /* drawing would only take time from the picture that comes */
    loop->window_dirty = window_dirty && !loop->gave_way;
    if (!loop->echoes)
        loop->echo_ms = clock_ms() + ECHO_MS;
    loop->echoes = true;
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
