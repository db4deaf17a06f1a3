/* The steps of warps on a terminal: they run by themselves, stop, go backwards; whose they are and
 * which kernels, by keys. */
#include "tests/support/pty_check.h"

TAP_WAITING_SUITE(steps_pty) {
    Pty pty;
    tap_need(pty_bevscope(&pty, 80, 24, NULL,
                          "live toy -k cpu_v2 --no-window --device cpu --channels 32"),
             "the program starts");
    tap_need(pty_wait_text(&pty, READY, 0, PATIENCE_S), "the display is open");
    pty_type(&pty, " _");
    tap_ok(screen_says(&pty, "step 1 of 4: find owners"), "shown, and still");
    tap_ok(!pty_wait_text(&pty, "step 2 of", pty.length, 1), "nothing moves by itself");
    pty_type(&pty, "F");
    tap_ok(screen_says(&pty, "step 4 of 4: store sums"), "a key lets them run to the last one");
    pty_type(&pty, "`");
    tap_ok(screen_says(&pty, "step 1 of 4: find owners"), "and another one back to the first");
    pty_type(&pty, "\033OF");
    tap_ok(screen_says(&pty, "step 4 of 4: store sums"), "End is the last step");
    pty_type(&pty, "\033OH");
    tap_ok(screen_says(&pty, "step 1 of 4: find owners"), "Home the first");
    pty_type(&pty, "'");
    tap_ok(screen_says(&pty, "step 2 of 4: points"), "single steps as before");
    pty_type(&pty, "OOO");
    tap_ok(screen_says(&pty, "warp 0, lane 0)"), "block, warp, thread");
    pty_type(&pty, "\177\177");
    tap_ok(screen_says(&pty, "steps of block 0"), "and back to the block");
    pty_type(&pty, "E");
    tap_ok(screen_says(&pty, "pass 1 of") && screen_says(&pty, "V2+DO"), "a pair of kernels");
    pty_type(&pty, "q");
    check_end(&pty, "quit", "quit", exits_with(&pty, 0));
    pty_end(&pty);
}
