/* SPDX-License-Identifier: MIT */
/* The screens of the live display: reads keys and mouse of terminal and window, draws both. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"
#include "src/view/draw/pen.h"
#include "src/view/term/dashboard.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { DRAWING_MS = 8 }; /* the least time from one drawing of a screen to the next */

/* ---- tooltips -------------------------------------------------------------------------------- */

/* Shows the tooltip in the terminal's row of the log. */
static void say_tip(Loop *loop, const char *text) {
    if (strcmp(text, loop->app.state.tip) == 0)
        return;
    app_step(&loop->app, &(Event){.kind = EVENT_TIP, .text = text});
    loop_serve(loop);
}

static void end_tips(Loop *loop) {
    if (hover_end(&loop->hover))
        loop->term_dirty = true;
    say_tip(loop, "");
    if (loop->window)
        sdl_window_tip_end(loop->window, &loop->app.state, app_live(&loop->app));
}

static void hover_terminal(Loop *loop, const MouseReport *report) {
    if (!hover_move(&loop->hover, &loop->spots, report->column, report->row))
        return;
    loop->term_dirty = true;
    say_tip(loop, "");
}

void loop_tips(Loop *loop) {
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

double loop_tips_in_ms(const Loop *loop) {
    double now = clock_ms();
    return fmin(hover_in_ms(&loop->hover, now),
                loop->window ? sdl_window_tip_in_ms(loop->window, now) : INFINITY);
}

static void use_key(Loop *loop, int32_t key, double arrived_ms) {
    end_tips(loop);
    if (app_key(&loop->app, key))
        loop_serve_key(loop, arrived_ms);
}

/* ---- terminal -------------------------------------------------------------------------------- */

void loop_fit_terminal(Loop *loop) {
    int columns, rows;
    Err err;
    term_size(loop->term, &columns, &rows);
    if (!cells_resize(&loop->cells, columns, rows, &err))
        app_note_error(&loop->app, &err);
    app_step(&loop->app, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows});
    loop->term_dirty = true;
}

bool loop_open_terminal(Loop *loop, Err *err) {
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
    loop_fit_terminal(loop);
    return true;
}

/* Whether one picture follows the other: something moves, and the display plays. */
static bool pictures_follow(const Loop *loop) {
    const State *state = &loop->app.state;
    const World *world = app_live(&loop->app)->frame.world;
    bool moves = state->scene.moment_s > 0;
    for (int i = 0; world && i < world->solid_count; i++)
        moves |= world->solids[i].velocity_mps[0] != 0 || world->solids[i].velocity_mps[1] != 0;
    return moves && state->playing;
}

static void draw_terminal(Loop *loop) {
    Err err;
    loop->term_ms = clock_ms();
    const Picture *picture = app_picture(&loop->app);
    const State drawn = app_drawn(&loop->app);
    loop->cells.light = drawn.light;
    dashboard_draw(&loop->cells, &drawn, app_live(&loop->app), picture,
                   &loop->spots);
    loop->term_dirty = false;
    if (loop->hover.over) {
        hover_move(&loop->hover, &loop->spots, loop->hover.x, loop->hover.y);
        const Box *box = &loop->hover.box;
        cells_underline(&loop->cells, (Area){(int)box->x, (int)box->y, (int)box->w, (int)box->h});
    }
    Image image = {.w = 0};
    int w, h;
    if (term_pixels(loop->term, pictures_follow(loop), &w, &h))
        pixels_compose(&loop->cells, &loop->spots, &drawn, app_live(&loop->app), picture, w, h,
                       &image);
    const Box *bev = &loop->spots.bev;
    const Area place = {(int)bev->x, (int)bev->y, (int)bev->w, (int)bev->h};
    if (!term_draw(loop->term, &loop->cells, &image, place, &err))
        app_note_error(&loop->app, &err);
    else if (loop->app.frame && loop->app.frame->picture)
        pace_shown(&loop->pace, SCREEN_TERMINAL, loop_screens(loop), loop->app.frame->request,
                   loop->app.frame->live.job.time_s);
}

/* Reads a report of the mouse. A click is answered as a key is. Wheel and drag cause one drawing
 * for all events that came. */
static void read_mouse(Loop *loop) {
    Event event;
    MouseReport report = term_mouse(loop->term);
    if (report.kind == MOUSE_HOVER) {
        hover_terminal(loop, &report);
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
        loop_serve_key(loop, loop->typed_ms);
}

void loop_read_keys(Loop *loop) {
    for (int32_t key; (key = term_key(loop->term, loop->typed_ms));)
        if (key == TERM_REDRAW) {
            term_redraw(loop->term);
            loop->term_dirty = true;
        } else if (key == TERM_MOUSE)
            read_mouse(loop);
        else
            use_key(loop, key, loop->typed_ms);
}

/* ---- window ---------------------------------------------------------------------------------- */

void loop_open_window(Loop *loop) {
    Err err;
    const char *font_missing;
    if (loop->options->no_window || sdl_window_impossible())
        return;
    if (sdl_window_open(&loop->window, "bevscope", &err)) {
        app_step(&loop->app, &(Event){.kind = EVENT_WINDOW, .on = true});
        font_missing = pen_font_missing();
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

void loop_read_window(Loop *loop) {
    Event event;
    int32_t key;
    double typed_ms = loop->pumped_ms;
    loop->pumped_ms = clock_ms();
    while (loop->window) {
        WindowInput input =
            sdl_window_next(loop->window, &loop->app.state, app_live(&loop->app), &event, &key);
        switch (input) {
        case WINDOW_NOTHING:
            return;
        case WINDOW_EVENT:
            app_step(&loop->app, &event);
            if (event.kind == EVENT_COMMAND)
                loop_serve_key(loop, typed_ms);
            else
                loop_serve_mouse(loop);
            break;
        case WINDOW_KEY:
            use_key(loop, key, typed_ms);
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

/* Returns the rule that stops a drawing of the window when a key arrives. Two drawings are never
 * stopped: one that answers a key, and one after a stopped drawing. Held keys must not stop the
 * world. */
static GiveUp give_up_drawing(Loop *loop) {
    bool owed =
        loop->app.frame && pace_answers(&loop->pace, SCREEN_WINDOW, loop->app.frame->request);
    return (GiveUp){owed || loop->gave_way ? NULL : stop_for_key, loop};
}

/* Draws the window. Returns false where a key stopped the drawing. */
static bool draw_window(Loop *loop) {
    const GiveUp give_up = give_up_drawing(loop);
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
    } else if (loop->app.frame && loop->app.frame->picture)
        pace_shown(&loop->pace, SCREEN_WINDOW, loop_screens(loop), loop->app.frame->request,
                   loop->app.frame->live.job.time_s);
    return true;
}

void loop_draw(Loop *loop) {
    double now = clock_ms();
    bool due = loop->window && loop->window_dirty && now - loop->window_ms >= DRAWING_MS;
    if (due && !draw_window(loop))
        return;
    bool wanted = loop->term && loop->term_dirty && now - loop->term_ms >= DRAWING_MS &&
                  term_rest_ms(loop->term) <= 0;
    if (wanted && !term_is_full(loop->term)) /* a slow terminal gets fewer drawings */
        draw_terminal(loop);
}

double loop_draw_in_ms(const Loop *loop) {
    double wait = INFINITY, now = clock_ms();
    if (loop->term && loop->term_dirty && !term_is_full(loop->term))
        wait = fmax(loop->term_ms + DRAWING_MS - now, term_rest_ms(loop->term));
    if (loop->window && loop->window_dirty)
        wait = fmin(wait, loop->window_ms + DRAWING_MS - now);
    return wait;
}
