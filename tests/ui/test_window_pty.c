/* SPDX-License-Identifier: MIT */
/* The window of the running program: impossible, closed by the user, or lost with its display. The
 * terminal takes over where it can and has its old modes again afterwards. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"
#include "tests/ui/xserver.h"

#include <signal.h>
#include <unistd.h>

enum { COLUMNS = 100, ROWS = 30 };

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
