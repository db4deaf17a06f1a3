/* SPDX-License-Identifier: MIT */
/* A lesson in the live display on a terminal: typed answers, a verdict, other controls meanwhile,
 * closing. Progress: test_learn.sh. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

static char lesson[64], state[64];

static const char text[] = "title Trial\nscene toy\nsay Twelve points are here.\n"
                           "ask How many points are inside?\nnumber 1 100 points\n"
                           "expect points within 0\nwhy They are counted.\nrun kernel v2_do\n"
                           "ask Which of them is it?\nchoose this if true\nchoose that\n"
                           "animate temperature 1 2 4 0.05\nsay That was all.\n";

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
    tap_ok(answers(pty, "(", "1 of 2 right"), "back to the question");
    pty_type(pty, "B");
    tap_ok(!screen_says(pty, "BEV, color") || !pty_wait_text(pty, "Which of", pty->length, 0.5),
           "the lesson is closed");
    pty_type(pty, "q");
    check_end(pty, "quit", "quit", exits_with(pty, 0));
}

TAP_WAITING_SUITE(learn_pty) {
    Pty pty;
    folder_open();
    snprintf(lesson, sizeof lesson, "%s/trial.lesson", folder);
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s", folder);
    put(lesson, text);
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", state, NULL};
    tap_need(
        pty_bevscope(&pty, 120, 40, environment, "learn '%s' --no-window --device cpu", lesson),
        "the program starts");
    test_lesson(&pty);
    pty_end(&pty);
    folder_remove();
}
