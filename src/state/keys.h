/* THE table of live controls. Terminal and window bindings, the help screen, the key bar, script
 * words and the man page's section are all read from it; no key is named anywhere else. */
#ifndef BEV_KEYS_H
#define BEV_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a control does; the rows of keys[] in this order. state_step() has one case for each. */
typedef enum {
    /* selection: what is computed */
    ACTION_KERNEL,
    ACTION_KERNEL_ROW,
    ACTION_DTYPE,
    ACTION_ALIGN,
    ACTION_BACKEND,
    ACTION_CONFIG,
    ACTION_CHANNELS,
    ACTION_GPU,
    ACTION_L2,
    ACTION_COUNTERS,
    /* comparing */
    ACTION_BASELINE,
    ACTION_COMPARE,
    ACTION_WIPE,
    ACTION_ERROR,
    /* picture */
    ACTION_VIEW,
    ACTION_CHANNEL,
    ACTION_COLORMAP,
    ACTION_LOCK,
    ACTION_STRIP,
    ACTION_CHART,
    ACTION_THEME,
    /* scene and time */
    ACTION_SCENE,
    ACTION_PLAY,
    ACTION_STEP,
    ACTION_SPEED,
    ACTION_TEMPERATURE,
    /* cameras: the one selected */
    ACTION_CAMERA,
    ACTION_DIRTY,
    ACTION_YAW,
    ACTION_PITCH,
    ACTION_HEIGHT,
    ACTION_REPAIR,
    /* looking closer */
    ACTION_CURSOR_X,
    ACTION_CURSOR_Y,
    ACTION_PIN,
    ACTION_ZOOM,
    ACTION_PAN_X,
    ACTION_PAN_Y,
    ACTION_FIT,
    /* program */
    ACTION_PAGE,
    ACTION_FULLSCREEN,
    ACTION_SNAPSHOT,
    ACTION_RECORD,
    ACTION_HELP,
    ACTION_GLOSSARY,
    ACTION_ESCAPE,
    ACTION_QUIT,
    ACTION_COUNT
} Action;

typedef enum {
    GROUP_SELECTION,
    GROUP_COMPARE,
    GROUP_PICTURE,
    GROUP_SCENE,
    GROUP_CAMERAS,
    GROUP_LOOK,
    GROUP_PROGRAM,
    GROUP_COUNT
} KeyGroup;

extern const char *const key_groups[GROUP_COUNT]; /* headings of the help screen */

/* A key is a Unicode code point as typed ('k', 'K', '?'), or one of these. Terminals and windows
 * translate theirs. Shift of a letter is the capital; of an arrow, a code of its own. */
enum {
    KEYCODE_ENTER = '\n',
    KEYCODE_TAB = '\t',
    KEYCODE_ESCAPE = 0x1b,
    KEYCODE_UP = 0x110000,
    KEYCODE_DOWN,
    KEYCODE_LEFT,
    KEYCODE_RIGHT,
    KEYCODE_SHIFT_UP,
    KEYCODE_SHIFT_DOWN,
    KEYCODE_SHIFT_LEFT,
    KEYCODE_SHIFT_RIGHT,
    KEYCODE_HOME,
    KEYCODE_F1,
    KEYCODE_F12 = KEYCODE_F1 + 11
};

enum { KEYS_PER_ROW = 9 };

/* What an argument of a script word may be; also how `help` names it. */
typedef enum { ARGUMENT_NONE, ARGUMENT_NAME, ARGUMENT_NUMBER, ARGUMENT_SWITCH } ArgumentKind;

typedef struct {
    Action action;
    const char *word; /* in scripts: "dtype", or with an argument: "dtype fp8" */
    ArgumentKind argument;
    int32_t keys[KEYS_PER_ROW]; /* one step forward; ends with 0. F-keys have a letter twin */
    int32_t back[2];            /* one step back */
    bool numbered;              /* keys[i] means the argument i + 1 */
    KeyGroup group;
    const char *label; /* on the key bar, one word */
    int rank;          /* on the key bar: 1 first ... ; 0 not at all */
    const char *help;  /* one line, without the keys */
} KeyRow;

extern const KeyRow keys[ACTION_COUNT];

/* A control as it was used: which, in which direction (+1, -1), or with which argument (step 0). */
typedef struct {
    Action action;
    int step;
    char argument[64]; /* step 0 only; never empty then */
} Command;

/* The control bound to a key; false for keys that mean nothing. */
bool keys_find(int32_t key, Command *command);

/* The control bound to a key of that name, as keys_name writes it: "k", "Space", "F2". */
bool keys_find_name(const char *name, Command *command);

/* A line of a script without its comment: "dtype", "dtype -" (one step back) or "dtype fp8". Says
 * in `why` (one line) what is wrong with it, naming the nearest known word. Only the form is
 * checked; whether "fp9" exists is for state_step to say. `tick` and `wait` are not controls: see
 * src/ui/script.h. */
bool keys_parse(const char *line, Command *command, char *why, size_t size);

/* The keys of a row as people read them: "k K", "1-9", "Space", "F1 ?". */
void keys_label(const KeyRow *row, char *text, size_t size);

/* The same for one key: "S-Left". (Not key_name: ncurses has one.) */
void keys_name(int32_t key, char *text, size_t size);

#endif
