/* SPDX-License-Identifier: MIT */
#include "src/state/control.h"

#include "kernels/injected_bugs.h"
#include "src/base/nearest.h"
#include "src/cachesim/findings.h"

#include <strings.h>

/* ---- the values that controls choose from: the column `list` of controls.inc ----------------- */

/* Macros for lists of values: from an array of names, or from the rows of a table. */
#define NAMES(list, names, count, ideas) HELPED(list, count, (names)[i], (names)[i], ideas)
#define HELPED(list, count, name, title, help)                                                     \
    static int values_##list(const State *state, ValueName values[VALUES_MAX]) {                   \
        (void)state;                                                                               \
        int rows = count;                                                                          \
        for (int i = 0; i < rows && i < VALUES_MAX; i++)                                           \
            values[i] = (ValueName){name, title, help};                                            \
        return rows < VALUES_MAX ? rows : VALUES_MAX;                                              \
    }

/* Returns the menu's line about a value. NULL: the menu has none, as for a scene that the command
 * line named. */
static const char *idea_at(const char *const *ideas, int value) {
    return ideas && ideas[value] && ideas[value][0] ? ideas[value] : NULL;
}

/* Returns the parts of a format: "16 bits: exponent 5, fraction 10; largest 65504". */
static const char *dtype_idea(int dtype) {
    static char ideas[BEV_DTYPE_COUNT][96];
    const BevDtypeInfo *info = &bev_dtypes[dtype];
    const bool scaled = strcmp(info->scaling, "none") != 0;
    const int digits = info->largest > 1e6 ? 2 : 5;
    char parts[48];
    if (info->exponent)
        snprintf(parts, sizeof parts, "exponent %d, fraction %d", info->exponent,
                 info->bits - info->sign - info->exponent);
    else
        snprintf(parts, sizeof parts, "whole numbers, pooled to %s", bev_dtypes[info->out].title);
    snprintf(ideas[dtype], sizeof ideas[dtype], "%d bits: %s; largest %.*g%s%s", info->bits, parts,
             digits, info->largest, scaled ? "; a scale " : "", scaled ? info->scaling : "");
    return ideas[dtype];
}

static const char *const scale_ideas[] = {
    "calibrated: up to the largest value", "calibrated: up to 99.99 % of the values",
    "calibrated: where the histogram loses least (KL)", "calibrated: least squared error"};

static const char *scales_idea(int scales) {
    return scales == SCALES_IDEAL     ? "by the largest values of the very frame"
           : scales == SCALES_CHANNEL ? "ideal, and one a channel for INT8 features"
           : scales == SCALES_FILE    ? "the ranges of the file"
                                      : scale_ideas[scales_method(scales)];
}

/* Returns a GPU's figures: "L2 6 MiB, DRAM 768 GB/s, 84 multiprocessors". */
static const char *gpu_idea(int gpu) {
    static char ideas[GPUS_AT_MOST][64];
    snprintf(ideas[gpu], sizeof ideas[gpu], "L2 %.4g MiB, DRAM %.4g GB/s, %d multiprocessors",
             gpus[gpu].l2_bytes / (1 << 20), gpus[gpu].dram_gb_s, gpus[gpu].sms);
    return ideas[gpu];
}

static const ValueName backends[] = {{"cpu", "CPU", "the kernels for processors, in threads"},
                                     {"cuda", "CUDA", "the kernels for NVIDIA GPUs"}};
static const char *const strip_titles[STRIP_COUNT] = {"camera pictures", "feature norm",
                                                      "mean depth", "dropped points"};
static const char *const strip_ideas[STRIP_COUNT] = {
    "what the cameras see", "the length of each pixel's feature vector",
    "the mean of each pixel's depth", "yellow where points fall outside the grid"};
static const char *const rounding_ideas[ROUNDING_COUNT] = {
    [ROUNDING_SCENE] = "as the scene says",
    [ROUNDING_FLOOR] = "a point below the grid is outside",
    [ROUNDING_TRUNCATE] = "toward zero, as LSS and BEVDet do"};
static const char *const scene_groups[] = {"size", "cameras", "operator"};
static const char *const themes[] = {"dark", "light"};
static const char *const channel_counts[] = {"16", "32", "64", "80", "128", "256"};
static const char *const bits_ideas[BITS_COUNT] = {"an element of the features", "of the depth",
                                                   "of the pooled output", "of the format E5M2"};
static const char *const compare_ideas[COMPARE_COUNT] = {
    "the selection alone", "the baseline left of a line, the selection right of it",
    "the selection minus the baseline"};
static const char *const truth_ideas[TRUTH_COUNT] = {
    "the BEV alone", "the boxes of the ground truth", "the points of a LiDAR sweep",
    "boxes and LiDAR points"};
static const char *const page_ideas[PAGE_COUNT] = {"panels beside the BEV", "all panels, no BEV",
                                                   "the BEV over the whole terminal"};

NAMES(bits, bits_names, BITS_COUNT, bits_ideas[i])
NAMES(channels, channel_counts, sizeof channel_counts / sizeof *channel_counts, NULL)
NAMES(compares, compare_names, COMPARE_COUNT, compare_ideas[i])
NAMES(views, state->menu.views.names, state->menu.views.count, idea_at(state->menu.view_ideas, i))
NAMES(colormaps, state->menu.colormaps.names, state->menu.colormaps.count,
      i ? NULL : "each view's usual colours")
NAMES(truths, truth_names, TRUTH_COUNT, truth_ideas[i])
NAMES(themes, themes, 2, NULL)
NAMES(pages, page_names, PAGE_COUNT, page_ideas[i])
HELPED(charts, CHART_COUNT, charts[i].word, charts[i].title, charts[i].idea)
NAMES(roundings, rounding_names, ROUNDING_COUNT, rounding_ideas[i])
HELPED(undo, 1, "all", "everything", "as it was when the program began")
HELPED(strips, STRIP_COUNT, strip_names[i], strip_titles[i], strip_ideas[i])
HELPED(backends, 2, backends[i].name, backends[i].title, backends[i].help)
NAMES(configs, state->menu.scenes.names, state->menu.preset_count,
      idea_at(state->menu.scene_titles, i))
HELPED(scenes, state->menu.scenes.count, state->menu.scenes.names[i],
       scene_groups[state_scene_group(state, i)], idea_at(state->menu.scene_titles, i))
HELPED(dtypes, BEV_DTYPE_COUNT, bev_dtypes[i].name, bev_dtypes[i].title, dtype_idea(i))
HELPED(aligns, BEV_ALIGN_COUNT, bev_aligns[i].name, bev_aligns[i].title, bev_aligns[i].idea)
HELPED(directions, BEV_DIRECTION_COUNT, bev_directions[i].name, bev_directions[i].name,
       bev_directions[i].idea)
HELPED(gpus, gpu_count, gpus[i].name, gpus[i].title, gpu_idea(i))
NAMES(cameras, state->scene.cameras, state->scene.camera_count, NULL)
HELPED(losses, LOSS_ALL + 1, i < LOSS_COUNT ? losses[i].name : "all",
       i < LOSS_COUNT ? losses[i].name : "all", i < LOSS_COUNT ? losses[i].idea : "all cells")
HELPED(glossary, glossary_count, glossary[i].word, glossary[i].word, glossary[i].text)
HELPED(scales, state->menu.scales ? SCALES_COUNT : SCALES_FILE,
       i == SCALES_FILE ? "file" : scales_name(state, i), scales_name(state, i), scales_idea(i))

static int values_kernels(const State *state, ValueName values[VALUES_MAX]) {
    const BevKernel *kernels[MAX_KERNELS], *now = state->job.config.kernel;
    int count = kernels_of(now->where, now->direction, kernels, MAX_KERNELS);
    for (int i = 0; i < count; i++)
        values[i] = (ValueName){kernel_word(kernels[i]), kernels[i]->title, kernels[i]->idea};
    return count;
}

static int values_scales_from(const State *state, ValueName values[VALUES_MAX]) {
    int count = values_scenes(state, values);
    count = count < VALUES_MAX ? count : VALUES_MAX - 1;
    memmove(values + 1, values, (size_t)count * sizeof *values);
    values[0] = (ValueName){"own", "own", "the scene that is shown"};
    return count + 1;
}

/* Lists the lessons. The first value is what the control's own key would do: off, or next. */
static int values_lessons(const State *state, ValueName values[VALUES_MAX]) {
    const Menu *lessons = &state->menu.lessons;
    values[0] = state->lesson.open ? (ValueName){"off", "off", "closes the lesson that is open"}
                                   : (ValueName){"next", "next", "the next lesson of the course"};
    int count = 1;
    for (; count <= lessons->count && count < VALUES_MAX; count++)
        values[count] = (ValueName){lessons->names[count - 1], lessons->names[count - 1],
                                    idea_at(state->menu.lesson_ideas, count - 1)};
    return count;
}

static int values_injected_bugs(const State *state, ValueName values[VALUES_MAX]) {
    int count;
    const InjectedBug *list = injected_bugs_of(state->job.config.kernel->direction, &count);
    values[0] = (ValueName){"none", "none", "the kernel as it should be"};
    for (int i = 0; i < count; i++)
        values[i + 1] = (ValueName){list[i].name, list[i].kernel.title, NULL};
    return count + 1;
}

const char *const key_groups[GROUP_COUNT] = {
    "Selection", "Compare",     "Picture", "Scene and time",
    "Cameras",   "Look closer", "Lessons", "Program",
};

const char *const argument_words[] = {[ARGUMENT_NONE] = "",
                                      [ARGUMENT_NAME] = " NAME",
                                      [ARGUMENT_WORDS] = " WORDS",
                                      [ARGUMENT_NUMBER] = " NUMBER",
                                      [ARGUMENT_SWITCH] = " on|off"};

/* Words in the rows of controls.inc. The head of that file explains them. */
#define F(n)    (KEYCODE_F1 + (n)-1)
#define NO_LIST NULL

/* Writes the name of the value at this place of the control's list. Returns the place. */
static double write_choice(const State *state, Action action, int place, char *text, size_t size) {
    ValueName values[VALUES_MAX];
    int count = keys[action].list(state, values);
    snprintf(text, size, "%s", place >= 0 && place < count ? values[place].name : "");
    return place;
}

/* The second inclusion of controls.inc defines value_ID() for each control, which writes the
 * control's value. */
#define ACT(handler, write, ...) write
#define CONTROL(id, word, argument, keys_, back, group, help, also, acts)                          \
    static double value_##id(const State *state, char *text, size_t size) {                        \
        const Action action = ACTION_##id;                                                         \
        (void)state, (void)action;                                                                 \
        acts return now;                                                                           \
    }
#include "src/state/controls.inc"
#undef CONTROL
#undef ACT
#undef NEEDS

/* The third inclusion of controls.inc fills the table of controls. */
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
#define ACT(handler_, write, ...)        .handler = handler_, __VA_ARGS__
#define NEEDS(condition)                 .needs = NEED_##condition,
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
    for (int i = 0; i < ACTION_COUNT && key; i++) { /* 0 is no key: it ends the lists of keys */
        int step = keys[i].back == key ? -1 : 0;
        for (int k = 0; k < KEYS_PER_ROW; k++)
            if (keys[i].keys[k] == key)
                step = 1;
        if (step) {
            *command = (Command){.action = (Action)i, .step = step};
            return true;
        }
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
    int direct = 0;
    for (int i = 0; i < ACTION_COUNT; i++)
        direct += keys[i].direct;
    return state->glossary ? glossary_count : direct;
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

/* Writes the error of a word that is no control, with the nearest word as a hint. Returns false. */
static bool refuse_word(const char *line, const char *word, Err *err) {
    const char *words[ACTION_COUNT];
    char hint[96];
    Command of_key;
    for (int i = 0; i < ACTION_COUNT; i++)
        words[i] = keys[i].word;
    if (keys_find(keys_named(word), &of_key))
        return err_set(err, ERR_USAGE, line, "", "\"%s\" is a key; its word here is \"%s\"", word,
                       words[of_key.action]);
    nearest_hint(word, words, ACTION_COUNT, "man bevscope lists them, in CONTROLS", hint,
                 sizeof hint);
    return err_set(err, ERR_USAGE, line, "", "no control is called \"%s\"; %s", word, hint);
}

/* Whether the text has the form of the control's argument. The control `pin-cell` takes on, off or
 * a cell "X,Y". */
static bool check_argument(const KeyRow *row, const char *line, const char *argument, Err *err) {
    double number, y;
    char rest;
    const bool is_number = sscanf(argument, "%lf%c", &number, &rest) == 1 && isfinite(number);
    const bool is_cell = sscanf(argument, "%lf,%lf%c", &number, &y, &rest) == 2;
    const bool switches = is_switch(argument) || (row->action == ACTION_PIN && is_cell);
    const char *wrong =
        row->argument == ARGUMENT_NONE ? "\"%s\" takes no argument, but \"%s\" was given"
        : row->argument == ARGUMENT_NUMBER && !is_number ? "\"%s\" takes a number, not \"%s\""
        : row->argument == ARGUMENT_SWITCH && !switches  ? "\"%s\" takes on or off, not \"%s\""
                                                         : NULL;
    return !wrong || err_set(err, ERR_USAGE, line, "", wrong, row->word, argument);
}

bool keys_parse(const char *line, Command *command, Err *err) {
    char word[64] = "", argument[64] = "", rest[64] = "";
    if (sscanf(line, "%63s %63s %63[^\n]", word, argument, rest) < 1)
        return err_set(err, ERR_USAGE, line, "", "an empty line is no control");
    const KeyRow *row = keys_of_word(word);
    if (!row)
        return refuse_word(line, word, err);
    const bool names_camera = row->group == GROUP_CAMERAS && rest[0];
    if (rest[0] && row->argument != ARGUMENT_WORDS && !names_camera)
        return err_set(err, ERR_USAGE, line, "", "\"%s\" takes at most one argument", word);
    const bool steps_back = !strcmp(argument, "-");
    if (steps_back && !row->back)
        return err_set(err, ERR_USAGE, line, "", "\"%s\" has no step back", word);
    *command = (Command){.action = row->action, .step = steps_back ? -1 : 1};
    if (!argument[0] || steps_back)
        return true;
    command->step = 0;
    int length = snprintf(command->argument, sizeof command->argument, "%s%s%s", argument,
                          rest[0] ? " " : "", rest);
    if (length >= (int)sizeof command->argument)
        return err_set(err, ERR_USAGE, line, "", "\"%s\" takes at most %zu characters", word,
                       sizeof command->argument - 1);
    return check_argument(row, line, names_camera ? rest : argument, err);
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
    snprintf(text.name, sizeof text.name, ":%s", keys[action].word);
    return keys[action].direct ? keys_name(keys[action].keys[0]) : text;
}

KeyText keys_name(int32_t key) {
    const bool is_ascii = key < 0x80;
    KeyText text;
    snprintf(text.name, sizeof text.name, "%c", is_ascii ? (char)key : '?');
    if (key >= KEYCODE_F1 && key <= KEYCODE_F12)
        snprintf(text.name, sizeof text.name, "F%d", (int)(key - KEYCODE_F1) + 1);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].key == key)
            snprintf(text.name, sizeof text.name, "%s", special[i].name);
    return text;
}

/* Writes the first key, the key of a step back, and the other keys: "k K F2". The pair "S-Up" and
 * "S-Down" becomes "S-Up/Down". */
ShortText keys_label(const KeyRow *row) {
    const int32_t all[] = {row->keys[0], row->back, row->keys[1], row->keys[2]};
    ShortText label = {""};
    for (int i = 0; i <= KEYS_PER_ROW; i++) {
        const KeyText key = keys_name(all[i]);
        const bool with_shift = all[i] >= KEYCODE_SHIFT_UP && all[i] <= KEYCODE_SHIFT_RIGHT;
        const bool second_of_pair = i == 1 && with_shift;
        if (all[i] <= 0)
            continue;
        if (second_of_pair)
            text_add(label.text, sizeof label.text, "/%s", key.name + strlen("S-"));
        else
            text_add(label.text, sizeof label.text, "%s%s", label.text[0] ? " " : "", key.name);
    }
    return label;
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
    KeyHint hint;
} hint_rows[] = {
    {OPEN_PALETTE, {{"Up Down"}, "row", ACTION_COUNT}},
    {OPEN_PALETTE, {{"Left Right"}, "try", ACTION_COUNT}},
    {OPEN_PALETTE, {{"Enter"}, "run", ACTION_COUNT}},
    {OPEN_PALETTE, {{"Tab"}, "complete", ACTION_COUNT}},
    {OPEN_PALETTE, {{"Esc"}, "as before", ACTION_COUNT}},
    {OPEN_HELP, {{"PgUp PgDn"}, "scroll", ACTION_COUNT}},
    {OPEN_HELP, {{"Esc"}, "close", ACTION_ESCAPE}},
    {OPEN_BITS, {{"Arrows"}, "bit, next", ACTION_BITS_VALUE}},
    {OPEN_BITS, {{"Left Right"}, "bit", ACTION_BITS_AT}}, /* in a choice, instead of "Arrows" */
    {OPEN_BITS, {{"Space"}, "flip", ACTION_BITS_FLIP}},
    {OPEN_BITS, {{"Esc"}, "close", ACTION_ESCAPE}},
    {OPEN_LESSON, {{"Enter"}, "go on", ACTION_NEXT}},
    {OPEN_LESSON, {{"Backspace"}, "back", ACTION_BACK}},
    {OPEN_LESSON, {{"PgUp PgDn"}, "scroll", ACTION_COUNT}},
    {OPEN_LESSON, {{"Esc"}, "leave", ACTION_ESCAPE}},
    {OPEN_STEPS, {{"Left Right"}, "step", ACTION_STEPS_AT}},
    {OPEN_STEPS, {{"Space"}, "run", ACTION_STEPS_SPEED}},
    {OPEN_STEPS, {{"Home End"}, "first, last", ACTION_COUNT}},
    {OPEN_STEPS, {{"Esc"}, "panels", ACTION_ESCAPE}},
    {OPEN_RACE, {{"Space"}, "pause", ACTION_PLAY}},
    {OPEN_RACE, {{"U"}, "GPU", ACTION_GPU}},
    {OPEN_RACE, {{"Esc"}, "panels", ACTION_ESCAPE}},
};

/* Returns the open part of the screen that takes the keys. */
static Open open_part(const State *state) {
    return state->palette.open  ? OPEN_PALETTE
           : state->help        ? OPEN_HELP
           : state->lesson.open ? OPEN_LESSON
           : state->bits.open   ? OPEN_BITS
           : state->job.steps   ? OPEN_STEPS
           : state->race        ? OPEN_RACE
                                : OPEN_NOTHING;
}

/* Whether the keys of the page of bits work. In a lesson they work beside the lesson's keys. */
static bool bits_keys_work(const State *state, Open open) {
    return open == OPEN_BITS || (open == OPEN_LESSON && state->bits.open);
}

static KeyHint hint_of(Action action) {
    return (KeyHint){keys_name(keys[action].keys[0]), keys[action].label, action};
}

int keys_hints(const State *state, KeyHint hints[KEY_HINTS]) {
    const Open open = open_part(state);
    const bool asks_choice = open == OPEN_LESSON && state->lesson.asks == ASKS_CHOICE;
    const bool bits_work = bits_keys_work(state, open);
    /* Two hints of the bits exclude each other: in a choice, Up and Down choose an answer. */
    const Action bits_left_out = asks_choice ? ACTION_BITS_VALUE : ACTION_BITS_AT;
    int count = 0;
    for (size_t i = 0; i < sizeof hint_rows / sizeof *hint_rows; i++) {
        KeyHint hint = hint_rows[i].hint;
        const bool of_bits = bits_work && hint_rows[i].open == OPEN_BITS;
        const bool applies = of_bits ? hint.action != bits_left_out : hint_rows[i].open == open;
        const bool esc_closes_bits = bits_work && !of_bits && hint.action == ACTION_ESCAPE;
        if (!applies || esc_closes_bits)
            continue;
        if (hint.action == ACTION_NEXT && state->lesson.asks != ASKS_NOTHING)
            hint.label = "answer";
        hints[count++] = hint;
    }
    const int picture_keys = open == OPEN_PALETTE || open == OPEN_HELP ? 0 : KEY_HINTS;
    for (int rank = 1; rank <= picture_keys; rank++)
        for (int i = 0; i < ACTION_COUNT; i++)
            if (keys[i].rank == rank)
                hints[count++] = hint_of((Action)i);
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
    const char *argument; /* the argument of a command with step 0; else "" */
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
    Open open = open_part(state);
    Open page = bits_keys_work(state, open) ? OPEN_BITS : open;
    for (size_t i = 0; i < sizeof page_keys / sizeof *page_keys; i++) {
        if (page_keys[i].open != page || page_keys[i].key != key)
            continue;
        /* Space runs the steps, or stops steps that run, as the speed 0 does. */
        const bool stops = page_keys[i].action == ACTION_STEPS_SPEED && state->step_speed != 0;
        *command = (Command){.action = page_keys[i].action, .step = stops ? 0 : page_keys[i].step};
        snprintf(command->argument, sizeof command->argument, "%s",
                 stops ? "0" : page_keys[i].argument);
        return true;
    }
    return keys_find(key, command);
}

int32_t keys_named(const char *name) {
    enum { LAST_ASCII = 0x7f }; /* then come the keys with codes of their own, from KEYCODE_UP on */
    for (int32_t key = 1; key <= KEYCODE_F12; key = key == LAST_ASCII ? KEYCODE_UP : key + 1)
        if (!strcmp(keys_name(key).name, name))
            return key;
    return 0;
}
