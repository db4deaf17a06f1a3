/* SPDX-License-Identifier: MIT */
/* Replaces term.c in builds without ncurses, and sdl_window.c in builds without SDL: says why
 * nothing can be opened there. All other functions are missing (MAY_LACK, pointer.h). */
#include "config.h"

#ifndef HAVE_NCURSES
const char *term_impossible(void);
const char *term_impossible(void) {
    return "this program was built without ncurses";
}
#endif

#ifndef HAVE_SDL
const char *sdl_window_impossible(void);
const char *sdl_window_impossible(void) {
    return "this program was built without SDL";
}
#endif
