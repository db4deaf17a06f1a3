/* SPDX-License-Identifier: MIT */
/* Long work shows itself: a line on the terminal with a share and the time that is left, none where
 * nobody wants it; Ctrl-C ends it soon and leaves nothing half-written. */
#include "tests/support/pty_check.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many files lie in a folder of the working folder, those of its folders included: of all, or
 * of those that are being written. */
static int files_in(const char *path, bool half) {
    char below[512];
    int count = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
            count += entry->d_type == DT_DIR ? files_in(below, half)
                                             : !half || strstr(entry->d_name, ".tmp") != NULL;
        }
    if (folder)
        closedir(folder);
    return count;
}

static void remove_files(const char *path) {
    char file[512];
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        unlink(file); /* nothing happens to . and .. */
    }
    if (folder)
        closedir(folder);
}

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
               !files_in("kept", true) && (frames || !files_in("kept", false)),
           "%s: Ctrl-C ends it soon, and nothing is half-written", name);
    tap_note("%.0f ms, %d files", took_s * 1e3, files_in("kept", false));
    pty_end(&pty);
}

static void test_silence(const char *name, const char *behind) {
    Pty pty;
    bool ok = run(&pty, "plot published toy -o kept/x.png", behind);
    pty_read(&pty, 2);
    tap_ok(ok && pty.length == 0, "no line %s", name);
    pty_end(&pty);
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
    char folder[] = "/tmp/bevscope-XXXXXX";
    tap_need(mkdtemp(folder) && chdir(folder) == 0 && mkdir("kept", 0700) == 0,
             "a folder");
    test_command("regime", "regime xlarge -o kept/x.txt", false);
    test_command("plot", "plot published toy -o kept/x.png", false);
    test_command("script", "--script \"$SRCDIR/samples/demo.keys\" --frames kept", true);
    remove_files("kept");
    test_silence("with --quiet", "--quiet");
    test_silence("where standard error is no terminal", "2>errors.txt");
    test_end();
    unlink("errors.txt");
    rmdir("kept");
    tap_ok(chdir("/") == 0 && rmdir(folder) == 0, "no other file was left");
}
