/* The steps of warps on a terminal, by keys: running, still, backwards; whose, of which kernels. */
#include "tests/support/pty_check.h"

TAP_WAITING_SUITE(steps_pty) {
    Pty pty;
    tap_need(pty_bevscope(&pty, 80, 24, NULL,
                          "live toy -k cpu_v2 --no-window --device cpu --channels 32"),
             "the program starts");
    tap_need(pty_wait_text(&pty, READY, 0, PATIENCE_S), "the display is open");
    tap_ok(answers(&pty, " _", "step 1 of 4: find owners"), "shown, and still");
    tap_ok(!pty_wait_text(&pty, "step 2 of", pty.length, 1), "nothing moves by itself");
    tap_ok(answers(&pty, "F", "step 4 of 4: store sums"), "a key lets them run to the last one");
    tap_ok(answers(&pty, "`", "step 1 of 4: find owners"), "and another one back to the first");
    tap_ok(answers(&pty, "\033OF", "step 4 of 4: store sums"), "End is the last step");
    tap_ok(answers(&pty, "\033OH", "step 1 of 4: find owners"), "Home the first");
    tap_ok(answers(&pty, "'", "step 2 of 4: points"), "single steps as before");
    tap_ok(answers(&pty, "OOO", "warp 0, lane 0)"), "block, warp, thread");
    tap_ok(answers(&pty, "\177\177", "steps of block 0"), "and back to the block");
    tap_ok(answers(&pty, "E", "pass 1 of") && screen_says(&pty, "V2+DO"), "a pair of kernels");
    quits(&pty, "quit", true);
}
