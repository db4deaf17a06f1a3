/* SPDX-License-Identifier: MIT */
/* How a run of the live display on a terminal is judged: whatever ended it, the terminal is as it
 * was before, and the last line says what happened. */
#pragma once

#include "tests/support/pty.h"
#include "tests/support/tap.h"

#include <signal.h>
#include <sys/wait.h>

#define ENTER       "\033[?1049h"
#define LEAVE       "\033[?1049l"
#define HIDE_CURSOR "\033[?25l"
#define SHOW_CURSOR "\033[?25h"
#define MOUSE_ON    "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF   "\033[?1006l\033[?1003l\033[?1002l\033[?1000l"
#define READY       "kernel" /* on the key bar */
#define REDRAW      "\014"   /* Ctrl-L */

enum { PATIENCE_S = 30 }; /* the machine may be busy with other tests */

/* After the last visit to the other screen: left, cursor shown, nothing drawn any more, and the
 * mouse is no longer reported. */
static inline bool came_back(const Pty *pty) {
    size_t left = pty_last(pty, LEAVE), entered = pty_last(pty, ENTER);
    bool mouse = pty_last(pty, MOUSE_ON) > pty_last(pty, MOUSE_OFF);
    return entered && left > entered && !mouse && pty_last(pty, SHOW_CURSOR) > entered &&
           !memmem(pty->output + left, pty->length - left, HIDE_CURSOR, strlen(HIDE_CURSOR)) &&
           pty_same_modes(pty);
}

static inline void check_end(const Pty *pty, const char *what, const char *last_line,
                             bool as_expected) {
    char line[256];
    pty_last_line(pty, line, sizeof line);
    bool back = came_back(pty);
    if (!tap_ok(as_expected && back && strstr(line, last_line), "%s: terminal as before, \"%s\"",
                what, last_line))
        tap_note("ended as expected: %d; terminal back: %d (modes %d); last line: %s", as_expected,
                 back, pty_same_modes(pty), line);
}

static inline int occurrences(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* The program has ended by itself, with this exit status. */
static inline bool exits_with(Pty *pty, int wanted) {
    int status = 0;
    return pty_wait_status(pty, &status, PATIENCE_S) && WIFEXITED(status) &&
           WEXITSTATUS(status) == wanted;
}

/* Seconds until the program has ended by itself, whatever its status; it stays to be waited for. */
static inline double ends_after(Pty *pty) {
    double begun = pty_now_s();
    while (!kill(pty->program, 0) && pty_now_s() - begun < PATIENCE_S)
        pty_read(pty, 0.002);
    return pty_now_s() - begun;
}

/* Drawn as a whole, the screen has this text; what changes alone may be written in pieces. */
static inline bool screen_says(Pty *pty, const char *text) {
    for (int tries = 0; tries < PATIENCE_S; tries++) {
        size_t from = pty->length;
        pty_type(pty, REDRAW);
        if (pty_wait_text(pty, text, from, 1))
            return true;
    }
    return false;
}

/* The same after these keys. */
static inline bool answers(Pty *pty, const char *typed, const char *text) {
    pty_type(pty, typed);
    return screen_says(pty, text);
}

/* The display of the smallest scene, 120 x 40, with an option more; false: it does not open. */
static inline bool open_toy(Pty *pty, const char *option, char *const environment[]) {
    return pty_bevscope(pty, 120, 40, environment, "toy --no-window --device cpu %s", option) &&
           pty_wait_text(pty, READY, 0, PATIENCE_S);
}

/* Quits the display by its key: checks that it ends well. */
static inline void quits(Pty *pty, const char *what, bool as_expected) {
    pty_type(pty, "q");
    check_end(pty, what, "bevscope: quit", exits_with(pty, 0) && as_expected);
    pty_end(pty);
}
