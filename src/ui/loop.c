#include "src/ui/loop.h"

#include "src/bench/engine.h"
#include "src/bench/shared.h"
#include "src/model/clock.h"
#include "src/ui/menu.h"
#include "src/ui/rescue.h"
#include "src/ui/window.h"
#include "src/ui/writer.h"
#include "src/view/dashboard.h"
#include "src/view/scene_picture.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TERM_FRAME_MS = 33,   /* the terminal is drawn at most this often, */
    WINDOW_FRAME_MS = 16, /* the window this often */
    WINDOW_POLL_MS = 8,   /* SDL has nothing to poll() for */
    IDLE_POLL_MS = 200,   /* nothing moves, nobody types */
    PLAIN_PATIENCE_MS = 20000,
    SNAPSHOT_W = 1280,
    SNAPSHOT_H = 860,
    MAX_RECORDINGS = 1000
};

typedef struct {
    const LoopOptions *options;
    LiveMenu menu;
    State state;
    State submitted;  /* what the engine was last asked for */
    LiveData nothing; /* before the first frame */
    Engine *engine;
    const EngineFrame *frame;
    uint64_t loads, notes; /* of the frame seen last */
    char problem[sizeof((LiveData *)0)->problem];
    Term *term;
    Window *window;
    Writer *writer;
    Cells cells;
    bool term_dirty, window_dirty, quit, failed, hung_up, input_ended;
    int signal;
    double term_ms, window_ms, tick_ms, start_ms;
    char recording[64]; /* folder; "": none */
    int64_t recorded;   /* number of the frame written last */
    char line[512];     /* plain input so far */
    size_t line_length;
    char printed[LOG_LENGTH]; /* the log's line that was printed last */
    Err *err;                 /* of loop_run; filled where the first frame is impossible */
} Loop;

static const LiveData *live_of(const Loop *loop) {
    return loop->frame ? &loop->frame->live : &loop->nothing;
}

static const ScenePicture *picture_of(const Loop *loop) {
    return loop->frame ? loop->frame->picture : NULL;
}

/* ---- the engine
 * ---------------------------------------------------------------------------------- */

static void destroy_picture(void *contents) {
    scene_picture_free(contents);
}

/* Runs on the engine's thread. */
static void *dress(const State *state, const LiveData *live, void *previous, Err *err) {
    ScenePicture picture;
    bool same;
    if (!scene_picture(state, live, previous, &picture, &same, err))
        return NULL;
    if (same)
        return shared_keep(previous);
    ScenePicture *shared = shared_new(sizeof *shared, destroy_picture);
    if (shared)
        *shared = picture;
    else {
        scene_picture_free(&picture);
        err_set(err, ERR_FAILED, "picture", "", "out of memory");
    }
    return shared;
}

/* Whether the picture of `a` would not do for `b`, although both pool the same. */
static bool looks_different(const State *a, const State *b) {
    return a->view != b->view || a->channel != b->channel || a->colormap != b->colormap ||
           a->range_locked != b->range_locked || a->strip != b->strip || a->compare != b->compare ||
           a->playing != b->playing;
}

static void submit(Loop *loop, bool run) {
    if (!run && !looks_different(&loop->submitted, &loop->state))
        return;
    loop->submitted = loop->state;
    engine_submit(loop->engine, &loop->state);
}

/* ---- events
 * ---------------------------------------------------------------------------------------- */

static void begin_snapshot(Loop *loop);
static void toggle_recording(Loop *loop);

static void step(Loop *loop, const Event *event) {
    unsigned bits = state_step(&loop->state, event);
    if (bits & STEP_REDRAW)
        loop->term_dirty = loop->window_dirty = true;
    submit(loop, bits & STEP_RUN);
    if (bits & STEP_QUIT)
        loop->quit = true;
    if (bits & STEP_SNAPSHOT)
        begin_snapshot(loop);
    if (bits & STEP_RECORD)
        toggle_recording(loop);
    if (bits & STEP_FULLSCREEN && loop->window)
        window_fullscreen(loop->window, loop->state.fullscreen);
}

static void note(Loop *loop, const char *text) {
    step(loop, &(Event){.kind = EVENT_NOTE, .text = text});
}

static void note_error(Loop *loop, const Err *err) {
    char line[512];
    err_line(err, line, sizeof line);
    note(loop, line);
}

static void use_key(Loop *loop, int32_t key) {
    Event event = {.kind = EVENT_COMMAND};
    if (keys_find(key, &event.command))
        step(loop, &event);
}

static bool use_words(Loop *loop, const char *line, char *why, size_t size) {
    Event event = {.kind = EVENT_COMMAND};
    if (!keys_parse(line, &event.command, why, size))
        return false;
    step(loop, &event);
    return true;
}

/* ---- pictures to keep
 * --------------------------------------------------------------------------------- */

static bool make_image(const Loop *loop, Image *image, Err *err) {
    if (loop->window)
        return window_image(loop->window, &loop->state, live_of(loop), picture_of(loop), image,
                            err);
    return scene_image(SNAPSHOT_W, SNAPSHOT_H, 1, &loop->state, live_of(loop), picture_of(loop),
                       image, err);
}

static void write_picture(Loop *loop, const char *path) {
    Image image;
    Err err;
    if (make_image(loop, &image, &err))
        writer_put(loop->writer, &image, path);
    else
        note_error(loop, &err);
}

static void begin_snapshot(Loop *loop) {
    char name[256];
    state_snapshot_name(&loop->state, name, sizeof name);
    write_picture(loop, name);
}

/* A folder of its own for each recording: no older frames are written over. */
static void toggle_recording(Loop *loop) {
    loop->recording[0] = '\0';
    for (int i = 1; loop->state.recording && i < MAX_RECORDINGS; i++) {
        snprintf(loop->recording, sizeof loop->recording, "recording-%03d", i);
        loop->recorded = -1;
        if (mkdir(loop->recording, 0777) == 0)
            return;
        if (errno != EEXIST)
            break;
    }
    if (loop->state.recording) {
        Err err;
        err_set(&err, ERR_FAILED, loop->recording, "", "no folder for the recording: %s",
                strerror(errno));
        loop->recording[0] = '\0';
        note_error(loop, &err);
    }
}

static void record_frame(Loop *loop) {
    char name[64], path[160];
    if (!loop->recording[0] || loop->recorded == loop->state.recorded_frames)
        return;
    loop->recorded = loop->state.recorded_frames;
    state_frame_name(&loop->state, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", loop->recording, name);
    write_picture(loop, path);
}

static void take_messages(Loop *loop) {
    char text[512];
    if (writer_message(loop->writer, text, sizeof text) && !loop->recording[0])
        note(loop, text);
    if (loop->term && term_error_line(loop->term, text, sizeof text))
        note(loop, text);
}

/* ---- frames
 * --------------------------------------------------------------------------------------------- */

/* A GPU that is lost stays lost for this process: the CPU takes over. */
static void leave_device(Loop *loop) {
    char why[160];
    if (!(loop->state.menu.where & 1u << BEV_CUDA) ||
        loop->state.job.choice.variant->where != BEV_CUDA)
        return;
    loop->state.menu.where = 1u << BEV_CPU;
    use_words(loop, "backend cpu", why, sizeof why);
}

static void take_frame(Loop *loop) {
    const EngineFrame *frame = engine_take(loop->engine);
    if (!frame)
        return;
    if (!frame->loads) { /* the scene that was asked for cannot be shown at all */
        *loop->err = frame->err;
        loop->failed = loop->quit = true;
        return;
    }
    loop->frame = frame;
    loop->term_dirty = loop->window_dirty = true;
    if (frame->loads != loop->loads) {
        loop->loads = frame->loads;
        step(loop, &(Event){.kind = EVENT_SCENE, .scene = &frame->facts});
    }
    const Headline headline = live_headline(&frame->live);
    step(loop, &(Event){.kind = EVENT_RESULT, .headline = &headline});
    if (strcmp(loop->problem, frame->live.problem) != 0) {
        memcpy(loop->problem, frame->live.problem, sizeof loop->problem);
        if (loop->problem[0])
            note(loop, loop->problem);
    }
    if (frame->notes != loop->notes)
        note(loop, frame->note);
    loop->notes = frame->notes;
    if (frame->device_lost)
        leave_device(loop);
}

/* Time goes on when the frame before is there: a slow machine shows fewer moments, none late. */
static void tick(Loop *loop) {
    double now = clock_ms(), passed = now - loop->tick_ms;
    bool moving = loop->state.playing || loop->state.recording;
    bool ready = loop->frame && loop->frame->state.job.serial == loop->state.job.serial;
    if (!moving || passed < WINDOW_FRAME_MS || (!ready && passed < 1000))
        return;
    loop->tick_ms = now;
    record_frame(loop);
    bool term_dirty = loop->term_dirty, window_dirty = loop->window_dirty;
    step(loop, &(Event){.kind = EVENT_TICK, .seconds = fmin(passed, 250) * 1e-3});
    loop->term_dirty = term_dirty; /* there is nothing new to see until its frame comes */
    loop->window_dirty = window_dirty;
}

/* ---- terminal
 * ---------------------------------------------------------------------------------------------- */

static void fit_terminal(Loop *loop) {
    int columns, rows;
    Err err;
    term_size(loop->term, &columns, &rows);
    if (!cells_resize(&loop->cells, columns, rows, &err))
        note_error(loop, &err);
    step(loop, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows});
    loop->term_dirty = true;
}

static bool open_terminal(Loop *loop, Err *err) {
    if (!term_open(&loop->term, loop->options->color, err))
        return false;
    if (!cells_init(&loop->cells, 1, 1, err))
        return false;
    loop->cells.ascii = loop->options->ascii || !term_has_unicode();
    loop->cells.color = term_has_color(loop->term);
    loop->state.light = term_is_light();
    fit_terminal(loop);
    return true;
}

static void draw_terminal(Loop *loop) {
    Err err;
    const ScenePicture *picture = picture_of(loop);
    loop->cells.light = loop->state.light;
    dashboard_draw(&loop->cells, &loop->state, live_of(loop), picture ? &picture->bev : NULL);
    if (!term_draw(loop->term, &loop->cells, &err))
        note_error(loop, &err);
    loop->term_dirty = false;
    loop->term_ms = clock_ms();
}

static void read_keys(Loop *loop) {
    for (int32_t key; (key = term_key(loop->term));)
        use_key(loop, key);
}

/* ---- window
 * -------------------------------------------------------------------------------------------------
 */

static void close_window(Loop *loop) {
    window_close(loop->window);
    loop->window = NULL;
    step(loop, &(Event){.kind = EVENT_WINDOW, .on = false});
    loop->quit = loop->quit || !loop->term;
}

static void read_window(Loop *loop) {
    Event event;
    int32_t key;
    while (loop->window) {
        WindowWord word = window_next(loop->window, &loop->state, live_of(loop), &event, &key);
        switch (word) {
        case WINDOW_NOTHING:
            return;
        case WINDOW_EVENT:
            step(loop, &event);
            break;
        case WINDOW_KEY:
            use_key(loop, key);
            break;
        case WINDOW_REDRAW:
            loop->window_dirty = true;
            break;
        case WINDOW_CLOSED:
            close_window(loop);
            break;
        }
    }
}

static void draw_window(Loop *loop) {
    Err err;
    loop->window_dirty = false;
    if (!window_draw(loop->window, &loop->state, live_of(loop), picture_of(loop), &err)) {
        close_window(loop);
        note_error(loop, &err);
    }
    loop->window_ms = clock_ms();
}

/* ---- plain lines
 * -----------------------------------------------------------------------------------------------
 */

/* The newest line of the log, once its figures are there. */
static void print_log(Loop *loop) {
    const Log *log = &loop->state.log;
    if (!log->count || log->lines[0].open || !strcmp(loop->printed, log->lines[0].text))
        return;
    memcpy(loop->printed, log->lines[0].text, sizeof loop->printed);
    puts(loop->printed);
    fflush(stdout);
}

static void use_line(Loop *loop) {
    char why[200];
    loop->line[loop->line_length] = '\0';
    loop->line_length = 0;
    loop->line[strcspn(loop->line, "#\r")] = '\0';
    if (loop->line[strspn(loop->line, " \t")] && !use_words(loop, loop->line, why, sizeof why))
        note(loop, why);
}

/* Words on standard input, a line each, as in a script. */
static void read_lines(Loop *loop) {
    char block[256];
    ssize_t n = read(STDIN_FILENO, block, sizeof block);
    loop->input_ended = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    for (ssize_t i = 0; i < n; i++)
        if (block[i] == '\n')
            use_line(loop);
        else if (loop->line_length + 1 < sizeof loop->line)
            loop->line[loop->line_length++] = block[i];
    if (loop->input_ended && loop->line_length)
        use_line(loop);
}

/* All that was asked for is known, or will not be. */
static bool settled(const Loop *loop) {
    const LiveData *live = live_of(loop);
    const LiveKernel *kernel = live_kernel(live, loop->state.job.choice.variant);
    const LiveAccuracy *accuracy = &live->accuracy[loop->state.job.choice.dtype];
    if (clock_ms() - loop->start_ms > PLAIN_PATIENCE_MS || live->problem[0])
        return true;
    return live->serial == loop->state.job.serial && kernel &&
           kernel->median_us.source != SOURCE_UNKNOWN && !kernel->median_us.stale &&
           accuracy->source != SOURCE_UNKNOWN && !accuracy->stale;
}

static void print_plain(const Loop *loop) {
    char *text = dashboard_plain(&loop->state, live_of(loop));
    if (text)
        fputs(text, stdout);
    free(text);
    fflush(stdout);
}

static void plain_step(Loop *loop) {
    print_log(loop);
    if (loop->input_ended && !loop->window && settled(loop))
        loop->quit = true;
}

/* ---- the loop
 * ----------------------------------------------------------------------------------------------------
 */

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
        loop->tick_ms = clock_ms();
        loop->window_dirty = true;
    }
}

static int patience(const Loop *loop) {
    double now = clock_ms(), wait = loop->window ? WINDOW_POLL_MS : IDLE_POLL_MS;
    if (loop->state.playing || loop->state.recording)
        wait = fmin(wait, WINDOW_FRAME_MS / 2.0);
    if (loop->term && loop->term_dirty)
        wait = fmin(wait, loop->term_ms + TERM_FRAME_MS - now);
    if (loop->window && loop->window_dirty)
        wait = fmin(wait, loop->window_ms + WINDOW_FRAME_MS - now);
    return wait > 0 ? (int)ceil(wait) : 0;
}

static void wait_for_something(Loop *loop) {
    struct pollfd waiting[] = {
        {.fd = rescue_fd(), .events = POLLIN},
        {.fd = engine_fd(loop->engine), .events = POLLIN},
        {.fd = loop->term || !loop->input_ended ? term_fd() : -1, .events = POLLIN},
    };
    if (poll(waiting, 3, patience(loop)) <= 0)
        return;
    if (loop->term && waiting[2].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        loop->hung_up = loop->quit = true;
        loop->signal = SIGHUP;
    } else if (waiting[2].revents && loop->term)
        read_keys(loop);
    else if (waiting[2].revents)
        read_lines(loop);
}

static void draw(Loop *loop) {
    double now = clock_ms();
    if (loop->window && loop->window_dirty && now - loop->window_ms >= WINDOW_FRAME_MS)
        draw_window(loop);
    if (loop->term && loop->term_dirty && now - loop->term_ms >= TERM_FRAME_MS)
        draw_terminal(loop);
}

static void live(Loop *loop) {
    while (!loop->quit) {
        draw(loop);
        wait_for_something(loop);
        obey_signals(loop);
        if (loop->quit)
            return;
        read_window(loop);
        take_frame(loop);
        take_messages(loop);
        tick(loop);
        if (!loop->term)
            plain_step(loop);
    }
}

/* ---- opening and closing
 * -------------------------------------------------------------------------------------------- */

static bool apply_words(Loop *loop, Err *err) {
    char why[200];
    for (int i = 0; i < loop->options->word_count; i++) {
        Event event = {.kind = EVENT_COMMAND};
        if (!keys_parse(loop->options->words[i], &event.command, why, sizeof why))
            return err_set(err, ERR_USAGE, loop->options->words[i], "", "%s", why);
        state_step(&loop->state, &event);
    }
    loop->state.job.time_s = loop->options->time_s;
    loop->state.log = (Log){.count = 0};
    return true;
}

static void open_window(Loop *loop) {
    Err err;
    const char *reason = window_impossible();
    if (loop->options->no_window)
        return;
    if (reason)
        note(loop, reason);
    else if (window_open(&loop->window, "bevscope", &err))
        step(loop, &(Event){.kind = EVENT_WINDOW, .on = true});
    else
        note_error(loop, &err);
}

static bool open_engine(Loop *loop, Err *err) {
    const EngineOptions options = {.where = loop->options->where,
                                   .background = true,
                                   .dress = dress,
                                   .thread_begin = rescue_thread_begin,
                                   .thread_end = rescue_thread_end};
    return engine_open(&loop->engine, &options, err);
}

static bool open_all(Loop *loop, Err *err) {
    int scene;
    loop->start_ms = loop->tick_ms = clock_ms();
    live_init(&loop->nothing);
    live_menu(&loop->menu, loop->options->scene, loop->options->where, &scene);
    state_init(&loop->state, &loop->menu.menu, scene);
    bool plain = loop->options->no_terminal || term_impossible() != NULL;
    if (plain)
        loop->state.playing = false; /* figures that never settle are no help in lines */
    if (!apply_words(loop, err) || !writer_open(&loop->writer, err) || !open_engine(loop, err))
        return false;
    submit(loop, true); /* it computes while the screens open */
    if (!plain && !open_terminal(loop, err))
        return false;
    open_window(loop);
    return true;
}

static void close_all(Loop *loop) {
    window_close(loop->window);
    term_close(loop->term);
    engine_close(loop->engine);
    writer_close(loop->writer);
    cells_free(&loop->cells);
}

/* The last line says what happened. */
static void say_goodbye(const Loop *loop, bool had_terminal) {
    if (loop->signal)
        fprintf(stderr, "bevscope: %s, everything was put back\n",
                loop->hung_up             ? "the terminal is gone"
                : loop->signal == SIGINT  ? "interrupted"
                : loop->signal == SIGHUP  ? "hung up"
                : loop->signal == SIGQUIT ? "quit signal"
                                          : "terminated");
    else if (had_terminal)
        fprintf(stderr, "bevscope: quit\n");
}

bool loop_run(const LoopOptions *options, int *signal, Err *err) {
    Loop *loop = calloc(1, sizeof *loop);
    *signal = 0;
    if (!loop)
        return err_set(err, ERR_FAILED, "live", "", "out of memory");
    loop->options = options;
    loop->err = err;
    bool ok = rescue_install(err) && open_all(loop, err);
    bool had_terminal = loop->term != NULL;
    if (ok)
        live(loop);
    ok = ok && !loop->failed;
    if (ok && !loop->signal && !had_terminal)
        print_plain(loop);
    close_all(loop);
    if (ok)
        say_goodbye(loop, had_terminal);
    *signal = loop->signal;
    rescue_remove();
    free(loop);
    return ok;
}
