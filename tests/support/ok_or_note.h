/* A step of a test that may fail without ending it. */
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
