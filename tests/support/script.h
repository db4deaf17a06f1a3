/* SPDX-License-Identifier: MIT */
/* A state, and its controls by the lines of a script. */
#pragma once

#include "src/state/state.h"
#include "tests/support/tap.h"

static State state;

/* "dtype fp8; theme", made as printf does. Returns what state_step asks for after the last line; 0
 * where that is no command. */
__attribute__((format(printf, 1, 2))) static inline unsigned use(const char *form, ...) {
    Event event = {.kind = EVENT_COMMAND};
    char lines[200], *rest = NULL;
    Err err;
    unsigned bits = 0;
    va_list args;
    va_start(args, form);
    vsnprintf(lines, sizeof lines, form, args);
    va_end(args);
    for (char *line = strtok_r(lines, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        bool parsed = keys_parse(line, &event.command, &err);
        if (!parsed)
            tap_note("%s", err.what);
        bits = parsed ? state_step(&state, &event) : 0;
    }
    return bits;
}

/* A check of what holds after these lines: after("wipe 200", state.wipe == 1, "title"). */
#define after(lines_, ...) (use(lines_), tap_ok(__VA_ARGS__))

/* An event and its fields: step(EVENT_TICK, .seconds = 0.1). */
#define step(kind_, ...)   state_step(&state, &(Event){.kind = kind_, __VA_ARGS__})

/* The same line so many times. */
static inline void repeat(int times, const char *line) {
    for (int i = 0; i < times; i++)
        use("%s", line);
}

static inline const char *said(void) {
    return state.log.count ? state.log.lines[0].text : "";
}

/* Whether it is this text; a note tells what it is otherwise. */
static inline bool says(const char *text) {
    bool same = !strcmp(said(), text);
    if (!same)
        tap_note("said '%s', wanted '%s'", said(), text);
    return same;
}
