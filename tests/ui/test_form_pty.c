/* The form of bevscope rig: values by arrows and typed, an answer that follows, the file, the line
 * that says the same; questions where the terminal cannot move its cursor. */
#include "src/base/data.h"
#include "src/ui/form.h"
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

#include <signal.h>
#include <unistd.h>

#define DOWN  "\033[B"
#define RIGHT "\033[C"
#define LEFT  "\033[D"

TAP_SUITE(form_steps) {
    FormField field = {.values = "8 16 32", .usual = "20"};
    form_step(&field, 1);
    tap_ok(strcmp(form_value(&field), "32") == 0, "from between two values to the one above");
    form_step(&field, 1);
    tap_ok(strcmp(form_value(&field), "8") == 0, "from the last one to the first");
    form_step(&field, -1);
    tap_ok(strcmp(form_value(&field), "32") == 0, "and back");
    field.text[0] = '\0';
    form_step(&field, -1);
    tap_ok(strcmp(form_value(&field), "16") == 0, "from between two values to the one below");
}

static void check_file(void) {
    char *text = NULL;
    size_t length;
    tap_need(data_read(in_folder("rig.json"), 8192, &text, &length, NULL), "the file");
    tap_ok(strstr(text, "\"features\": [\n      22,\n      8\n    ]") != NULL, "the file has it");
    free(text);
    unlink(in_folder("rig.json"));
}

TAP_WAITING_SUITE(form_pty) {
    char line[128];
    Pty pty;
    folder_open();
    snprintf(line, sizeof line, "cd %s && \"$BEVSCOPE\" rig", folder);
    tap_need(pty_shell(&pty, 80, 24, NULL, line), "the program starts");
    tap_ok(screen_says(&pty, "138,993 points"), "the answer for the rig to begin with");
    tap_ok(screen_says(&pty, "RTX 4090        72.0     7.35  resident   V4"), "on 24 rows");
    tap_ok(answers(&pty, DOWN DOWN DOWN RIGHT, "features 22 x 8") &&
               screen_says(&pty, "nuscenes --stride 32"),
           "an arrow: the next value, its answer, the same as one line");
    tap_ok(answers(&pty, "w", "rig.json is written"), "w writes");
    check_file();
    tap_ok(answers(&pty, "7", "no multiple of 7 (choose another"), "typed, and refused in a line");
    tap_ok(answers(&pty,
                   "\177"
                   "8",
                   "features 88 x 32"),
           "mended");
    tap_ok(answers(&pty, DOWN DOWN DOWN DOWN "16" DOWN, "--stride 8 --channels 16"),
           "another field");
    tap_ok(answers(&pty, DOWN LEFT, "bevscope rig --from robot") && screen_says(&pty, "320x240"),
           "another rig begins anew");
    pty_type(&pty, "q");
    check_end(&pty, "quit", "bevscope rig --from robot", exits_with(&pty, 0));
    pty_end(&pty);
    folder_close();
}

TAP_WAITING_SUITE(form_stopped) {
    int status = 0;
    Pty pty;
    tap_need(pty_bevscope(&pty, 80, 24, NULL, "rig") && screen_says(&pty, "138,993 points"),
             "the form is open");
    pty_resize(&pty, 12, 40);
    tap_ok(screen_says(&pty, "138,993"), "words wider than the terminal go on below");
    kill(pty.program, SIGTERM);
    bool ended = pty_wait_status(&pty, &status, PATIENCE_S);
    tap_ok(ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && came_back(&pty),
           "a signal ends it, the terminal as before");
    pty_end(&pty);
}

TAP_WAITING_SUITE(form_asks) {
    char *environment[] = {"TERM=dumb", NULL};
    Pty pty;
    tap_need(pty_bevscope(&pty, 120, 24, environment, "rig"), "the program starts");
    tap_need(pty_wait_text(&pty, "[nuscenes]: ", 0, PATIENCE_S), "a question");
    pty_type(&pty, "kitti360\n\n\n\n1:9:2\n16\n1\n8\n\n");
    tap_ok(
        pty_wait_text(&pty,
                      "bevscope rig --from kitti360 --depth 1:9:2 --reach 16 --cell 1 --channels 8",
                      0, PATIENCE_S) &&
            pty_wait_text(&pty, "4 depth bins, 32 x 32 cells of 1 m, C = 8, FP16", 0, PATIENCE_S),
        "questions, the line, the answer");
    tap_ok(exits_with(&pty, 0), "and an end");
    pty_end(&pty);
}
