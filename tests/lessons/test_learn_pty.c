/* SPDX-License-Identifier: MIT */
/* A lesson in the live display on a terminal: typed answers, a verdict, other controls meanwhile,
 * closing and opening, progress. */
#include "src/base/data.h"
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

static char lesson[64], state[64], progress[96];

static const char text[] = "title Trial\nscene toy\nsay Twelve points are here.\n"
                           "ask How many points are inside?\nnumber 1 100 points\n"
                           "expect points within 0\nwhy They are counted.\nrun kernel v2_do\n"
                           "ask Which of them is it?\nchoose this if true\nchoose that\n"
                           "animate temperature 1 2 4 0.05\nsay That was all.\n";

static bool progress_says(const char *line) {
    char *got = NULL;
    size_t length;
    bool ok = data_read(progress, 256, &got, &length, NULL) && !strcmp(got, line);
    if (!ok)
        tap_note("progress: %s", got ? got : "none");
    free(got);
    return ok;
}

static bool start(Pty *pty, int columns, int rows) {
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", state, NULL};
    return pty_bevscope(pty, columns, rows, environment, "learn '%s' --no-window --device cpu",
                        lesson);
}

static void test_lesson(Pty *pty) {
    tap_ok(screen_says(pty, "Twelve points are here"), "the lesson is on the screen");
    pty_type(pty, "130");
    pty_type(pty, "\177\177");
    pty_type(pty, "2");
    tap_ok(screen_says(pty, "12 points   (1 to 100)"), "typed and erased");
    pty_type(pty, "d");
    tap_ok(screen_says(pty, "BF16"), "other controls work as always");
    pty_type(pty, "\r");
    tap_ok(screen_says(pty, "Right: 12 points") && screen_says(pty, "V2+DO"),
           "judged, and the reveal was run");
    pty_type(pty, "1");
    tap_ok(screen_says(pty, "Nothing is asked now"),
           "a digit without a question chooses no kernel");
    pty_type(pty, "\r");
    tap_ok(screen_says(pty, "Which of them is it?"), "on to the next question");
    pty_type(pty, ")");
    tap_ok(screen_says(pty, "First the answer"), "which cannot be passed unseen");
    pty_type(pty, "\033OB\033OB\r");
    tap_ok(screen_says(pty, "No. The answer: this"), "a wrong choice, with the arrows");
    tap_ok(progress_says("trial 1 4 2 1 2 0\n"),
           "and kept at once: who leaves now has not hidden it");
    pty_type(pty, "(");
    tap_ok(screen_says(pty, "1 of 2 right") && screen_says(pty, ":skip skips"),
           "back to the question");
    pty_type(pty, "B");
    tap_ok(!screen_says(pty, "BEV, color") || !pty_wait_text(pty, "Which of", pty->length, 0.5),
           "the lesson is closed");
    pty_type(pty, "q");
    check_end(pty, "quit", "quit", exits_with(pty, 0));
    tap_ok(progress_says("trial 1 4 2 1 2 0\n"), "progress is kept");
}

static void test_small(Pty *pty) {
    tap_ok(screen_says(pty, "Which of them is it?"), "taken up where it was left, on 80 x 24");
    pty_type(pty, "1\r");
    tap_ok(screen_says(pty, "Right: this"), "a choice");
    pty_type(pty, "\r");
    tap_ok(screen_says(pty, "That was all"), "the animation plays to its end");
    pty_type(pty, "\r");
    tap_ok(screen_says(pty, "The end of this lesson"), "the end");
    pty_type(pty, "\r");
    tap_ok(screen_says(pty, "this was the last lesson"), "Enter looks for the next one");
    pty_type(pty, "q");
    check_end(pty, "quit", "quit", exits_with(pty, 0));
    tap_ok(progress_says("trial 0 4 4 1 2 1\n"), "the lesson is done");
}

TAP_WAITING_SUITE(learn_pty) {
    Pty pty;
    folder_open();
    snprintf(lesson, sizeof lesson, "%s/trial.lesson", folder);
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s", folder);
    snprintf(progress, sizeof progress, "%s/bevscope/progress", folder);
    put(lesson, text);
    tap_need(start(&pty, 120, 40), "the program starts");
    test_lesson(&pty);
    pty_end(&pty);
    tap_need(start(&pty, 80, 24), "the program starts again");
    test_small(&pty);
    pty_end(&pty);
    unlink(lesson);
    unlink(progress);
    unlink(in_folder("bevscope/missed"));
    rmdir(in_folder("bevscope"));
    folder_close();
}
