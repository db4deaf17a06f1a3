/* SPDX-License-Identifier: MIT */
/* The window of the running program: impossible, closed by the user, or lost with its display. The
 * terminal takes over where it can and has its old modes again afterwards. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 100, ROWS = 30 };

typedef struct {
    pid_t pid;
    char display[32]; /* "DISPLAY=:7" */
} XServer;

static void become_server(int numbers) {
    char number[16];
    int nowhere = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive a test that is killed */
    signal(SIGUSR1, SIG_DFL);         /* ignored, it would be sent to the parent, too */
    snprintf(number, sizeof number, "%d", numbers);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execlp("Xvfb", "Xvfb", "-displayfd", number, "-screen", "0", "1400x1000x24", "-nolisten", "tcp",
           (char *)NULL);
    _exit(127);
}

/* It chooses a free display and writes its number, with a line end, when it is ready. */
static bool read_number(int numbers, char *number, size_t size) {
    enum { PATIENCE_MS = 30000 };
    struct pollfd waiting = {.fd = numbers, .events = POLLIN};
    for (size_t n = 0; n + 1 < size && poll(&waiting, 1, PATIENCE_MS) == 1; n++) {
        if (read(numbers, number + n, 1) != 1)
            return false;
        if (number[n] == '\n') {
            number[n] = '\0';
            return n > 0;
        }
    }
    return false;
}

/* Its clients lose their connection. */
static void xserver_stop(XServer *server) {
    if (server->pid > 0) {
        kill(server->pid, SIGTERM);
        waitpid(server->pid, NULL, 0);
    }
    server->pid = 0;
}

/* Starts an X server of the test's own, which shows nothing. Returns NULL once it answers, or why
 * there is none. */
static const char *xserver_start(XServer *server) {
    int numbers[2];
    char number[16];
    if (pipe(numbers) < 0)
        return "no pipe";
    server->pid = fork();
    if (server->pid == 0) {
        close(numbers[0]);
        become_server(numbers[1]);
    }
    close(numbers[1]);
    bool ready = read_number(numbers[0], number, sizeof number);
    close(numbers[0]);
    if (!ready) {
        xserver_stop(server);
        return "no X server: install xvfb";
    }
    snprintf(server->display, sizeof server->display, "DISPLAY=:%s", number);
    return NULL;
}

static bool is_shown(Display *display, Window window, const char *title) {
    XWindowAttributes about;
    XTextProperty name = {.value = NULL};
    bool shown = XGetWindowAttributes(display, window, &about) && about.map_state == IsViewable &&
                 XGetWMName(display, window, &name) && !strcmp((char *)name.value, title);
    if (name.value)
        XFree(name.value);
    return shown;
}

/* None: there is no such window. */
static Window find(Display *display, const char *title) {
    Window root, parent, *windows = NULL, found = None;
    unsigned count = 0;
    XQueryTree(display, DefaultRootWindow(display), &root, &parent, &windows, &count);
    for (unsigned i = 0; i < count && found == None; i++)
        if (is_shown(display, windows[i], title))
            found = windows[i];
    if (windows)
        XFree(windows);
    return found;
}

static void ask_to_close(Display *display, Window window) {
    XEvent event = {.xclient = {.type = ClientMessage, .window = window, .format = 32}};
    event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
    event.xclient.data.l[0] = (long)XInternAtom(display, "WM_DELETE_WINDOW", False);
    event.xclient.data.l[1] = CurrentTime;
    XSendEvent(display, window, False, NoEventMask, &event);
}

/* Windows that were there a moment ago may be gone. */
static int overlook(Display *display, XErrorEvent *error) {
    (void)display, (void)error;
    return 0;
}

/* Asks the window of this title to close, as a click on its close button does, once it is shown;
 * false: it was not shown within `seconds`. */
static bool xserver_close_window(const XServer *server, const char *title, double seconds) {
    enum { POLL_US = 50000 };
    Display *display = XOpenDisplay(strchr(server->display, '=') + 1);
    if (!display)
        return false;
    XSetErrorHandler(overlook);
    Window window = find(display, title);
    for (double left = seconds; window == None && left > 0; left -= POLL_US * 1e-6) {
        usleep(POLL_US);
        window = find(display, title);
    }
    if (window != None)
        ask_to_close(display, window);
    XCloseDisplay(display);
    return window != None;
}

/* The display of the smallest scene with a window, if `display` ("DISPLAY=...") has one. */
static bool start(Pty *pty, const char *display, const char *terminal) {
    char *const environment[] = {
        (char *)terminal,   "LC_ALL=C.UTF-8", "NO_COLOR=1", "WAYLAND_DISPLAY=",
        "SDL_VIDEODRIVER=", (char *)display,  NULL};
    return pty_bevscope(pty, COLUMNS, ROWS, environment, "toy --device cpu");
}

static bool start_ready(Pty *pty, const char *display) {
    return start(pty, display, "TERM=xterm-256color") && pty_wait_text(pty, READY, 0, PATIENCE_S);
}

static void test_never_possible(const char *display, const char *why) {
    Pty pty;
    bool ok = start_ready(&pty, display) && screen_says(&pty, why);
    quits(&pty, why, ok);
}

/* Without a terminal each log line is printed once; the window of SDL's driver is not seen. Whether
 * the display starts under this variable, says this, obeys these words and ends well; it leaves
 * `pty`. */
static bool plain_says(Pty *pty, const char *variable, const char *words, const char *lines) {
    char *const environment[] = {"TERM=dumb", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy",
                                 (char *)variable, NULL};
    bool ok = pty_bevscope(pty, COLUMNS, ROWS, environment, "toy --device cpu") &&
              pty_wait_text(pty, words, 0, PATIENCE_S);
    pty_type(pty, lines);
    return exits_with(pty, 0) && ok;
}

static void test_broken(void) {
    char variable[64], library[64];
    Pty pty;
    folder_open();
    put(in_folder("fonts"), "<fontconfig/>");
    snprintf(variable, sizeof variable, "FONTCONFIG_FILE=%s", in_folder("fonts"));
    bool ok =
        plain_says(&pty, variable, "install fonts-dejavu-core", "dtype fp8\nview norm\nquit\n");
    tap_ok(ok && occurrences(pty.output, "no scalable font found") == 1,
           "no font for the window: said, once");
    pty_end(&pty);
    snprintf(library, sizeof library, "%s", in_folder("libSDL2-2.0.so.0"));
    put(library, "");
    snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%s", folder);
    tap_ok(plain_says(&pty, variable, "libSDL2-2.0.so.0: file too short", "quit\n"),
           "a broken SDL: said, and the terminal goes on");
    pty_end(&pty);
    folder_remove();
}

static void test_closed(const XServer *server) {
    Pty pty;
    bool ok =
        start_ready(&pty, server->display) && xserver_close_window(server, "bevscope", PATIENCE_S);
    tap_ok(ok && screen_says(&pty, "window closed: the BEV is here now"),
           "the window is closed: said, and the terminal goes on");
    tap_ok(answers(&pty, "?", "Help"), "and obeys keys");
    quits(&pty, "quit after that", true);
}

/* There is a window and no terminal. */
static void test_closed_alone(const XServer *server) {
    Pty pty;
    bool ok = start(&pty, server->display, "TERM=dumb") &&
              xserver_close_window(server, "bevscope", PATIENCE_S);
    ok = exits_with(&pty, 0) && ok;
    tap_ok(ok && strstr(pty.output, "window closed") && !strchr(pty.output, '\033') &&
               pty_same_modes(&pty),
           "without a dashboard, closing it is quitting");
    pty_end(&pty);
}

static void test_display_gone(void) {
    XServer server;
    Pty pty;
    tap_need(!xserver_start(&server), "a second X server");
    bool ok = start_ready(&pty, server.display);
    xserver_stop(&server);
    check_end(&pty, "the window's display is gone", "ended by a library",
              exits_with(&pty, 1) && ok);
    pty_end(&pty);
}

TAP_WAITING_SUITE(window_pty) {
    XServer server;
    test_never_possible("DISPLAY=:4711", "window: no display answers");
    test_broken();
    const char *reason = xserver_start(&server);
    if (reason) {
        tap_skip("the window is closed", reason);
        return;
    }
    test_closed(&server);
    test_closed_alone(&server);
    xserver_stop(&server);
    test_display_gone();
}
