/* SPDX-License-Identifier: MIT */
/* Scripts of tests/state/scripts: after each line the text in tests/golden says what the State asks
 * for, which controls have another value, and what the log says. */
#include "tests/state/state_fixture.h"
#include "tests/support/golden.h"

/* A line "!WORD NUMBER...": an event that is no control. */
static const struct {
    const char *word;
    EventKind kind;
} events[] = {{"tick", EVENT_TICK},   {"pixel", EVENT_PIXEL},   {"hover", EVENT_HOVER},
              {"click", EVENT_CLICK}, {"drag", EVENT_DRAG},     {"wheel", EVENT_WHEEL},
              {"size", EVENT_RESIZE}, {"window", EVENT_WINDOW}, {"scroll", EVENT_SCROLL}};

/* A line "!scene WORD": what another scene has. */
static SceneFacts scene_of(const char *word) {
    SceneFacts scene = make_scene();
    if (!strcmp(word, "bare")) {
        scene.has_rig = false;
        scene.camera_count = 0;
    } else if (!strcmp(word, "lidar"))
        scene.has_lidar = true;
    else if (!strcmp(word, "clip") || !strcmp(word, "moment")) {
        scene.has_world = false;
        scene.moments = *word == 'c' ? 3 : 0;
        scene.moment_s = *word == 'c' ? 0.5 : 0;
    } else if (!strcmp(word, "bins"))
        scene.depth_bins = 6;
    else if (!strcmp(word, "nearest"))
        scene.aligns = 1u << BEV_NEAREST;
    return scene;
}

/* A line "!figures BYTES US ERROR [WORD]": figures of the state's job; one of them is stale, or
 * recorded, or the error is of one moment, or all are of an older job. */
static unsigned send_figures(const double figures[3], const char *line) {
    Headline now = headline(figures[0], figures[1], figures[2]);
    now.latency_us.stale = strstr(line, "stale") != NULL;
    now.latency_us.source = strstr(line, "recorded") ? SOURCE_RECORDED : SOURCE_MEASURED;
    now.dtype = state.job.config.dtype;
    snprintf(now.max_abs_of, sizeof now.max_abs_of, "%s",
             strstr(line, "moment") ? "at t 3.00 s" : "");
    now.serial = strstr(line, "old") ? 0 : now.serial;
    return step(EVENT_FRAME, .headline = &now);
}

static unsigned send(const char *line) {
    char word[16];
    double number[3] = {0};
    int count = sscanf(line, "!%15s %lf %lf %lf", word, &number[0], &number[1], &number[2]);
    Event event = {.x = number[0],
                   .y = number[1],
                   .steps = number[2],
                   .seconds = number[0],
                   .columns = (int)number[0],
                   .rows = (int)number[1],
                   .on = number[0] != 0};
    if (count < 1)
        return use("%s", line);
    SceneFacts scene = scene_of(line + strcspn(line, " ") + (strchr(line, ' ') != NULL));
    Headline steps = {.serial = job->serial, .step_count = (int)number[0]};
    if (!strcmp(word, "figures"))
        return send_figures(number, line);
    if (!strcmp(word, "scene"))
        return step(EVENT_FRAME, .scene = &scene);
    if (!strcmp(word, "steps"))
        return step(EVENT_FRAME, .headline = &steps);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (!strcmp(events[i].word, word)) {
            event.kind = events[i].kind;
            return state_step(&state, &event);
        }
    tap_ok(false, "no event: %s", line);
    return 0;
}

static const char *opened(void) {
    return !state.help ? "nothing" : state.glossary ? "the glossary" : "the help";
}

static void play(const char *line, FILE *text) {
    static const char *const bits[] = {"redraw",     "run",  "quit",   "snapshot", "record",
                                       "fullscreen", "look", "lesson", "undo",     "change"};
    static ShortText before[ACTION_COUNT];
    Err err;
    Command command;
    const int logged = state.log.count;
    const int64_t probed = state_probe_cell(&state);
    const int row = state.help_first;
    const char *over = opened();
    for (int i = 0; i < ACTION_COUNT; i++)
        before[i] = state_value(&state, (Action)i);
    char newest[sizeof state.log.lines[0].text];
    snprintf(newest, sizeof newest, "%s", said());
    unsigned asked = send(line);
    if (!strpbrk(line, "!;") && !keys_parse(line, &command, &err))
        fprintf(text, "    refused: %s\n", err.what);
    fputs("   ", text);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (asked >> i & 1)
            fprintf(text, " %s", bits[i]);
    fprintf(text, asked ? "\n" : " nothing\n");
    for (int i = 0; i < ACTION_COUNT; i++) {
        const ShortText now = state_value(&state, (Action)i);
        if (strcmp(before[i].text, now.text) != 0)
            fprintf(text, "    %s: %s, was %s\n", keys[i].word, now.text, before[i].text);
    }
    if (state_probe_cell(&state) != probed)
        fprintf(text, "    probed cell: %d, was %d\n", (int)state_probe_cell(&state), (int)probed);
    if (opened() != over)
        fprintf(text, "    over the panels: %s, was %s\n", opened(), over);
    if (state.help_first != row)
        fprintf(text, "    row of the help: %d, was %d\n", state.help_first, row);
    if (state.log.count != logged || strcmp(newest, said()) != 0)
        fprintf(text, "    \"%s\"\n", said());
}

static void begin(void) {
    make_state();
}

TAP_SUITE(state_scripts) {
    check_scripts("state", "keys", begin, play);
}
