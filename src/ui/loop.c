/* SPDX-License-Identifier: MIT */

#include "src/base/clock.h"
#include "src/base/rescue.h"
#include "src/ui/loop_internal.h"
#include "src/view/term/dashboard.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_RECORDINGS = 1000 };

enum {
    MOMENT_MS = 16,      /* least time between two moments of a moving world */
    CPU_MOMENT_MS = 33,  /* MOMENT_MS where the CPU pools, and keys and figures need time, too */
    LOST_MS = 1000,      /* the world goes on without a frame that takes longer */
    WINDOW_POLL_MS = 8,  /* time between two looks for SDL's events, which poll() does not tell */
    IDLE_POLL_MS = 200,  /* the longest wait for input */
    SAY_MS = 300,        /* at the end: the longest wait for standard error */
    ENGINE_END_MS = 150, /* at the end: the longest wait for the current computation */
    ECHO_MS = 80,        /* a key whose picture takes longer is shown with the old picture */
    DRAWING_MS = 8       /* the least time from one drawing of a screen to the next */
};
enum { FRAME_ASKED = STEP_RUN | STEP_LOOK }; /* the bits that ask the engine for a frame */

/* ---- snapshots and recordings ---------------------------------------------------------------- */

/* Writes the picture to a file and logs the result. A recording logs only its first error. */
static void write_picture(Loop *loop, const State *state, const char *path) {
    Image image = {.w = 0};
    Err err;
    const bool of_recording = loop->recording[0] != '\0';
    int w = SNAPSHOT_W, h = SNAPSHOT_H;
    double scale =
        loop->window ? sdl_window_size(loop->window, state, &w, &h) : state_text_scale(state);
    const bool written = window_image(w, h, scale, state, app_live(&loop->app),
                                      app_picture(&loop->app), &image, &err) &&
                         image_write(&image, path, of_recording, &err);
    image_free(&image);
    loop->picture_lost = !written;
    snprintf(loop->written, sizeof loop->written, "wrote %.250s: cameras, BEV and panels", path);
    if (!written)
        err_line(&err, loop->written, sizeof loop->written);
    if (!of_recording || (!written && !loop->frame_lost))
        app_note(&loop->app, loop->written);
    loop->frame_lost |= loop->picture_lost;
}

static void take_snapshot(Loop *loop) {
    char name[256];
    const LiveData *live = app_live(&loop->app);
    State bare = loop->app.state;
    bare.bare = true;
    state_snapshot_name(&bare, &live->job, live->stand_in, name, sizeof name);
    write_picture(loop, &bare, name);
    char command[256], note[320];
    if (loop->picture_lost || !state_figure_command(&bare, &live->job, command, sizeof command))
        return;
    snprintf(note, sizeof note, "the BEV alone: %s", command);
    app_note(&loop->app, note);
}

/* Takes the snapshot that the user asked for, once the picture answers all earlier keys. When the
 * user quits, takes the snapshot of the picture that is there. */
static void take_due_snapshot(Loop *loop) {
    const EngineFrame *frame = loop->app.frame;
    const bool keys_answered = frame && frame->request >= loop->snapshot_request;
    if (!loop->snapshot_due || !frame || (!keys_answered && !loop->quit))
        return;
    loop->snapshot_due = false;
    take_snapshot(loop);
}

/* Begins or ends a recording. Each recording gets a new folder, so that older frames are kept. */
static void switch_recording(Loop *loop) {
    bool made = false, name_is_taken = true;
    loop->recording[0] = '\0';
    loop->recorded = -1;
    loop->frame_lost = false;
    if (!loop->app.state.recording)
        return;
    for (int i = 1; name_is_taken && i < MAX_RECORDINGS; i++) {
        snprintf(loop->recording, sizeof loop->recording, "recording-%03d", i);
        made = mkdir(loop->recording, 0777) == 0;
        name_is_taken = !made && errno == EEXIST;
    }
    if (made)
        return;
    Err err;
    err_set(&err, ERR_FAILED, loop->recording, "", "no folder for the recording: %s",
            strerror(errno));
    loop->recording[0] = '\0';
    app_note_error(&loop->app, &err);
}

void loop_record_frame(Loop *loop) {
    char path[160];
    if (!loop->recording[0] || loop->recorded == loop->app.state.recorded_frames)
        return;
    loop->recorded = loop->app.state.recorded_frames;
    snprintf(path, sizeof path, "%s/frame-%06lld.png", loop->recording, (long long)loop->recorded);
    write_picture(loop, &loop->app.state, path);
}

/* ---- what the App leaves to the screens ------------------------------------------------------ */

/* Returns the open screens, a mask of 1u << Screen. */
static unsigned open_screens(const Loop *loop) {
    return (loop->term ? 1u << SCREEN_TERMINAL : 0) | (loop->window ? 1u << SCREEN_WINDOW : 0);
}

/* Notes that a screen shows the newest frame, which answers keys. */
static void note_shown(Loop *loop, Screen screen) {
    const EngineFrame *frame = loop->app.frame;
    if (frame && frame->picture)
        pace_shown(&loop->pace, screen, open_screens(loop), frame->request, frame->live.job.time_s);
}

unsigned loop_serve(Loop *loop) {
    unsigned bits = app_todo(&loop->app);
    if (bits & STEP_REDRAW)
        loop->term_dirty = loop->window_dirty = true;
    if (bits & STEP_QUIT)
        loop->quit = true;
    if (bits & STEP_SNAPSHOT) {
        loop->snapshot_due = true;
        loop->snapshot_request = loop->app.request;
    }
    take_due_snapshot(loop);
    if (bits & STEP_RECORD)
        switch_recording(loop);
    if (bits & STEP_FULLSCREEN && loop->window)
        sdl_window_fullscreen(loop->window, loop->app.state.fullscreen);
    return bits;
}

/* Notes that the engine was asked for a frame. The screens then say what a slow frame waits for. */
static void await_frame(Loop *loop, unsigned bits) {
    const App *app = &loop->app;
    const int scene = app->state.job.scene;
    if (!(bits & FRAME_ASKED))
        return;
    const bool loads_scene = !app->frame || app->frame->state.job.scene != scene;
    slow_asked(&loop->slow, scene, loads_scene, app->request, clock_ms());
    if (bits & STEP_REDRAW)
        loop->echo_ms = 0;
    else if (!loop->echo_ms)
        loop->echo_ms = clock_ms() + ECHO_MS;
    if (loop->echo_ms && loop->gave_way)
        loop->window_dirty = false; /* drawing the old frame would delay the new one */
}

/* Answers a key or a click. A frame that the key asks for answers the key. Otherwise the old frame
 * is drawn with the new state. */
static void serve_key(Loop *loop, double arrived_ms) {
    const unsigned bits = loop_serve(loop);
    const uint64_t answering_frame = bits & FRAME_ASKED ? loop->app.request : 0; /* 0: any */
    if (bits & (FRAME_ASKED | STEP_REDRAW))
        pace_key(&loop->pace, arrived_ms, answering_frame, open_screens(loop));
    await_frame(loop, bits);
}

/* Shows what a slow picture waits for, in the state's line of waiting. */
static void show_slow_work(Loop *loop) {
    App *app = &loop->app;
    char text[sizeof app->state.waiting];
    slow_text(&loop->slow, &app->menu.menu.scenes, engine_doing(app->engine), clock_ms(), text,
              sizeof text);
    if (strcmp(text, app->state.waiting) != 0)
        loop->term_dirty = loop->window_dirty = true;
    memcpy(app->state.waiting, text, sizeof text);
}

/* Returns the milliseconds until the echo of a key; INFINITY: no key waits. */
static double echo_in_ms(const Loop *loop) {
    return loop->echo_ms ? loop->echo_ms - clock_ms() : INFINITY;
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
    if (app->frame->request >= app->request)
        loop->echo_ms = 0;
    loop_serve(loop);
    loop->term_dirty = loop->window_dirty = true;
}

/* ---- tooltips -------------------------------------------------------------------------------- */

/* Shows the tooltip in the terminal's row of the log. */
static void say_tip(Loop *loop, const char *text) {
    State *state = &loop->app.state;
    loop->term_dirty |= strcmp(text, state->tip) != 0;
    snprintf(state->tip, sizeof state->tip, "%s", text);
}

static void end_tips(Loop *loop) {
    if (hover_end(&loop->hover))
        loop->term_dirty = true;
    say_tip(loop, "");
    if (loop->window)
        sdl_window_tip_end(loop->window, &loop->app.state, app_live(&loop->app));
}

static void show_tips(Loop *loop) {
    const LiveData *live = app_live(&loop->app);
    char text[TIP_LINE_MAX];
    Tip tip;
    double now = clock_ms();
    if (loop->window)
        sdl_window_tip(loop->window, &loop->app.state, live, now);
    if (!hover_due(&loop->hover, now) ||
        !spots_tip(&loop->spots, loop->hover.x, loop->hover.y, &loop->app.state, live, &tip))
        return;
    tip_line(&tip, text, sizeof text);
    say_tip(loop, text);
}

static void use_key(Loop *loop, int32_t key, double arrived_ms) {
    end_tips(loop);
    if (app_key(&loop->app, key))
        serve_key(loop, arrived_ms);
}

/* ---- terminal -------------------------------------------------------------------------------- */

static void fit_terminal(Loop *loop) {
    int columns, rows;
    Err err;
    term_size(loop->term, &columns, &rows);
    if (!cells_resize(&loop->cells, columns, rows, &err))
        app_note_error(&loop->app, &err);
    app_step(&loop->app, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows});
    loop->term_dirty = true;
}

static bool open_terminal(Loop *loop, Err *err) {
    if (!term_open(&loop->term, loop->options->color, !loop->options->no_mouse,
                   loop->options->pixels, err))
        return false;
    if (!cells_init(&loop->cells, 1, 1, err))
        return false;
    const TermFacts facts = term_facts(loop->term);
    if (facts.console && facts.unicode && !loop->options->ascii)
        app_note(&loop->app,
                 "where this console shows boxes for blocks, --ascii draws without them");
    loop->cells.ascii = loop->options->ascii || !facts.unicode;
    loop->cells.color = facts.color;
    loop->app.state.light = facts.light;
    int w, h;
    if (loop->options->pixels != PIXELS_AUTO && loop->options->pixels != PIXELS_OFF &&
        !term_pixels(loop->term, false, &w, &h))
        app_note(&loop->app, "this terminal cannot be sent such pictures: half blocks");
    fit_terminal(loop);
    return true;
}

/* Whether the picture changes all the time: the display plays a scene in which something moves. */
static bool is_animation(const Loop *loop) {
    const State *state = &loop->app.state;
    const World *world = app_live(&loop->app)->frame.world;
    bool moves = state->scene.moment_s > 0;
    for (int i = 0; world && i < world->solid_count; i++)
        moves |= world->solids[i].velocity_mps[0] != 0 || world->solids[i].velocity_mps[1] != 0;
    return moves && state->playing;
}

/* Draws the dashboard, and over its BEV a picture of true pixels if the terminal shows pictures. */
static void draw_terminal(Loop *loop) {
    Err err;
    loop->term_ms = clock_ms();
    const Picture *picture = app_picture(&loop->app);
    const State drawn = app_drawn(&loop->app);
    loop->cells.light = drawn.light;
    dashboard_draw(&loop->cells, &drawn, app_live(&loop->app), picture, &loop->spots);
    loop->term_dirty = false;
    if (loop->hover.over) {
        hover_move(&loop->hover, &loop->spots, loop->hover.x, loop->hover.y);
        cells_underline(&loop->cells, area_of_box(loop->hover.box));
    }
    Image image = {.w = 0};
    int w, h;
    if (term_pixels(loop->term, is_animation(loop), &w, &h))
        pixels_compose(&loop->cells, &loop->spots, &drawn, app_live(&loop->app), picture, w, h,
                       &image);
    if (!term_draw(loop->term, &loop->cells, &image, area_of_box(loop->spots.bev), &err))
        app_note_error(&loop->app, &err);
    else
        note_shown(loop, SCREEN_TERMINAL);
}

/* Reads a report of the mouse. A click is answered as a key is. Wheel and drag cause one drawing
 * for all events that came. */
static void read_mouse(Loop *loop) {
    Event event;
    MouseReport report = term_mouse(loop->term);
    if (report.kind == MOUSE_HOVER) {
        if (hover_move(&loop->hover, &loop->spots, report.column, report.row)) {
            loop->term_dirty = true;
            say_tip(loop, "");
        }
        return;
    }
    end_tips(loop);
    if (!term_pointer_follow(&loop->pointer, &report, &loop->spots, &loop->app.state,
                             app_live(&loop->app), &event))
        return;
    app_step(&loop->app, &event);
    if (event.kind == EVENT_WHEEL || event.kind == EVENT_DRAG || event.kind == EVENT_WIPE)
        loop_serve(loop);
    else
        serve_key(loop, loop->typed_ms);
}

static void read_keys(Loop *loop) {
    int32_t key;
    while ((key = term_key(loop->term, loop->typed_ms)) != 0)
        if (key == TERM_REDRAW) {
            term_redraw(loop->term);
            loop->term_dirty = true;
        } else if (key == TERM_MOUSE)
            read_mouse(loop);
        else
            use_key(loop, key, loop->typed_ms);
}

/* ---- window ---------------------------------------------------------------------------------- */

static void open_window(Loop *loop) {
    Err err;
    if (loop->options->no_window || sdl_window_impossible())
        return;
    if (sdl_window_open(&loop->window, "bevscope", &err)) {
        app_step(&loop->app, &(Event){.kind = EVENT_WINDOW, .on = true});
        const char *font_missing = pen_font_missing();
        if (font_missing)
            app_note(&loop->app, font_missing);
    } else
        app_note_error(&loop->app, &err);
}

static void close_window(Loop *loop) {
    sdl_window_close(loop->window);
    loop->window = NULL;
    pace_closed(&loop->pace, SCREEN_WINDOW);
    app_step(&loop->app, &(Event){.kind = EVENT_WINDOW, .on = false});
    loop->quit = loop->quit || !loop->term;
}

/* Reads the window's input. A key was typed after the look for input before this one. */
static void read_window(Loop *loop) {
    Event event;
    int32_t key;
    double typed_ms = loop->pumped_ms;
    loop->pumped_ms = clock_ms();
    while (loop->window) {
        WindowInput input =
            sdl_window_next(loop->window, &loop->app.state, app_live(&loop->app), &event, &key);
        if (input == WINDOW_NOTHING)
            return;
        if (input == WINDOW_KEY)
            use_key(loop, key, typed_ms);
        else if (input == WINDOW_REDRAW)
            loop->window_dirty = true;
        else if (input == WINDOW_CLOSED)
            close_window(loop);
        else {
            app_step(&loop->app, &event);
            if (event.kind == EVENT_COMMAND)
                serve_key(loop, typed_ms);
            else /* the time until a move of the mouse is answered is not measured */
                await_frame(loop, loop_serve(loop));
        }
    }
}

/* Whether a key waits, in the terminal or in the window. If none waits, notes when it looked. */
static bool key_waits(Loop *loop) {
    struct pollfd typed = {.fd = STDIN_FILENO, .events = POLLIN};
    double now = clock_ms();
    if ((loop->term && poll(&typed, 1, 0) > 0) ||
        (loop->window && sdl_window_key_waits(loop->window)))
        return true;
    loop->polled_ms = loop->pumped_ms = now;
    return false;
}

static bool stop_for_key(void *context) {
    Loop *loop = context;
    loop->gave_way = loop->gave_way || key_waits(loop);
    return loop->gave_way;
}

/* Draws the window. Returns false where a key stopped the drawing. Drawings that answer a key are
 * never stopped. Nor are two drawings in a row, so that held keys do not stop the world. */
static bool draw_window(Loop *loop) {
    const EngineFrame *frame = loop->app.frame;
    const bool answers_key = frame && pace_answers(&loop->pace, SCREEN_WINDOW, frame->request);
    const bool may_stop = !answers_key && !loop->gave_way;
    const GiveUp give_up = {.asked = may_stop ? stop_for_key : NULL, .context = loop};
    Err err;
    loop->window_ms = clock_ms();
    loop->gave_way = false;
    const State drawn = app_drawn(&loop->app);
    loop->window_dirty = !sdl_window_draw(loop->window, &drawn, app_live(&loop->app),
                                          app_picture(&loop->app), &give_up, &err);
    if (loop->gave_way)
        return false;
    if (loop->window_dirty) {
        close_window(loop);
        app_note_error(&loop->app, &err);
    } else
        note_shown(loop, SCREEN_WINDOW);
    return true;
}

/* Return the milliseconds until a screen may be drawn. INFINITY: the screen needs no drawing, or a
 * slow terminal takes no bytes now. */
static double window_in_ms(const Loop *loop) {
    bool needed = loop->window && loop->window_dirty;
    return needed ? loop->window_ms + DRAWING_MS - clock_ms() : INFINITY;
}

static double terminal_in_ms(const Loop *loop) {
    bool needed = loop->term && loop->term_dirty && !term_is_full(loop->term);
    return needed ? fmax(loop->term_ms + DRAWING_MS - clock_ms(), term_rest_ms(loop->term))
                  : INFINITY;
}

/* Draws the screens that need drawing, each at most once in a few milliseconds. */
static void draw_screens(Loop *loop) {
    const bool stopped_for_key = window_in_ms(loop) <= 0 && !draw_window(loop);
    if (!stopped_for_key && terminal_in_ms(loop) <= 0)
        draw_terminal(loop);
}

/* ---- time and signals ------------------------------------------------------------------------ */

/* Returns the milliseconds until the world's next moment. The frame of the last moment must have
 * come first. A slow machine thus shows fewer moments, each at its own time. */
static double world_tick_in_ms(const Loop *loop, double now) {
    const State *state = &loop->app.state;
    const EngineFrame *frame = loop->app.frame;
    const bool steps_play = state->job.steps && state->step_speed != 0;
    const bool moves = state->playing || state->recording || steps_play || state_races(state);
    const bool frame_came = frame && frame->state.job.serial == state->job.serial;
    const double due_ms = frame_came ? loop->moment_ms : loop->tick_ms + LOST_MS;
    return moves ? due_ms - now : INFINITY;
}

/* Advances the time of a moving world when it is due. A late moment does not delay the next one. */
static void tick_world(Loop *loop) {
    enum { MOST_MS = 250 }; /* the world does not jump further after a stop */
    double now = clock_ms(), passed = now - loop->tick_ms;
    if (world_tick_in_ms(loop, now) > 0)
        return;
    const bool on_cpu = loop->app.state.job.config.kernel->where == BEV_CPU;
    loop->tick_ms = now;
    loop->moment_ms = fmax(loop->moment_ms + (on_cpu ? CPU_MOMENT_MS : MOMENT_MS), now);
    loop_record_frame(loop);
    app_step(&loop->app, &(Event){.kind = EVENT_TICK, .seconds = fmin(passed, MOST_MS) * 1e-3});
}

/* Starts all clocks of the display, at the beginning and after a stop. */
static void restart_clocks(Loop *loop) {
    loop->tick_ms = loop->polled_ms = loop->pumped_ms = loop->slow.since_ms = clock_ms();
    loop->pace.waiting_count = 0;
    loop->app.desk.waits = false;
}

/* Carries out the signals that came: to leave, to stop, to go on, or that the size is another. */
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
        fit_terminal(loop);
    }
    if (signals.suspend || signals.resumed) {
        restart_clocks(loop);
        loop->window_dirty = true;
    }
}

static struct timespec time_to_wait(const Loop *loop) {
    double wait = loop->window ? WINDOW_POLL_MS : IDLE_POLL_MS;
    const double now = clock_ms();
    wait = fmin(wait, world_tick_in_ms(loop, now));
    wait = fmin(wait, fmin(window_in_ms(loop), fmin(terminal_in_ms(loop), echo_in_ms(loop))));
    wait = fmin(wait, fmin(app_lesson_in_ms(&loop->app), app_tour_in_ms(&loop->app)));
    wait = fmin(wait, fmin(tip_due_in_ms(&loop->hover, now), slow_in_ms(&loop->slow, now)));
    if (loop->window)
        wait = fmin(wait, sdl_window_tip_in_ms(loop->window, now));
    return (struct timespec){.tv_nsec = wait > 0 ? (long)(wait * 1e6) : 0};
}

/* Waits for input, and sets typed_ms, the time after which the next input was typed: the end of
 * this wait. Input that was there at once was typed after the end of the previous wait. */
static int wait_for_input(Loop *loop, struct pollfd *waiting, nfds_t count) {
    const double begun = clock_ms();
    const struct timespec wait = time_to_wait(loop);
    const int found = ppoll(waiting, count, &wait, NULL);
    const double now = clock_ms();
    const bool was_there = now - begun <= 1;
    loop->typed_ms = was_there ? loop->polled_ms : now;
    loop->polled_ms = now;
    return found;
}

/* Waits for a signal, a frame or input, and reads keys or lines. */
static void wait_and_read(Loop *loop) {
    enum { SIGNALS, FRAMES, INPUT, OUTPUT, WAITING };
    struct pollfd waiting[WAITING] = {
        [SIGNALS] = {.fd = rescue_fd(), .events = POLLIN},
        [FRAMES] = {.fd = engine_fd(loop->app.engine), .events = POLLIN},
        [INPUT] = {.fd = loop->term || !loop->input_ended ? STDIN_FILENO : -1, .events = POLLIN},
        [OUTPUT] = {loop->term && term_is_full(loop->term) ? STDOUT_FILENO : -1, POLLOUT, 0},
    };
    if (wait_for_input(loop, waiting, WAITING) < 0)
        return;
    if (loop->term && waiting[INPUT].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        loop->hung_up = loop->quit = true;
        loop->signal = SIGHUP;
        return;
    }
    if (loop->term)
        read_keys(loop);
    else if (waiting[INPUT].revents)
        plain_read(loop);
}

static void run_live(Loop *loop) {
    char message[512]; /* a line from standard error */
    while (!loop->quit) {
        if (echo_in_ms(loop) <= 0) { /* draws the control's new value with the old picture */
            loop->echo_ms = 0;
            loop->term_dirty = loop->window_dirty = true;
        }
        show_slow_work(loop);
        show_tips(loop);
        draw_screens(loop);
        wait_and_read(loop);
        obey_signals(loop);
        if (loop->quit)
            return;
        read_window(loop);
        loop_take_frame(loop);
        if (loop->term && term_error_line(loop->term, message, sizeof message))
            app_note(&loop->app, message);
        tick_world(loop);
        app_lesson_turn(&loop->app, app_lesson_in_ms(&loop->app) <= 0);
        app_tour_turn(&loop->app);
        loop_serve(loop);
        if (!loop->term)
            plain_step(loop);
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool open_all(Loop *loop, Err *err) {
    loop->start_ms = loop->said_ms = clock_ms();
    restart_clocks(loop);
    const EngineOptions engine = {.where = loop->options->where,
                                  .background = true,
                                  .hurry = loop->options->app.tour,
                                  .make_picture = picture_make};
    bool plain = loop->options->no_terminal || term_impossible() != NULL;
    if (!app_open(&loop->app, &loop->options->app, &engine, err))
        return false;
    await_frame(loop, loop_serve(loop));
    loop->echo_ms = 0;
    if (!plain && !open_terminal(loop, err))
        return false;
    if (!loop->options->no_terminal && !loop->options->app.tour)
        app_note(&loop->app,
                 "press : and type what you want to see; :tour is a talk of two minutes");
    open_window(loop);
    if (plain)
        plain_greet();
    return true;
}

/* Prints a line on standard error, but waits only SAY_MS for a terminal that does not read. */
__attribute__((format(printf, 1, 2))) static void say_on_stderr(const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    rescue_write(STDERR_FILENO, line,
                 (size_t)length < sizeof line ? (size_t)length : sizeof line - 1, SAY_MS);
}

static void say_quit(const Loop *loop) {
    const Pace pace = pace_figures(&loop->pace);
    char text[400] = "", shown[sizeof text + 16];
    if (pace.first_us.source)
        text_add(text, sizeof text, "; first picture after %s",
                 text_of_unit(UNIT_US, pace.first_us.value).text);
    if (pace.fps.source)
        text_add(text, sizeof text, ", %.1f moments a second", pace.fps.value);
    if (pace.keys)
        text_add(text, sizeof text, ", key to picture %s, p99 %s (%lld keys)",
                 text_of_unit(UNIT_US, pace.key_us.value).text,
                 text_of_unit(UNIT_US, pace.key_p99_us.value).text, (long long)pace.keys);
    text_for_locale(text, shown, sizeof shown);
    say_on_stderr("bevscope: quit%s\n", shown);
}

bool loop_run(const LoopOptions *options, LoopEnd *end, Err *err) {
    static Loop only; /* large; threads that are left may use it */
    Loop *loop = &only;
    *end = (LoopEnd){.signal = 0};
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
        plain_put_figures(loop, stdout);
    if (loop->term) /* the user sees the end of the display at once */
        term_close(loop->term);
    if (loop->picture_lost) /* the display may have ended before anybody read it */
        say_on_stderr("bevscope: %s\n", loop->written);
    if (ok && loop->signal)
        say_on_stderr("bevscope: %s, everything was put back\n",
                      loop->hung_up ? "the terminal is gone" : rescue_what(loop->signal));
    else if (ok && had_terminal)
        say_quit(loop);
    if (loop->window)
        sdl_window_close(loop->window);
    end->signal = loop->signal;
    end->threads_left = !app_close(&loop->app, ENGINE_END_MS);
    if (end->threads_left)
        return ok;
    cells_free(&loop->cells);
    rescue_remove();
    return ok;
}
