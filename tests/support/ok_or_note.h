/* SPDX-License-Identifier: MIT */
/* Steps of a test that fill an Err. */
#pragma once

#include "kernels/err.h"
#include "tests/support/tap.h"

/* Returns `ok`; where it is false, the error stands in the output as a note. */
static inline bool ok_or_note(bool ok, const Err *why) {
    char text[1024];
    err_line(why, text, sizeof text);
    if (!ok)
        tap_note("%s", text);
    return ok;
}

/* A step without which the rest says nothing: ends the suite when it failed. */
static inline void need(bool ok, const Err *why) {
    tap_need(ok_or_note(ok, why), "a step without which the rest says nothing");
}
