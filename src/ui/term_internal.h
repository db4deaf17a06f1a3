/* SPDX-License-Identifier: MIT */
/* Colours, answers and keys, which the files of the terminal share. Private to src/ui/term*.c and
 * the tests of these parts. */
#pragma once

#include "src/ui/term.h"

#include <wchar.h>

/* ---- term.c: how cells are written ----------------------------------------------------------- */

int palette_nearest(Rgb color);

/* Returns the colour with 1.5 times its saturation: pictures keep their hues in few colours. */
Rgb palette_vivid(Rgb color);

/* How many colours the terminal has; 0: none, or none wanted. */
enum { FEW_COLORS = 256, TRUE_COLORS = 1 << 24 };

/* Writes the sequences that show the cells which differ from `shown`, and copies these cells to
 * `shown`. The caller frees written->bytes; length 0: no cell differs. `colors` 0: no colours. */
bool direct_bytes(const Cells *cells, Cells *shown, int colors, MemoryStream *written, Err *err);

/* ---- term_pixels.c: the BEV as a picture of true pixels -------------------------------------- */

/* The answers of the terminal so far. `waits`: answers are missing. `resized`: the size of a cell
 * has changed, and the reader of the answers has not cleared the flag yet. */
typedef struct {
    bool waits, kitty, iterm, sixel, resized;
    int cell_w, cell_h; /* pixels of a character cell; 0: unknown */
} PixelAnswers;

/* Questions to the terminal. Every terminal answers DA1, the last question of pixels_ask. */
extern const char pixels_ask[], pixels_ask_size[];

/* Removes the picture of kitty's protocol, after ending a string that was cut. */
extern const char pixels_remove[];

/* Takes the letter that ends a CSI answer or introduces a string, and the text in between. */
void pixels_answer(PixelAnswers *answers, int letter, const char *text);

/* Returns how pictures are sent. AUTO: not known yet. OFF: half blocks. */
Pixels pixels_choose(Pixels wanted, const PixelAnswers *answers);

/* Writes the sequences that show the image at `place` and leave the cursor where it was. The caller
 * frees sent->bytes. */
bool pixels_encode(Pixels kind, const Image *image, Area place, MemoryStream *sent, Err *err);

/* ---- term_keys.c: from what ncurses reads to keys and answers -------------------------------- */

/* The questions to the terminal, as a mask. Every terminal answers DEVICE, which is asked last. */
typedef enum {
    ANSWER_DEVICE = 1, /* DA1: "?62;4c" */
    ANSWER_MODE = 2,   /* DECRQM: "?1003;2$y" */
    ANSWER_SIZE = 4,   /* the size of a cell: "6;20;10t" */
    ANSWER_NAME = 8,   /* XTVERSION: a string, "P>|name" */
    ANSWER_KITTY = 16  /* a string, "_Gi=31;OK" */
} AnswerKind;

enum {
    ESCAPE_MS = 25,          /* Escape is a key if no code follows within this time */
    ANSWERS_HOLD_MS = 1200,  /* the same time while the terminal still has to answer */
    ANSWERS_OWED_MS = 5000,  /* no answer to a question is expected after this time */
    ANSWERS_PIECE_MS = 2000, /* the longest wait after a piece of an answer */
    KEYS_AT_ONCE = 8         /* the most keys that one code can give */
};

/* All zero: nothing was typed. */
typedef struct {
    struct _win_st *window; /* ncurses reads keys for this window, which is never drawn */
    enum {
        KEYS_PLAIN,
        KEYS_CHARACTER, /* within the bytes of a character */
        KEYS_ESCAPED,   /* behind an Escape */
        KEYS_SEQUENCE,  /* within the parameters of CSI or SS3 */
        KEYS_STRING,
        KEYS_STRING_ENDS, /* behind an Escape within a string */
        KEYS_SKIP,        /* within codes without a meaning */
        KEYS_PASTE
    } at;
    int introducer; /* the code behind Escape: '[' or 'O', or the introducer of a string */
    char text[128]; /* the sequence so far; characters without room are lost */
    size_t length;
    int skip;          /* KEYS_SKIP: the number of codes still to skip */
    mbstate_t bytes;   /* KEYS_CHARACTER: the bytes of the character so far */
    bool alt;          /* an Escape stood before this key or sequence, which thus means nothing */
    bool paused;       /* nothing followed the last code at once */
    bool esc_paused;   /* nothing followed the Escape at once: a key may follow a key */
    bool no_escape;    /* the sequence began without Escape, because that was taken for a key */
    bool escaped;      /* an Escape was taken for a key: the next '[' may begin a sequence */
    bool late;         /* the bytes read now have waited: Escape and a key may be two keys */
    double now_ms;     /* when the current code was read */
    double since_ms;   /* when the last code of a sequence was read */
    unsigned owed;     /* the expected answers: a mask of AnswerKind */
    double until_ms;   /* when no answer is expected any more */
    bool moves;        /* the terminal has answered that it knows mode 1003 */
    MouseReport mouse; /* the newest report */
    PixelAnswers answers;       /* the answers about pictures */
    int32_t keys[KEYS_AT_ONCE]; /* the keys that term_keys_next() returns next */
    int count;
} TermKeys;

/* Prepares the reading of keys, and tells ncurses the sequences of all terminals. Call this after
 * newterm(). Standard input must be the terminal. */
void term_keys_open(TermKeys *typed);

/* Notes that these questions were sent. */
void term_keys_ask(TermKeys *typed, unsigned kinds, double now_ms);

/* Takes a code of ncurses, or ERR: nothing more waits to be read. Adds the keys to typed->keys. */
void term_keys_take(TermKeys *typed, int code, double now_ms);

/* Returns the next key, a code of src/state/keys.h, or TERM_MOUSE (src/ui/term.h) with
 * typed->mouse; 0: none is waiting. Sequences without a meaning here are passed over: Alt, focus,
 * paste, other buttons, malformed or old reports. */
int32_t term_keys_next(TermKeys *typed, double now_ms);
