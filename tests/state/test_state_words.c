/* SPDX-License-Identifier: MIT */
/* Every control word, with an argument made from its row, changes its own value and no other. */
#include "tests/state/state_fixture.h"

#include <math.h>

/* A word and the words whose values may follow from it. */
static const char *const followers[] = {
    "gpu l2 bandwidth sms clock",
    "config scene channels",
    "scene config",
    "compare baseline",
    "direction kernel baseline",
    "bug kernel baseline",
    "kernel baseline",
    "dtype bits-value bits-flip baseline",
    "bits-of bits-value bits-flip",
    "bits-flip bits-value bits-at",
    "bits-value bits-flip",
    "view error",
    "error view",
    "scales-from scales",
    "steps-speed steps-at",
    "step play time",
    "time play step",
    "dropout see",
};

/* What this machine, this scene or this test does not have. */
static const Action absent[] = {ACTION_BACKEND, ACTION_SKEW, ACTION_SEE, ACTION_WORKFLOW};

static bool follows(const char *word, const char *other) {
    char line[96], *rest;
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        snprintf(line, sizeof line, "%s", followers[i]);
        bool own = !strcmp(strtok_r(line, " ", &rest), word);
        for (char *at; own && (at = strtok_r(NULL, " ", &rest));)
            if (!strcmp(at, other))
                return true;
    }
    return false;
}

/* A scene with all that controls ask for: a world with height, cameras, boxes, steps, a window. */
static void begin(void) {
    static Headline steps;
    make_state();
    SceneFacts scene = make_scene();
    scene.cells_x = 200;
    scene.rows = 100;
    scene.slices = 3;
    scene.whole = scene.grid;
    scene.has_lidar = scene.has_truth = true;
    scene.whole.nz = 3;
    step(EVENT_FRAME, .scene = &scene);
    step(EVENT_WINDOW, .on = true);
    step(EVENT_RESIZE, .columns = 200, .rows = 60);
    use("steps on; cursor-x 5");
    steps = headline(1, 1, 1);
    steps.step_count = 50;
    step(EVENT_FRAME, .headline = &steps);
}

/* An argument of the row that is not what the control stands at. False: the row makes none. */
static bool make_argument(const KeyRow *row, char *argument, size_t size) {
    const ShortText value = state_value(&state, row->action);
    ValueName values[VALUES_MAX];
    int count = row->list ? row->list(&state, values) : 0;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (row->action == absent[i])
            return false;
    if (row->argument == ARGUMENT_SWITCH)
        snprintf(argument, size, "%s",
                 strcmp(value.text, "on") && strcmp(value.text, "playing") ? "on" : "off");
    else if (row->argument == ARGUMENT_NUMBER)
        snprintf(argument, size, "%g", isfinite(row->hi) ? row->lo + (row->hi - row->lo) / 4 : 3);
    else if (count > 1)
        snprintf(argument, size, "%s",
                 values[!strcasecmp(values[0].title, value.text) ||
                        !strcasecmp(values[0].name, value.text)]
                     .name);
    return row->argument == ARGUMENT_SWITCH || row->argument == ARGUMENT_NUMBER || count > 1;
}

TAP_SUITE(state_words) {
    static ShortText before[ACTION_COUNT];
    char argument[64];
    int sent = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        begin();
        if (!state_value(&state, (Action)i).text[0] ||
            !make_argument(&keys[i], argument, sizeof argument))
            continue;
        for (int other = 0; other < ACTION_COUNT; other++)
            before[other] = state_value(&state, (Action)other);
        unsigned bits = use("%s %s", keys[i].word, argument);
        sent++;
        for (int other = 0; other < ACTION_COUNT; other++) {
            const ShortText now = state_value(&state, (Action)other);
            bool same = !strcmp(before[other].text, now.text);
            if (other == i ? same || (keys[i].group < GROUP_LESSON && !(bits & STEP_CHANGE))
                           : !same && !follows(keys[i].word, keys[other].word))
                tap_ok(false, "%s %s: %s is %s, was %s; %s", keys[i].word, argument,
                       keys[other].word, now.text, before[other].text, said());
        }
    }
    tap_ok(sent > 60, "%d words change their own value, and nothing else", sent);
}
