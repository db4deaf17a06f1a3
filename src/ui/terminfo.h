/* Questions to the terminal database. Apart, because its header makes macros of everyday words. */
#ifndef BEV_TERMINFO_H
#define BEV_TERMINFO_H

#include <stdbool.h>
#include <stddef.h>

/* Why a terminal of that type on `fd` cannot be a screen; NULL: it can. */
const char *terminfo_impossible(const char *type, int fd);

/* The bytes that give the open terminal back: cursor, colours, keypad, the shell's screen. Cut at
 * `size`; returns the length. */
size_t terminfo_reset(char *bytes, size_t size);

#endif
