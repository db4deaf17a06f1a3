/* SPDX-License-Identifier: MIT */
#include "src/ui/loop.h"

#include "src/base/clock.h"
#include "src/base/units.h"
#include "src/ui/loop_internal.h"
#include "src/base/rescue.h"
#include "src/base/tty.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOMENT_MS = 16,      /* least time between two moments of a moving world */
    CPU_MOMENT_MS = 33,  /* the same where the CPU pools: keys and figures need their share of it */
    LOST_MS = 1000,      /* a frame that takes longer is not waited for */
    WINDOW_POLL_MS = 8,  /* SDL's events cannot be waited for with poll() */
    IDLE_POLL_MS = 200,  /* nothing moves and no key is pressed */
    SAY_MS = 300,        /* patience at the end: with standard error, */
    ENGINE_END_MS = 150, /* with the current computation, */
    ECHO_MS = 80         /* a key whose picture takes longer is acknowledged before it */
};
enum { ASKED = STEP_RUN | STEP_LOOK };

/* ---- what the App leaves to the screens ------------------------------------------------------ */

unsigned loop_screens(const Loop *loop) {
    return (loop->term ? 1u << SCREEN_TERMINAL : 0) | (loop->window ? 1u << SCREEN_WINDOW : 0);
}

static void draw_all(Loop *loop) {
    loop->term_dirty = loop->window_dirty = true;
}

static unsigned serve_app(Loop *loop) {
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
    serve_app(loop);
}

/* Notes that a frame was asked for. The screens then say what a slow frame waits for. */
static void await_frame(Loop *loop, unsigned bits) {
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

/* Answers a key or a click. A frame that the key asks for answers the key. Otherwise the old frame
 * is drawn with the new state. */
void loop_serve_key(Loop *loop, double arrived_ms) {
    unsigned bits = serve_app(loop);
    if (bits & (ASKED | STEP_REDRAW))
        pace_key(&loop->pace, arrived_ms, bits & ASKED ? loop->app.request : 0, loop_screens(loop));
    await_frame(loop, bits);
}

void loop_serve_mouse(Loop *loop) {
    await_frame(loop, serve_app(loop));
}

static void serve_first(Loop *loop) {
    await_frame(loop, serve_app(loop));
    loop->echoes = false;
}

/* Shows what a slow picture waits for. */
static void say_slow(Loop *loop) {
    App *app = &loop->app;
    char text[sizeof app->state.waiting];
    slow_text(&loop->slow, &app->menu.menu.scenes, engine_doing(app->engine), clock_ms(), text,
              sizeof text);
    if (strcmp(text, app->state.waiting) != 0)
        app_step(app, &(Event){.kind = EVENT_WAITING, .text = text});
    serve_app(loop);
}

/* Returns the milliseconds until the echo of a key; INFINITY: no key waits. */
static double echo_in_ms(const Loop *loop) {
    return loop->echoes ? loop->echo_ms - clock_ms() : INFINITY;
}

/* Acknowledges a key whose picture is slow: draws the control's new value with the old picture. */
static void echo_key(Loop *loop) {
    if (echo_in_ms(loop) > 0)
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
    serve_app(loop);
    draw_all(loop);
}

/* ---- time and signals ------------------------------------------------------------------------ */

/* Returns the milliseconds until the world's next moment. The frame of the last moment must have
 * come first. A slow machine thus shows fewer moments, each at its own time. */
static double world_tick_in_ms(const Loop *loop, double now) {
    const State *state = &loop->app.state;
    const EngineFrame *frame = loop->app.frame;
    bool steps = state->job.steps && state->step_speed != 0;
    bool moving = state->playing || state->recording || steps || state_races(state);
    bool ready = frame && frame->state.job.serial == state->job.serial;
    return !moving ? INFINITY : (ready ? loop->moment_ms : loop->tick_ms + LOST_MS) - now;
}

/* Advances the time of a moving world when it is due. A late moment does not delay the next one. */
static void tick_world(Loop *loop) {
    double now = clock_ms(), passed = now - loop->tick_ms;
    if (world_tick_in_ms(loop, now) > 0)
        return;
    loop->tick_ms = now;
    bool cpu = loop->app.state.job.config.kernel->where == BEV_CPU;
    loop->moment_ms = fmax(loop->moment_ms + (cpu ? CPU_MOMENT_MS : MOMENT_MS), now);
    loop_record_frame(loop);
    app_step(&loop->app, &(Event){.kind = EVENT_TICK, .seconds = fmin(passed, 250) * 1e-3});
    loop_serve(loop);
}

/* Starts all clocks of the display, at its begin and after a stop. */
static void take_up_time(Loop *loop) {
    loop->tick_ms = loop->polled_ms = loop->pumped_ms = loop->slow.since_ms = clock_ms();
    loop->pace.waiting_count = 0;
    loop->app.desk.waits = false;
}

static void obey_signals(Loop *loop) {
    RescueSignals signals = rescue_take();
    if (signals.quit) {
        loop->signal = signals.quit;
        loop->quit = true;
        return;
    }
    if (signals.suspend && loop->term)
        term_suspend(loop->term);
    else if (signals.suspend)
        rescue_stop();
    if (signals.resumed && loop->term)
        term_resume(loop->term);
    if (loop->term && (signals.resized || signals.resumed || signals.suspend)) {
        term_resized(loop->term);
        loop_fit_terminal(loop);
    }
    if (signals.suspend || signals.resumed) {
        take_up_time(loop);
        loop->window_dirty = true;
    }
}

/* Returns how long to wait for input: until the next thing is due. */
static struct timespec time_to_wait(const Loop *loop) {
    double wait = loop->window ? WINDOW_POLL_MS : IDLE_POLL_MS;
    wait = fmin(wait, world_tick_in_ms(loop, clock_ms()));
    wait = fmin(wait, fmin(loop_draw_in_ms(loop), echo_in_ms(loop)));
    wait = fmin(wait, fmin(app_lesson_in_ms(&loop->app), app_tour_in_ms(&loop->app)));
    wait = fmin(wait, loop_tips_in_ms(loop));
    wait = fmin(wait, slow_in_ms(&loop->slow, clock_ms()));
    return (struct timespec){.tv_nsec = wait > 0 ? (long)(wait * 1e6) : 0};
}

/* Waits for input. Sets typed_ms, the earliest time at which the next input can have been typed:
 * the end of this wait, or of the wait before where input was there already. */
static int wait_for_input(Loop *loop, struct pollfd *waiting, nfds_t count) {
    double begun = clock_ms();
    const struct timespec wait = time_to_wait(loop);
    int found = ppoll(waiting, count, &wait, NULL);
    double now = clock_ms();
    loop->typed_ms = now - begun > 1 ? now : loop->polled_ms;
    loop->polled_ms = now;
    return found;
}

static void wait_for_something(Loop *loop) {
    struct pollfd waiting[] = {
        {.fd = rescue_fd(), .events = POLLIN},
        {.fd = engine_fd(loop->app.engine), .events = POLLIN},
        {.fd = loop->term || !loop->input_ended ? STDIN_FILENO : -1, .events = POLLIN},
        {.fd = loop->term && term_is_full(loop->term) ? STDOUT_FILENO : -1, .events = POLLOUT},
    };
    if (wait_for_input(loop, waiting, 4) < 0)
        return;
    if (loop->term && waiting[2].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        loop->hung_up = loop->quit = true;
        loop->signal = SIGHUP;
        return;
    }
    if (loop->term)
        loop_read_keys(loop);
    else if (waiting[2].revents)
        loop_read_lines(loop);
}

static void run_live(Loop *loop) {
    while (!loop->quit) {
        echo_key(loop);
        say_slow(loop);
        loop_tips(loop);
        loop_draw(loop);
        wait_for_something(loop);
        obey_signals(loop);
        if (loop->quit)
            return;
        loop_read_window(loop);
        loop_take_frame(loop);
        loop_take_messages(loop);
        tick_world(loop);
        app_lesson_turn(&loop->app, app_lesson_in_ms(&loop->app) <= 0);
        app_tour_turn(&loop->app);
        loop_serve(loop);
        if (!loop->term)
            loop_plain_step(loop);
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void print_greeting(Loop *loop) {
    if (!loop->options->no_terminal && !loop->options->app.tour)
        app_note(&loop->app,
                 "press : and type what you want to see; :tour is a talk of two minutes");
}

static bool open_all(Loop *loop, Err *err) {
    loop->start_ms = loop->said_ms = clock_ms();
    take_up_time(loop);
    const EngineOptions engine = {.where = loop->options->where,
                                  .background = true,
                                  .hurry = loop->options->app.tour,
                                  .make_picture = picture_make};
    bool plain = loop->options->no_terminal || term_impossible() != NULL;
    if (!app_open(&loop->app, &loop->options->app, &engine, err))
        return false;
    serve_first(loop);
    if (!plain && !loop_open_terminal(loop, err))
        return false;
    print_greeting(loop);
    loop_open_window(loop);
    return true;
}

/* Prints a line on standard error, but waits only SAY_MS for a terminal that does not read. */
static void say_on_stderr(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say_on_stderr(const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    tty_write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1,
              SAY_MS);
}

/* Reports how fast the display answered, as far as it was measured. */
static void say_quit(const Pace *pace) {
    char first[32], key[32], p99[32], text[400] = "", shown[sizeof text + 16];
    int used = 0, size = sizeof text;
    unit_text(UNIT_US, pace->first_us.value, first, sizeof first);
    unit_text(UNIT_US, pace->key_us.value, key, sizeof key);
    unit_text(UNIT_US, pace->key_p99_us.value, p99, sizeof p99);
    if (pace->first_us.source)
        used += snprintf(text, sizeof text, "; first picture after %s", first);
    if (pace->fps.source)
        used += snprintf(text + used, (size_t)(size - used), ", %.1f moments a second",
                         pace->fps.value);
    if (pace->keys)
        snprintf(text + used, (size_t)(size - used), ", key to picture %s, p99 %s (%lld keys)", key,
                 p99, (long long)pace->keys);
    text_for_locale(text, shown, sizeof shown);
    say_on_stderr("bevscope: quit%s\n", shown);
}

/* Prints the last line of the program, which reports what happened. */
static void say_goodbye(const Loop *loop, bool had_terminal) {
    const Pace pace = pace_figures(&loop->pace);
    if (loop->signal)
        say_on_stderr("bevscope: %s, everything was put back\n",
                      loop->hung_up ? "the terminal is gone" : rescue_what(loop->signal));
    else if (had_terminal)
        say_quit(&pace);
}

bool loop_run(const LoopOptions *options, LoopEnd *end, Err *err) {
    Loop *loop = calloc(1, sizeof *loop);
    *end = (LoopEnd){.signal = 0};
    if (!loop)
        return err_set(err, ERR_FAILED, "live", "", "out of memory");
    loop->options = options;
    bool ok = rescue_install(err) && open_all(loop, err);
    bool had_terminal = loop->term != NULL;
    if (ok)
        run_live(loop);
    if (ok && loop->app.failed) {
        *err = loop->app.err;
        ok = false;
    }
    if (ok && !loop->signal && !had_terminal)
        loop_print_plain(loop);
    term_close(loop->term); /* the user sees the end of the display at once */
    if (loop->picture_lost) /* the display may have ended before anybody read it */
        say_on_stderr("bevscope: %s\n", loop->lost);
    if (ok)
        say_goodbye(loop, had_terminal);
    sdl_window_close(loop->window);
    end->signal = loop->signal;
    end->threads_left = !app_close(&loop->app, ENGINE_END_MS);
    if (end->threads_left)
        return ok; /* they use the loop */
    cells_free(&loop->cells);
    rescue_remove();
    free(loop);
    return ok;
}
