/* SPDX-License-Identifier: MIT */
/* The mouse on a terminal, with the real program: the wheel and moves. Where clicks lead:
 * test_mouse.c. Stopped and ended, the terminal reports it no longer: test_term_pty.c. */
#include "tests/support/pty_check.h"

static Pty pty;

static void test_moves(void) {
    size_t asked = pty_last(&pty, "\033[?1003$p"), from = pty.length;
    bool unasked = pty_last(&pty, "\033[?1003h");
    pty_type(&pty, "\033[?1003;2$y");
    tap_ok(asked && !unasked && pty_wait_text(&pty, "\033[?1003h", from, PATIENCE_S),
           "moves are asked for once the terminal has answered that it has them");
    from = pty.length;
    pty_type(&pty, "\033[<35;2;5M\033[<35;3;5M\033[<35;4;5M");
    pty_read(&pty, 0.5);
    tap_ok(pty.length - from < 4000, "moves over nothing draw nothing new: %zu bytes",
           pty.length - from);
}

/* A hundred reports in one piece: drawn once, or twice where the program read them in two. */
static void test_wheel(int x, int y) {
    enum { TURNS = 50 };
    char storm[TURNS * 40];
    size_t used = 0, from = pty.length;
    pty_type(&pty, REDRAW);
    pty_read(&pty, 0.5);
    size_t whole = pty.length - from;
    for (int i = 0; i < TURNS; i++)
        used += (size_t)snprintf(storm + used, sizeof storm - used,
                                 "\033[<64;%d;%dM\033[<65;%d;%dM", x + 1, y + 1, x + 1, y + 1);
    snprintf(storm + used, sizeof storm - used, "\033[<64;%d;%dM", x + 1, y + 1);
    from = pty.length;
    pty_type(&pty, storm);
    pty_read(&pty, 1);
    size_t drawn = pty.length - from;
    tap_ok(drawn < 3 * whole && screen_says(&pty, "zoom 1."),
           "%d turns of the wheel in one piece: zoomed, %zu bytes drawn; a screen has %zu",
           2 * TURNS + 1, drawn, whole);
}

TAP_WAITING_SUITE(mouse_pty_reports) {
    tap_need(open_toy(&pty, "--ascii --color never", NULL), "the display is open");
    tap_ok(pty_last(&pty, MOUSE_ON) > pty_last(&pty, ENTER), "the terminal is asked for reports");
    pty_type(&pty, " ");
    test_moves();
    test_wheel(16, 16);
    quits(&pty, "quit after reports", true);
}

TAP_WAITING_SUITE(mouse_pty_asked) {
    static const struct {
        char *type;
        const char *option;
        bool asked;
    } cases[] = {{"TERM=xterm-256color", "--no-mouse", false},
                 {"TERM=linux", "", false},
                 {"TERM=tmux-256color", "", true},
                 {"TERM=xterm", "", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *const environment[] = {cases[i].type, "LC_ALL=C.UTF-8", NULL};
        bool ok = open_toy(&pty, cases[i].option, environment);
        pty_type(&pty, "q");
        ok = exits_with(&pty, 0) && ok;
        bool on = strstr(pty.output, MOUSE_ON), off = strstr(pty.output, MOUSE_OFF);
        tap_ok(ok && on == cases[i].asked && off == on, "%s %s: %s", cases[i].type, cases[i].option,
               on ? "reports" : "no reports");
        pty_end(&pty);
    }
}
