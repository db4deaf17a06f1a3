/* SPDX-License-Identifier: MIT */
/* Restores the terminal's modes when a signal ends the live display. A signal that asks to stop
 * goes to the main loop, which leaves in order. In a crash, or when a library calls exit(), the
 * terminal is reset before the process dies. Install the handlers on the main thread before ncurses
 * and SDL start: both respect handlers that exist already. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* Installs handlers for the usual signals that end a program. A signal that asks to stop sets a
 * flag and writes a byte into a pipe. A second such signal, or a second without reaction, resets
 * the terminal and kills. A crash resets the terminal, writes a message and dies of the same
 * signal. TSTP, CONT and WINCH are handled too. */
bool rescue_install(Err *err);
void rescue_remove(void);

/* Returns a file descriptor for poll(), which is readable while a signal is pending. */
int rescue_fd(void);

typedef struct {
    int quit; /* the signal that asks to stop, or 0 */
    bool suspend, resumed, resized;
} RescueSignals;

/* Returns the signals that arrived since the last call. */
RescueSignals rescue_take(void);

/* Returns the meaning of a signal that asks to stop, in a few words: "terminated". */
const char *rescue_what(int signal);

/* Writes all bytes, also to files and pipes. Does not wait longer than `ms` for a terminal
 * that has stopped reading, behind a slow network or after Ctrl-S. False: an error, or `ms` were
 * not enough. May be called in signal handlers. */
bool rescue_write(int fd, const char *bytes, size_t length, int ms);

/* After this call a crash or exit() writes `reset` to `tty` and restores `modes`. It also copies
 * the standard error in `captured` (a file descriptor, or -1) to `errors`. `drawn` is the file
 * descriptor on which the display draws. A signal that asks to stop or to suspend diverts `drawn`,
 * so that no drawing waits for a terminal that does not read. rescue_disarm ends this. */
enum { RESCUE_RESET_MAX = 512 };
void rescue_arm(int tty, const struct termios *modes, const void *reset, size_t length, int drawn,
                int captured, int errors);
void rescue_disarm(void);

/* Writes the `reset` of rescue_arm to the terminal and restores its modes, within a second even if
 * the terminal does not read. May be called in signal handlers. */
void rescue_restore(void);

/* Diverts all further drawing to /dev/null, until the owner points the file descriptor back. */
void rescue_divert(void);

/* Copies a file from its beginning, or as much of the file as the reader takes in time. Both
 * arguments are file descriptors; -1 copies nothing. May be called in signal handlers. */
void rescue_copy(int from, int to);

/* Stops the process as SIGTSTP does without a handler. Returns when the process is continued. */
void rescue_stop(void);

/* Ends the process by `signal` as if it had no handler, so that the parent sees the signal. */
void rescue_die(int signal);
