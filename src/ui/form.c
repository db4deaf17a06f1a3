/* The form on a terminal, and as questions. */
#include "src/ui/form.h"

#include "src/base/clock.h"
#include "src/base/memory_stream.h"
#include "src/base/rescue.h"
#include "src/state/keys.h"
#include "src/ui/term.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- fields ---------------------------------------------------------------------------------- */

const char *form_value(const FormField *field) {
    return field->text[0] ? field->text : field->usual;
}

/* Word `index` of a list; false: the list is shorter. */
static bool word_at(const char *list, int index, char word[FORM_TEXT]) {
    for (; index > 0 && *list; index--)
        list += strcspn(list, " ") + (list[strcspn(list, " ")] == ' ');
    snprintf(word, FORM_TEXT, "%.*s", (int)strcspn(list, " "), list);
    return word[0] != '\0';
}

void form_step(FormField *field, int direction) {
    const char *now = form_value(field);
    char word[FORM_TEXT];
    int count = 0, at = -1, below = 0;
    for (; word_at(field->values, count, word); count++) {
        at = strcmp(word, now) == 0 ? count : at;
        below += strtod(word, NULL) <= strtod(now, NULL);
    }
    if (at < 0) /* between two of them */
        at = direction > 0 ? below - 1 : below;
    word_at(field->values, (at + direction + count) % count, field->text);
}

/* ---- the terminal ---------------------------------------------------------------------------- */

typedef struct {
    const Form *form;
    Term *term;
    Cells cells;
    int at;     /* the field that keys change */
    bool begun; /* typing goes on in it; else it replaces the value */
    bool stale; /* a value changed after the last compute() */
    bool ended;
    char said[128];
} Screen;

enum { NAME_W = 10, VALUE_W = 18, HELP_X = NAME_W + VALUE_W + 2 };

/* Lines from row `y` on; a line that is too long goes on below, at a blank. */
static void draw_lines(Cells *cells, int y, const char *text) {
    while (*text && y < cells->rows) {
        int length = (int)strcspn(text, "\n"), fits = length;
        while (fits > 0 && (fits > cells->columns || (fits < length && text[fits] != ' ')))
            fits--;
        if (fits <= 0)
            fits = length < cells->columns ? length : cells->columns;
        char line[CELLS_MAX_EDGE + 1];
        snprintf(line, sizeof line, "%.*s", fits, text);
        cells_text(cells, 0, y, cells->columns, cell_style(INK_TEXT), line);
        y += length > 0; /* an empty line would cost a row of 24 */
        text += fits;
        text += *text == '\n' || *text == ' ';
    }
}

static void draw_field(Screen *screen, int i) {
    const FormField *field = &screen->form->fields[i];
    Cells *cells = &screen->cells;
    CellStyle value = field->text[0] ? cell_bold(INK_ACCENT) : cell_style(INK_TEXT);
    if (i == screen->at)
        value.attributes |= CELL_REVERSE;
    char shown[FORM_TEXT + 4];
    snprintf(shown, sizeof shown, "%s %s", i == screen->at ? ">" : " ", field->name);
    cells_text(cells, 0, i + 1, NAME_W, cell_style(INK_TEXT), shown);
    snprintf(shown, sizeof shown, " %s ", form_value(field));
    cells_text(cells, NAME_W, i + 1, VALUE_W + 1, value, shown);
    cells_text(cells, HELP_X, i + 1, cells->columns - HELP_X, cell_style(INK_MUTED), field->help);
}

static bool draw(Screen *screen, Err *err) {
    static const char hints[] = "Up Down field, Left Right or type a value, w writes, q quits";
    const Form *form = screen->form;
    Cells *cells = &screen->cells;
    MemoryStream answer;
    if (!memory_stream_open(&answer, err))
        return false;
    form->answer(form->owner, answer.stream);
    if (!memory_stream_close(&answer, form->title, err))
        return false;
    cells_clear(cells);
    cells_text(cells, 0, 0, NAME_W, cell_bold(INK_TITLE), form->title);
    cells_text(cells, NAME_W, 0, cells->columns - NAME_W,
               cell_style(screen->said[0] ? INK_GOOD : INK_MUTED),
               screen->said[0] ? screen->said : hints);
    for (int i = 0; i < form->count; i++)
        draw_field(screen, i);
    draw_lines(cells, form->count + 1, answer.bytes);
    free(answer.bytes);
    return term_draw(screen->term, cells, &(Image){0}, (Area){0}, err);
}

/* Types a character, or takes the last one away. */
static bool type(Screen *screen, FormField *field, int32_t key) {
    size_t length = screen->begun ? strlen(field->text) : 0;
    if (key == KEYCODE_BACKSPACE)
        length = length ? length - 1 : 0;
    else if (!field->typed || key < ' ' || key > '~' || !strchr(field->typed, (int)key) ||
             length + 1 >= FORM_TEXT)
        return false;
    else
        field->text[length++] = (char)key;
    field->text[length] = '\0';
    screen->begun = true;
    return true;
}

static void use_key(Screen *screen, int32_t key) {
    const Form *form = screen->form;
    FormField *field = &form->fields[screen->at];
    int move = key == KEYCODE_DOWN || key == KEYCODE_ENTER || key == KEYCODE_TAB ? 1
               : key == KEYCODE_UP || key == KEYCODE_SHIFT_TAB                   ? form->count - 1
                                                                                 : 0;
    if (key == TERM_REDRAW) {
        term_redraw(screen->term);
        return;
    }
    screen->said[0] = '\0';
    if (move) {
        screen->at = (screen->at + move) % form->count;
        screen->begun = false;
        return;
    }
    if (key == KEYCODE_LEFT || key == KEYCODE_RIGHT) {
        form_step(field, key == KEYCODE_LEFT ? -1 : 1);
        screen->begun = false;
    } else if (key == KEYCODE_DELETE || key == KEYCODE_CTRL_U)
        field->text[0] = '\0';
    else if (!type(screen, field, key)) {
        if (key == 'w')
            form->save(form->owner, screen->said, sizeof screen->said);
        screen->ended = screen->ended || key == 'q' || key == KEYCODE_ESCAPE;
        return;
    }
    form->changed(form->owner, screen->at);
    screen->stale = true;
}

/* *signal: one that asks to stop, or 0. */
static void obey_signals(Screen *screen, int *signal, Err *err) {
    RescueSignals signals = rescue_take();
    int columns, rows;
    if (signals.suspend)
        term_suspend(screen->term);
    if (signals.resumed)
        term_resume(screen->term);
    if (signals.suspend || signals.resumed || signals.resized) {
        term_resized(screen->term);
        term_size(screen->term, &columns, &rows);
        cells_resize(&screen->cells, columns, rows, err);
    }
    *signal = signals.quit;
}

/* Reads the keys that are there. A terminal that is gone is SIGHUP. */
static void wait_for_keys(Screen *screen, int *signal) {
    enum { AGAIN_MS = 200 }; /* the answer may have become longer */
    struct pollfd waiting[] = {{.fd = rescue_fd(), .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
    int32_t key;
    poll(waiting, 2, AGAIN_MS);
    if (waiting[1].revents & (POLLHUP | POLLERR | POLLNVAL))
        *signal = SIGHUP;
    while (!*signal && !screen->ended && (key = term_key(screen->term, clock_ms())))
        use_key(screen, key);
    if (screen->stale && !screen->ended)
        screen->form->compute(screen->form->owner);
    screen->stale = false;
}

static bool run(Screen *screen, int *signal, Err *err) {
    const TermFacts facts = term_facts(screen->term);
    int columns, rows;
    term_size(screen->term, &columns, &rows);
    if (!cells_init(&screen->cells, columns, rows, err))
        return false;
    screen->cells.ascii = !facts.unicode;
    screen->cells.color = facts.color;
    screen->cells.light = facts.light;
    while (!screen->ended && !*signal) {
        if (!draw(screen, err))
            return false;
        wait_for_keys(screen, signal);
        if (!*signal)
            obey_signals(screen, signal, err);
    }
    return true;
}

bool form_fits(void) {
    return !term_impossible();
}

bool form_run(const Form *form, int *signal, Err *err) {
    Screen screen = {.form = form};
    *signal = 0;
    if (!rescue_install(err))
        return false;
    bool ok = term_open(&screen.term, TERM_COLOR_AUTO, false, PIXELS_OFF, err) &&
              run(&screen, signal, err);
    term_close(screen.term);
    cells_free(&screen.cells);
    rescue_remove();
    return ok;
}

/* ---- questions ------------------------------------------------------------------------------- */

void form_ask(const Form *form) {
    char line[FORM_TEXT];
    printf("%s. Enter keeps the value in brackets.\n", form->title);
    for (int i = 0; i < form->count; i++) {
        FormField *field = &form->fields[i];
        printf("%s, %s (such as %s) [%s]: ", field->name, field->help, field->values,
               form_value(field));
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return;
        line[strcspn(line, "\n")] = '\0';
        if (line[0]) {
            snprintf(field->text, sizeof field->text, "%s", line);
            form->changed(form->owner, i);
        }
    }
}
