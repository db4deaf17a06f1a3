/* SPDX-License-Identifier: MIT */
/* The terminal as a screen of Cells and a source of keys. The terminal database of ncurses knows
 * the abilities of each type. Only one terminal can be open. */
#pragma once

#include "src/ui/pointer.h"
#include "src/view/bev/picture.h"
#include "src/view/term/cells.h"

typedef struct Term Term;

/* How the pixels of the BEV are sent: by kitty's graphics protocol, as inline images of iTerm2, or
 * as sixel. AUTO: the terminal is asked, and half blocks are drawn until the answer. OFF: half
 * blocks are drawn. */
typedef enum { PIXELS_AUTO, PIXELS_KITTY, PIXELS_ITERM, PIXELS_SIXEL, PIXELS_OFF } Pixels;

typedef enum { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER } TermColor;

/* Returns why there is no terminal to draw on, as static text. NULL: standard input and output are
 * a terminal whose type can move its cursor. */
const char *term_impossible(void);

/* Takes the terminal over and captures standard error; rescue_install must come first. Colour AUTO
 * obeys NO_COLOR; ALWAYS fails where this type of terminal has no colours. `mouse` asks for reports
 * of the mouse, where the type has them. `pixels` is how pictures are sent. AUTO asks the terminal,
 * but not a multiplexer, which cannot answer for the terminal behind it. */
MAY_LACK bool term_open(Term **term, TermColor color, bool mouse, Pixels pixels, Err *err);

/* Gives the terminal back as it was, within a second even if it does not read. */
MAY_LACK void term_close(Term *term);

/* Writes the terminal's size, from 1 x 1 to CELLS_MAX_EDGE squared. */
MAY_LACK void term_size(const Term *term, int *columns, int *rows);

typedef struct {
    bool color;   /* it shows colours */
    bool unicode; /* the locale is UTF-8 */
    bool console; /* the console of Linux, whose fonts have no half blocks */
    bool light;   /* the terminal reports a light background */
} TermFacts;

MAY_LACK TermFacts term_facts(const Term *term);

/* Reads the terminal's size again, after SIGWINCH. The next term_draw repaints everything. */
MAY_LACK void term_resized(Term *term);

/* Sends `cells` from the top left corner; cells outside the screen are cut. Waits for a slow
 * terminal, until a signal asks to stop or to suspend (src/base/rescue.h). `image` is shown over
 * the cells of `place`; the function takes it over. w 0: no image. */
MAY_LACK bool term_draw(Term *term, const Cells *cells, Image *image, Area place, Err *err);

/* Returns whether the terminal shows pictures, and writes the size of a character cell in their
 * pixels. `moves`: an animation; kitty and iTerm2 then get smaller pictures and enlarge them, to
 * save bytes. */
MAY_LACK bool term_pixels(const Term *term, bool moves, int *cell_w, int *cell_h);

/* Returns the milliseconds until the next drawing may be sent. The bytes a second are limited. */
MAY_LACK double term_rest_ms(const Term *term);

/* Whether the terminal reads nothing at the moment, as after Ctrl-S. A drawing would then wait.
 * poll() on standard output tells when the terminal reads again. */
MAY_LACK bool term_is_full(const Term *term);

/* Returns the next typed key: a code of src/state/keys.h, TERM_REDRAW or TERM_MOUSE; 0: none is
 * waiting. poll() on standard input tells when keys come. `typed_ms`: they were typed after this
 * time. */
enum {
    TERM_REDRAW = 'L' & 0x1f, /* Ctrl-L: something else has written on the screen */
    TERM_MOUSE = 0x120000     /* no key: the mouse, as term_mouse says */
};
MAY_LACK int32_t term_key(Term *term, double typed_ms);

/* Returns the mouse report, when term_key returned TERM_MOUSE. */
MAY_LACK MouseReport term_mouse(const Term *term);

/* Gives the terminal back, stops the process, and takes the terminal over again when continued. */
MAY_LACK void term_suspend(Term *term);

/* Forgets what the screen shows: the next term_draw writes everything. */
MAY_LACK void term_redraw(Term *term);

/* Takes the terminal over again after a SIGCONT without term_suspend. */
MAY_LACK void term_resume(Term *term);

/* Writes the last line on standard error since the last call. Returns false where there is none. */
MAY_LACK bool term_error_line(Term *term, char *line, size_t size);

/* Draws the picture as the window does, for the place of `spots->bev` with cells of cell_w x cell_h
 * pixels, and blanks its cells. Returns false where half blocks stay; nothing is to be freed then.
 */
bool pixels_compose(Cells *cells, const Spots *spots, const State *state, const LiveData *live,
                    const Picture *picture, int cell_w, int cell_h, Image *image);
