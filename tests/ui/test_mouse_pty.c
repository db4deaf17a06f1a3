/* The mouse on a terminal, with the real program: clicks on what the screen shows, the wheel,
 * broken reports; stopped, the terminal reports the mouse no longer (signals: test_term_pty). */
#include "tests/support/pty_check.h"
#include "tests/support/vt.h"

#include <signal.h>

enum { COLUMNS = 120, ROWS = 40 };

static Pty pty;
static Vt screen; /* of the display that is clicked */

static bool find(const char *text, int from, int *x, int *y) {
    vt_follow(&screen, &pty);
    return vt_find(&screen, text, from, x, y);
}

static bool shows_soon(const char *text, int from) {
    return vt_wait(&screen, &pty, text, from, true, PATIENCE_S);
}

static bool gone_soon(const char *text) {
    return vt_wait(&screen, &pty, text, 0, false, PATIENCE_S);
}

/* The screen, where a check of it failed. */
static void show(void) {
    for (int y = 0; y < ROWS; y++)
        tap_note("%s", screen.cells[y]);
}

static void click(int x, int y) {
    char report[64];
    snprintf(report, sizeof report, "\033[<0;%d;%dM\033[<0;%d;%dm", x + 1, y + 1, x + 1, y + 1);
    pty_type(&pty, report);
}

static void test_kernel(void) {
    enum { BELOW_HEADER = 8 };
    int x = 0, y = 0, other_x, other_y;
    bool found = shows_soon("V2+DO ", BELOW_HEADER) && find("V2+DO ", BELOW_HEADER, &x, &y);
    double clicked = pty_now_s();
    click(x, y);
    tap_ok(found && shows_soon("V2+DO FP16 nearest", 0),
           "a click on row %d selects the kernel that stands there", y);
    tap_note("%.0f ms from the click to the name in the header", (pty_now_s() - clicked) * 1e3);
    tap_ok(find("V2+DO FP16", 0, &other_x, &other_y) && other_y == 0, "the header says so");
}

static void test_moves(void) {
    int x = 0, y = 0;
    char report[32];
    size_t asked = pty_last(&pty, "\033[?1003$p"), from = pty.length;
    bool unasked = pty_last(&pty, "\033[?1003h");
    pty_type(&pty, "\033[?1003;2$y");
    tap_ok(asked && !unasked && pty_wait_text(&pty, "\033[?1003h", from, PATIENCE_S),
           "moves are asked for once the terminal has answered that it has them");
    bool found = find("footprint ", 8, &x, &y);
    snprintf(report, sizeof report, "\033[<35;%d;%dM", x + 15, y + 1);
    pty_type(&pty, report);
    tap_ok(found && shows_soon("footprint: The arrays of a", ROWS - 6),
           "what the mouse rests on is told in the log");
    pty_type(&pty, "\033[<35;1;5M");
    tap_ok(gone_soon("footprint: The arrays of a"), "and no longer when the mouse leaves");
    pty_read(&pty, 1);
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
    bool zoomed = shows_soon("zoom 1.", ROWS - 5);
    pty_read(&pty, 0.5);
    tap_ok(zoomed && pty.length - from < 3 * whole,
           "%d turns of the wheel in one piece: zoomed, %zu bytes drawn; a screen has %zu",
           2 * TURNS + 1, pty.length - from, whole);
}

TAP_WAITING_SUITE(mouse_pty_clicks) {
    int x = 0, y = 0;
    vt_open(&screen, COLUMNS, ROWS);
    tap_need(open_toy(&pty, "", NULL), "the display is open");
    tap_ok(pty_last(&pty, MOUSE_ON) > pty_last(&pty, ENTER), "the terminal is asked for reports");
    pty_type(&pty, " ");
    test_kernel();
    test_moves();
    bool bev = shows_soon(" m left", 0) && find("BEV,", 0, &x, &y);
    tap_ok(bev, "the BEV is shown");
    if (!bev)
        show();
    test_wheel(x + 8, y + 5);
    quits(&pty, "quit after clicks", true);
}

TAP_WAITING_SUITE(mouse_pty_suspend) {
    int status = 0;
    bool ok = open_toy(&pty, "", NULL);
    pty_type(&pty, "\032");
    ok = ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFSTOPPED(status);
    tap_ok(ok && pty_last(&pty, MOUSE_OFF) > pty_last(&pty, MOUSE_ON), "stopped: no reports");
    size_t stopped = pty.length;
    kill(pty.program, SIGCONT);
    ok = pty_wait_text(&pty, MOUSE_ON, stopped, PATIENCE_S);
    tap_ok(ok, "continued: reports again");
    pty_wait_status(&pty, &status, PATIENCE_S);
    quits(&pty, "quit", true);
}

TAP_WAITING_SUITE(mouse_pty_asked) {
    static const struct {
        char *type;
        const char *option;
        bool asked;
    } cases[] = {{"TERM=xterm-256color", "--no-mouse", false},
                 {"TERM=linux", "", false},
                 {"TERM=vt100", "", false},
                 {"TERM=tmux-256color", "", true},
                 {"TERM=screen-256color", "", true},
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
