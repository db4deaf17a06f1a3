/* SPDX-License-Identifier: MIT */
/* Replaces term.c in builds without ncurses, and sdl_window.c in builds without SDL. Nothing can be
 * opened there; the first function says why. The other functions are names alone, which are called
 * for an open terminal or window. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>

#if !defined(HAVE_NCURSES) || !defined(HAVE_SDL)
__attribute__((used)) static void not_open(void) {
    abort();
}

__attribute__((used)) static void close_nothing(void) {}
#endif

#ifndef HAVE_NCURSES
const char *term_impossible(void);
const char *term_impossible(void) {
    return "this program was built without ncurses";
}

#pragma weak term_open = not_open
#pragma weak term_close = close_nothing
#pragma weak term_size = not_open
#pragma weak term_facts = not_open
#pragma weak term_resized = not_open
#pragma weak term_draw = not_open
#pragma weak term_pixels = not_open
#pragma weak term_rest_ms = not_open
#pragma weak term_is_full = not_open
#pragma weak term_key = not_open
#pragma weak term_mouse = not_open
#pragma weak term_suspend = not_open
#pragma weak term_resume = not_open
#pragma weak term_redraw = not_open
#pragma weak term_error_line = not_open
#endif

#ifndef HAVE_SDL
const char *sdl_window_impossible(void);
const char *sdl_window_impossible(void) {
    return "this program was built without SDL";
}

#pragma weak sdl_window_open = not_open
#pragma weak sdl_window_close = close_nothing
#pragma weak sdl_window_draw = not_open
#pragma weak sdl_window_size = not_open
#pragma weak sdl_window_next = not_open
#pragma weak sdl_window_tip = not_open
#pragma weak sdl_window_tip_in_ms = not_open
#pragma weak sdl_window_tip_end = not_open
#pragma weak sdl_window_key_waits = not_open
#pragma weak sdl_window_fullscreen = not_open
#endif
