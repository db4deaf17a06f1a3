#include "src/state/keys.h"

#include "src/base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const key_groups[GROUP_COUNT] = {
    "Selection", "Compare", "Picture", "Scene and time", "Cameras", "Look closer", "Program",
};

#define F(n) (KEYCODE_F1 + (n)-1)

/* Lower case steps forward, the capital back, wherever a control has two directions. */
/* clang-format off */
const KeyRow keys[ACTION_COUNT] = {
    [ACTION_KERNEL] = {ACTION_KERNEL, "kernel", ARGUMENT_NAME, {'k', F(2)}, {'K'},
        false, GROUP_SELECTION, "kernel", 1, "next or previous kernel of the ladder"},
    [ACTION_KERNEL_ROW] = {ACTION_KERNEL_ROW, "kernel-row", ARGUMENT_NUMBER,
        {'1', '2', '3', '4', '5', '6', '7', '8', '9'}, {0},
        true, GROUP_SELECTION, "row", 0, "that row of the kernel table"},
    [ACTION_DTYPE] = {ACTION_DTYPE, "dtype", ARGUMENT_NAME, {'d', F(3)}, {'D'},
        false, GROUP_SELECTION, "dtype", 2, "format: FP32, FP16, BF16, FP8, NVFP4"},
    [ACTION_ALIGN] = {ACTION_ALIGN, "align", ARGUMENT_NAME, {'a', F(4)}, {'A'},
        false, GROUP_SELECTION, "align", 3, "nearest, bilinear, published lattice"},
    [ACTION_BACKEND] = {ACTION_BACKEND, "backend", ARGUMENT_NAME, {'b'}, {0},
        false, GROUP_SELECTION, "backend", 11, "CUDA or CPU"},
    [ACTION_CONFIG] = {ACTION_CONFIG, "config", ARGUMENT_NAME, {'g'}, {'G'},
        false, GROUP_SELECTION, "config", 12, "size: small, canonical ... wide_c256"},
    [ACTION_CHANNELS] = {ACTION_CHANNELS, "channels", ARGUMENT_NUMBER, {'n'}, {'N'},
        false, GROUP_SELECTION, "channels", 0, "number of feature channels C"},
    [ACTION_GPU] = {ACTION_GPU, "gpu", ARGUMENT_NAME, {'u'}, {'U'},
        false, GROUP_SELECTION, "gpu", 0, "what if: the GPU that is predicted"},
    [ACTION_L2] = {ACTION_L2, "l2", ARGUMENT_NUMBER, {'}'}, {'{'},
        false, GROUP_SELECTION, "L2", 0, "as if its L2 had 2, 4 ... 256 MB; 0: own"},
    [ACTION_COUNTERS] = {ACTION_COUNTERS, "counters", ARGUMENT_NONE, {'*'}, {0},
        false, GROUP_SELECTION, "count", 0, "have the hardware count a launch"},

    [ACTION_BASELINE] = {ACTION_BASELINE, "baseline", ARGUMENT_SWITCH, {'p'}, {0},
        false, GROUP_COMPARE, "pin", 8, "pin the selection as baseline, or not"},
    [ACTION_COMPARE] = {ACTION_COMPARE, "compare", ARGUMENT_NAME, {'x', F(5)}, {'X'},
        false, GROUP_COMPARE, "compare", 7, "with the baseline: wipe, difference, off"},
    [ACTION_WIPE] = {ACTION_WIPE, "wipe", ARGUMENT_NUMBER, {'>'}, {'<'},
        false, GROUP_COMPARE, "wipe", 0, "move the wipe right or left (0 to 100 %)"},
    [ACTION_ERROR] = {ACTION_ERROR, "error", ARGUMENT_SWITCH, {'e', F(6)}, {0},
        false, GROUP_COMPARE, "error", 10, "error against FP64, and back"},

    [ACTION_VIEW] = {ACTION_VIEW, "view", ARGUMENT_NAME, {'v', F(7)}, {'V'},
        false, GROUP_PICTURE, "view", 6, "colour, class, norm, PCA, points ..."},
    [ACTION_CHANNEL] = {ACTION_CHANNEL, "channel", ARGUMENT_NUMBER, {'h'}, {'H'},
        false, GROUP_PICTURE, "channel", 0, "which channel the channel view shows"},
    [ACTION_COLORMAP] = {ACTION_COLORMAP, "colormap", ARGUMENT_NAME, {'m'}, {'M'},
        false, GROUP_PICTURE, "colours", 0, "colour map of views with a colour bar"},
    [ACTION_LOCK] = {ACTION_LOCK, "lock", ARGUMENT_SWITCH, {'l'}, {0},
        false, GROUP_PICTURE, "lock", 0, "keep the range of the colour bar"},
    [ACTION_STRIP] = {ACTION_STRIP, "strip", ARGUMENT_NAME, {'i'}, {'I'},
        false, GROUP_PICTURE, "strip", 0, "cameras as image, feature norm or depth"},
    [ACTION_CHART] = {ACTION_CHART, "chart", ARGUMENT_NAME, {'/', F(8)}, {'\\'},
        false, GROUP_PICTURE, "chart", 9, "model: mrc, roofline, working-set, dtype"},
    [ACTION_THEME] = {ACTION_THEME, "theme", ARGUMENT_NAME, {'L'}, {0},
        false, GROUP_PICTURE, "theme", 0, "dark or light"},

    [ACTION_SCENE] = {ACTION_SCENE, "scene", ARGUMENT_NAME, {'s'}, {'S'},
        false, GROUP_SCENE, "scene", 13, "next or previous scene"},
    [ACTION_PLAY] = {ACTION_PLAY, "play", ARGUMENT_SWITCH, {' '}, {0},
        false, GROUP_SCENE, "play", 14, "play or pause"},
    [ACTION_STEP] = {ACTION_STEP, "step", ARGUMENT_NUMBER, {'.'}, {','},
        false, GROUP_SCENE, "step", 0, "0.1 s forward or back, paused"},
    [ACTION_SPEED] = {ACTION_SPEED, "speed", ARGUMENT_NUMBER, {']'}, {'['},
        false, GROUP_SCENE, "speed", 0, "seconds of the scene a second, 1/8 to 8"},
    [ACTION_TEMPERATURE] = {ACTION_TEMPERATURE, "temperature", ARGUMENT_NUMBER, {'t'}, {'T'},
        false, GROUP_SCENE, "temp", 0, "of depth: above 1 smears, below sharpens"},

    [ACTION_CAMERA] = {ACTION_CAMERA, "camera", ARGUMENT_NAME, {'c'}, {'C'},
        false, GROUP_CAMERAS, "camera", 0, "select a camera"},
    [ACTION_DIRTY] = {ACTION_DIRTY, "dirty", ARGUMENT_SWITCH, {'o'}, {0},
        false, GROUP_CAMERAS, "dirty", 0, "a dirty lens switches it off"},
    [ACTION_YAW] = {ACTION_YAW, "yaw", ARGUMENT_NUMBER, {'y'}, {'Y'},
        false, GROUP_CAMERAS, "yaw", 0, "yaw error in calibration, by 0.5 degrees"},
    [ACTION_PITCH] = {ACTION_PITCH, "pitch", ARGUMENT_NUMBER, {'j'}, {'J'},
        false, GROUP_CAMERAS, "pitch", 0, "pitch error, by 0.5 degrees"},
    [ACTION_HEIGHT] = {ACTION_HEIGHT, "height", ARGUMENT_NUMBER, {'z'}, {'Z'},
        false, GROUP_CAMERAS, "height", 0, "height error, by 0.1 m"},
    [ACTION_REPAIR] = {ACTION_REPAIR, "repair", ARGUMENT_NONE, {'r'}, {0},
        false, GROUP_CAMERAS, "repair", 0, "all clean and exact, temperature 1"},

    [ACTION_CURSOR_X] = {ACTION_CURSOR_X, "cursor-x", ARGUMENT_NUMBER, {KEYCODE_UP}, {KEYCODE_DOWN},
        false, GROUP_LOOK, "cursor", 0, "cursor a cell forward or back"},
    [ACTION_CURSOR_Y] = {ACTION_CURSOR_Y, "cursor-y", ARGUMENT_NUMBER, {KEYCODE_LEFT},
        {KEYCODE_RIGHT}, false, GROUP_LOOK, "cursor", 0, "cursor a cell to the left or right"},
    [ACTION_PIN] = {ACTION_PIN, "pin-cell", ARGUMENT_SWITCH, {KEYCODE_ENTER}, {0},
        false, GROUP_LOOK, "cell", 0, "pin the cell: its rays and points"},
    [ACTION_ZOOM] = {ACTION_ZOOM, "zoom", ARGUMENT_NUMBER, {'+', '='}, {'-'},
        false, GROUP_LOOK, "zoom", 0, "closer or farther (also the wheel)"},
    [ACTION_PAN_X] = {ACTION_PAN_X, "pan-x", ARGUMENT_NUMBER, {KEYCODE_SHIFT_UP},
        {KEYCODE_SHIFT_DOWN}, false, GROUP_LOOK, "pan", 0, "view forward or back (also dragging)"},
    [ACTION_PAN_Y] = {ACTION_PAN_Y, "pan-y", ARGUMENT_NUMBER, {KEYCODE_SHIFT_LEFT},
        {KEYCODE_SHIFT_RIGHT}, false, GROUP_LOOK, "pan", 0, "view to the left or right"},
    [ACTION_FIT] = {ACTION_FIT, "fit", ARGUMENT_NONE, {'f', '0', KEYCODE_HOME}, {0},
        false, GROUP_LOOK, "fit", 0, "the whole grid again"},

    [ACTION_PAGE] = {ACTION_PAGE, "page", ARGUMENT_NAME, {KEYCODE_TAB}, {0},
        false, GROUP_PROGRAM, "page", 16, "terminal: both, dashboard, BEV"},
    [ACTION_FULLSCREEN] = {ACTION_FULLSCREEN, "fullscreen", ARGUMENT_SWITCH, {'w', F(11)}, {0},
        false, GROUP_PROGRAM, "full", 0, "window over the whole screen"},
    [ACTION_SNAPSHOT] = {ACTION_SNAPSHOT, "snapshot", ARGUMENT_NONE, {'P', F(12)}, {0},
        false, GROUP_PROGRAM, "snap", 15, "write the picture as PNG"},
    [ACTION_RECORD] = {ACTION_RECORD, "record", ARGUMENT_SWITCH, {'R', F(9)}, {0},
        false, GROUP_PROGRAM, "record", 0, "write every frame as numbered PNG"},
    [ACTION_HELP] = {ACTION_HELP, "help", ARGUMENT_SWITCH, {'?', F(1)}, {0},
        false, GROUP_PROGRAM, "help", 4, "this screen"},
    [ACTION_GLOSSARY] = {ACTION_GLOSSARY, "glossary", ARGUMENT_SWITCH, {'W'}, {0},
        false, GROUP_PROGRAM, "words", 0, "what the words on the screens mean"},
    [ACTION_ESCAPE] = {ACTION_ESCAPE, "escape", ARGUMENT_NONE, {KEYCODE_ESCAPE}, {0},
        false, GROUP_PROGRAM, "back", 0, "leaves help, then the cell, the cursor"},
    [ACTION_QUIT] = {ACTION_QUIT, "quit", ARGUMENT_NONE, {'q', F(10)}, {0},
        false, GROUP_PROGRAM, "quit", 5, "leave"},
};
/* clang-format on */

/* ---- from keys and script lines to commands -------------------------------------------------- */

/* A plain press that needs no direction counts as a step forward. */
static Command stepped(Action action, int step) {
    return (Command){.action = action, .step = step};
}

static bool bound(const KeyRow *row, int32_t key, Command *command) {
    for (int i = 0; i < KEYS_PER_ROW && row->keys[i]; i++)
        if (row->keys[i] == key) {
            *command = stepped(row->action, row->numbered ? 0 : 1);
            if (row->numbered)
                snprintf(command->argument, sizeof command->argument, "%d", i + 1);
            return true;
        }
    if (row->back[0] != key)
        return false;
    *command = stepped(row->action, -1);
    return true;
}

bool keys_find(int32_t key, Command *command) {
    for (int i = 0; i < ACTION_COUNT; i++)
        if (key && bound(&keys[i], key, command))
            return true;
    return false;
}

static const KeyRow *find_word(const char *word) {
    for (int i = 0; i < ACTION_COUNT; i++)
        if (!strcmp(keys[i].word, word))
            return &keys[i];
    return NULL;
}

static bool refuse_word(const char *word, char *why, size_t size) {
    const char *words[ACTION_COUNT];
    for (int i = 0; i < ACTION_COUNT; i++)
        words[i] = keys[i].word;
    snprintf(why, size, "no control is called \"%s\"; did you mean \"%s\"?", word,
             nearest_name(word, words, ACTION_COUNT));
    return false;
}

/* Whether the argument has the form that the row wants. */
static bool argument_fits(const KeyRow *row, const char *argument, char *why, size_t size) {
    double number;
    char rest;
    if (row->argument == ARGUMENT_NONE)
        snprintf(why, size, "\"%s\" takes no argument, but \"%s\" was given", row->word, argument);
    else if (row->argument == ARGUMENT_NUMBER &&
             (sscanf(argument, "%lf%c", &number, &rest) != 1 || !isfinite(number)))
        snprintf(why, size, "\"%s\" takes a number, not \"%s\"", row->word, argument);
    else if (row->argument == ARGUMENT_SWITCH && strcmp(argument, "on") && strcmp(argument, "off"))
        snprintf(why, size, "\"%s\" takes on or off, not \"%s\"", row->word, argument);
    else
        return true;
    return false;
}

bool keys_parse(const char *line, Command *command, char *why, size_t size) {
    char word[64] = "", argument[64] = "", rest[2] = "";
    if (sscanf(line, "%63s %63s %1s", word, argument, rest) < 1) {
        snprintf(why, size, "an empty line is no control");
        return false;
    }
    const KeyRow *row = find_word(word);
    if (!row)
        return refuse_word(word, why, size);
    if (rest[0]) {
        snprintf(why, size, "\"%s\" takes at most one argument", word);
        return false;
    }
    bool back = !strcmp(argument, "-");
    if (back && !row->back[0]) {
        snprintf(why, size, "\"%s\" has no step back", word);
        return false;
    }
    *command = stepped(row->action, back ? -1 : 1);
    if (!argument[0] || back)
        return !row->numbered || argument_fits(row, argument, why, size);
    command->step = 0;
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    return argument_fits(row, argument, why, size);
}

/* ---- names of keys --------------------------------------------------------------------------- */

typedef struct {
    int32_t key;
    const char *name;
} KeyName;

static const KeyName special[] = {
    {' ', "Space"},
    {KEYCODE_ENTER, "Enter"},
    {KEYCODE_TAB, "Tab"},
    {KEYCODE_ESCAPE, "Esc"},
    {KEYCODE_UP, "Up"},
    {KEYCODE_DOWN, "Down"},
    {KEYCODE_LEFT, "Left"},
    {KEYCODE_RIGHT, "Right"},
    {KEYCODE_SHIFT_UP, "S-Up"},
    {KEYCODE_SHIFT_DOWN, "S-Down"},
    {KEYCODE_SHIFT_LEFT, "S-Left"},
    {KEYCODE_SHIFT_RIGHT, "S-Right"},
    {KEYCODE_HOME, "Home"},
};

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
    keys_name(key, name, sizeof name);
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? " " : "", name);
}

/* "S-Up" and "S-Down" read as "S-Up/Down". */
static void append_shifted(int32_t key, char *text, size_t size) {
    char name[16];
    keys_name(key, name, sizeof name);
    size_t length = strlen(text);
    snprintf(text + length, size - length, "/%s", name + 2);
}

/* The first key, its way back, then the others: "k K F2". */
void keys_label(const KeyRow *row, char *text, size_t size) {
    text[0] = '\0';
    if (row->numbered) {
        int last = 0;
        while (last + 1 < KEYS_PER_ROW && row->keys[last + 1])
            last++;
        snprintf(text, size, "%c-%c", (char)row->keys[0], (char)row->keys[last]);
        return;
    }
    append_key(row->keys[0], text, size);
    if (row->back[0] >= KEYCODE_SHIFT_UP && row->back[0] <= KEYCODE_SHIFT_RIGHT)
        append_shifted(row->back[0], text, size);
    else if (row->back[0])
        append_key(row->back[0], text, size);
    for (int i = 1; i < KEYS_PER_ROW && row->keys[i]; i++)
        append_key(row->keys[i], text, size);
}

static bool named(int32_t key, const char *name) {
    char text[16];
    keys_name(key, text, sizeof text);
    return key && !strcmp(text, name);
}

bool keys_find_name(const char *name, Command *command) {
    for (int i = 0; i < ACTION_COUNT; i++) {
        for (int k = 0; k < KEYS_PER_ROW; k++)
            if (named(keys[i].keys[k], name))
                return keys_find(keys[i].keys[k], command);
        if (named(keys[i].back[0], name))
            return keys_find(keys[i].back[0], command);
    }
    return false;
}
