/* SPDX-License-Identifier: MIT */
/* The log: its limits, undo, and that each control says in a line what it did. How figures complete
 * a line: tests/state/scripts/log.keys. */
#include "tests/state/state_fixture.h"

STATE_SUITE(state_log_undone) {
    State kept = state;
    use("dtype fp8");
    state_restore(&state, &kept);
    Headline later = headline(6.1e6, 7.1, 0.021);
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("FP8"), "figures after an undo complete nothing of what was undone");
}

STATE_SUITE(state_log_quick_keys) {
    Headline now = headline(10.2e6, 9.0, 0.014);
    step(EVENT_FRAME, .headline = &now);
    use("dtype nvfp4");
    use("dtype fp8"); /* before the figures of NVFP4 come */
    now = headline(6.1e6, 7.1, 0.021);
    step(EVENT_FRAME, .headline = &now);
    tap_ok(says("FP8: arrays 6.10 MB, latency 7.10 us, max error 0.021"),
           "figures of two keys ago are not compared");
    use("dtype int8");
    now = headline(8.0e6, 7.1, 0.4);
    step(EVENT_FRAME, .headline = &now);
    tap_ok(strstr(said(), "arrays 6.10 to 8.00 MB"), "those of the key before are: %s", said());
}

STATE_SUITE(state_log_log_limits) {
    repeat(3 * LOG_LINES, "theme");
    tap_ok(state.log.count == LOG_LINES, "the log keeps its newest lines");
    int count = 0;
    make_state();
    repeat(5, "wipe");
    for (int i = 0; i < state.log.count; i++)
        count += state.log.lines[i].action == ACTION_WIPE;
    tap_ok(count == 1, "a key held down fills one line, not the log");
    step(EVENT_NOTE, .text = "evil\x1b[2J\nname");
    tap_ok(says("evil?[2J?name"), "control characters do not reach the screen");
}

TAP_SUITE(state_log_every_control_speaks) {
    int silent = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (i == ACTION_HELP || i == ACTION_GLOSSARY || i == ACTION_ESCAPE || i == ACTION_QUIT ||
            i == ACTION_COMMANDS || i == ACTION_UNDO) /* the App speaks for undo */
            continue; /* these say nothing: their effect is seen at once */
        make_state();
        Event event = {.kind = EVENT_COMMAND, .command = {.action = (Action)i, .step = 1}};
        state_step(&state, &event);
        bool spoke = state.log.count > 0 && state.log.lines[0].text[0] &&
                     state.log.lines[0].action == (Action)i;
        if (!spoke)
            tap_note("%s says nothing", keys[i].word);
        silent += !spoke;
    }
    tap_ok(silent == 0, "every control says in one line what it did");
}
