/* The log: each control says in a line what it did, completed when figures come. */
#include "tests/state/state_fixture.h"
#include "tests/support/tap.h"

static void deliver(State *state, const Headline *figures) {
    state_step(state, &(Event){.kind = EVENT_FRAME, .headline = figures});
}

TAP_SUITE(state_log_log) {
    State state = make_state();
    use(&state, "dtype fp16");
    Headline before = headline(&state, 10.2e6, 8.0, 0.0005);
    deliver(&state, &before);
    after(&state, "dtype fp8", says(&state, "FP8"), "a control says at once what it did");
    Headline after = headline(&state, 6.1e6, 7.1, 0.021);
    after.latency_us.stale = true;
    deliver(&state, &after);
    tap_ok(says(&state, "FP8: footprint 10.2 to 6.10 MB, latency n/a, max error 0.0005 to 0.021"),
           "then what is known of what changed; a stale figure is not");
    after.latency_us.stale = false;
    deliver(&state, &after);
    tap_ok(says(&state, "FP8: footprint 10.2 to 6.10 MB, latency 8.00 to 7.10 us, max error "
                        "0.0005 to 0.021"),
           "then all of it");
    after.latency_us.value = 99;
    deliver(&state, &after);
    tap_ok(strstr(said(&state), "7.10 us") != NULL, "a complete line stays as it is");
    use(&state, "temperature 2");
    after.serial = state.job.serial;
    after.latency_us.source = SOURCE_RECORDED;
    deliver(&state, &after);
    tap_ok(says(&state, "depth temperature 2.00 (smears): max error still 0.021"),
           "a change of values moves no latency, and says nothing of it");
    use(&state, "evenness 1");
    after.serial = state.job.serial;
    after.latency_us.source = SOURCE_MEASURED;
    after.latency_us.value = 7.1;
    deliver(&state, &after);
    tap_ok(strstr(said(&state), "latency 7.10 us,") != NULL,
           "a figure that was measured is not compared with one that was recorded");
    use(&state, "theme");
    deliver(&state, &after);
    tap_ok(says(&state, "theme light") && strstr(state.log.lines[1].text, "7.10 us"),
           "newer lines come on top");
    Headline late = headline(&state, 1, 1, 1);
    late.serial = 0;
    use(&state, "dtype fp16");
    deliver(&state, &late);
    tap_ok(says(&state, "FP16"), "figures of an older job complete nothing");
}

TAP_SUITE(state_log_log_limits) {
    State state = make_state();
    for (int i = 0; i < 3 * LOG_LINES; i++)
        use(&state, "theme");
    tap_ok(state.log.count == LOG_LINES, "the log keeps its newest lines");
    int count = 0;
    state = make_state();
    for (int i = 0; i < 5; i++)
        use(&state, "wipe");
    for (int i = 0; i < state.log.count; i++)
        count += state.log.lines[i].action == ACTION_WIPE;
    tap_ok(count == 1, "a key held down fills one line, not the log");
    state_step(&state, &(Event){.kind = EVENT_NOTE, .text = "evil\x1b[2J\nname"});
    tap_ok(says(&state, "evil?[2J?name"), "control characters do not reach the screen");
}

/* Steps every control once each way and looks at the newest line. */
TAP_SUITE(state_log_every_control_speaks) {
    int silent = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (i == ACTION_HELP || i == ACTION_GLOSSARY || i == ACTION_ESCAPE || i == ACTION_QUIT ||
            i == ACTION_COMMANDS || i == ACTION_UNDO) /* the App speaks for undo */
            continue; /* these say nothing: their effect is seen at once */
        State state = make_state();
        Event event = {.kind = EVENT_COMMAND, .command = {.action = (Action)i, .step = 1}};
        if (keys[i].argument == ARGUMENT_DIGIT)
            event.command = (Command){.action = (Action)i, .argument = "1"};
        state_step(&state, &event);
        bool spoke = state.log.count > 0 && state.log.lines[0].text[0] &&
                     state.log.lines[0].action == (Action)i;
        if (!spoke)
            tap_note("%s says nothing", keys[i].word);
        silent += !spoke;
    }
    tap_ok(silent == 0, "every control says in one line what it did");
}

TAP_SUITE(state_log_values) {
    State state = make_state();
    int empty = 0;
    char text[64];
    for (int i = 0; i < ACTION_COUNT; i++) {
        state_value(&state, (Action)i, text, sizeof text);
        bool has_none =
            i == ACTION_KERNEL_ROW || i == ACTION_COUNTERS || i == ACTION_REPAIR ||
            i == ACTION_PAN_X || i == ACTION_PAN_Y || i == ACTION_FIT || i == ACTION_NEXT ||
            i == ACTION_BACK || i == ACTION_SKIP || i == ACTION_EXPLAIN || i == ACTION_SNAPSHOT ||
            i == ACTION_HELP || i == ACTION_GLOSSARY || i == ACTION_ESCAPE || i == ACTION_QUIT ||
            i == ACTION_COMMANDS || i == ACTION_UNDO || i == ACTION_TOUR || i == ACTION_SUSPECT;
        empty += has_none != !text[0];
    }
    tap_ok(empty == 0, "every control that stands at something says at what");
}
