#include "config.h"

#include "src/base/data.h"
#include "src/ui/rescue.h"

#include <assert.h>
#include <errno.h>
#ifdef HAVE_EXECINFO_H
#include <execinfo.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum { ON_QUIT, ON_SUSPEND, ON_RESUME, ON_RESIZE, ON_CRASH } Reaction;

/* Every signal that this program handles, the reaction, and the last words where it kills. */
typedef struct {
    int signal;
    Reaction reaction;
    const char *farewell;
} SignalRow;

#define CRASHED(what)                                                                              \
    "bevscope: " what "; the terminal was reset. This is a bug, please report it\n"

static const SignalRow rows[] = {
    {SIGINT, ON_QUIT, "bevscope: interrupted while busy\n"},
    {SIGTERM, ON_QUIT, "bevscope: terminated while busy\n"},
    {SIGHUP, ON_QUIT, "bevscope: hung up while busy\n"},
    {SIGQUIT, ON_QUIT, "bevscope: quit signal while busy\n"},
    {SIGTSTP, ON_SUSPEND, NULL},
    {SIGCONT, ON_RESUME, NULL},
    {SIGWINCH, ON_RESIZE, NULL},
    {SIGSEGV, ON_CRASH, CRASHED("segmentation fault (SIGSEGV)")},
    {SIGBUS, ON_CRASH, CRASHED("bus error (SIGBUS)")},
    {SIGFPE, ON_CRASH, CRASHED("arithmetic error (SIGFPE)")},
    {SIGILL, ON_CRASH, CRASHED("illegal instruction (SIGILL)")},
    {SIGABRT, ON_CRASH, CRASHED("aborted (SIGABRT)")},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows, STACK_BYTES = 64 << 10, CALLS = 24 };

static struct {
    int pipe[2];
    volatile sig_atomic_t pending[ON_CRASH]; /* the signal of each reaction that is due; 0: none */
    struct sigaction before[ROW_COUNT];
    bool installed;
} state = {.pipe = {-1, -1}};

/* Written by rescue_arm, read by crash handlers; the flag `armed` is set last and cleared first. */
static struct {
    volatile sig_atomic_t armed;
    int tty, captured, errors;
    struct termios modes;
    char reset[RESCUE_RESET_MAX];
    size_t length;
} armed;

static __thread void *thread_stack;

/* ---- inside handlers: async-signal-safe calls only ------------------------------------------- */

void rescue_copy(int from, int to) {
    char block[4096];
    off_t at = 0;
    for (ssize_t n; (n = pread(from, block, sizeof block, at)) > 0; at += n)
        data_write_all(to, block, (size_t)n);
}

/* Writes where the crash happened: program(+offset), for `addr2line -e program offset`. */
static void name_calls(void) {
#ifdef HAVE_EXECINFO_H
    void *calls[CALLS];
    backtrace_symbols_fd(calls, backtrace(calls, CALLS), armed.errors);
#endif
}

static void reset_terminal(const char *farewell, bool crashed) {
    if (!armed.armed)
        return;
    armed.armed = 0;
    data_write_all(armed.tty, armed.reset, armed.length);
    /* A background process may set terminal modes only while it ignores SIGTTOU. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTTOU, &ignore, NULL);
    tcsetattr(armed.tty, TCSANOW, &armed.modes);
    rescue_copy(armed.captured, armed.errors);
    if (crashed)
        name_calls();
    data_write_all(armed.errors, farewell, strlen(farewell));
}

static void wake(void) {
    ssize_t ignored = write(state.pipe[1], "", 1); /* a full pipe wakes the loop, too */
    (void)ignored;
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

static const SignalRow *row_of(int signal) {
    const SignalRow *row = rows;
    while (row->signal != signal)
        row++;
    return row;
}

static void handle(int signal) {
    int saved_errno = errno;
    const SignalRow *row = row_of(signal);
    bool crash = row->reaction == ON_CRASH;
    /* A second request to quit: the main loop does not react. */
    if (crash || (row->reaction == ON_QUIT && state.pending[ON_QUIT])) {
        reset_terminal(row->farewell, crash);
        rescue_die(signal);
    } else
        state.pending[row->reaction] = signal;
    wake();
    errno = saved_errno;
}

/* ---- outside handlers ------------------------------------------------------------------------ */

/* Xlib calls exit() when its display goes away, and says why on standard error. */
static void exit_beneath(void) {
    static const char farewell[] = "bevscope: ended by a library, perhaps because the window's "
                                   "display is gone; the terminal was reset\n";
    reset_terminal(farewell, false);
}

bool rescue_thread_begin(Err *err) {
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return err_set(err, ERR_FAILED, "signals", "", "no memory for a handler's stack");
    stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES};
    sigaltstack(&alternate, NULL);
    thread_stack = stack;
    return true;
}

void rescue_thread_end(void) {
    if (!thread_stack)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(thread_stack, STACK_BYTES);
    thread_stack = NULL;
}

static void install_row(int i) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (rows[i].reaction != ON_CRASH)
        action.sa_flags |= SA_RESTART;
    sigaction(rows[i].signal, &action, &state.before[i]);
    /* What the parent ignores stays ignored, as nohup needs. */
    if (state.before[i].sa_handler == SIG_IGN && rows[i].reaction != ON_CRASH)
        sigaction(rows[i].signal, &state.before[i], NULL);
}

bool rescue_install(Err *err) {
    assert(!state.installed);
    if (pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(err, ERR_FAILED, "signals", "", "no pipe: %s", strerror(errno));
    if (!rescue_thread_begin(err)) {
        close(state.pipe[0]);
        close(state.pipe[1]);
        return false;
    }
#ifdef HAVE_EXECINFO_H
    void *call;
    backtrace(&call, 1); /* the first call loads a library, which a handler must not do */
#endif
    static bool at_exit;
    at_exit = at_exit || atexit(exit_beneath) == 0;
    for (int i = 0; i < ON_CRASH; i++)
        state.pending[i] = 0;
    for (int i = 0; i < ROW_COUNT; i++)
        install_row(i);
    state.installed = true;
    return true;
}

void rescue_remove(void) {
    if (!state.installed)
        return;
    for (int i = 0; i < ROW_COUNT; i++)
        sigaction(rows[i].signal, &state.before[i], NULL);
    rescue_thread_end();
    close(state.pipe[0]);
    close(state.pipe[1]);
    state.pipe[0] = state.pipe[1] = -1;
    state.installed = false;
}

int rescue_fd(void) {
    return state.pipe[0];
}

static bool take(Reaction reaction) {
    bool due = state.pending[reaction];
    state.pending[reaction] = 0;
    return due;
}

RescueSignals rescue_take(void) {
    char drained[64];
    while (read(state.pipe[0], drained, sizeof drained) > 0) {
    }
    /* The pipe is emptied first: a signal that comes in between wakes the loop once more, none is
     * lost. The request to quit stays, so that the handler sees a second one. */
    return (RescueSignals){.quit = state.pending[ON_QUIT],
                           .suspend = take(ON_SUSPEND),
                           .resumed = take(ON_RESUME),
                           .resized = take(ON_RESIZE)};
}

void rescue_arm(int tty, const struct termios *modes, const void *reset, size_t length,
                int captured, int errors) {
    assert(length <= sizeof armed.reset);
    armed.armed = 0;
    armed.tty = tty;
    armed.modes = *modes;
    memcpy(armed.reset, reset, length);
    armed.length = length;
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
}
