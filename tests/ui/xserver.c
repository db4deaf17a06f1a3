/* SPDX-License-Identifier: MIT */
#include "tests/ui/xserver.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

const char *xserver_start(XServer *server) {
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

void xserver_stop(XServer *server) {
    if (server->pid > 0) {
        kill(server->pid, SIGTERM);
        waitpid(server->pid, NULL, 0);
    }
    server->pid = 0;
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

bool xserver_close_window(const XServer *server, const char *title, double seconds) {
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
