/* SPDX-License-Identifier: MIT */
#include "src/base/rescue.h"

#include "src/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum { ON_QUIT, ON_SUSPEND, ON_RESUME, ON_RESIZE, ON_CRASH } Reaction;

/* A signal that this program handles, the reaction, and the meaning in words. */
typedef struct {
    int signal;
    Reaction reaction;
    const char *what;
} SignalRow;

static const SignalRow rows[] = {
    {SIGINT, ON_QUIT, "interrupted"},
    {SIGTERM, ON_QUIT, "terminated"},
    {SIGHUP, ON_QUIT, "hung up"},
    {SIGQUIT, ON_QUIT, "quit signal"},
    {SIGPIPE, ON_QUIT, "broken pipe (SIGPIPE)"},
    {SIGALRM, ON_QUIT, "alarm (SIGALRM)"},
    {SIGTSTP, ON_SUSPEND, NULL},
    {SIGCONT, ON_RESUME, NULL},
    {SIGWINCH, ON_RESIZE, NULL},
    {SIGSEGV, ON_CRASH, "segmentation fault (SIGSEGV)"},
    {SIGBUS, ON_CRASH, "bus error (SIGBUS)"},
    {SIGFPE, ON_CRASH, "arithmetic error (SIGFPE)"},
    {SIGILL, ON_CRASH, "illegal instruction (SIGILL)"},
    {SIGABRT, ON_CRASH, "aborted (SIGABRT)"},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };
enum {
    RESET_MS = 600, /* how long to try a terminal that does not read */
    OVERDUE_S = 1   /* the process dies where it has not obeyed a request to quit by then */
};

static struct {
    pthread_t main;
    int pipe[2];
    int nowhere;                             /* /dev/null */
    volatile sig_atomic_t pending[ON_CRASH]; /* for each reaction the signal that is due; 0: none */
    struct sigaction before[ROW_COUNT];
    bool installed;
} state = {.pipe = {-1, -1}, .nowhere = -1};

/* rescue_arm writes this, crash handlers read it. `armed` is set last and cleared first. */
static struct {
    volatile sig_atomic_t armed;
    int tty, drawn, captured, errors;
    int flags; /* status flags of the terminal's open file */
    struct termios modes;
    char reset[RESCUE_RESET_MAX];
    size_t length;
} armed;

/* ---- inside handlers: async-signal-safe calls only ------------------------------------------- */

/* Writes as many bytes as the terminal takes at once, and returns their number. -1: no more bytes
 * can be written. The flag O_NONBLOCK belongs to the open file, which the shell and other programs
 * share. So the flag is set for one write only. */
static ssize_t tty_try(int fd, const char *bytes, size_t length) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -1;
    if (!(flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    ssize_t put = write(fd, bytes, length);
    int reason = errno;
    if (!(flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags);
    errno = reason;
    const bool try_later = put < 0 && (reason == EAGAIN || reason == EINTR);
    return try_later ? 0 : put;
}

/* Waits until the terminal has room. poll() may say so too early. Then the pause keeps the caller's
 * loop from using a core all the time. */
static void wait_until_writable(int fd, double until_ms) {
    struct pollfd waiting = {.fd = fd, .events = POLLOUT};
    const double left_ms = until_ms - clock_ms();
    if (left_ms > 0 && poll(&waiting, 1, (int)left_ms) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Writes until the time `until_ms`. Returns the number of bytes that were written. *broken: no more
 * bytes can be written. */
static size_t write_until(int fd, const char *bytes, size_t length, double until_ms, bool *broken) {
    size_t done = 0;
    *broken = false;
    while (done < length) {
        ssize_t put = tty_try(fd, bytes + done, length - done);
        *broken = put < 0;
        if (*broken || (put == 0 && clock_ms() >= until_ms))
            break;
        done += (size_t)put;
        if (put == 0)
            wait_until_writable(fd, until_ms);
    }
    return done;
}

bool rescue_write(int fd, const char *bytes, size_t length, int ms) {
    bool broken;
    return write_until(fd, bytes, length, clock_ms() + ms, &broken) == length;
}

/* Writes bytes that must arrive. Where the terminal does not take them within half of `ms`, starts
 * output that Ctrl-S stopped and discards the output that still waits. */
static bool tty_insist(int fd, const char *bytes, size_t length, int ms) {
    bool broken;
    size_t done = write_until(fd, bytes, length, clock_ms() + ms / 2, &broken);
    if (done == length || broken)
        return done == length;
    /* TCOON starts output that TCOOFF has stopped. The pair also ends Ctrl-S. */
    tcflow(fd, TCOOFF);
    tcflow(fd, TCOON);
    tcflush(fd, TCOFLUSH);
    return rescue_write(fd, bytes + done, length - done, ms - ms / 2);
}

/* A terminal that does not read gets only what fits within RESET_MS. */
void rescue_copy(int from, int to) {
    char block[4096];
    off_t at = 0;
    ssize_t got;
    while ((got = pread(from, block, sizeof block, at)) > 0 &&
           rescue_write(to, block, (size_t)got, RESET_MS))
        at += got;
}

void rescue_restore(void) {
    /* A background process may change a terminal only while it ignores SIGTTOU. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, ours;
    sigaction(SIGTTOU, &ignore, &ours);
    tty_insist(armed.tty, armed.reset, armed.length, RESET_MS);
    tcsetattr(armed.tty, TCSANOW, &armed.modes);
    sigaction(SIGTTOU, &ours, NULL);
}

static void write_error(const char *text) {
    rescue_write(armed.errors, text, strlen(text), RESET_MS);
}

/* Resets the terminal, then writes what happened and what the program did (`after`). */
static void reset_terminal(const char *what, const char *after) {
    if (!armed.armed)
        return;
    armed.armed = 0;
    rescue_restore();
    fcntl(armed.tty, F_SETFL, armed.flags);
    rescue_copy(armed.captured, armed.errors);
    write_error("bevscope: ");
    write_error(what);
    write_error(after);
}

void rescue_die(int signal) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(signal);
}

static const SignalRow *signal_row(int signal) {
    int i = 0;
    while (rows[i].signal != signal)
        i++;
    return &rows[i];
}

const char *rescue_what(int signal) {
    return signal_row(signal)->what;
}

void rescue_divert(void) {
    if (armed.armed)
        dup2(state.nowhere, armed.drawn);
}

/* Passes the first request to quit to the main loop, with an alarm in case the loop is busy. A
 * second request, or the alarm, ends the program here. */
static void ask_to_quit(int signal) {
    int first = state.pending[ON_QUIT];
    if (!first) {
        state.pending[ON_QUIT] = signal;
        alarm(OVERDUE_S);
        return;
    }
    if (signal == SIGALRM)
        signal = first;
    reset_terminal(rescue_what(signal), " while busy\n");
    rescue_die(signal);
}

static void handle_signal(int signal) {
    int saved_errno = errno;
    const SignalRow *row = signal_row(signal);
    if (row->reaction != ON_CRASH && !pthread_equal(pthread_self(), state.main)) {
        pthread_kill(state.main, signal); /* the main thread's waiting drawing is interrupted */
        return;
    }
    if (row->reaction == ON_CRASH) {
        reset_terminal(row->what, "; the terminal was reset. This is a bug, please report it\n");
        rescue_die(signal);
    }
    if (row->reaction == ON_QUIT || row->reaction == ON_SUSPEND)
        rescue_divert();
    if (row->reaction == ON_QUIT)
        ask_to_quit(signal);
    else
        state.pending[row->reaction] = signal;
    ssize_t ignored = write(state.pipe[1], "", 1); /* a full pipe also wakes the main loop */
    (void)ignored;
    errno = saved_errno;
}

/* ---- outside handlers ------------------------------------------------------------------------ */

/* Runs when a library calls exit(). Xlib does so without its display, and says why on standard
 * error. */
static void reset_at_exit(void) {
    reset_terminal("ended by a library, perhaps because the window's display is gone",
                   "; the terminal was reset\n");
}

/* Installs the handlers. Signals that the parent ignores stay ignored, as nohup needs. */
static void install_handlers(void) {
    for (int i = 0; i < ROW_COUNT; i++) {
        const bool crash = rows[i].reaction == ON_CRASH;
        struct sigaction action = {.sa_handler = handle_signal, .sa_flags = crash ? 0 : SA_RESTART};
        sigaction(rows[i].signal, &action, &state.before[i]);
        if (state.before[i].sa_handler == SIG_IGN && !crash)
            sigaction(rows[i].signal, &state.before[i], NULL);
    }
}

/* ---- the display ----------------------------------------------------------------------------- */

bool rescue_install(Err *err) {
    assert(!state.installed);
    state.main = pthread_self();
    state.nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(err, ERR_FAILED, "signals", "", "no pipe: %s", strerror(errno));
    static bool at_exit;
    at_exit = at_exit || atexit(reset_at_exit) == 0;
    for (int i = 0; i < ON_CRASH; i++)
        state.pending[i] = 0;
    install_handlers();
    state.installed = true;
    return true;
}

void rescue_remove(void) {
    if (!state.installed)
        return;
    alarm(0);
    for (int i = 0; i < ROW_COUNT; i++)
        sigaction(rows[i].signal, &state.before[i], NULL);
    close(state.pipe[0]);
    close(state.pipe[1]);
    close(state.nowhere);
    state.pipe[0] = state.pipe[1] = state.nowhere = -1;
    state.installed = false;
}

int rescue_fd(void) {
    return state.pipe[0];
}

static bool take_pending(Reaction reaction) {
    bool due = state.pending[reaction];
    state.pending[reaction] = 0;
    return due;
}

RescueSignals rescue_take(void) {
    char drained[64];
    while (read(state.pipe[0], drained, sizeof drained) > 0) {
    }
    /* The pipe is emptied before the signals are read: a signal that arrives in between wakes the
     * loop again and is not lost. The request to quit stays, so that the handler can recognise a
     * second request. */
    return (RescueSignals){.quit = state.pending[ON_QUIT],
                           .suspend = take_pending(ON_SUSPEND),
                           .resumed = take_pending(ON_RESUME),
                           .resized = take_pending(ON_RESIZE)};
}

void rescue_arm(int tty, const struct termios *modes, const void *reset, size_t length, int drawn,
                int captured, int errors) {
    assert(length <= sizeof armed.reset);
    armed.armed = 0;
    armed.tty = tty;
    armed.flags = fcntl(tty, F_GETFL);
    armed.modes = *modes;
    memcpy(armed.reset, reset, length);
    armed.length = length;
    armed.drawn = drawn;
    armed.captured = captured;
    armed.errors = errors;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    armed.armed = 1;
}

void rescue_disarm(void) {
    armed.armed = 0;
}

void rescue_stop(void) {
    struct sigaction ours, standard = {.sa_handler = SIG_DFL};
    sigaction(SIGTSTP, &standard, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    state.pending[ON_RESUME] = 0; /* the caller has the return value */
}
