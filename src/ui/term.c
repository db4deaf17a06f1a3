#include "src/ui/term.h"

#include "src/base/clock.h"
#include "src/state/keys.h"
#include "src/ui/rescue.h"
#include "src/ui/term_internal.h"
#include "src/ui/tty.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* What the terminal draws with at the moment. */
typedef struct {
    bool known;
    unsigned attributes;
    int ink, paper; /* numbers of colours; -1: its own */
} Look;

struct Term {
    struct termios modes; /* before it was taken over */
    Capture capture;
    TerminfoFacts type;
    int colors; /* 0: none, or none wanted */
    int columns, rows;
    Cells shown; /* what is on the screen; no cells: unknown */
    Look look;
    int x, y;    /* its cursor; x -1: unknown */
    Bytes out;   /* a drawing on its way to the terminal */
    size_t sent; /* so much of it is there */
    TermKeys keys;
    bool mouse; /* the terminal is asked for its reports */
};

const char *term_impossible(void) {
    const char *type = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "standard input and output are not both a terminal";
    if (!type || !*type)
        return "TERM is not set";
    return terminfo_impossible(type, STDOUT_FILENO);
}

/* Some terminals set COLORFGBG: it ends with the number of the background colour. */
static bool is_light(void) {
    const char *colors = getenv("COLORFGBG"), *last = colors ? strrchr(colors, ';') : NULL;
    return last && (!strcmp(last, ";7") || !strcmp(last, ";15"));
}

TermFacts term_facts(const Term *term) {
    return (TermFacts){.color = term->colors > 0,
                       .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
                       .light = is_light()};
}

/* ---- taking over and giving back ------------------------------------------------------------- */

static bool choose_colors(Term *term, TermColor color, Err *err) {
    const char *no_color = getenv("NO_COLOR");
    if (color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && !(no_color && *no_color)))
        term->colors = term->type.colors;
    if (color == TERM_COLOR_ALWAYS && !term->colors)
        return err_set(err, ERR_USAGE, "--color", "leave it out or set TERM",
                       "this type of terminal has no colours");
    return true;
}

/* A key at a time, without echo; Enter sends \r and nothing is done to what is written. */
static void set_modes(const Term *term) {
    struct termios modes = term->modes;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    modes.c_iflag &= ~(tcflag_t)ICRNL;
    modes.c_oflag &= ~(tcflag_t)ONLCR;
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &modes);
}

static Bytes reset_of(const Term *term) {
    Bytes reset = {.text = NULL};
    if (term->mouse)
        terminfo_add_mouse(&reset, false);
    terminfo_add_reset(&reset, term->rows);
    return reset;
}

/* Prepares the bytes that a crash handler writes: inside a handler nothing can be looked up. */
static void arm(const Term *term) {
    Bytes reset = reset_of(term);
    size_t length = reset.length < RESCUE_RESET_MAX ? reset.length : RESCUE_RESET_MAX;
    rescue_arm(STDOUT_FILENO, &term->modes, reset.text ? reset.text : "", length,
               term->capture.memory, term->capture.errors);
    bytes_free(&reset);
}

/* Whatever is on the screen, or on its way there, the next drawing begins anew. */
static void forget_screen(Term *term) {
    cells_free(&term->shown);
    term->look.known = false;
    term->x = -1;
}

static void read_size(Term *term) {
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    term->columns = known                            ? size.ws_col
                    : term->type.default_columns > 0 ? term->type.default_columns
                                                     : 80;
    term->rows = known ? size.ws_row : term->type.default_rows > 0 ? term->type.default_rows : 24;
    term->columns = term->columns < CELLS_MAX_EDGE ? term->columns : CELLS_MAX_EDGE;
    term->rows = term->rows < CELLS_MAX_EDGE ? term->rows : CELLS_MAX_EDGE;
}

/* Modes, the other screen, no cursor; the next drawing begins with it. */
static void take_over(Term *term) {
    term_resized(term);
    set_modes(term);
    terminfo_add(&term->out, "smcup");
    terminfo_add(&term->out, "smkx");
    terminfo_add(&term->out, "civis");
    if (term->mouse)
        terminfo_add_mouse(&term->out, true);
}

bool term_open(Term **out, TermColor color, bool mouse, Err *err) {
    Term *term = calloc(1, sizeof *term);
    if (!term)
        return err_set(err, ERR_FAILED, "terminal", "", "out of memory");
    if (tcgetattr(STDIN_FILENO, &term->modes) < 0 || !capture_begin(&term->capture, err)) {
        free(term);
        return err_set(err, ERR_FAILED, "terminal", "", "its modes cannot be read");
    }
    const char *type = getenv("TERM");
    if (!type || !terminfo_open(type, STDOUT_FILENO)) {
        capture_end(&term->capture);
        free(term);
        return err_set(err, ERR_FAILED, "terminal", "set TERM", "ncurses does not know this type");
    }
    term->type = terminfo_facts();
    term->mouse = mouse && term->type.mouse;
    if (!choose_colors(term, color, err)) {
        terminfo_close();
        capture_end(&term->capture);
        free(term);
        return false;
    }
    take_over(term);
    *out = term;
    return true;
}

/* What was not sent yet is not worth waiting for. */
static void give_back(Term *term) {
    Bytes reset = reset_of(term);
    rescue_restore(STDOUT_FILENO, &term->modes, reset.text ? reset.text : "", reset.length);
    bytes_free(&reset);
    rescue_disarm();
    capture_end(&term->capture);
    term->out.length = term->sent = 0;
}

void term_close(Term *term) {
    if (!term)
        return;
    give_back(term);
    terminfo_close();
    cells_free(&term->shown);
    bytes_free(&term->out);
    free(term);
}

void term_resume(Term *term) {
    take_over(term);
}

void term_redraw(Term *term) {
    forget_screen(term);
}

void term_suspend(Term *term) {
    Err err;
    give_back(term);
    rescue_stop();
    tcgetattr(STDIN_FILENO, &term->modes);
    capture_begin(&term->capture, &err); /* on failure messages only disturb the screen */
    take_over(term);
}

/* ---- drawing --------------------------------------------------------------------------------- */

void term_size(const Term *term, int *columns, int *rows) {
    *columns = term->columns;
    *rows = term->rows;
}

void term_resized(Term *term) {
    read_size(term);
    arm(term);
    forget_screen(term);
}

/* The theme sets its own background: few terminals say whether theirs is light or dark. */
static int color_number(const Term *term, Ink ink, bool light, bool paper) {
    Rgb color = ink_color(ink, light, paper);
    bool picture = ink & INK_RGB && term->colors >= 256;
    int tensor = term->colors <= 16 ? palette_tensor(ink, light) : -1;
    if (tensor >= 0)
        return tensor;
    return palette_nearest(picture ? palette_vivid(color) : color, term->colors);
}

/* Eight colours have no greys: text or a bar that would get the colour of the background gets
 * another one. */
static Look look_of(const Term *term, const CellStyle *style, bool light) {
    enum { BLUE = 4, CYAN = 6 };
    Look look = {.known = true, .attributes = style->attributes, .ink = -1, .paper = -1};
    if (!term->colors)
        return look;
    look.ink = color_number(term, style->ink, light, false);
    look.paper = color_number(term, style->paper, light, true);
    bool band = style->paper == INK_SELECTED || style->paper == INK_KEY;
    if (band && look.paper == color_number(term, INK_DEFAULT, light, true))
        look.paper = light ? CYAN : BLUE;
    if (look.ink == look.paper && !(style->ink & INK_RGB))
        look.ink = color_number(term, INK_TEXT, light, false);
    return look;
}

static void set_attributes(Term *term, unsigned attributes) {
    terminfo_add(&term->out, "sgr0");
    if (attributes & CELL_BOLD)
        terminfo_add(&term->out, "bold");
    if (attributes & CELL_REVERSE)
        terminfo_add(&term->out, "rev");
    if (attributes & CELL_UNDERLINE)
        terminfo_add(&term->out, "smul");
}

static void set_look(Term *term, const Look *next) {
    Look *look = &term->look;
    if (!look->known || look->attributes != next->attributes) {
        set_attributes(term, next->attributes);
        look->ink = look->paper = -1; /* sgr0 has reset the colours, too */
    }
    if (next->ink >= 0 && look->ink != next->ink)
        terminfo_add_number(&term->out, "setaf", next->ink);
    if (next->paper >= 0 && look->paper != next->paper)
        terminfo_add_number(&term->out, "setab", next->paper);
    *look = *next;
}

static void show_cell(Term *term, int x, int y, const Cell *cell, bool light) {
    char glyph[4];
    Look look = look_of(term, &cell->style, light);
    if (term->type.last_cell_scrolls && x == term->columns - 1 && y == term->rows - 1)
        return;
    if (term->x != x || term->y != y)
        terminfo_add_move(&term->out, x, y);
    set_look(term, &look);
    bytes_add(&term->out, glyph, cells_utf8(cell->glyph, glyph));
    term->x = x + 1 < term->columns ? x + 1 : -1; /* at the edge terminals differ */
    term->y = y;
}

static bool same_cell(const Cell *a, const Cell *b) {
    return a->glyph == b->glyph && a->style.ink == b->style.ink &&
           a->style.paper == b->style.paper && a->style.attributes == b->style.attributes;
}

/* Clears the screen where `shown` cannot be compared with `cells`; then everything is painted. */
static bool start_over(Term *term, const Cells *cells, bool *everything, Err *err) {
    Cells *shown = &term->shown;
    *everything = !shown->cells || shown->columns != cells->columns || shown->rows != cells->rows ||
                  shown->light != cells->light;
    if (!*everything)
        return true;
    forget_screen(term);
    terminfo_add(&term->out, "sgr0");
    terminfo_add(&term->out, "clear");
    if (!cells_init(shown, cells->columns, cells->rows, err))
        return false;
    shown->light = cells->light;
    return true;
}

static void draw_changes(Term *term, const Cells *cells, bool everything) {
    for (int y = 0; y < cells->rows && y < term->rows; y++)
        for (int x = 0; x < cells->columns && x < term->columns; x++) {
            Cell *shown = &term->shown.cells[(size_t)y * (size_t)cells->columns + (size_t)x];
            const Cell *cell = cells_at(cells, x, y);
            if (!everything && same_cell(shown, cell))
                continue;
            *shown = *cell;
            show_cell(term, x, y, cell, cells->light);
        }
}

bool term_draw(Term *term, const Cells *cells, Err *err) {
    bool everything;
    if (!start_over(term, cells, &everything, err))
        return false;
    draw_changes(term, cells, everything);
    bool lost = term->out.lost;
    if (lost) { /* a part of a drawing would leave the screen wrong for ever */
        bytes_free(&term->out);
        term->sent = 0;
        forget_screen(term);
        return err_set(err, ERR_FAILED, "terminal", "", "no memory for a drawing");
    }
    term_send(term);
    return true;
}

bool term_sending(const Term *term) {
    return term->sent < term->out.length;
}

void term_send(Term *term) {
    Bytes *out = &term->out;
    ssize_t put = tty_try(STDOUT_FILENO, out->text + term->sent, out->length - term->sent);
    term->sent += put < 0 ? out->length - term->sent : (size_t)put; /* gone: poll() says so */
    if (!term_sending(term))
        out->length = term->sent = 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

int32_t term_key(Term *term) {
    /* What has arrived meanwhile may end the sequence that was cut. */
    if (term->keys.length)
        term_keys_read(&term->keys, STDIN_FILENO, clock_ms());
    for (;;) {
        int32_t key = term_keys_next(&term->keys, clock_ms());
        if (key || !term_keys_read(&term->keys, STDIN_FILENO, clock_ms()))
            return key;
    }
}

MouseReport term_mouse(const Term *term) {
    return term->keys.mouse;
}

double term_key_in_ms(const Term *term) {
    return term_keys_in_ms(&term->keys, clock_ms());
}

bool term_error_line(Term *term, char *line, size_t size) {
    return capture_line(&term->capture, line, size);
}
