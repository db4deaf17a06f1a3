/* Terminal and window of the live display: what they are told, what they tell. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"
#include "src/view/term/dashboard.h"
#include "src/view/draw/pen.h"

#include <math.h>
#include <poll.h>

enum { DRAWING_MS = 8 }; /* from one drawing of a screen to the next, at least */

unsigned loop_screens(const Loop *loop) {
    return (loop->term ? 1u << SCREEN_TERMINAL : 0) | (loop->window ? 1u << SCREEN_WINDOW : 0);
}

/* The screen has what the newest frame shows. */
static void shown(Loop *loop, Screen screen) {
    if (!loop->frame || !loop->frame->picture)
        return;
    pace_shown(&loop->pace, screen, loop_screens(loop), loop->frame->request,
               loop->frame->live.job.time_s);
    const Pace pace = pace_figures(&loop->pace);
    loop_step(loop, &(Event){.kind = EVENT_PACE, .pace = &pace});
}

/* ---- terminal -------------------------------------------------------------------------------- */

void loop_fit_terminal(Loop *loop) {
    int columns, rows;
    Err err;
    term_size(loop->term, &columns, &rows);
    if (!cells_resize(&loop->cells, columns, rows, &err))
        loop_note_error(loop, &err);
    loop_step(loop, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows});
    loop->term_dirty = true;
}

bool loop_open_terminal(Loop *loop, Err *err) {
    if (!term_open(&loop->term, loop->options->color, err))
        return false;
    if (!cells_init(&loop->cells, 1, 1, err))
        return false;
    loop->cells.ascii = loop->options->ascii || !term_has_unicode();
    loop->cells.color = term_has_color(loop->term);
    loop->state.light = term_is_light();
    loop_fit_terminal(loop);
    return true;
}

static void draw_terminal(Loop *loop) {
    Err err;
    loop->term_ms = clock_ms();
    const WindowPicture *picture = loop_picture(loop);
    loop->cells.light = loop->state.light;
    dashboard_draw(&loop->cells, &loop->state, loop_live(loop), picture ? &picture->bev : NULL);
    if (!term_draw(loop->term, &loop->cells, &err))
        loop_note_error(loop, &err);
    loop->term_dirty = false;
    shown(loop, SCREEN_TERMINAL);
}

void loop_read_keys(Loop *loop) {
    for (int32_t key; (key = term_key(loop->term));)
        loop_key(loop, key, loop->typed_ms);
}

/* ---- window ---------------------------------------------------------------------------------- */

void loop_open_window(Loop *loop) {
    Err err;
    const char *reason = window_impossible(), *font_missing;
    if (loop->options->no_window)
        return;
    if (reason)
        loop_note(loop, reason);
    else if (window_open(&loop->window, "bevscope", &err)) {
        loop_step(loop, &(Event){.kind = EVENT_WINDOW, .on = true});
        font_missing = pen_font_missing();
        if (font_missing)
            loop_note(loop, font_missing);
    } else
        loop_note_error(loop, &err);
}

static void close_window(Loop *loop) {
    window_close(loop->window);
    loop->window = NULL;
    pace_closed(&loop->pace, SCREEN_WINDOW);
    loop_step(loop, &(Event){.kind = EVENT_WINDOW, .on = false});
    loop->quit = loop->quit || !loop->term;
}

void loop_read_window(Loop *loop) {
    Event event;
    int32_t key;
    double typed_ms = loop->pumped_ms;
    loop->pumped_ms = clock_ms();
    while (loop->window) {
        WindowWord word = window_next(loop->window, &loop->state, loop_live(loop), &event, &key);
        switch (word) {
        case WINDOW_NOTHING:
            return;
        case WINDOW_EVENT:
            loop_step(loop, &event);
            break;
        case WINDOW_KEY:
            loop_key(loop, key, typed_ms);
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

static bool key_waits(Loop *loop) {
    struct pollfd typed = {.fd = term_fd(), .events = POLLIN};
    double now = clock_ms();
    if ((loop->term && poll(&typed, 1, 0) > 0) || (loop->window && window_key_waits(loop->window)))
        return true;
    loop->polled_ms = loop->pumped_ms = now;
    return false;
}

static bool gives_way(void *context) {
    Loop *loop = context;
    loop->gave_way = loop->gave_way || key_waits(loop);
    return loop->gave_way;
}

/* What answers a key is drawn, whatever comes; of other drawings at most one of two in a row is
 * given up: keys that do nothing, held down, do not keep the street from moving. */
static GiveUp give_up_drawing(Loop *loop) {
    bool owed = loop->frame && pace_answers(&loop->pace, SCREEN_WINDOW, loop->frame->request);
    return (GiveUp){owed || loop->gave_way ? NULL : gives_way, loop};
}

/* False: given up. */
static bool draw_window(Loop *loop) {
    const GiveUp give_up = give_up_drawing(loop);
    Err err;
    loop->window_ms = clock_ms();
    loop->gave_way = false;
    loop->window_dirty = !window_draw(loop->window, &loop->state, loop_live(loop),
                                      loop_picture(loop), &give_up, &err);
    if (loop->gave_way)
        return false;
    if (loop->window_dirty) {
        close_window(loop);
        loop_note_error(loop, &err);
    } else
        shown(loop, SCREEN_WINDOW);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

void loop_draw(Loop *loop) {
    double now = clock_ms();
    bool due = loop->window && loop->window_dirty && now - loop->window_ms >= DRAWING_MS;
    if (due && !draw_window(loop))
        return;
    if (loop->term && loop->term_dirty && now - loop->term_ms >= DRAWING_MS)
        draw_terminal(loop);
}

double loop_draw_in_ms(const Loop *loop) {
    double wait = INFINITY, now = clock_ms();
    if (loop->term && loop->term_dirty)
        wait = loop->term_ms + DRAWING_MS - now;
    if (loop->window && loop->window_dirty)
        wait = fmin(wait, loop->window_ms + DRAWING_MS - now);
    return wait;
}
