/* SPDX-License-Identifier: MIT */
#include "src/state/control.h"

#include "src/base/nearest.h"
#include "src/cachesim/findings.h"
#include "src/cachesim/gpus.h"
#include "src/state/glossary.h"

#include <stdio.h>
#include <string.h>

const char *const key_groups[GROUP_COUNT] = {
    "Selection", "Compare",     "Picture", "Scene and time",
    "Cameras",   "Look closer", "Lessons", "Program",
};

const char *const argument_words[] = {
    [ARGUMENT_NONE] = "",          [ARGUMENT_NAME] = " NAME",     [ARGUMENT_WORDS] = " WORDS",
    [ARGUMENT_NUMBER] = " NUMBER", [ARGUMENT_SWITCH] = " on|off"};

/* The words that rows of controls.inc use; its head explains them. */
#define F(n)                (KEYCODE_F1 + (n)-1)
#define NO_VALUE "%s", ""
#define NO_LIST             NULL
#define ON_OFF(flag)        "%s", on_off(flag)

/* Writes the name of the value at this place of the control's list. Returns the place. */
static double write_choice(const State *state, Action action, int place, char *text, size_t size) {
    ValueName values[VALUES_MAX];
    int count = keys[action].list(state, values);
    snprintf(text, size, "%s", place >= 0 && place < count ? values[place].name : "");
    return place;
}

/* The first reading of the rows defines a function for each control that writes its value. */
#define BY(handler, ...)             snprintf(text, size, __VA_ARGS__); double now = 0;
#define SLIDES(handler, format, is)  double now = is; snprintf(text, size, format, now);
#define SETS(field, bits, format)    SLIDES(, format, state->field)
#define PICKS(handler, is)           double now = write_choice(state, action, (int)is, text, size);
#define CHOOSES(field, bits)         PICKS(, state->field)
#define TOGGLES(field, bits, on, off) BY(, ON_OFF(state->field))
#define CONTROL(id, word, argument, keys_, back, group, help, also, acts)                          \
    static double value_##id(const State *state, char *text, size_t size) {                        \
        const Action action = ACTION_##id;                                                         \
        (void)state, (void)action;                                                                 \
        acts return now;                                                                           \
    }
#include "src/state/controls.inc"
#undef CONTROL
#undef BY
#undef SLIDES
#undef SETS
#undef PICKS
#undef CHOOSES
#undef TOGGLES

/* The second reading of the rows fills the table of controls. */
#define ARGUMENT_NAME(values)            ARGUMENT_NAME, values
#define ARGUMENT_WORDS(values)           ARGUMENT_WORDS, values
#define ARGUMENT_ANY_NUMBER              ARGUMENT_NUMBER, NULL, -INFINITY, INFINITY, 1
#define ARGUMENT_NUMBER(lo, hi, step)    ARGUMENT_NUMBER, NULL, lo, hi, step
#define ARGUMENT_FACTOR(lo, hi, factor)  ARGUMENT_NUMBER, NULL, lo, hi, factor, true
#define ARGUMENT_NUMBERS(values, lo, hi) ARGUMENT_NUMBER, values, lo, hi
#define BAR(rank_, label_, ...)          .rank = rank_, .label = label_, DIRECT(__VA_ARGS__)
#define DIRECT(...)                      .direct = true, KEYS(__VA_ARGS__)
#define DIRECT_HELD(...)                 .direct = true, HELD(__VA_ARGS__)
#define HELD(...)                        .held = true, KEYS(__VA_ARGS__)
#define KEYS(...)                        .keys = {__VA_ARGS__}
#define WORD                             .keys = {0}
#define BY(handler_, ...)                .handler = handler_
#define SLIDES(handler_, ...)            .handler = handler_
#define PICKS(handler_, ...)             .handler = handler_, .picks = true
#define CHANGES(field_, bits)            .field = offsetof(State, field_), .asks = bits
#define SETS(field_, bits, format)       .handler = control_set, CHANGES(field_, bits)
#define CHOOSES(field_, bits)            PICKS(control_choose), CHANGES(field_, bits)
#define TOGGLES(field_, bits, on, off)                                                             \
    .handler = control_toggle, CHANGES(field_, bits), .says = {off, on}
#define CONTROL(id, word_, argument_, keys_, back_, group_, help_, also_, acts)                    \
    {.action = ACTION_##id,                                                                        \
     .word = word_,                                                                                \
     .argument = ARGUMENT_##argument_,                                                             \
     keys_,                                                                                        \
     .back = back_,                                                                                \
     .group = GROUP_##group_,                                                                      \
     .help = help_,                                                                                \
     .also = also_,                                                                                \
     acts,                                                                                         \
     .value = value_##id},
const KeyRow keys[ACTION_COUNT] = {
#include "src/state/controls.inc"
};
#undef CONTROL

/* ---- from keys and script lines to commands -------------------------------------------------- */

bool keys_find(int32_t key, Command *command) {
    for (int i = 0; i < ACTION_COUNT && key; i++) {
        int step = keys[i].back == key ? -1 : 0;
        for (int k = 0; k < KEYS_PER_ROW; k++)
            step = keys[i].keys[k] == key ? 1 : step;
        *command = (Command){.action = (Action)i, .step = step};
        if (step)
            return true;
    }
    return false;
}

bool same_command(const Command *a, const Command *b) {
    return a->action == b->action && a->step == b->step && !strcmp(a->argument, b->argument);
}

int keys_direct(int place) {
    for (int i = 0; i < ACTION_COUNT; i++)
        if (keys[i].direct && place-- == 0)
            return i;
    return ACTION_COUNT;
}

int help_entries(const State *state) {
    int count = 0;
    while (!state->glossary && keys_direct(count) < ACTION_COUNT)
        count++;
    return state->glossary ? glossary_count : count;
}

const KeyRow *keys_of_word(const char *word) {
    for (int i = 0; i < ACTION_COUNT; i++)
        if (!strcmp(keys[i].word, word))
            return &keys[i];
    return NULL;
}

const KeyRow *keys_beginning(const char *text) {
    char word[64] = "";
    sscanf(text, "%63[^ ]", word);
    return text[strlen(word)] == ' ' ? keys_of_word(word) : NULL;
}

/* Writes why a word is no control, with the nearest word. Returns false. */
static bool refuse_word(const char *word, char *why, size_t size) {
    const char *words[ACTION_COUNT];
    char hint[96];
    Command meant;
    for (int i = 0; i < ACTION_COUNT; i++)
        words[i] = keys[i].word;
    if (keys_find(keys_named(word), &meant)) {
        snprintf(why, size, "\"%s\" is a key; its word here is \"%s\"", word,
                 words[meant.action]);
        return false;
    }
    nearest_hint(word, words, ACTION_COUNT, "man bevscope lists them, in CONTROLS", hint,
                 sizeof hint);
    snprintf(why, size, "no control is called \"%s\"; %s", word, hint);
    return false;
}

/* Whether the argument has the form that the row asks for. */
static bool argument_fits(const KeyRow *row, const char *argument, char *why, size_t size) {
    double number, y;
    char rest;
    if (row->argument == ARGUMENT_NONE)
        snprintf(why, size, "\"%s\" takes no argument, but \"%s\" was given", row->word, argument);
    else if (row->argument == ARGUMENT_NUMBER &&
             (sscanf(argument, "%lf%c", &number, &rest) != 1 || !isfinite(number)))
        snprintf(why, size, "\"%s\" takes a number, not \"%s\"", row->word, argument);
    else if (row == &keys[ACTION_PIN] && sscanf(argument, "%lf,%lf%c", &number, &y, &rest) == 2)
        return true;
    else if (row->argument == ARGUMENT_SWITCH && strcmp(argument, "on") && strcmp(argument, "off"))
        snprintf(why, size, "\"%s\" takes on or off, not \"%s\"", row->word, argument);
    else
        return true;
    return false;
}

bool keys_parse(const char *line, Command *command, char *why, size_t size) {
    char word[64] = "", argument[64] = "", rest[64] = "";
    if (sscanf(line, "%63s %63s %63[^\n]", word, argument, rest) < 1) {
        snprintf(why, size, "an empty line is no control");
        return false;
    }
    const KeyRow *row = keys_of_word(word);
    if (!row)
        return refuse_word(word, why, size);
    bool place = row->group == GROUP_CAMERAS && rest[0];
    if (rest[0] && row->argument != ARGUMENT_WORDS && !place) {
        snprintf(why, size, "\"%s\" takes at most one argument", word);
        return false;
    }
    bool back = !strcmp(argument, "-");
    if (back && !row->back) {
        snprintf(why, size, "\"%s\" has no step back", word);
        return false;
    }
    *command = (Command){.action = row->action, .step = back ? -1 : 1};
    if (!argument[0] || back)
        return true;
    command->step = 0;
    int length = snprintf(command->argument, sizeof command->argument, "%s%s%s", argument,
                          rest[0] ? " " : "", rest);
    if (length < (int)sizeof command->argument)
        return argument_fits(row, place ? rest : argument, why, size);
    snprintf(why, size, "\"%s\" takes at most %zu characters", word, sizeof command->argument - 1);
    return false;
}

/* ---- names of keys --------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    int32_t key;
    const char *name;
} special[] = {
    {' ', "Space"}, {KEYCODE_ENTER, "Enter"}, {KEYCODE_TAB, "Tab"}, {KEYCODE_ESCAPE, "Esc"},
    {KEYCODE_BACKSPACE, "Backspace"}, {KEYCODE_CTRL_P, "C-p"}, {KEYCODE_CTRL_U, "C-u"},
    {KEYCODE_CTRL_PLUS, "C-+"}, {KEYCODE_CTRL_MINUS, "C--"},
    {KEYCODE_UP, "Up"}, {KEYCODE_DOWN, "Down"}, {KEYCODE_LEFT, "Left"}, {KEYCODE_RIGHT, "Right"},
    {KEYCODE_SHIFT_UP, "S-Up"}, {KEYCODE_SHIFT_DOWN, "S-Down"}, {KEYCODE_SHIFT_LEFT, "S-Left"},
    {KEYCODE_SHIFT_RIGHT, "S-Right"}, {KEYCODE_HOME, "Home"},
    {KEYCODE_END, "End"}, {KEYCODE_PAGE_UP, "PgUp"}, {KEYCODE_PAGE_DOWN, "PgDn"},
    {KEYCODE_INSERT, "Ins"}, {KEYCODE_DELETE, "Del"}, {KEYCODE_SHIFT_TAB, "S-Tab"},
    {KEYCODE_SHIFT_HOME, "S-Home"}, {KEYCODE_SHIFT_END, "S-End"},
};
/* clang-format on */

KeyText key_of(Action action) {
    KeyText text;
    if (keys[action].direct)
        keys_name(keys[action].keys[0], text.name, sizeof text.name);
    else
        snprintf(text.name, sizeof text.name, ":%s", keys[action].word);
    return text;
}

void keys_name(int32_t key, char *text, size_t size) {
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].key == key) {
            snprintf(text, size, "%s", special[i].name);
            return;
        }
    if (key >= KEYCODE_F1 && key <= KEYCODE_F12)
        snprintf(text, size, "F%d", (int)(key - KEYCODE_F1) + 1);
    else
        snprintf(text, size, "%c", key < 0x80 ? (char)key : '?');
}

static void append_key(int32_t key, char *text, size_t size) {
    char name[16];
    size_t length = strlen(text);
    bool shifted = length && key >= KEYCODE_SHIFT_UP && key <= KEYCODE_SHIFT_RIGHT;
    keys_name(key, name, sizeof name);
    /* The pair "S-Up" and "S-Down" is written as "S-Up/Down". */
    snprintf(text + length, size - length, "%s%s",
             shifted  ? "/"
             : length ? " "
                      : "",
             shifted ? name + 2 : name);
}

/* ---- the key bar ----------------------------------------------------------------------------- */

/* clang-format off */
typedef enum {
    OPEN_PALETTE, OPEN_HELP, OPEN_LESSON, OPEN_BITS, OPEN_STEPS, OPEN_RACE,
    OPEN_NOTHING
} Open;
/* clang-format on */

static const struct {
    Open open;
    const char *key, *label;
    Action action;
} hint_rows[] = {
    {OPEN_PALETTE, "Up Down", "row", ACTION_COUNT},
    {OPEN_PALETTE, "Left Right", "try", ACTION_COUNT},
    {OPEN_PALETTE, "Enter", "run", ACTION_COUNT},
    {OPEN_PALETTE, "Tab", "complete", ACTION_COUNT},
    {OPEN_PALETTE, "Esc", "as before", ACTION_COUNT},
    {OPEN_HELP, "PgUp PgDn", "scroll", ACTION_COUNT},
    {OPEN_HELP, "Esc", "close", ACTION_ESCAPE},
    {OPEN_BITS, "Arrows", "bit, next", ACTION_BITS_VALUE}, /* or, */
    {OPEN_BITS, "Left Right", "bit", ACTION_BITS_AT},      /* where Up and Down are taken */
    {OPEN_BITS, "Space", "flip", ACTION_BITS_FLIP},
    {OPEN_BITS, "Esc", "close", ACTION_ESCAPE},
    {OPEN_LESSON, "Enter", "go on", ACTION_NEXT},
    {OPEN_LESSON, "Backspace", "back", ACTION_BACK},
    {OPEN_LESSON, "PgUp PgDn", "scroll", ACTION_COUNT},
    {OPEN_LESSON, "Esc", "leave", ACTION_ESCAPE},
    {OPEN_STEPS, "Left Right", "step", ACTION_STEPS_AT},
    {OPEN_STEPS, "Space", "run", ACTION_STEPS_SPEED},
    {OPEN_STEPS, "Home End", "first, last", ACTION_COUNT},
    {OPEN_STEPS, "Esc", "panels", ACTION_ESCAPE},
    {OPEN_RACE, "Space", "pause", ACTION_PLAY},
    {OPEN_RACE, "U", "GPU", ACTION_GPU},
    {OPEN_RACE, "Esc", "panels", ACTION_ESCAPE},
};

static Open open_now(const State *state) {
    return state->palette.open      ? OPEN_PALETTE
           : state->help            ? OPEN_HELP
           : state->lesson.open     ? OPEN_LESSON
           : state->bits.open       ? OPEN_BITS
           : state->job.steps       ? OPEN_STEPS
           : state->race            ? OPEN_RACE
                                    : OPEN_NOTHING;
}

/* Whether the keys of the page of bits work. In a lesson they work beside its keys. */
static bool bits_keys(const State *state, Open open) {
    return open == OPEN_BITS || (open == OPEN_LESSON && state->bits.open);
}

/* Whether Up and Down choose an answer, because a lesson asks for a choice. */
static bool choice_keys(const State *state, Open open) {
    return open == OPEN_LESSON && state->lesson.asks == ASKS_CHOICE;
}

static const KeyRow *next_by_rank(const KeyRow *row) {
    const KeyRow *best = NULL;
    for (int i = 0; i < ACTION_COUNT; i++)
        if (keys[i].rank > (row ? row->rank : 0) && (!best || keys[i].rank < best->rank))
            best = &keys[i];
    return best;
}

static KeyHint hint_of(Action action) {
    KeyHint hint = {.label = keys[action].label, .action = action};
    keys_name(keys[action].keys[0], hint.key, sizeof hint.key);
    return hint;
}

/* Whether the key has a hint already. The page of bits comes before the lesson. */
static bool is_hinted(const KeyHint *hints, int count, const char *key) {
    for (int i = 0; i < count; i++)
        if (!strcmp(hints[i].key, key))
            return true;
    return false;
}

int keys_hints(const State *state, KeyHint hints[KEY_HINTS]) {
    Open open = open_now(state);
    int count = 0;
    for (size_t i = 0; i < sizeof hint_rows / sizeof *hint_rows; i++) {
        Action left_out = choice_keys(state, open) ? ACTION_BITS_VALUE : ACTION_BITS_AT;
        bool of_bits = hint_rows[i].open == OPEN_BITS && bits_keys(state, open);
        if (of_bits && hint_rows[i].action == left_out)
            continue;
        if ((!of_bits && hint_rows[i].open != open) || is_hinted(hints, count, hint_rows[i].key))
            continue;
        bool answers = hint_rows[i].action == ACTION_NEXT && state->lesson.asks != ASKS_NOTHING;
        hints[count] = (KeyHint){.label = answers ? "answer" : hint_rows[i].label,
                                 .action = hint_rows[i].action};
        snprintf(hints[count++].key, sizeof hints->key, "%s", hint_rows[i].key);
    }
    for (const KeyRow *row = next_by_rank(NULL); row; row = next_by_rank(row))
        if ((open == OPEN_NOTHING || open >= OPEN_LESSON) && row->direct &&
            row->action != ACTION_HELP && row->action != ACTION_COMMANDS)
            hints[count++] = hint_of(row->action);
    hints[count++] = hint_of(ACTION_COMMANDS);
    hints[count++] = hint_of(ACTION_HELP);
    return count;
}

/* The commands of keys on the page of bits and on the page of steps. */
static const struct {
    Open open;
    int32_t key;
    Action action;
    int step;
    const char *argument; /* where step is 0 */
} page_keys[] = {
    {OPEN_BITS, KEYCODE_LEFT, ACTION_BITS_AT, 1, ""},
    {OPEN_BITS, KEYCODE_RIGHT, ACTION_BITS_AT, -1, ""},
    {OPEN_BITS, KEYCODE_UP, ACTION_BITS_VALUE, 1, ""},
    {OPEN_BITS, KEYCODE_DOWN, ACTION_BITS_VALUE, -1, ""},
    {OPEN_BITS, ' ', ACTION_BITS_FLIP, 1, ""},
    {OPEN_STEPS, KEYCODE_LEFT, ACTION_STEPS_AT, -1, ""},
    {OPEN_STEPS, KEYCODE_RIGHT, ACTION_STEPS_AT, 1, ""},
    {OPEN_STEPS, KEYCODE_HOME, ACTION_STEPS_AT, 0, "1"},
    {OPEN_STEPS, KEYCODE_END, ACTION_STEPS_AT, 0, "1000000"},
    {OPEN_STEPS, ' ', ACTION_STEPS_SPEED, 1, ""},
};

bool keys_here(const State *state, int32_t key, Command *command) {
    Open open = open_now(state);
    Open page = bits_keys(state, open) ? OPEN_BITS : open;
    for (size_t i = 0; i < sizeof page_keys / sizeof *page_keys; i++) {
        if (page_keys[i].open != page || page_keys[i].key != key)
            continue;
        bool stops = page_keys[i].action == ACTION_STEPS_SPEED && state->step_speed != 0;
        *command = (Command){.action = page_keys[i].action, .step = stops ? 0 : page_keys[i].step};
        snprintf(command->argument, sizeof command->argument, "%s",
                 stops ? "0" : page_keys[i].argument);
        return true;
    }
    return keys_find(key, command);
}

/* Writes all keys of a row: the first key, the key of a step back, the other keys: "k K F2". */
void keys_label(const KeyRow *row, char *text, size_t size) {
    text[0] = '\0';
    if (row->keys[0])
        append_key(row->keys[0], text, size);
    if (row->back > 0)
        append_key(row->back, text, size);
    for (int i = 1; i < KEYS_PER_ROW && row->keys[i]; i++)
        append_key(row->keys[i], text, size);
}

/* Finds the key by trying the names of all ASCII characters, then of the keys with own codes. */
int32_t keys_named(const char *name) {
    for (int32_t key = 1; key <= KEYCODE_F12; key = key == 0x7f ? KEYCODE_UP : key + 1) {
        char text[16];
        keys_name(key, text, sizeof text);
        if (!strcmp(text, name))
            return key;
    }
    return 0;
}
