/* The terminal as a screen of Cells and a source of keys (ncurses). One at a time. */
#pragma once

#include "src/view/term/cells.h"

typedef struct Term Term;

typedef enum { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER } TermColor;

/* Why there is no terminal to draw on; NULL: standard input and output are a terminal whose type
 * can move its cursor. */
const char *term_impossible(void);

/* Takes the terminal over and captures standard error; call rescue_install first. AUTO: colours
 * unless NO_COLOR is set; ALWAYS: an error where this type of terminal has none. */
bool term_open(Term **term, TermColor color, Err *err);

/* Gives the terminal back exactly as it was. Accepts NULL. */
void term_close(Term *term);

/* Its size, at least 1 x 1. */
void term_size(const Term *term, int *columns, int *rows);

typedef struct {
    bool color;   /* it shows colours */
    bool unicode; /* the locale is UTF-8 */
    bool light;   /* it says that its background is light */
} TermFacts;

TermFacts term_facts(const Term *term);

/* Reads the size again, after SIGWINCH; the next term_draw repaints everything. */
void term_resized(Term *term);

/* Shows `cells` from the top left corner; what does not fit is cut. */
bool term_draw(Term *term, const Cells *cells, Err *err);

/* The next key that was typed, a code of src/state/keys.h; 0: none is waiting.
 * Standard input can be polled for them. */
int32_t term_key(Term *term);

/* Gives the terminal back, stops the process, and takes the terminal again when continued. */
void term_suspend(Term *term);

/* Repaints after a SIGCONT that did not end a term_suspend: others may have used the screen. */
void term_resume(Term *term);

/* The last line that was written to standard error since the last call; false: none. */
bool term_error_line(Term *term, char *line, size_t size);
