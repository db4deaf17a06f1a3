/* SPDX-License-Identifier: MIT */
/* What the files of the terminal share: colours, standard error, keys. Private to src/ui/term*.c
 * and the tests of these parts. */
#pragma once

#include "kernels/err.h"
#include "src/ui/term_answers.h"
#include "src/ui/pointer.h"
#include "src/ui/term_pixels.h"
#include "src/view/draw/color.h"
#include "src/view/term/cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- term_colors.c, term_direct.c: how cells are written ------------------------------------- */

/* Returns the number of the nearest colour in a terminal of `colors` (8, 16, 88, 256 or more). */
int palette_nearest(Rgb color, int colors);

/* Returns the number of a tensor's ink among 8 or 16 colours, where the nearest colours of several
 * tensors are equal; -1: the ink is no tensor's. */
int palette_tensor(Ink ink, bool light);

/* Returns the colour with 1.5 times its saturation: pictures keep their hues in few colours. */
Rgb palette_vivid(Rgb color);

/* Chooses the numbers of a style's two colours, of at most 256. The theme sets its own background,
 * because few terminals tell whether theirs is light. */
void palette_pair(const CellStyle *style, int colors, bool light, int *ink, int *paper);

enum { TRUE_COLORS = 1 << 24 };

/* Whether the terminal says that it has colours of 24 bits. */
bool direct_wanted(void);

/* Returns bytes (malloc'd) that write the cells that differ from `shown`, or all of them, in so
 * many colours, and takes those over. 0: no colours. Length 0: no cell differs. */
bool direct_bytes(const Cells *cells, Cells *shown, bool everything, int colors, char **bytes,
                  size_t *length, Err *err);

/* ---- term_capture.c -------------------------------------------------------------------------- */

/* Captures standard error in memory, because it would disturb the screen. The log shows its last
 * line. All of it is written out when the shell has the terminal again. */
typedef struct {
    int memory; /* what stderr points to while captured; -1: not captured */
    int errors; /* the real standard error */
    off_t seen; /* bytes that capture_line has read */
} Capture;

bool capture_begin(Capture *capture, Err *err);

/* Restores standard error, and copies to it what was captured. */
void capture_end(Capture *capture);

/* Writes the last line that was captured since the last call. Returns false where there is none. */
bool capture_line(Capture *capture, char *line, size_t size);

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
void term_keys_close(TermKeys *typed);

/* Returns the next key, a code of src/state/keys.h, or TERM_MOUSE (src/ui/term.h) with
 * typed->mouse; 0: none is waiting. Sequences without a meaning here are passed over: Alt, focus,
 * paste, answers, other buttons, malformed or old reports. Waits only for the end of a sequence
 * that has begun. */
int32_t term_keys_next(TermKeys *typed, double now_ms);
