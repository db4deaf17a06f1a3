/* SPDX-License-Identifier: MIT */
/* The window of the running program: impossible, closed by the user, or lost with its display. The
 * terminal takes over where it can and has its old modes again afterwards. */
#include "tests/support/pty_check.h"
#include "tests/ui/xserver.h"

#include <fcntl.h>
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

/* Without a terminal each log line is printed once; the window of SDL's driver is not seen. */
static void test_no_font(void) {
    char fonts[] = "/tmp/bevscope-XXXXXX", variable[64];
    int file = mkstemp(fonts);
    ssize_t written = write(file, "<fontconfig/>", 13);
    snprintf(variable, sizeof variable, "FONTCONFIG_FILE=%s", fonts);
    char *const environment[] = {"TERM=dumb", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy", variable,
                                 NULL};
    Pty pty;
    bool ok = written == 13 && pty_bevscope(&pty, COLUMNS, ROWS, environment, "toy --device cpu") &&
              pty_wait_text(&pty, "install fonts-dejavu-core", 0, PATIENCE_S);
    pty_type(&pty, "dtype fp8\nview norm\nquit\n");
    ok = exits_with(&pty, 0) && ok;
    tap_ok(ok && occurrences(pty.output, "no scalable font found") == 1,
           "no font for the window: said, once");
    pty_end(&pty);
    close(file);
    unlink(fonts);
}

static void test_no_sdl(void) {
    char folder[] = "/tmp/bevscope-XXXXXX", library[64], variable[64];
    bool made = mkdtemp(folder) != NULL;
    snprintf(library, sizeof library, "%s/libSDL2-2.0.so.0", folder);
    snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%s", folder);
    int file = creat(library, 0600);
    char *const environment[] = {"TERM=dumb", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy", variable,
                                 NULL};
    Pty pty;
    bool ok = made && pty_bevscope(&pty, COLUMNS, ROWS, environment, "toy --device cpu") &&
              pty_wait_text(&pty, "libSDL2-2.0.so.0: file too short", 0, PATIENCE_S);
    pty_type(&pty, "quit\n");
    ok = exits_with(&pty, 0) && ok;
    tap_ok(ok, "a broken SDL: said, and the terminal goes on");
    pty_end(&pty);
    close(file);
    unlink(library);
    rmdir(folder);
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
    test_no_font();
    test_no_sdl();
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
