/* SPDX-License-Identifier: MIT */
/* The controls of recorded steps: forwards and backwards, running, whose steps, which kernels. */
#include "tests/support/live_fixture.h"
#include "tests/support/script.h"

static void tick(double seconds, int times) {
    for (int i = 0; i < times; i++)
        step(EVENT_TICK, .seconds = seconds);
}

static void record(int steps) {
    Headline headline = {.serial = state.job.serial, .step_count = steps};
    step(EVENT_FRAME, .headline = &headline);
}

static bool stands(Action action, const char *text) {
    char value[80];
    state_value(&state, action, value, sizeof value);
    return !strcmp(value, text);
}

static void test_still(void) {
    after("steps-speed 4", state.step_speed == 0 && strstr(said(), "no steps are shown"),
          "without steps nothing runs");
    use("steps on");
    record(60);
    tick(1, 10);
    tap_ok(state.step_at == 0 && state.step_speed == 0, "still by itself");
}

static void test_running(void) {
    after("steps-speed", state.step_speed == 1 && strstr(said(), "1 steps a second"),
          "a key runs it");
    tick(0.1, 10);
    tap_ok(state.step_at == 1, "ten times 0.1 seconds are one step");
    use("steps-speed; steps-speed");
    tick(0.5, 4);
    tap_ok(state.step_speed == 3 && state.step_at == 7, "faster: 3 a second");
    after("steps-speed -; steps-speed -; steps-speed -", state.step_speed == 0,
          "slower down to still");
    use("steps-speed -");
    tick(1, 3);
    tap_ok(state.step_speed == -1 && state.step_at == 4, "and backwards");
    use("steps-speed 0.25");
    tick(1, 4);
    tap_ok(state.step_at == 5, "a quarter of a step a second");
    use("steps-speed -64");
    tick(1, 1);
    tap_ok(state.step_at == 0 && state.step_speed == 0 && strstr(said(), "the first"),
           "it stops at the first step");
    use("steps-speed 64");
    tap_ok(step(EVENT_TICK, .seconds = 2) & STEP_REDRAW && state.step_at == 59 &&
               state.step_speed == 0,
           "and at the last one");
    after("steps-speed 2", state.step_at == 0, "forward from the last step begins anew");
    uint64_t serial = state.job.serial;
    tick(0.5, 4);
    tap_ok(state.step_at == 4 && state.job.serial == serial, "running asks the engine for nothing");
    after("steps-speed 0; steps-speed 1e999", state.step_speed == 0,
          "a number without end is refused");
}

static void test_whose(void) {
    after("steps-at 35; steps-of 7",
          state.job.steps_block == 7 && state.job.steps_warp < 0 && state.step_at == 0 &&
              stands(ACTION_STEPS_OF, "7"),
          "a block, from its first step on");
    unsigned bits = use("steps-of 7,4");
    tap_ok(state.job.steps_warp == 4 && bits & STEP_RUN && stands(ACTION_STEPS_OF, "7,4"),
           "a warp of it");
    bits = use("steps-of 7,4,1");
    tap_ok(state.step_lane == 1 && !(bits & STEP_RUN) && stands(ACTION_STEPS_OF, "7,4,1"),
           "and a lane, which needs no recording");
    after("steps-of cell",
          state.job.steps_block < 0 && state.step_lane < 0 && stands(ACTION_STEPS_OF, "cell"),
          "and back to the cell");
    after("steps-of 12,5,31",
          state.job.steps_block == 12 && state.job.steps_warp == 5 && state.step_lane == 31,
          "by number");
    const char *const wrong[] = {"steps-of x",  "steps-of 1,",      "steps-of 1,2,32",
                                 "steps-of -1", "steps-of 1,2,3,4", "steps-of 1,-2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        use("%s", wrong[i]);
        tap_ok(state.job.steps_block == 12 && strstr(said(), "is not cell"), "refused: %s",
               wrong[i]);
    }
}

static void test_pairs(void) {
    after("steps-pair v2_chw,v2_bevdet",
          state.job.steps_kernels[1] == bev_kernel_find("v2_bevdet"), "by name");
    after("steps-pair v2,v9; steps-pair v2,v2_do,v4",
          stands(ACTION_STEPS_PAIR, "v2_chw,v2_bevdet") && strstr(said(), "is not own"),
          "unknown ones are refused");
    after("steps off", stands(ACTION_STEPS_PAIR, "own") && state.step_speed == 0, "off forgets it");
}

static void test_shorter(void) {
    use("steps on");
    record(60);
    use("steps-at 60");
    record(5);
    tap_ok(state.step_at == 4, "where there are fewer steps now, the last of them is shown");
}

TAP_SUITE(steps_controls) {
    state = fixture_state(80, 24);
    state.playing = false;
    test_still();
    test_running();
    test_whose();
    test_pairs();
    test_shorter();
}
