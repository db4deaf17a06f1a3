/* In place of term.c in builds without ncurses. */
#include "src/ui/term.h"

#include <assert.h>
#include <unistd.h>

const char *term_impossible(void) {
    return "this program was built without ncurses";
}

bool term_open(Term **term, TermColor color, Err *err) {
    (void)color;
    *term = NULL;
    return err_set(err, ERR_FAILED, "terminal", "configure it --with-ncurses", "%s",
                   term_impossible());
}

void term_close(Term *term) {
    assert(!term);
    (void)term;
}

void term_size(const Term *term, int *columns, int *rows) {
    (void)term;
    *columns = 80;
    *rows = 24;
}

bool term_has_color(const Term *term) {
    (void)term;
    return false;
}

bool term_has_unicode(void) {
    return false;
}

bool term_is_light(void) {
    return false;
}

void term_resized(Term *term) {
    (void)term;
}

bool term_draw(Term *term, const Cells *cells, Err *err) {
    (void)cells;
    return term_open(&term, TERM_COLOR_NEVER, err);
}

int32_t term_key(Term *term) {
    (void)term;
    return 0;
}

int term_fd(void) {
    return STDIN_FILENO;
}

void term_suspend(Term *term) {
    (void)term;
}

void term_resume(Term *term) {
    (void)term;
}

bool term_error_line(Term *term, char *line, size_t size) {
    (void)term, (void)line, (void)size;
    return false;
}
