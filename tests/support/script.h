/* Controls by the lines of a script. */
#pragma once

#include "src/state/state.h"
#include "tests/support/tap.h"

/* "dtype fp8; theme", made as printf does. Returns what state_step asks for after the last line; 0
 * where that is no command. */
__attribute__((format(printf, 2, 3))) static inline unsigned use(State *state, const char *form,
                                                                 ...) {
    Event event = {.kind = EVENT_COMMAND};
    char lines[200], why[200], *rest = NULL;
    unsigned bits = 0;
    va_list args;
    va_start(args, form);
    vsnprintf(lines, sizeof lines, form, args);
    va_end(args);
    for (char *line = strtok_r(lines, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        bool parsed = keys_parse(line, &event.command, why, sizeof why);
        if (!parsed)
            tap_note("%s", why);
        bits = parsed ? state_step(state, &event) : 0;
    }
    return bits;
}

/* A check of what holds after these lines: after(&state, "wipe 200", state.wipe == 1, "title"). */
#define after(state_, lines_, ...) (use(state_, lines_), tap_ok(__VA_ARGS__))
