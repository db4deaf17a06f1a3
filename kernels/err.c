#include "kernels/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void err_clean(char *text) {
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
            p[0] = p[1] = '?';
    }
}

bool err_set(Err *err, ErrKind kind, const char *where, const char *hint, const char *what, ...) {
    if (!err)
        return false;
    err->kind = kind;
    snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    snprintf(err->hint, sizeof err->hint, "%s", hint ? hint : "");
    va_list args;
    va_start(args, what);
    vsnprintf(err->what, sizeof err->what, what, args);
    va_end(args);
    err_clean(err->where);
    err_clean(err->what);
    err_clean(err->hint);
    return false;
}

void err_line(const Err *err, char *line, int size) {
    snprintf(line, (size_t)size, "%s%s%s%s%s%s", err->where, err->where[0] ? ": " : "", err->what,
             err->hint[0] ? " (" : "", err->hint, err->hint[0] ? ")" : "");
}
