/* Steps of a test that fill an Err. */
#pragma once

#include "kernels/err.h"
#include "tests/support/tap.h"

/* Returns `ok`; where it is false, the error stands in the output as a note. */
static inline bool ok_or_note(bool ok, const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    if (!ok)
        tap_note("%s", line);
    return ok;
}

/* A step without which the rest says nothing: ends the suite when it failed. */
static inline void need(bool ok, const Err *err) {
    char line[1024];
    if (ok)
        return;
    err_line(err, line, sizeof line);
    tap_need(false, line);
}
