/* SPDX-License-Identifier: MIT */
/* Calls that must fail, and what they say: one line, with the place and the cause. */
#pragma once

#include "kernels/err.h"
#include "tests/support/tap.h"

static Err err;        /* of the last call that failed */
static char line[800]; /* the same in one line; empty: it did not fail */

/* Returns `done`; where it is false the line is that of `err`. */
static inline bool keep_line(bool done) {
    line[0] = '\0';
    if (!done)
        err_line(&err, line, sizeof line);
    return done;
}

/* A check of the last call, with a note of what it said. */
__attribute__((format(printf, 2, 3))) static inline bool tap_said(bool passed, const char *title,
                                                                  ...) {
    char text[300];
    va_list args;
    va_start(args, title);
    vsnprintf(text, sizeof text, title, args);
    va_end(args);
    if (!tap_ok(passed, "%s", text))
        tap_note("got: %s", line[0] ? line : "accepted");
    return passed;
}

/* Whether the last call failed with one line that begins with `where` and contains the words, in
 * which "..." stands for any text. */
static inline bool refused_with(const char *where, const char *words) {
    const char *at = line;
    for (const char *piece = words, *gap; at && piece; piece = gap ? gap + 3 : NULL) {
        gap = strstr(piece, "...");
        size_t length = gap ? (size_t)(gap - piece) : strlen(piece);
        at = memmem(at, strlen(at), piece, length);
        at = at ? at + length : NULL;
    }
    return at && line[0] && !strncmp(line, where, strlen(where)) && !strchr(line, '\n');
}

/* `tap_refuses(call, where, words, "title", ...)`: a check that the call is refused so. */
#define tap_refuses(done_, where_, words_, ...)                                                    \
    tap_said(!keep_line(done_) && refused_with(where_, words_), __VA_ARGS__)
