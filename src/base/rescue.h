/* What must be undone before a signal ends the process: for every program a temporary file, for the
 * live display also the terminal's modes. In the live display a signal that asks to stop goes to
 * the main loop, which leaves in order. In a crash, or when a library calls exit(), the terminal is
 * reset before the process dies. Install the handlers on the main thread before ncurses and SDL
 * start: both respect handlers that exist already. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <termios.h>

/* Handlers for the signals that end a program, but for SIGKILL, SIGPWR, SIGSTKFLT and those of real
 * time: those that ask it to end
 * (a flag and a byte into a pipe; a second one, or a second without reaction, resets the terminal
 * and kills) and those of a crash (reset the terminal, say so, die of the same signal). Also for
 * TSTP, CONT and WINCH. A write beyond the limit of file sizes is an error of the write only. */
bool rescue_install(Err *err);
void rescue_remove(void);

/* Readable while something is pending: for poll(). */
int rescue_fd(void);

typedef struct {
    int quit; /* the signal that asks to stop, or 0 */
    bool suspend, resumed, resized;
} RescueSignals;

/* What happened since the last call. */
RescueSignals rescue_take(void);

/* What a signal that asks to stop means, in a few words: "terminated". */
const char *rescue_what(int signal);

/* Writes `reset` to the terminal and restores its modes, within a second even if the terminal does
 * not read. May be called in signal handlers. */
void rescue_restore(int tty, const struct termios *modes, const char *reset, size_t length);

/* From now until rescue_disarm, a crash or exit() writes `reset` to `tty`, restores `modes` and
 * copies what standard error collected in `captured` (a file descriptor, or -1) to `errors`.
 * `drawn`: the file descriptor that is drawn on; a signal that asks to stop or to suspend diverts
 * it, so that no drawing waits for a terminal that does not read. */
enum { RESCUE_RESET_MAX = 512 };
void rescue_arm(int tty, const struct termios *modes, const void *reset, size_t length, int drawn,
                int captured, int errors);
void rescue_disarm(void);

/* Diverts all further drawing to nowhere, until the owner points the file descriptor back. */
void rescue_divert(void);

/* Copies a whole file, or as much as its reader takes in time. Both are file descriptors; -1 copies
 * nothing. May be called in signal handlers. */
void rescue_copy(int from, int to);

/* Stops the process as SIGTSTP would have; returns when it is continued. */
void rescue_stop(void);

/* Until rescue_unguard a signal that ends the process removes the file `path` first. Signals that
 * the program handles itself are left to it. One file at a time: other threads wait. */
void rescue_guard(const char *path);
void rescue_unguard(void);

/* Dies of `signal` as if it had no handler, so that the parent sees how the process ended. */
void rescue_die(int signal);

/* Gives the calling thread a second stack for crash handlers, which run after a stack overflow,
 * too. The main thread gets one from rescue_install. */
bool rescue_thread_begin(Err *err);
void rescue_thread_end(void);
