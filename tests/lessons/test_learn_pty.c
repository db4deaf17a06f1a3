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

/* What the answers come to: tests/lessons/scripts. Here that keys reach the lesson. */
static void test_lesson(Pty *pty) {
    tap_ok(screen_says(pty, "Twelve points are here"), "the lesson is on the screen");
    pty_type(pty, "130\177\1772");
    tap_ok(screen_says(pty, "12 points   (1 to 100)"), "typed and erased");
    tap_ok(answers(pty, "d", "BF16"), "other controls work as always");
    tap_ok(answers(pty, "\r", "Right: 12 points") && screen_says(pty, "V2+DO"),
           "judged, and the reveal was run");
    tap_ok(answers(pty, "\r", "Which of them is it?") && answers(pty, ")", "First the answer"),
           "on to the next question, which cannot be passed unseen");
    tap_ok(answers(pty, "\033OB\033OB\r", "No. The answer: this"),
           "a wrong choice, with the arrows");
    tap_ok(progress_says("trial 1 4 2 1 2 0\n"),
           "and kept at once: who leaves now has not hidden it");
    tap_ok(answers(pty, "(", "1 of 2 right"), "back to the question");
    pty_type(pty, "B");
    tap_ok(!screen_says(pty, "BEV, color") || !pty_wait_text(pty, "Which of", pty->length, 0.5),
           "the lesson is closed");
    pty_type(pty, "q");
    check_end(pty, "quit", "quit", exits_with(pty, 0));
}

static void test_small(Pty *pty) {
    tap_ok(screen_says(pty, "Which of them is it?"), "taken up where it was left, on 80 x 24");
    tap_ok(answers(pty, "1\r", "Right: this") && answers(pty, "\r", "That was all") &&
               answers(pty, "\r", "The end of this lesson") &&
               answers(pty, "\r", "this was the last lesson"),
           "a choice, the animation to its end, the end of the course");
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
