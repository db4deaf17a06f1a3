/* SPDX-License-Identifier: MIT */
/* Replaces term.c in builds without ncurses, and sdl_window.c in builds without SDL. Terminal and
 * window cannot be opened; the functions say why. */
#include "config.h"

#include "src/ui/sdl_window.h"
#include "src/ui/term.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifndef HAVE_NCURSES
const char *term_impossible(void) {
    return "this program was built without ncurses";
}

bool term_open(Term **term, TermColor color, bool mouse, Pixels pixels, Err *err) {
    *term = NULL;
    return err_set(err, ERR_FAILED, "terminal", "configure it --with-ncurses", "%s",
                   term_impossible());
}

void term_close(Term *term) {}

void term_size(const Term *term, int *columns, int *rows) {
    *columns = 80;
    *rows = 24;
}

TermFacts term_facts(const Term *term) {
    return (TermFacts){.color = false};
}

void term_resized(Term *term) {}

bool term_draw(Term *term, const Cells *cells, Image *image, Area place, Err *err) {
    return term_open(&term, TERM_COLOR_NEVER, false, PIXELS_OFF, err);
}

bool term_pixels(const Term *term, bool moves, int *cell_w, int *cell_h) {
    return false;
}

double term_rest_ms(const Term *term) {
    return 0;
}

bool term_is_full(const Term *term) {
    return false;
}

int32_t term_key(Term *term, double typed_ms) {
    return 0;
}

MouseReport term_mouse(const Term *term) {
    return (MouseReport){.column = -1};
}

void term_suspend(Term *term) {}

void term_resume(Term *term) {}

void term_redraw(Term *term) {}

bool term_error_line(Term *term, char *line, size_t size) {
    return false;
}
#endif

#ifndef HAVE_SDL
const char *sdl_window_impossible(void) {
    return "this program was built without SDL";
}

bool sdl_window_open(SdlWindow **window, const char *title, Err *err) {
    *window = NULL;
    return err_set(err, ERR_FAILED, "window", "configure it --with-sdl", "%s",
                   sdl_window_impossible());
}

void sdl_window_close(SdlWindow *window) {}

bool sdl_window_draw(SdlWindow *window, const State *state, const LiveData *live,
                     const Picture *picture, const GiveUp *give_up, Err *err) {
    return sdl_window_open(&window, NULL, err);
}

bool sdl_window_capture(const SdlWindow *window, const State *state, const LiveData *live,
                        const Picture *picture, Image *image, Err *err) {
    return err_set(err, ERR_FAILED, "window", "", "%s", sdl_window_impossible());
}

WindowInput sdl_window_next(SdlWindow *window, const State *state, const LiveData *live,
                            Event *event, int32_t *key) {
    return WINDOW_NOTHING;
}

double sdl_window_density(double dpi) {
    return 1;
}

void sdl_window_tip(SdlWindow *window, const State *state, const LiveData *live, double now_ms) {}

double sdl_window_tip_in_ms(const SdlWindow *window, double now_ms) {
    return 1e9;
}

void sdl_window_tip_end(SdlWindow *window, const State *state, const LiveData *live) {}

bool sdl_window_key_waits(SdlWindow *window) {
    return false;
}

void sdl_window_fullscreen(SdlWindow *window, bool on) {}
#endif
