/* SPDX-License-Identifier: MIT */
/* Whatever ends the live display, the terminal is as it was before: limits of the shell, a terminal
 * that does not read, sizes beyond all sense, standard files that are closed. How soon it ends,
 * whatever it computes: tests/hard/hard.py. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

#include <signal.h>
#include <sys/resource.h>

static bool start_scene(Pty *pty, const char *scene) {
    return pty_bevscope(pty, 100, 30, NULL, "%s --no-window --device cpu", scene) &&
           pty_wait_text(pty, READY, 0, PATIENCE_S);
}

/* In this folder, where no file may be larger than 512 bytes. */
static bool start_limited(Pty *pty) {
    char line[256];
    snprintf(line, sizeof line,
             "cd '%s' && ulimit -f 1; exec \"$BEVSCOPE\" toy --no-window --device cpu", folder);
    bool ok = pty_shell(pty, 100, 30, NULL, line) && pty_wait_text(pty, READY, 0, PATIENCE_S);
    pty_read(pty, 0.5);
    return ok;
}

/* A snapshot that is too large for the limit costs the snapshot, not the display. */
static void test_file_limit(void) {
    folder_open();
    Pty pty;
    bool ok = start_limited(&pty);
    pty_type(&pty, "P");
    ok = ok && screen_says(&pty, "File too large");
    tap_ok(ok, "ulimit -f 1: a snapshot fails with one line");
    quits(&pty, "and the display goes on until q", ok);
    ok = start_limited(&pty);
    pty_type(&pty, "Pq");
    ok = exits_with(&pty, 0) && ok;
    const char *end = pty.output + pty_last(&pty, LEAVE);
    tap_ok(ok && strstr(end, "bevscope: quit") && strstr(end, "File too large"),
           "left at once after the key: the snapshot's failure is said behind the display");
    pty_end(&pty);
    folder_close();
}

/* The next change of state of the program, while nothing that it writes is read. */
static bool wait_unread(Pty *pty, int *status, double seconds) {
    int master = pty->master;
    pty->master = -1;
    bool ended = pty_wait_status(pty, status, seconds);
    pty->master = master;
    return ended;
}

/* Resizing makes it draw until the terminal's buffer is full, while nobody reads. */
static void fill(Pty *pty) {
    for (int i = 0; i < 12; i++) {
        pty_resize(pty, 200 + i % 2, 60);
        usleep(100000);
    }
}

static void test_unread(int number) {
    Pty pty;
    int status = 0;
    bool ok = start_scene(&pty, "toy");
    fill(&pty);
    double begun = pty_now_s();
    kill(pty.program, number);
    ok = ok && wait_unread(&pty, &status, PATIENCE_S) && WIFSIGNALED(status) &&
         WTERMSIG(status) == number;
    double took_s = pty_now_s() - begun;
    pty_read(&pty, 0.3);
    tap_ok(ok && took_s < 2 && came_back(&pty),
           "a terminal that does not read: signal %d ends it within 2 s, and resets what is read "
           "later",
           number);
    tap_note("%.2f s; ended as expected: %d; back: %d, modes %d", took_s, ok, came_back(&pty),
             pty_same_modes(&pty));
    pty_end(&pty);
}

/* Keys work on while the terminal does not read, and it catches up when it reads again. */
static void test_catches_up(void) {
    Pty pty;
    bool ok = start_scene(&pty, "toy");
    fill(&pty);
    pty_type(&pty, "?");
    usleep(300000);
    size_t before = pty.length;
    ok = ok && pty_wait_text(&pty, "Help", before, PATIENCE_S);
    tap_ok(ok, "a terminal that reads again gets the newest screen");
    quits(&pty, "and q ends it", ok);
}

static void test_huge(void) {
    static const struct {
        int columns, rows;
    } sizes[] = {{32768, 1}, {1, 32768}, {65535, 65535}, {40, 40000}, {100, 30}};
    Pty pty;
    bool ok = start_scene(&pty, "toy");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pty_resize(&pty, sizes[i].columns, sizes[i].rows);
        pty_read(&pty, 0.3);
    }
    tap_ok(ok && screen_says(&pty, READY), "sizes up to 65535 x 65535, and back to 100 x 30");
    quits(&pty, "after huge sizes", ok);
}

static void test_closed(const char *redirection) {
    Pty pty;
    int status = 0;
    bool ok = pty_bevscope(&pty, 100, 30, NULL, "toy --no-window --device cpu %s", redirection) &&
              pty_wait_status(&pty, &status, PATIENCE_S);
    tap_ok(ok && WIFEXITED(status) && pty_same_modes(&pty), "%s: ends by itself", redirection);
    pty_end(&pty);
}

TAP_WAITING_SUITE(ends_pty) {
    test_file_limit();
    test_unread(SIGTERM);
    test_catches_up();
    test_huge();
    test_closed("<&-");
    test_closed("<&- >&- 2>&-");
}

/* A crash takes a while beside other programs: it is not in the first ring. */
TAP_HARD_SUITE(ends_pty_crash) {
    test_unread(SIGSEGV);
}
