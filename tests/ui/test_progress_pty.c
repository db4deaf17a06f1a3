/* SPDX-License-Identifier: MIT */
/* Long work shows itself: a line on the terminal with a share and the time that is left, lines in a
 * file of standard error, none where nobody wants it; Ctrl-C ends it soon and leaves nothing
 * half-written. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

#include <signal.h>

/* Whether find sees no such file in the folder "kept". */
#define NO_FILES(names_) (system("! find kept -type f -name '" names_ "' | grep -q .") == 0)

/* Work on one core is as long, and leaves the other to other tests. */
static bool run(Pty *pty, const char *words, const char *behind) {
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "OMP_NUM_THREADS=1",
                                 NULL};
    return pty_bevscope(pty, 100, 30, environment, "%s %s", words, behind);
}

/* Waits for a share with a number of seconds that has begun to grow, whichever it is. */
static bool counts_seconds(Pty *pty) {
    double end = pty_now_s() + PATIENCE_S;
    for (; pty_now_s() < end; pty_read(pty, 0.05))
        for (const char *at = pty->output; (at = strstr(at, " %, ")); at += strlen(" %, ")) {
            int seconds = 0, length = 0;
            if (sscanf(at, " %%, %d s%n", &seconds, &length) == 1 && length && seconds > 0)
                return true;
        }
    return false;
}

/* The line appears, advances, and Ctrl-C ends all within 300 ms where the machine is quiet.
 * `frames`: it writes some before, which stay. */
static void test_command(const char *name, const char *words, bool frames) {
    enum { SLOW = 4 };
    Pty pty;
    int status = 0;
    char line[64];
    snprintf(line, sizeof line, "\rbevscope: %s: ", name);
    bool ok = run(&pty, words, "") && pty_wait_text(&pty, line, 0, PATIENCE_S);
    ok = ok && counts_seconds(&pty);
    tap_ok(ok, "%s: a line with a share and seconds", name);
    pty_type(&pty, "\003");
    double took_s = ok ? ends_after(&pty) : PATIENCE_S;
    ok = ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGINT;
    tap_ok(ok && took_s < (getenv("PACE_STRICT") ? 0.3 : 0.3 * SLOW) && pty_same_modes(&pty) &&
               NO_FILES("*.tmp*") && (frames || NO_FILES("*")),
           "%s: Ctrl-C ends it soon, and nothing is half-written", name);
    tap_note("%.0f ms", took_s * 1e3);
    pty_end(&pty);
}

static void test_silence(const char *name, const char *behind) {
    Pty pty;
    bool ok = run(&pty, "plot published toy -o kept/x.png", behind);
    pty_read(&pty, 2);
    tap_ok(ok && pty.length == 0, "no line %s", name);
    pty_end(&pty);
}

/* A script from a keyboard where nobody types is long work without load. */
static void test_file(void) {
    Pty pty;
    bool ok = run(&pty, "--script - --frames kept", "2>errors.txt");
    for (double end = pty_now_s() + PATIENCE_S; pty_now_s() < end && system("[ -s errors.txt ]");)
        pty_read(&pty, 0.1);
    ok = ok && pty.length == 0 && system("[ $(wc -l <errors.txt) = 1 ]") == 0;
    ok = ok && system("grep -qx 'bevscope: live: frames.*, 0 %, [5-9] s so far' errors.txt") == 0;
    tap_ok(ok, "where standard error is no terminal, a plain line after 5 s");
    pty_end(&pty);
    unlink("errors.txt");
}

/* Work that ends by itself takes its line away. */
static void test_end(void) {
    Pty pty;
    int status = 0;
    bool ok = run(&pty, "regime small --kernel v2,v3,v4 -o done.txt", "");
    ok = ok && pty_wait_status(&pty, &status, 4 * PATIENCE_S) && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
    char line[128];
    pty_last_line(&pty, line, sizeof line);
    tap_ok(ok && strspn(line, " ") == strlen(line), "at the end the line is gone");
    tap_note("last line: '%s'", line);
    pty_end(&pty);
    unlink("done.txt");
}

TAP_WAITING_SUITE(progress_pty) {
    folder_open();
    tap_need(chdir(folder) == 0 && system("mkdir kept") == 0, "a folder");
    test_command("regime", "regime xlarge -o kept/x.txt", false);
    test_command("plot", "plot published toy -o kept/x.png >/dev/null", false);
    test_command("live", "--script \"$SRCDIR/samples/demo.keys\" --frames kept", true);
    tap_need(system("rm -rf kept/*") == 0, "no frames");
    test_silence("with --quiet", "--quiet");
    test_file();
    test_end();
    tap_ok(rmdir("kept") == 0 && chdir("/") == 0, "nothing was written that nobody asked for");
    folder_close();
}
