/* The terminal as a screen of Cells and a source of keys (ncurses). One at a time. */
#ifndef BEV_TERM_H
#define BEV_TERM_H

#include "src/view/term/cells.h"

typedef struct Term Term;

typedef enum { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER } TermColor;

/* NULL where there is a screen to draw on: both ends are a terminal whose type can move its
 * cursor. Else why plain lines are all there is. */
const char *term_impossible(void);

/* Takes the terminal over and sets standard error aside; rescue_install comes first. AUTO: colours
 * unless NO_COLOR is set; ALWAYS is an error where the terminal's type knows none. */
bool term_open(Term **term, TermColor color, Err *err);

/* Gives the terminal back exactly as it was. Accepts NULL. */
void term_close(Term *term);

/* Its size now, at least 1 x 1. */
void term_size(const Term *term, int *columns, int *rows);

bool term_has_color(const Term *term);

/* Whether its character set has more than ASCII, and whether it says that its paper is light. */
bool term_has_unicode(void);
bool term_is_light(void);

/* Asks for the size again, after SIGWINCH; the next term_draw repaints everything. */
void term_resized(Term *term);

/* Shows `cells` from the top left corner; what does not fit is cut. */
bool term_draw(Term *term, const Cells *cells, Err *err);

/* The next key that was typed, as src/state/keys.h counts them; 0: none is waiting. */
int32_t term_key(Term *term);

/* What to poll for keys. */
int term_fd(void);

/* Gives the terminal back, stops the process, and takes the terminal again when continued. */
void term_suspend(Term *term);

/* After a SIGCONT that did not end a term_suspend: the screen is not ours any more. */
void term_resume(Term *term);

/* The last line that was written to standard error since the last call; false: none. */
bool term_error_line(Term *term, char *line, size_t size);

#endif
