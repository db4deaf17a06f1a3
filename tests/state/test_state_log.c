/* SPDX-License-Identifier: MIT */
/* The log: each control says in a line what it did, completed when figures come. */
#include "tests/state/state_fixture.h"

STATE_SUITE(state_log_log) {
    use("dtype fp16");
    Headline before = headline(10.2e6, 8.0, 0.0005);
    step(EVENT_FRAME, .headline = &before);
    after("dtype fp8", says("FP8"), "a control says at once what it did");
    Headline later = headline(6.1e6, 7.1, 0.021);
    later.latency_us.stale = true;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("FP8: footprint 10.2 to 6.10 MB, max error 0.0005 to 0.021"),
           "then what is known of what changed; a stale figure is not");
    later.latency_us.stale = false;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("FP8: footprint 10.2 to 6.10 MB, latency 8.00 to 7.10 us, max error "
                "0.0005 to 0.021"),
           "then all of it");
    later.latency_us.value = 99;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(strstr(said(), "7.10 us") != NULL, "a complete line stays as it is");
    use("temperature 2");
    later.serial = job->serial;
    later.latency_us.source = SOURCE_RECORDED;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("temperature 2.00: max error still 0.021"),
           "a change of values moves no latency, and says nothing of it");
    use("balance 1");
    later.serial = job->serial;
    later.latency_us.source = SOURCE_MEASURED;
    later.latency_us.value = 7.1;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(strstr(said(), "latency 7.10 us,") != NULL,
           "a figure that was measured is not compared with one that was recorded");
    use("temperature 1");
    later.serial = job->serial;
    later.max_abs_s = 3;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(strstr(said(), "max error 0.021 at t 3.00 s") != NULL,
           "an error of another moment than before the change has its moment");
    use("balance 0");
    later.serial = job->serial;
    step(EVENT_FRAME, .headline = &later);
    use("theme");
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("theme light") && strstr(state.log.lines[1].text, "7.10 us"),
           "newer lines come on top");
    State kept = state;
    use("dtype fp8");
    state_restore(&state, &kept);
    later.serial = job->serial;
    step(EVENT_FRAME, .headline = &later);
    tap_ok(says("FP8"), "figures after an undo complete nothing of what was undone");
    Headline late = headline(1, 1, 1);
    late.serial = 0;
    use("dtype fp16");
    step(EVENT_FRAME, .headline = &late);
    tap_ok(says("FP16"), "figures of an older job complete nothing");
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
