/* SPDX-License-Identifier: MIT */
#include "kernels/err.h"

#include "kernels/clean.h"

#include <stdarg.h>
#include <stdio.h>

bool err_set(Err *err, ErrKind kind, const char *where, const char *hint, const char *what, ...) {
    if (!err)
        return false;
    err->kind = kind;
    clean_text(where ? where : "", err->where, sizeof err->where);
    clean_text(hint ? hint : "", err->hint, sizeof err->hint);
    va_list args;
    va_start(args, what);
    vsnprintf(err->what, sizeof err->what, what, args);
    va_end(args);
    clean_text(err->what, err->what, sizeof err->what);
    err->no_memory = false;
    return false;
}

bool err_no_memory(Err *err, const char *where, const char *hint) {
    err_set(err, ERR_FAILED, where, hint, "out of memory");
    if (err)
        err->no_memory = true;
    return false;
}

void err_line(const Err *err, char *line, int size) {
    const bool has_where = err->where[0], has_hint = err->hint[0];
    snprintf(line, (size_t)size, "%s%s%s%s%s%s", err->where, has_where ? ": " : "", err->what,
             has_hint ? " (" : "", err->hint, has_hint ? ")" : "");
}
