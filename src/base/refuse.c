/* SPDX-License-Identifier: MIT */
#include "src/base/data.h"

#include <stdarg.h>
#include <stdio.h>

bool data_refuse(Err *err, const char *file, const char *place, const char *hint, const char *what,
                 ...) {
    char where[sizeof err->where], text[sizeof err->what];
    snprintf(where, sizeof where, "%s: %s", file, place);
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return err_set(err, ERR_FAILED, where, hint, "%s", text);
}
