/* Signals: told to stop, the main loop hears of it and leaves in order; fallen over, or ended by a
 * library that calls exit(), the terminal gets its modes back before the process dies.
 *
 * Install before ncurses and SDL: both leave signals alone that already have a handler. */
#ifndef BEV_RESCUE_H
#define BEV_RESCUE_H

#include "kernels/err.h"

#include <stddef.h>
#include <termios.h>

/* Handlers for INT, TERM, HUP, QUIT, TSTP, CONT, WINCH (a flag and a byte into a pipe) and for
 * SEGV, BUS, FPE, ILL, ABRT (reset the terminal, say so, die of the same signal). */
bool rescue_install(Err *err);
void rescue_remove(void);

/* Readable while something is pending: for poll(). */
int rescue_fd(void);

typedef struct {
    int quit; /* the signal that asks to stop, or 0 */
    bool suspend, resumed, resized;
} RescueSignals;

/* What has happened since the last call. */
RescueSignals rescue_take(void);

/* From now until rescue_disarm, a crash or exit() writes `reset` to `tty` and restores `modes`;
 * what stderr collected in `captured` (a file descriptor, or -1) is then copied to `errors`. */
enum { RESCUE_RESET_MAX = 512 };
void rescue_arm(int tty, const struct termios *modes, const void *reset, size_t length,
                int captured, int errors);
void rescue_disarm(void);

/* Stops the process as SIGTSTP would have; returns when it is continued. */
void rescue_stop(void);

/* Dies of `signal` as if it had never been caught, so that the parent sees the truth. */
void rescue_die(int signal);

/* Gives the calling thread a stack of its own for crash handlers: a stack overflow is a crash
 * too. The main thread gets one from rescue_install. */
bool rescue_thread_begin(Err *err);
void rescue_thread_end(void);

#endif
