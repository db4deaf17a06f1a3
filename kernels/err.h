/* SPDX-License-Identifier: MIT */
/* One error value for the whole program: where the error is, what is wrong, what to do. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds decide the exit status; `bevscope --help` says which. */
typedef enum { ERR_FAILED = 1, ERR_USAGE = 2, ERR_GATE = 3, ERR_DEVICE = 4 } ErrKind;

typedef struct {
    ErrKind kind;
    char where[256]; /* file, JSON path, array and element, or kernel */
    char what[256];  /* the value found and the bound it breaks */
    char hint[256];  /* what the user can do; may be empty */
    bool no_memory;  /* set by err_no_memory() alone */
} Err;

/* Fills `err` (may be NULL) and returns false, so that a caller can write `return err_set(...)`.
 * The texts are cleaned (clean.h): file names and JSON keys come from outside. */
bool err_set(Err *err, ErrKind kind, const char *where, const char *hint, const char *what, ...)
    __attribute__((format(printf, 5, 6)));

/* The host has no memory left: ERR_FAILED, "out of memory". Returns false. */
bool err_no_memory(Err *err, const char *where, const char *hint);

/* Writes "where: what (hint)" into `line` of `size` bytes; always one line, always terminated. */
void err_line(const Err *err, char *line, int size);

#ifdef __cplusplus
}
#endif
