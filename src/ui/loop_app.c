/* Between the App and the screens: what an event requires of the screens, and how long a key waits
 * for its picture. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"

#include <math.h>
#include <string.h>

enum { ASKED = STEP_RUN | STEP_LOOK };

enum { ECHO_MS = 80 }; /* a key whose picture takes longer is acknowledged before it */

unsigned loop_screens(const Loop *loop) {
    return (loop->term ? 1u << SCREEN_TERMINAL : 0) | (loop->window ? 1u << SCREEN_WINDOW : 0);
}

static void draw_all(Loop *loop) {
    loop->term_dirty = loop->window_dirty = true;
}

static unsigned serve(Loop *loop) {
    unsigned bits = app_todo(&loop->app);
    if (bits & STEP_REDRAW)
        draw_all(loop);
    if (bits & STEP_QUIT)
        loop->quit = true;
    if (bits & STEP_SNAPSHOT)
        loop_snapshot(loop);
    if (bits & STEP_RECORD)
        loop_recording(loop);
    if (bits & STEP_FULLSCREEN && loop->window)
        sdl_window_fullscreen(loop->window, loop->app.state.fullscreen);
    return bits;
}

void loop_serve(Loop *loop) {
    serve(loop);
}

/* A frame was asked for: it may take long. */
static void await(Loop *loop, unsigned bits) {
    const App *app = &loop->app;
    int scene = app->state.job.scene;
    if (!(bits & ASKED))
        return;
    slow_asked(&loop->slow, scene, !app->frame || app->frame->state.job.scene != scene,
               app->request, clock_ms());
    if (!loop->echoes)
        loop->echo_ms = clock_ms() + ECHO_MS;
    loop->echoes = !(bits & STEP_REDRAW);
    if (loop->echoes && loop->gave_way)
        loop->window_dirty = false; /* drawing the old frame would delay the new one */
}

/* A key is answered by the frame that it asks for. A key that asks for no frame is answered by
 * drawing the old frame with the new state. */
void loop_serve_key(Loop *loop, double arrived_ms) {
    unsigned bits = serve(loop);
    if (bits & (ASKED | STEP_REDRAW))
        pace_key(&loop->pace, arrived_ms, bits & ASKED ? loop->app.request : 0,
                 loop_screens(loop));
    await(loop, bits);
}

void loop_serve_mouse(Loop *loop) {
    await(loop, serve(loop));
}

void loop_serve_first(Loop *loop) {
    await(loop, serve(loop));
    loop->echoes = false;
}

void loop_slow(Loop *loop) {
    App *app = &loop->app;
    char text[sizeof app->state.waiting];
    slow_text(&loop->slow, &app->menu.menu.scenes, engine_doing(app->engine), clock_ms(), text,
              sizeof text);
    if (strcmp(text, app->state.waiting) != 0)
        app_step(app, &(Event){.kind = EVENT_WAITING, .text = text});
    serve(loop);
}

double loop_echo_in_ms(const Loop *loop) {
    return loop->echoes ? loop->echo_ms - clock_ms() : INFINITY;
}

void loop_echo(Loop *loop) {
    if (loop_echo_in_ms(loop) > 0)
        return;
    loop->echoes = false;
    draw_all(loop);
}

void loop_take_frame(Loop *loop) {
    App *app = &loop->app;
    const Pace pace = pace_figures(&loop->pace);
    if (!app_take_frame(app, &pace)) {
        loop->quit |= app->failed;
        return;
    }
    slow_answered(&loop->slow, app->frame->request, clock_ms());
    slow_shown(&loop->slow, app_live(app));
    loop->echoes = loop->echoes && app->frame->request < app->request;
    serve(loop);
    draw_all(loop);
}
