/* SPDX-License-Identifier: MIT */
/* The mouse on a terminal, with the real program: clicks on what the screen shows, the wheel,
 * moves. Stopped and ended, the terminal reports it no longer: test_term_pty.c. */
#include "tests/support/pty_check.h"

enum { COLUMNS = 120, ROWS = 40 };

static Pty pty;

/* Where the text stands from a row on: in the frame that a script writes of the same display. */
static bool find(const char *text, int from, int *x, int *y) {
    static char rows[ROWS][COLUMNS + 2];
    FILE *frame = rows[0][0] ? NULL
                             : popen("cd \"$(mktemp -d)\" && echo 'tick 0' >keys && "
                                     "\"$BEVSCOPE\" live toy --device cpu --ascii --size 120x40 "
                                     "--script keys --frames . >said && cat frame-0001.txt; "
                                     "rm -r \"$PWD\"",
                                     "r");
    for (int row = 0; frame && row < ROWS && fgets(rows[row], sizeof *rows, frame); row++)
        ;
    if (frame)
        pclose(frame);
    for (*y = from; *y < ROWS; ++*y)
        if (strstr(rows[*y], text)) {
            *x = (int)(strstr(rows[*y], text) - rows[*y]);
            return true;
        }
    return false;
}

static void click(int x, int y) {
    char report[64];
    snprintf(report, sizeof report, "\033[<0;%d;%dM\033[<0;%d;%dm", x + 1, y + 1, x + 1, y + 1);
    pty_type(&pty, report);
}

static void test_kernel(void) {
    int x = 0, y = 0;
    bool found = find("k  kernel", 8, &x, &y);
    click(x, y);
    tap_ok(found && screen_says(&pty, "what the others are"),
           "a click on row %d, the key bar, selects the next kernel", y);
}

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

TAP_WAITING_SUITE(mouse_pty_clicks) {
    int x = 0, y = 0;
    tap_need(open_toy(&pty, "--ascii --color never", NULL), "the display is open");
    tap_ok(pty_last(&pty, MOUSE_ON) > pty_last(&pty, ENTER), "the terminal is asked for reports");
    pty_type(&pty, " ");
    test_kernel();
    test_moves();
    tap_ok(find("BEV,", 0, &x, &y), "the BEV is shown");
    test_wheel(x + 8, y + 5);
    quits(&pty, "quit after clicks", true);
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
