/* SPDX-License-Identifier: MIT */
/* The live controls and their keys. The rows stand in controls.inc, whose head explains how to add
 * one. The bindings of terminal and window, the help screen, the key bar, the words of scripts and
 * the manual page read these rows. Code that names a key on the screen calls key_of(). */
#pragma once

#include "kernels/err.h"
#include "src/base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One action for each row of controls.inc, in the same order: ACTION_KERNEL, ... */
typedef enum {
#define CONTROL(id, ...) ACTION_##id,
#include "src/state/controls.inc"
#undef CONTROL
    ACTION_COUNT
} Action;

/* clang-format off */
typedef enum {
    GROUP_SELECTION, GROUP_COMPARE, GROUP_PICTURE, GROUP_SCENE, GROUP_CAMERAS, GROUP_LOOK,
    GROUP_LESSON, GROUP_PROGRAM, GROUP_COUNT
} KeyGroup;

extern const char *const key_groups[GROUP_COUNT]; /* headings of the help screen */

/* A key is the Unicode code point of a typed character ('k', 'K', '?'), or one of these codes.
 * Terminal and window translate their own codes to these. Shift with a letter gives the capital
 * letter. Shift with an arrow has a code of its own. */
enum {
    NO_KEY = -1, KEYCODE_CTRL_P = 0x10, KEYCODE_CTRL_U = 0x15,
    KEYCODE_ENTER = '\n', KEYCODE_TAB = '\t', KEYCODE_ESCAPE = 0x1b, KEYCODE_BACKSPACE = 0x7f,
    KEYCODE_UP = 0x110000, KEYCODE_DOWN, KEYCODE_LEFT, KEYCODE_RIGHT,
    KEYCODE_SHIFT_UP, KEYCODE_SHIFT_DOWN, KEYCODE_SHIFT_LEFT, KEYCODE_SHIFT_RIGHT,
    KEYCODE_HOME, KEYCODE_END, KEYCODE_PAGE_UP, KEYCODE_PAGE_DOWN,
    KEYCODE_SHIFT_HOME, KEYCODE_SHIFT_END, KEYCODE_SHIFT_TAB, KEYCODE_INSERT, KEYCODE_DELETE,
    KEYCODE_CTRL_PLUS, KEYCODE_CTRL_MINUS, /* of the window: terminals keep them for themselves */
    KEYCODE_F1, KEYCODE_F12 = KEYCODE_F1 + 11
};
/* clang-format on */

/* What a control needs before it does anything. Without it the control says why. */
typedef enum {
    NEED_NOTHING,
    NEED_CAMERAS,   /* a rig with cameras */
    NEED_WORLD,     /* depth and features that are rendered, not those of a file */
    NEED_OPERATOR,  /* an operator scene */
    NEED_TRUTH,     /* boxes or LiDAR */
    NEED_LIDAR,
    NEED_STEPS,     /* the page of steps */
    NEED_LESSON,    /* an open lesson */
    NEED_WINDOW,
    NEED_CUDA,      /* a GPU of this machine */
    NEED_SCHEDULES  /* schedules of the frame. Only a tour waits; the page says what is missing */
} ControlNeed;

enum { KEYS_PER_ROW = 3 };

/* The kinds of argument that a word of a script may take. */
typedef enum {
    ARGUMENT_NONE,
    ARGUMENT_NAME,
    ARGUMENT_WORDS, /* several, with spaces between */
    ARGUMENT_NUMBER,
    ARGUMENT_SWITCH /* on or off */
} ArgumentKind;

extern const char *const argument_words[]; /* "", " NAME", " on|off" ... by kind */

/* A use of a control: its action, and a direction (+1, -1) or an argument (step 0). */
typedef struct {
    Action action;
    int step;
    char argument[64]; /* empty unless step is 0 */
    int place;         /* for handlers: the new value's place in the list */
    double number;     /* for handlers: the new number */
    bool all;          /* the command is for all cameras */
} Command;

typedef struct State State; /* state.h */

/* Carries out the command on the state. Returns STEP_* bits (state.h). */
typedef unsigned ControlHandler(State *state, const Command *command);

/* Writes the control's value as text: "FP16", "on", "+0.5 deg". Returns its number, or its place in
 * the list of values. */
typedef double ControlValue(const State *state, char *text, size_t size);

/* A value that a control can be set to: its word in scripts, and a title that differs. */
typedef struct {
    const char *name, *title;
    const char *help; /* what the value is, in a line; NULL: the control's help says enough */
} ValueName;

/* Fills in the values to choose from; returns how many. Texts live as long as the state's menu. */
enum { VALUES_MAX = 160 };
typedef int ControlValues(const State *state, ValueName values[VALUES_MAX]);

/* A row of controls.inc. The head of that file explains the columns. */
typedef struct {
    Action action;
    const char *word;
    ArgumentKind argument;
    ControlValues *list;        /* NULL: none */
    double lo, hi, step;        /* the bounds of a number, and the size of a step */
    bool scaled;                /* a step multiplies the number by `step` */
    bool picks;                 /* the argument is a value of the list */
    bool direct, held;          /* the help lists the first key; a key may be held down */
    int rank;                   /* place on the key bar, from 1; 0: not on the bar */
    const char *label;          /* the control's word on the key bar */
    int32_t keys[KEYS_PER_ROW]; /* the keys of a step forward; 0 ends the list */
    int32_t back;               /* the key of a step back; 0: no such step; NO_KEY: only "WORD -" */
    KeyGroup group;
    ControlNeed needs;
    const char *help;
    const char *also; /* other words by which the palette finds the control */
    ControlHandler *handler;
    size_t field;        /* offset in State of what TOGGLES, CHOOSES, SETS and WHAT_IF change */
    unsigned asks;       /* the STEP_* bits of a change of this field */
    const char *says[2]; /* what the log says when a switch is off, and when it is on */
    ControlValue *value;
} KeyRow;

extern const KeyRow keys[ACTION_COUNT];

/* Writes the command that a key is bound to. Returns false for a key that means nothing. */
bool keys_find(int32_t key, Command *command);

/* Writes the command of a key as keys_find does, with the keys of the open page first. On the page
 * of bits these are the arrows and Space, on the page of steps Left, Right, Home, End and Space. */
bool keys_here(const State *state, int32_t key, Command *command);

bool same_command(const Command *a, const Command *b);

/* keys_of_word returns the control with that word. keys_beginning returns the control whose word
 * and a blank begin `text`. NULL: there is none. */
const KeyRow *keys_of_word(const char *word);
const KeyRow *keys_beginning(const char *text);

/* help_entries returns the number of the help's entries: controls with a direct key, or words of
 * the glossary. keys_direct returns the control at a place in the list of controls with a direct
 * key; ACTION_COUNT: the list is shorter. */
enum { HELP_TEXT_W = 41 };
int help_entries(const State *state);
int keys_direct(int place);

/* Returns the key with the name that keys_name writes: "k", "Space", "F2"; 0: there is none. */
int32_t keys_named(const char *name);

/* Parses a line of a script without its comment: "dtype", "dtype -" (a step back) or "dtype fp8".
 * The error of a wrong line names the nearest known word. Only the form is checked: the handler
 * refuses a format "fp9" that does not exist. `tick`, `key` and `size` are words of scripts, not
 * controls: see src/ui/script.h. */
bool keys_parse(const char *line, Command *command, Err *err);

typedef struct {
    char name[16];
} KeyText;

/* Returns the name of one key: "k", "S-Left". (ncurses has a function key_name.) */
KeyText keys_name(int32_t key);

/* Returns the name of a control in texts: its key, "?", where the help lists that key; else its
 * word in the palette, ":steps". */
KeyText key_of(Action action);

/* Returns all keys of a row as people read them: "k K F2", "Space". */
ShortText keys_label(const KeyRow *row);

/* A hint of the key bar. The hints are the keys of the open part (palette, help, lesson, bits,
 * steps), else the keys of the picture by rank. The last two hints are palette and help. */
typedef struct {
    KeyText key;
    const char *label;
    Action action; /* the action of a click; ACTION_COUNT: none */
} KeyHint;

/* Lists the hints that the key bar shows now. Returns their number. */
enum { KEY_HINTS = 32 };
int keys_hints(const State *state, KeyHint hints[KEY_HINTS]);

/* ---- the glossary: words on the screens, in help and manual ---------------------------------- */

enum { GLOSSARY_WORD_MAX = 18, GLOSSARY_TEXT_MAX = 200 };

/* A row of the glossary. All text is ASCII, so that one byte takes one column. */
typedef struct {
    const char *word; /* at most GLOSSARY_WORD_MAX bytes */
    const char *also; /* other words that the text explains: "a, b"; or "" */
    const char *text; /* one or two sentences, at most GLOSSARY_TEXT_MAX bytes */
} GlossaryRow;

/* The rows in alphabetical order. Capitals sort like small letters. */
extern const GlossaryRow glossary[];
extern const int glossary_count;

/* Returns the row with this word, or with this word in `also`, in any case. NULL: none. */
const GlossaryRow *glossary_find(const char *word);

/* Returns the row with the longest word that stands in `text` as a whole word. Words in `also`
 * count, and case does not matter. NULL: there is none. */
const GlossaryRow *glossary_mentioned(const char *text);

/* Writes "did you mean WORD?" for the known word that is spelled most like `word`. Writes
 * `otherwise` where every word differs by more than two letters. */
void glossary_hint(const char *word, const char *otherwise, char *hint, size_t size);

enum { GLOSSARY_INDENT = GLOSSARY_WORD_MAX + 1 }; /* columns from a word to its text */

void glossary_print(const GlossaryRow *row, FILE *out);
