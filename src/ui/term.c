#include "src/ui/term.h"

#include "src/state/keys.h"
#include "src/ui/rescue.h"
#include "src/ui/term_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- standard error -------------------------------------------------------------------------- */

/* Standard error would disturb the screen: it is collected in memory, its last line is shown in the
 * log, and all of it is written out when the terminal is the shell's again. */
typedef struct {
    int memory; /* what stderr points to while captured; -1: not captured */
    int errors; /* the real standard error */
    off_t seen; /* bytes that term_error_line has read */
} Capture;

enum { CAPTURE_MAX = 1 << 20 }; /* bytes; a library that writes without end must not fill memory */

/* Does nothing where standard error is not a terminal: there it disturbs no screen. */
static bool capture_begin(Capture *capture, Err *err) {
    *capture = (Capture){.memory = -1, .errors = STDERR_FILENO};
    if (!isatty(STDERR_FILENO))
        return true;
    fflush(stderr);
    int errors = dup(STDERR_FILENO), memory = memfd_create("stderr", MFD_CLOEXEC);
    if (errors < 0 || memory < 0 || dup2(memory, STDERR_FILENO) < 0) {
        int reason = errno;
        if (errors >= 0)
            close(errors);
        if (memory >= 0)
            close(memory);
        return err_set(err, ERR_FAILED, "standard error", "", "cannot be set aside: %s",
                       strerror(reason));
    }
    fcntl(memory, F_SETFL, O_APPEND);
    capture->errors = errors;
    capture->memory = memory;
    return true;
}

/* Puts standard error back and copies to it what was captured. */
static void capture_end(Capture *capture) {
    if (capture->memory < 0)
        return;
    fflush(stderr);
    dup2(capture->errors, STDERR_FILENO);
    rescue_copy(capture->memory, capture->errors);
    close(capture->errors);
    close(capture->memory);
    *capture = (Capture){.memory = -1, .errors = STDERR_FILENO};
}

/* ---- the terminal ---------------------------------------------------------------------------- */

struct Term {
    SCREEN *screen;
    struct termios modes; /* before it was taken over */
    Capture capture;
    int colors;  /* 0: none */
    Cells shown; /* what is on the screen; no cells: unknown */
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

static bool prefer_color(TermColor color) {
    const char *no_color = getenv("NO_COLOR");
    return color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && !(no_color && *no_color));
}

static bool start_colors(Term *term, TermColor color, Err *err) {
    if (prefer_color(color) && has_colors() && start_color() == OK) {
        use_default_colors();
        term->colors = COLORS;
    }
    if (color == TERM_COLOR_ALWAYS && !term->colors)
        return err_set(err, ERR_USAGE, "--color", "leave it out or set TERM",
                       "this type of terminal has no colours");
    return true;
}

static void set_modes(void) {
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25); /* ms after which Escape alone counts as a key */
    curs_set(0);
}

/* Prepares the bytes that a crash handler writes: inside a handler nothing can be looked up. */
static void arm(const Term *term) {
    char reset[RESCUE_RESET_MAX];
    size_t length = terminfo_reset(reset, sizeof reset);
    rescue_arm(STDOUT_FILENO, &term->modes, reset, length, term->capture.memory,
               term->capture.errors);
}

bool term_open(Term **out, TermColor color, Err *err) {
    Term *term = calloc(1, sizeof *term);
    if (!term)
        return err_set(err, ERR_FAILED, "terminal", "", "out of memory");
    if (tcgetattr(STDIN_FILENO, &term->modes) < 0 || !capture_begin(&term->capture, err)) {
        free(term);
        return err_set(err, ERR_FAILED, "terminal", "", "its modes cannot be read");
    }
    term->screen = newterm(NULL, stdout, stdin);
    if (!term->screen) {
        capture_end(&term->capture);
        free(term);
        return err_set(err, ERR_FAILED, "terminal", "set TERM", "ncurses does not know this type");
    }
    arm(term);
    set_modes();
    *out = term;
    if (start_colors(term, color, err))
        return true;
    term_close(term);
    *out = NULL;
    return false;
}

static void give_back(Term *term) {
    endwin();
    tcsetattr(STDIN_FILENO, TCSADRAIN, &term->modes);
    rescue_disarm();
    capture_end(&term->capture);
}

void term_close(Term *term) {
    if (!term)
        return;
    give_back(term);
    delscreen(term->screen);
    cells_free(&term->shown);
    free(term);
}

void term_resume(Term *term) {
    term_resized(term);
    reset_prog_mode();
    clearok(curscr, TRUE);
    refresh();
    curs_set(0);
}

void term_suspend(Term *term) {
    Err err;
    give_back(term);
    rescue_stop();
    tcgetattr(STDIN_FILENO, &term->modes);
    capture_begin(&term->capture, &err); /* on failure messages only disturb the screen */
    arm(term);
    term_resume(term);
}

/* ---- drawing --------------------------------------------------------------------------------- */

void term_size(const Term *term, int *columns, int *rows) {
    (void)term;
    *columns = COLS > 0 ? COLS : 1;
    *rows = LINES > 0 ? LINES : 1;
}

void term_resized(Term *term) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
        resizeterm(size.ws_row, size.ws_col);
    cells_free(&term->shown);
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
static int pair_of(const Term *term, const CellStyle *style, bool light) {
    int ink = color_number(term, style->ink, light, false);
    int paper = color_number(term, style->paper, light, true);
    bool band = style->paper == INK_SELECTED || style->paper == INK_KEY;
    if (band && paper == color_number(term, INK_DEFAULT, light, true))
        paper = light ? COLOR_CYAN : COLOR_BLUE;
    if (ink == paper && !(style->ink & INK_RGB))
        ink = color_number(term, INK_TEXT, light, false);
    return alloc_pair(ink, paper);
}

static void show_cell(const Term *term, int x, int y, const Cell *cell, bool light) {
    attr_t attributes = A_NORMAL;
    attributes |= cell->style.attributes & CELL_BOLD ? A_BOLD : A_NORMAL;
    attributes |= cell->style.attributes & CELL_REVERSE ? A_REVERSE : A_NORMAL;
    attributes |= cell->style.attributes & CELL_UNDERLINE ? A_UNDERLINE : A_NORMAL;
    int pair = 0; /* without colours alloc_pair would crash */
    if (term->colors)
        pair = pair_of(term, &cell->style, light);
    wchar_t glyph[] = {(wchar_t)cell->glyph, L'\0'};
    cchar_t character;
    if (setcchar(&character, glyph, attributes, 0, &pair) == OK)
        mvadd_wch(y, x, &character);
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
    erase();
    cells_free(shown);
    if (!cells_init(shown, cells->columns, cells->rows, err))
        return false;
    shown->light = cells->light;
    return true;
}

bool term_draw(Term *term, const Cells *cells, Err *err) {
    bool everything;
    if (!start_over(term, cells, &everything, err))
        return false;
    for (int y = 0; y < cells->rows && y < LINES; y++)
        for (int x = 0; x < cells->columns && x < COLS; x++) {
            Cell *shown = &term->shown.cells[(size_t)y * (size_t)cells->columns + (size_t)x];
            const Cell *cell = cells_at(cells, x, y);
            if (!everything && same_cell(shown, cell))
                continue;
            *shown = *cell;
            show_cell(term, x, y, cell, cells->light);
        }
    refresh();
    return true;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct {
    int curses;
    int32_t key;
} key_codes[] = {
    {KEY_ENTER, KEYCODE_ENTER},        {KEY_UP, KEYCODE_UP},
    {KEY_DOWN, KEYCODE_DOWN},          {KEY_LEFT, KEYCODE_LEFT},
    {KEY_RIGHT, KEYCODE_RIGHT},        {KEY_SR, KEYCODE_SHIFT_UP},
    {KEY_SF, KEYCODE_SHIFT_DOWN},      {KEY_SLEFT, KEYCODE_SHIFT_LEFT},
    {KEY_SRIGHT, KEYCODE_SHIFT_RIGHT}, {KEY_HOME, KEYCODE_HOME},
};

static int32_t translate(int code) {
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return KEYCODE_F1 + (code - KEY_F(1));
    for (size_t i = 0; i < sizeof key_codes / sizeof *key_codes; i++)
        if (key_codes[i].curses == code)
            return key_codes[i].key;
    return 0;
}

int32_t term_key(Term *term) {
    enum { CONTROL_L = 'L' & 0x1f };
    wint_t typed;
    int kind;
    while ((kind = get_wch(&typed)) != ERR) {
        int32_t key = kind == KEY_CODE_YES ? translate((int)typed) : (int32_t)typed;
        if (key == '\r')
            return KEYCODE_ENTER;
        if (key == CONTROL_L)
            term_resume(term);
        else if (key)
            return key;
    }
    return 0;
}

/* ---- lines from standard error --------------------------------------------------------------- */

static off_t captured_bytes(const Capture *capture) {
    struct stat about;
    return fstat(capture->memory, &about) == 0 ? about.st_size : 0;
}

bool term_error_line(Term *term, char *line, size_t size) {
    Capture *capture = &term->capture;
    char block[1024];
    if (capture->memory < 0)
        return false;
    off_t length = captured_bytes(capture), from = length - (off_t)sizeof block + 1;
    if (from < capture->seen)
        from = capture->seen;
    ssize_t n = pread(capture->memory, block, (size_t)(length - from), from);
    if (n <= 0)
        return false;
    block[n] = '\0';
    char *end = strrchr(block, '\n');
    if (!end)
        return false;
    capture->seen = from + (end - block) + 1;
    if (length > CAPTURE_MAX && ftruncate(capture->memory, 0) == 0)
        capture->seen = 0;
    *end = '\0';
    char *start = strrchr(block, '\n');
    snprintf(line, size, "%s", start ? start + 1 : block);
    return true;
}
