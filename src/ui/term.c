/* SPDX-License-Identifier: MIT */
#define NCURSES_NOMACROS 1 /* its macros are everyday words */
#include "src/ui/term_internal.h"

#include "src/base/clock.h"
#include "src/base/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <termcap.h>
#include <termios.h>
#include <unistd.h>

/* ---- how cells are written ------------------------------------------------------------------- */

/* The 256 colours of xterm: 16 that users redefine, a cube of 6 x 6 x 6, 24 greys. */
enum { CUBE_FIRST = 16, CUBE_EDGE = 6, GREY_FIRST = 232, GREYS = 24 };

static const uint8_t cube_levels[CUBE_EDGE] = {0, 95, 135, 175, 215, 255};

/* Returns the highest step of the cube that is not above a level, but never the last step: a corner
 * of the cube also has the step after. */
static int step_below(uint8_t level) {
    int step = 0;
    while (step + 2 < CUBE_EDGE && level >= cube_levels[step + 1])
        step++;
    return step;
}

static int luma(Rgb color) {
    return (30 * color.r + 59 * color.g + 11 * color.b) / 100;
}

/* Returns a distance of two colours in which hues count more than in the Euclidean distance, by
 * which most muted colours would become grey. */
static int hue_distance(Rgb a, Rgb b) {
    int bright = luma(a) - luma(b);
    int red = a.r - b.r - bright, blue = a.b - b.b - bright;
    return 2 * bright * bright + 2 * red * red + blue * blue;
}

/* Returns the number of the nearest colour: the best of the cube's eight corners around the colour
 * and of the grey of the same brightness. */
int palette_nearest(Rgb color) {
    const int grey = MIN(MAX((luma(color) - 4) / 10, 0), GREYS - 1);
    const uint8_t shade = (uint8_t)(8 + 10 * grey);
    int best = GREY_FIRST + grey, least = hue_distance(color, (Rgb){shade, shade, shade});
    int r0 = step_below(color.r), g0 = step_below(color.g), b0 = step_below(color.b);
    for (int corner = 0; corner < 8; corner++) {
        int r = r0 + (corner & 1), g = g0 + (corner >> 1 & 1), b = b0 + (corner >> 2);
        Rgb cube = {cube_levels[r], cube_levels[g], cube_levels[b]};
        int far = hue_distance(color, cube);
        if (far < least) {
            least = far;
            best = CUBE_FIRST + (r * CUBE_EDGE + g) * CUBE_EDGE + b;
        }
    }
    return best;
}

/* Returns the level with 1.5 times its distance from a grey. */
static uint8_t away_from_grey(int level, int grey) {
    return (uint8_t)MIN(MAX(grey + 3 * (level - grey) / 2, 0), 255);
}

Rgb palette_vivid(Rgb color) {
    int grey = luma(color);
    return (Rgb){away_from_grey(color.r, grey), away_from_grey(color.g, grey),
                 away_from_grey(color.b, grey)};
}

/* ---- cells as sequences of ECMA-48: ncurses cannot name 24 bits beside 256 numbers ----------- */

/* The numbers that set the two colours of a cell. */
typedef enum { SET_INK = 38, SET_PAPER = 48 } ColorOf;

/* Writes an ink or a paper. The theme sets its own paper, because few terminals tell whether their
 * paper is light. */
static void put_color(FILE *out, ColorOf of, Ink ink, int colors, bool light) {
    const Rgb color = ink_color(ink, light, of == SET_PAPER);
    if (colors == TRUE_COLORS)
        fprintf(out, ";%d;2;%d;%d;%d", (int)of, color.r, color.g, color.b);
    else if (colors)
        fprintf(out, ";%d;5;%d", (int)of,
                palette_nearest(ink & INK_RGB ? palette_vivid(color) : color));
}

/* Writes a cell. `before` is the cell that was written before; NULL: this cell is the first. */
static void put_cell(FILE *out, const Cells *cells, int x, int y, int colors, const Cell *before) {
    const Cell *cell = cells_at(cells, x, y);
    const bool follows = x > 0 && before == cell - 1; /* the cursor is there already */
    char glyph[3];
    if (!follows)
        fprintf(out, "\033[%d;%dH", y + 1, x + 1);
    if (!before || memcmp(&before->style, &cell->style, sizeof cell->style) != 0) {
        const unsigned look = cell->style.attributes;
        fprintf(out, "\033[0%s%s%s", look & CELL_BOLD ? ";1" : "",
                look & CELL_UNDERLINE ? ";4" : "", look & CELL_REVERSE ? ";7" : "");
        put_color(out, SET_INK, cell->style.ink, colors, cells->light);
        put_color(out, SET_PAPER, cell->style.paper, colors, cells->light);
        fputc('m', out);
    }
    fwrite(glyph, 1, cells_utf8(cell->glyph, glyph), out);
}

bool direct_bytes(const Cells *cells, Cells *shown, int colors, MemoryStream *written, Err *err) {
    const Cell *before = NULL;
    if (!memory_stream_open(written, err))
        return false;
    for (int y = 0; y < cells->rows; y++)
        for (int x = 0; x < cells->columns; x++) {
            Cell *on_screen = &shown->cells[(size_t)y * (size_t)cells->columns + (size_t)x];
            const Cell *cell = cells_at(cells, x, y);
            if (on_screen->glyph == cell->glyph &&
                !memcmp(&on_screen->style, &cell->style, sizeof cell->style))
                continue;
            put_cell(written->stream, cells, x, y, colors, before);
            *on_screen = *cell;
            before = cell;
        }
    if (before)
        fputs("\033[0m", written->stream);
    return memory_stream_close(written, "screen", err);
}

/* ---- standard error, while the terminal shows the display ------------------------------------ */

/* Standard error, captured in memory, because messages would disturb the screen. The log shows the
 * last line. All messages are written out when the shell has the terminal again. */
typedef struct {
    int memory; /* file descriptor in place of stderr; -1: stderr is not captured */
    int errors; /* the real standard error */
    off_t seen; /* the bytes that term_error_line has read */
} Capture;

enum { CAPTURE_MAX = 1 << 20 }; /* bytes; a library that writes without end must not fill memory */

/* Begins the capture. A standard error that is no terminal disturbs no screen and is left alone. */
static bool capture_begin(Capture *capture, Err *err) {
    *capture = (Capture){.memory = -1, .errors = STDERR_FILENO};
    if (!isatty(STDERR_FILENO))
        return true;
    fflush(stderr);
    int errors = dup(STDERR_FILENO), memory = memfd_create("stderr", MFD_CLOEXEC);
    if (errors < 0 || memory < 0 || dup2(memory, STDERR_FILENO) < 0) {
        int reason = errno;
        close(errors); /* -1: nothing */
        close(memory);
        return err_set(err, ERR_FAILED, "standard error", "", "cannot be set aside: %s",
                       strerror(reason));
    }
    fcntl(memory, F_SETFL, O_APPEND);
    capture->errors = errors;
    capture->memory = memory;
    return true;
}

/* Restores standard error, and copies to it what was captured. */
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

/* Modes of xterm that ncurses does not set. Each mode of the mouse is set by itself, because some
 * terminals know only a few: 1000 reports press and release, 1002 also moves while pressed, 1006
 * writes numbers. Mode 1003, moves at any time, is set only in terminals that say they know this
 * mode, and in tmux, which does not say so. Mode 2026 shows only complete drawings. Terminals
 * without mode 2026 ignore the sequence. */
static const char mouse_on[] = "\033[?1000h\033[?1002h\033[?1006h";
static const char moves_asked[] = "\033[?1003$p", moves_on[] = "\033[?1003h";
static const char mouse_off[] = "\033[?1006l\033[?1003l\033[?1002l\033[?1000l";
static const char drawing_begins[] = "\033[?2026h", drawing_ends[] = "\033[?2026l";

struct Term {
    struct termios modes; /* the terminal's modes before it was taken over */
    Capture capture;
    FILE *out; /* the stream of ncurses to the terminal */
    SCREEN *screen;
    TermKeys keys;
    bool xterm;       /* the terminal understands the modes of xterm */
    bool mouse;       /* reports of the mouse are switched on */
    bool moves;       /* reports of moves without a button are switched on, too */
    int colors;       /* FEW_COLORS, TRUE_COLORS; 0: none, or none wanted */
    Cells shown;      /* what the screen shows; no cells: unknown */
    Pixels pixels;    /* how pictures are sent */
    Image image;      /* the picture on the screen; w 0: none */
    Area place;       /* where that picture stands */
    double asked_ms;  /* when the terminal was asked */
    double rested_ms; /* when the next picture may be sent */
};

/* Whether the terminal's type has the capability. */
static bool has(const char *capability) {
    const char *text = tigetstr(capability);
    return text && text != (char *)-1 && *text;
}

const char *term_impossible(void) {
    const char *type = getenv("TERM");
    static char reason[200];
    const char *why = NULL;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "standard input and output are not both a terminal";
    if (!type || !*type)
        return "TERM is not set (TERM=xterm-256color suits most terminals)";
    if (tgetent(NULL, type) != 1)
        why = "is unknown here";
    else if (!has("cup"))
        why = "cannot move its cursor";
    snprintf(reason, sizeof reason,
             "the terminal type TERM=%.40s %s (TERM=xterm-256color suits most terminals)", type,
             why ? why : "");
    return why ? reason : NULL;
}

TermFacts term_facts(const Term *term) {
    /* In some terminals COLORFGBG ends with the number of the background's colour. */
    const char *colors = getenv("COLORFGBG"), *last = colors ? strrchr(colors, ';') : NULL;
    return (TermFacts){.color = term->colors > 0,
                       .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
                       .console = !strcmp(getenv("TERM"), "linux"),
                       .light = last && (!strcmp(last, ";7") || !strcmp(last, ";15"))};
}

/* ---- taking over and giving back ------------------------------------------------------------- */

static bool choose_colors(Term *term, TermColor color, Err *err) {
    const bool wanted =
        color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && !is_set("NO_COLOR"));
    const bool possible = tigetnum("colors") >= 8 && has("setaf") && has("setab");
    if (wanted && possible)
        term->colors = FEW_COLORS;
    if (color == TERM_COLOR_ALWAYS && !term->colors)
        return err_set(err, ERR_USAGE, "--color", "leave it out or set TERM",
                       "this type of terminal has no colours");
    return true;
}

typedef struct {
    char text[RESCUE_RESET_MAX];
    size_t length;
} Bytes;

static Bytes bytes; /* collected by tputs */

/* Collects a byte; a callback of tputs. */
static int keep_byte(int byte) {
    if (bytes.length < sizeof bytes.text)
        bytes.text[bytes.length++] = (char)byte;
    return byte;
}

/* Collects the bytes of the capabilities that this type of terminal has. NULL ends the list. */
static void keep_capability_bytes(const char *const capabilities[]) {
    for (int i = 0; capabilities[i]; i++)
        if (has(capabilities[i]))
            tputs(tigetstr(capabilities[i]), 1, keep_byte);
}

/* Prepares the bytes that reset the terminal, because a signal handler cannot look them up. */
static void prepare_reset(const Term *term, int rows) {
    bytes.length = 0;
    if (term->xterm)
        tputs(drawing_ends, 1, keep_byte);
    if (term->pixels == PIXELS_KITTY)
        tputs(pixels_remove, 1, keep_byte);
    else if (term->pixels != PIXELS_OFF) /* ends a picture that was cut */
        tputs("\033\\", 1, keep_byte);
    if (term->mouse)
        tputs(mouse_off, 1, keep_byte);
    keep_capability_bytes((const char *[]){"rmkx", "cnorm", "op", "sgr0", "rmcup", NULL});
    if (!has("rmcup")) /* below what was drawn */
        tputs(tparm(tigetstr("cup"), (long)rows - 1, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L), 1, keep_byte);
    tputs("\r\n", 1, keep_byte);
    rescue_arm(STDOUT_FILENO, &term->modes, bytes.text, bytes.length, fileno(term->out),
               term->capture.memory, term->capture.errors);
}

/* Starts ncurses, which allocates memory for whatever size a terminal claims. A size that makes no
 * sense is replaced by the size of the terminal's type. */
static bool start_ncurses(Term *term) {
    struct winsize size = {.ws_col = 0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    use_env(FALSE);
    use_tioctl(size.ws_col <= CELLS_MAX_EDGE && size.ws_row <= CELLS_MAX_EDGE);
    int out = dup(STDOUT_FILENO);
    term->out = out < 0 ? NULL : fdopen(out, "w");
    term->screen = term->out ? newterm(NULL, term->out, stdin) : NULL;
    if (!term->screen)
        return false;
    cbreak();
    noecho();
    nonl();
    typeahead(-1); /* a key must not cut a drawing in two */
    return true;
}

/* Sends a sequence of xterm, if `wanted`. Errors need no report: poll() tells of them. */
static void send_mode(const Term *term, bool wanted, const char *text) {
    if (wanted && term->xterm)
        data_write_all(fileno(term->out), text, strlen(text));
}

/* Sends questions to the terminal, and expects the kinds `answers`. */
static void ask_terminal(Term *term, const char *questions, unsigned answers) {
    send_mode(term, true, questions);
    if (term->xterm)
        term_keys_ask(&term->keys, answers, clock_ms());
}

/* Ends the drawing of ncurses. The sequences that ncurses writes at its end and at its next start
 * are discarded, because they would reset the user's palette. Without this call ncurses 6.4 and 6.5
 * write them at every move of the cursor. */
static void leave_ncurses(void) {
    rescue_divert();
    endwin();
    doupdate();
}

/* Asks how pictures can be sent. A multiplexer may know sixel, but no other protocol. */
static void ask_for_pixels(Term *term, Pixels wanted) {
    const char *type = getenv("TERM");
    bool multiplexer = is_set("TMUX") || is_set("STY") || !strncmp(type, "tmux", 4) ||
                       !strncmp(type, "screen", 6); /* places only text, names no terminal */
    bool impossible = !term->xterm || !term->colors || (multiplexer && wanted != PIXELS_SIXEL);
    term->pixels = impossible ? PIXELS_OFF : wanted;
    term->keys.answers.waits = term->pixels == PIXELS_AUTO;
    term->asked_ms = clock_ms();
    if (term->pixels == PIXELS_AUTO)
        ask_terminal(term, pixels_ask, ANSWER_KITTY | ANSWER_NAME | ANSWER_SIZE | ANSWER_DEVICE);
    else if (term->pixels != PIXELS_OFF)
        ask_terminal(term, pixels_ask_size, ANSWER_SIZE);
    prepare_reset(term, getmaxy(stdscr));
}

/* Takes the terminal over: its modes, the alternate screen, and no cursor. */
static void take_over_terminal(Term *term) {
    dup2(STDOUT_FILENO, fileno(term->out));
    reset_prog_mode();
    bytes.length = 0;
    keep_capability_bytes((const char *[]){"smcup", "smkx", "civis", "sgr0", NULL});
    if (term->mouse)
        tputs(mouse_on, 1, keep_byte);
    term->keys.moves = is_set("TMUX");
    term->moves = term->mouse && term->keys.moves;
    if (term->moves)
        tputs(moves_on, 1, keep_byte);
    data_write_all(fileno(term->out), bytes.text, bytes.length);
    if (term->mouse && !term->moves)
        ask_terminal(term, moves_asked, ANSWER_MODE);
    term_resized(term);
}

/* Gives the terminal back. Bytes that were not sent yet are dropped. */
static void give_back_terminal(Term *term) {
    rescue_restore();
    leave_ncurses();
    rescue_disarm();
    capture_end(&term->capture);
}

bool term_open(Term **out, TermColor color, bool mouse, Pixels pixels, Err *err) {
    static Term only;
    Term *term = &only;
    const char *impossible = term_impossible();
    if (impossible)
        return err_set(err, ERR_FAILED, "terminal", "", "%s", impossible);
    *term = (Term){.pixels = PIXELS_OFF};
    if (!choose_colors(term, color, err))
        return false;
    if (tcgetattr(STDIN_FILENO, &term->modes) < 0)
        return err_set(err, ERR_FAILED, "terminal", "", "its modes cannot be read");
    if (!capture_begin(&term->capture, err))
        return false;
    /* The Linux console has kmous, but neither an alternate screen nor these modes. */
    term->xterm = (has("XM") || has("kmous")) && has("smcup");
    term->mouse = mouse && term->xterm;
    const char *depth = getenv("COLORTERM");
    bool direct = depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
    if (term->xterm && term->colors && direct)
        term->colors = TRUE_COLORS;
    if (!start_ncurses(term)) {
        capture_end(&term->capture);
        return err_set(err, ERR_FAILED, "terminal", "set TERM", "ncurses cannot start");
    }
    term_resized(term);
    leave_ncurses();
    term_keys_open(&term->keys);
    take_over_terminal(term);
    ask_for_pixels(term, pixels);
    *out = term;
    return true;
}

/* Waits for answers that are still on their way, so that they do not become input of the shell. */
static void await_answers(Term *term) {
    enum { ANSWER_MS = 200 };
    struct pollfd typed = {.fd = STDIN_FILENO, .events = POLLIN};
    while (term->keys.answers.waits) {
        const double left_ms = term->asked_ms + ANSWER_MS - clock_ms();
        if (left_ms <= 0 || poll(&typed, 1, (int)left_ms + 1) <= 0 || !(typed.revents & POLLIN))
            return;
        term_keys_next(&term->keys, clock_ms());
    }
}

void term_close(Term *term) {
    await_answers(term);
    give_back_terminal(term);
    delwin(term->keys.window);
    delscreen(term->screen);
    fclose(term->out);
    cells_free(&term->shown);
    image_free(&term->image);
}

void term_resume(Term *term) {
    leave_ncurses();
    take_over_terminal(term);
}

void term_redraw(Term *term) {
    send_mode(term, term->pixels == PIXELS_KITTY && term->image.w, pixels_remove);
    cells_free(&term->shown);
    image_free(&term->image); /* all cells are written: that removes other pictures */
}

void term_suspend(Term *term) {
    Err err;
    give_back_terminal(term);
    rescue_stop();
    tcgetattr(STDIN_FILENO, &term->modes);
    capture_begin(&term->capture, &err); /* on failure messages only disturb the screen */
    take_over_terminal(term);
}

void term_size(const Term *term, int *columns, int *rows) {
    (void)term;
    *columns = getmaxx(stdscr);
    *rows = getmaxy(stdscr);
}

void term_resized(Term *term) {
    struct winsize size = {.ws_col = 0};
    int columns, rows;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
        resizeterm(MIN(size.ws_row, CELLS_MAX_EDGE), MIN(size.ws_col, CELLS_MAX_EDGE));
    term_size(term, &columns, &rows);
    prepare_reset(term, rows);
    term_redraw(term);
    if (term_pixels(term, false, &columns, &rows))
        ask_terminal(term, pixels_ask_size, ANSWER_SIZE); /* another font has other cells */
}

/* Makes `shown` as large as `cells`. On a screen that is unknown each cell differs from all others.
 */
static bool fit_shown(Cells *shown, const Cells *cells, Err *err) {
    if (shown->cells && shown->columns == cells->columns && shown->rows == cells->rows &&
        shown->light == cells->light)
        return true;
    cells_free(shown);
    if (!cells_init(shown, cells->columns, cells->rows, err))
        return false;
    for (int i = 0; i < cells->columns * cells->rows; i++)
        shown->cells[i].glyph = UINT32_MAX;
    shown->light = cells->light;
    return true;
}

bool term_pixels(const Term *term, bool moves, int *cell_w, int *cell_h) {
    enum { USUAL_W = 10, USUAL_H = 20, MOVING_H = 12, SCALED_H = 24 };
    const int most_h = moves ? MOVING_H : SCALED_H;
    const bool terminal_scales = term->pixels != PIXELS_SIXEL; /* sizes are then in cells */
    const PixelAnswers *answers = &term->keys.answers;
    *cell_w = answers->cell_h ? answers->cell_w : USUAL_W;
    *cell_h = answers->cell_h ? answers->cell_h : USUAL_H;
    while (terminal_scales && *cell_h > most_h) {
        *cell_w /= 2;
        *cell_h /= 2;
    }
    return term->pixels != PIXELS_AUTO && term->pixels != PIXELS_OFF;
}

double term_rest_ms(const Term *term) {
    return term->rested_ms - clock_ms();
}

/* Sends a picture, and takes it over as the picture that is shown. The next drawing waits until a
 * line of BYTES_MS bytes a millisecond has carried this picture. */
static bool send_image(Term *term, Image *image, Area place, Err *err) {
    const double BYTES_MS = 4000; /* four megabytes a second */
    MemoryStream sent;
    if (!pixels_encode(term->pixels, image, place, &sent, err))
        return false;
    data_write_all(fileno(term->out), sent.bytes, sent.length);
    free(sent.bytes);
    term->rested_ms = clock_ms() + (double)sent.length / BYTES_MS;
    image_free(&term->image);
    term->image = *image;
    term->place = place;
    *image = (Image){.w = 0};
    return true;
}

bool term_draw(Term *term, const Cells *cells, Image *image, Area place, Err *err) {
    const bool image_moved = /* or is hidden now */
        term->image.w && (!image->w || memcmp(&term->place, &place, sizeof place) != 0);
    MemoryStream written = {.length = 0};
    send_mode(term, image_moved, drawing_begins);
    if (image_moved)
        term_redraw(term);
    bool ok = fit_shown(&term->shown, cells, err) &&
              direct_bytes(cells, &term->shown, term->colors, &written, err);
    const bool same_size = term->image.w == image->w && term->image.h == image->h;
    const size_t length = 4 * (size_t)image->w * (size_t)image->h;
    const bool image_changed =
        ok && image->w && (!same_size || memcmp(term->image.rgba, image->rgba, length) != 0);
    send_mode(term, written.length || image_changed, drawing_begins);
    data_write_all(fileno(term->out), written.bytes, written.length);
    free(written.bytes);
    if (image_changed)
        ok = send_image(term, image, place, err);
    send_mode(term, image_moved || written.length || image_changed, drawing_ends);
    if (!ok)
        cells_free(&term->shown);
    image_free(image);
    return ok;
}

bool term_is_full(const Term *term) {
    struct pollfd waiting = {.fd = STDOUT_FILENO, .events = POLLOUT};
    (void)term;
    return poll(&waiting, 1, 0) == 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Takes the terminal's answers. Returns whether they changed how pictures are drawn. */
static bool take_answers(Term *term) {
    Pixels chosen = pixels_choose(term->pixels, &term->keys.answers);
    if (chosen == term->pixels && !term->keys.answers.resized)
        return false;
    term->pixels = chosen;
    term->keys.answers.resized = false;
    prepare_reset(term, getmaxy(stdscr));
    return chosen != PIXELS_AUTO && chosen != PIXELS_OFF;
}

int32_t term_key(Term *term, double typed_ms) {
    double now_ms = clock_ms();
    term->keys.late |= now_ms - typed_ms > ESCAPE_MS;
    int32_t key = term_keys_next(&term->keys, now_ms);
    if (term->keys.moves && !term->moves) {
        term->moves = true;
        send_mode(term, term->mouse, moves_on);
    }
    return take_answers(term) && !key ? TERM_REDRAW : key;
}

MouseReport term_mouse(const Term *term) {
    return term->keys.mouse;
}

bool term_error_line(Term *term, char *line, size_t size) {
    Capture *capture = &term->capture;
    char block[1024];
    struct stat about;
    if (capture->memory < 0 || fstat(capture->memory, &about) < 0)
        return false;
    off_t length = about.st_size, from = length - (off_t)sizeof block + 1;
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
