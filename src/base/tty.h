/* SPDX-License-Identifier: MIT */
/* Writes to a terminal that may have stopped reading, behind a slow network or after Ctrl-S. No
 * function here waits longer than its time. All may be called in signal handlers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes all bytes, also to files and pipes. False: an error, or `ms` were not enough. */
bool tty_write(int fd, const char *bytes, size_t length, int ms);

/* Writes bytes that must arrive. Where the terminal takes nothing for half of `ms`, the bytes that
 * wait before them are discarded. Output that Ctrl-S stopped is started. */
bool tty_insist(int fd, const char *bytes, size_t length, int ms);
