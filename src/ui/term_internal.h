/* SPDX-License-Identifier: MIT */
/* What the files of the terminal share: colours, answers, keys. Private to src/ui/term*.c
 * and the tests of these parts. */
#pragma once

#include "src/ui/term.h"

/* ---- term.c: how cells are written ----------------------------------------------------------- */

int palette_nearest(Rgb color);

/* Returns the colour with 1.5 times its saturation: pictures keep their hues in few colours. */
Rgb palette_vivid(Rgb color);

/* How many colours the terminal has; 0: none, or none wanted. */
enum { FEW_COLORS = 256, TRUE_COLORS = 1 << 24 };

/* Returns bytes (malloc'd) that write the cells that differ from `shown`, or all of them, in so
 * many colours, and copies them to `shown`. 0: no colours. Length 0: no cell differs. */
bool direct_bytes(const Cells *cells, Cells *shown, bool everything, int colors, char **bytes,
                  size_t *length, Err *err);

/* ---- term_keys.c: answers of the terminal -------------------------------------------------- */

/* Puts the terminal's answers to the program's questions together from pieces. Over a network an
 * answer may pause anywhere, also behind its Escape. No piece may act as a key. The reader has no
 * terminal and no clock: the caller hands over each code and the time. */

/* The questions, as a mask. Every terminal answers DEVICE, which is asked last. */
typedef enum {
    ANSWER_DEVICE = 1, /* DA1: "?62;4c" */
    ANSWER_MODE = 2,   /* DECRQM: "?1003;2$y" */
    ANSWER_SIZE = 4,   /* of a cell: "6;20;10t" */
    ANSWER_NAME = 8,   /* XTVERSION: a string, "P>|name" */
    ANSWER_KITTY = 16  /* a string, "_Gi=31;OK" */
} AnswerKind;

enum {
    ANSWERS_OWED_MS = 5000,  /* after this time without an answer nothing is owed any more, */
    ANSWERS_PIECE_MS = 2000, /* nor this time after the last piece of one; */
    ANSWERS_HOLD_MS = 1200,  /* an Escape waits this long for what follows it */
    ANSWERS_NOTHING = -1,    /* the code that says: nothing more waits to be read */
    ANSWERS_ESCAPE = -2,     /* a code that is returned: the key Escape, whatever follows */
    ANSWERS_CODES = 5        /* the most codes that come back at once */
};

/* The reader of answers. All zero: nothing was asked. */
typedef struct {
    unsigned owed;
    double until_ms; /* nothing is owed from then on */
    enum { ANSWER_NONE, ANSWER_ESCAPE, ANSWER_INTRODUCED, ANSWER_BODY, ANSWER_STRING_ENDS } at;
    double since_ms;   /* when its last byte came */
    bool alone;        /* nothing followed its last byte at once */
    bool lone_escape;  /* nothing followed its Escape at once: a key may follow a key */
    bool no_escape;    /* it began without Escape, */
    bool escape_given; /* because that was taken for a key */
    int introducer;    /* '[' of a CSI sequence, 'P' or '_' of a string; 0: none yet */
    char text[128];    /* the text behind it; more is lost */
    size_t length;
} AnswerReader;

void answers_ask(AnswerReader *reader, unsigned kinds, double now_ms);

/* Takes a code of ncurses, or ANSWERS_NOTHING. Returns the number of codes that belong to no
 * answer, in their order. *letter receives the letter that ends a complete CSI answer or
 * introduces a complete string; 0: no answer is complete. reader->text holds the answer until
 * the next call. */
int answers_take(AnswerReader *reader, int code, double now_ms, int codes[ANSWERS_CODES],
                 int *letter);

/* ---- term_pixels.c: the BEV as a picture of true pixels -------------------------------------- */

/* What the terminal has answered so far. `waits`: answers are missing. `resized`: the size of a
 * cell has changed, and the reader has not noticed yet. */
typedef struct {
    bool waits, kitty, iterm, sixel, resized;
    int cell_w, cell_h; /* pixels of a character cell; 0: unknown */
} PixelAnswers;

/* The questions. Every terminal answers DA1, the last one of pixels_ask. */
extern const char pixels_ask[], pixels_ask_size[];

/* Removes the picture of kitty's protocol, after ending a string that was cut. */
extern const char pixels_remove[];

/* Takes the letter that ends a CSI answer or introduces a string, and the text in between. */
void pixels_answer(PixelAnswers *answers, int letter, const char *text);

/* Returns how pictures are sent. AUTO: not known yet. OFF: half blocks. */
Pixels pixels_choose(Pixels wanted, const PixelAnswers *answers);

/* Returns bytes (malloc'd) that show the image at `place` and leave the cursor where it was. */
bool pixels_encode(Pixels kind, const Image *image, Area place, char **bytes, size_t *length,
                   Err *err);

/* ---- term_keys.c: from what ncurses reads to keys -------------------------------------------- */

typedef struct {
    struct _win_st *window; /* of ncurses, which reads for it; never drawn */
    AnswerReader reader;    /* takes the answers out of what was read, */
    double now_ms;          /* at this time */
    int codes[16], count;   /* to be read next */
    bool escaped;           /* the last key was an Escape without a successor in time */
    bool late;              /* the bytes read now have waited: Escape and a key may be two keys */
    MouseReport mouse;      /* the newest report */
    bool moves;             /* the terminal has answered that it knows mode 1003 */
    PixelAnswers answers;   /* about pictures */
} TermKeys;

/* term_keys_open must come after newterm; standard input is the terminal. */
enum { ESCAPE_MS = 25 }; /* Escape is a key of its own where nothing comes within this time */
void term_keys_open(TermKeys *typed);

/* Returns the next key, a code of src/state/keys.h, or TERM_MOUSE (src/ui/term.h) with
 * typed->mouse; 0: none is waiting. Sequences without a meaning here are passed over: Alt, focus,
 * paste, answers, other buttons, malformed or old reports. Waits only for the end of a sequence
 * that has begun. */
int32_t term_keys_next(TermKeys *typed, double now_ms);
