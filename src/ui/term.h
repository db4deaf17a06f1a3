/* The terminal as a screen of Cells and a source of keys. The terminal database of ncurses knows
 * the abilities of each type. One at a time. */
#pragma once

#include "src/ui/term_mouse.h"
#include "src/ui/term_pixels.h"
#include "src/view/term/cells.h"

typedef struct Term Term;

typedef enum { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER } TermColor;

/* Why there is no terminal to draw on, in static memory; NULL: standard input and output are a
 * terminal whose type can move its cursor. */
const char *term_impossible(void);

/* Takes the terminal over and captures standard error; call rescue_install first. AUTO: colours
 * unless NO_COLOR is set; ALWAYS: an error where this type of terminal has none. `mouse`: asks for
 * reports of the mouse where this type of terminal has them. `pixels`: how pictures are sent; AUTO
 * asks the terminal, but not a multiplexer, which would not say what lies behind it. */
bool term_open(Term **term, TermColor color, bool mouse, Pixels pixels, Err *err);

/* Gives the terminal back exactly as it was, within a second even if it does not read. Accepts
 * NULL. */
void term_close(Term *term);

/* Its size, from 1 x 1 to CELLS_MAX_EDGE squared. */
void term_size(const Term *term, int *columns, int *rows);

typedef struct {
    bool color;   /* it shows colours */
    bool unicode; /* the locale is UTF-8 */
    bool console; /* that of Linux, whose fonts have no half blocks */
    bool light;   /* the terminal reports a light background */
} TermFacts;

TermFacts term_facts(const Term *term);

/* Reads the size again, after SIGWINCH; the next term_draw repaints everything. */
void term_resized(Term *term);

/* Sends `cells` from the top left corner; what does not fit is cut. Waits for a terminal that reads
 * slowly; a signal that asks to stop or to suspend ends the wait (src/base/rescue.h). `image` lies
 * over the cells of `place` and is taken over; w 0: none. */
bool term_draw(Term *term, const Cells *cells, Image *image, Area place, Err *err);

/* Whether the terminal takes pictures, and the pixels of a character cell in them. `moves`:
 * pictures follow each other; kitty and iTerm2 scale them, and a quarter of the pixels is sent. */
bool term_pixels(const Term *term, bool moves, int *cell_w, int *cell_h);

/* Milliseconds that the next drawing has to wait: pictures take a bounded number of bytes a second.
 */
double term_rest_ms(const Term *term);

/* Whether the terminal reads nothing at the moment, as after Ctrl-S: a drawing would wait. poll()
 * on standard output tells when that ends. */
bool term_is_full(const Term *term);

/* The next key that was typed, a code of src/state/keys.h, TERM_REDRAW or TERM_MOUSE; 0: none is
 * waiting. Standard input can be polled for them. `typed_ms`: they were typed after this time. */
enum {
    TERM_REDRAW = 'L' & 0x1f, /* Ctrl-L: something else has written on the screen */
    TERM_MOUSE = 0x120000     /* no key: the mouse, as term_mouse says */
};
int32_t term_key(Term *term, double typed_ms);

/* The mouse report, when term_key returned TERM_MOUSE. */
MouseReport term_mouse(const Term *term);

/* Gives the terminal back, stops the process, and takes the terminal again when continued. */
void term_suspend(Term *term);

/* The next drawing repaints everything. */
void term_redraw(Term *term);

/* Takes it over again after a SIGCONT that did not end a term_suspend: others may have used the
 * screen. */
void term_resume(Term *term);

/* The last line that was written to standard error since the last call; false: none. */
bool term_error_line(Term *term, char *line, size_t size);
