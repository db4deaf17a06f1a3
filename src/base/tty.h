/* Writing to a terminal that may have stopped reading: behind a slow network, or after Ctrl-S. No
 * function here waits longer than it is told to. All may be called in signal handlers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes all bytes, also to files and pipes. False: an error, or not all fitted within `ms`. */
bool tty_write(int fd, const char *bytes, size_t length, int ms);

/* The same for bytes that must arrive: where the terminal takes nothing for half of `ms`, what
 * waits before them is discarded, and output that Ctrl-S stopped is started. */
bool tty_insist(int fd, const char *bytes, size_t length, int ms);
