#include "kernels/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* File names and JSON keys come from the world: keep them on one line and off the terminal's
 * control codes. Bytes above 0x7f are left alone, they are UTF-8. */
static void clean(char *text) {
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
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
    clean(err->where);
    clean(err->what);
    clean(err->hint);
    return false;
}

void err_line(const Err *err, char *line, int size) {
    snprintf(line, (size_t)size, "%s%s%s%s%s%s", err->where, err->where[0] ? ": " : "", err->what,
             err->hint[0] ? " (" : "", err->hint, err->hint[0] ? ")" : "");
}
