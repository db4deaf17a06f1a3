/* The key bar and the help screen of the window: the table of keys, or the glossary. */
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

enum { HELP_ROW = 17, HELP_ROW_MIN = 13, HELP_HEAD = 26, HELP_PAD = 18 };
enum { KEY_W = 92, VALUE_W = 104, HELP_COLUMN_MIN = 470, GLOSSARY_W = 128 };
enum { BRIEF_W = 300, BRIEF_COLUMN_MIN = 190 };

void window_draw_keys(const WindowView *view) {
    Box bar = view->layout.keys;
    Pen *pen = view->pen;
    TextStyle key = style_strong(pen), label = style_muted(pen);
    if (bar.w <= 0)
        return;
    pen_fill(pen, bar, pen->theme->tint, 1);
    double x = WINDOW_MARGIN, baseline = bar.y + bar.h / 2 + 4;
    for (const KeyRow *row = keys_next(NULL); row; row = keys_next(row)) {
        char text[64];
        keys_label(row, text, sizeof text);
        double w = pen_text_width(pen, &key, text) + 5 + pen_text_width(pen, &label, row->label);
        if (x + w > bar.w - WINDOW_MARGIN)
            return;
        spots_add(view->spots, (Box){x, bar.y, w, bar.h}, row->action, 1, "");
        x += pen_text(pen, x, baseline, w, &key, text) + 5;
        x += pen_text(pen, x, baseline, w, &label, row->label) + 16;
    }
}

/* ---- help ----------------------------------------------------------------------------------- */

/* The control's name in a small window; else its value and what it does. */
static void help_row(const WindowView *view, double x, double y, double w, const KeyRow *row) {
    char label[64], value[64];
    TextStyle key = style_strong(view->pen), text = style_muted(view->pen);
    keys_label(row, label, sizeof label);
    pen_text(view->pen, x, y, KEY_W - 8, &key, label);
    if (w < BRIEF_W) {
        pen_text(view->pen, x + KEY_W, y, w - KEY_W, &text, row->word);
        return;
    }
    state_value(view->state, row->action, value, sizeof value);
    key.color = view->pen->theme->accent;
    if (value[0])
        pen_text(view->pen, x + KEY_W, y, VALUE_W - 8, &key, value);
    pen_text(view->pen, x + KEY_W + VALUE_W, y, w - KEY_W - VALUE_W, &text, row->help);
}

/* Where the terminal needs several pages, the key turns them, and only Escape closes at once. */
static void help_title(const WindowView *view, Box box) {
    const State *state = view->state;
    TextStyle title = style_heading(view->pen);
    TextStyle note = aligned(style_muted(view->pen), ALIGN_RIGHT);
    HelpLayout layout = state->glossary ? help_glossary(state->columns, state->rows)
                                        : help_layout(state->columns, state->rows);
    KeyText turn = key_of(state->glossary ? ACTION_GLOSSARY : ACTION_HELP);
    bool turns = layout.pages > 1;
    char text[96];
    snprintf(text, sizeof text, "keys work here, too; %s%s%s closes", turns ? "" : turn.name,
             turns ? "" : " or ", key_of(ACTION_ESCAPE).name);
    double used = pen_text(view->pen, box.x, box.y + SIZE_HEADING, box.w, &title,
                           state->glossary ? "Glossary" : "Keys");
    pen_text(view->pen, box.x + box.w, box.y + SIZE_HEADING, box.w - used - WINDOW_GAP, &note,
             text);
}

/* Wide columns, or narrow ones where wide ones would be too high; groups are not split. */
static HelpLayout help_columns(double w, double h) {
    HelpLayout layout = {.columns = (int)fmax(1, fmin(3, floor(w / HELP_COLUMN_MIN)))};
    if (help_rows(layout.columns) * HELP_ROW_MIN > h)
        layout.columns = (int)fmax(1, floor(w / BRIEF_COLUMN_MIN));
    layout.rows = help_rows(layout.columns);
    return layout;
}

static void draw_controls(const WindowView *view, Box in) {
    Pen *pen = view->pen;
    HelpLayout layout = help_columns(in.w, in.h);
    double column_w = in.w / layout.columns;
    double row_h = fmax(HELP_ROW_MIN, fmin(HELP_ROW, in.h / layout.rows));
    TextStyle group = style_strong(pen);
    for (int i = 0; i < ACTION_COUNT; i++) {
        HelpPlace place = help_place(&layout, (Action)i);
        double x = in.x + place.column * column_w, y = in.y + (place.row + 1) * row_h;
        if (y > in.y + in.h)
            continue;
        if (place.heading)
            pen_text(pen, x, y - row_h, column_w, &group, key_groups[keys[i].group]);
        help_row(view, x, y, column_w - HELP_PAD, &keys[i]);
    }
}

/* Places the rows of the glossary from `first` on, column by column, and draws them where `draw`
 * says so. Returns how many there is room for. */
static int glossary_rows(const WindowView *view, Box in, int first, bool draw) {
    TextStyle word = style_strong(view->pen), text = style_muted(view->pen);
    double column_w = in.w / fmax(1, floor(in.w / HELP_COLUMN_MIN)), x = in.x, y = in.y;
    double text_w = column_w - GLOSSARY_W - HELP_PAD;
    const Rgb text_color = word.color;
    for (int i = first; i < glossary_count; i++) {
        double height = pen_paragraph_height(view->pen, text_w, &text, glossary[i].text);
        if (y + height > in.y + in.h) {
            x += column_w;
            y = in.y;
        }
        if (x + column_w > in.x + in.w + 1 || y + height > in.y + in.h)
            return i - first;
        if (draw) {
            word.color = i == view->state->glossary_row ? view->pen->theme->accent : text_color;
            pen_text(view->pen, x, y + word.size, GLOSSARY_W - 8, &word, glossary[i].word);
            pen_paragraph(view->pen, x + GLOSSARY_W, y, text_w, &text, glossary[i].text);
        }
        y += height;
    }
    return glossary_count - first;
}

/* The whole glossary or, where it does not fit, what the terminal's page begins with. */
static void draw_glossary(const WindowView *view, Box in) {
    const State *state = view->state;
    HelpLayout layout = help_glossary(state->columns, state->rows);
    int first = 0, height;
    if (glossary_rows(view, in, 0, false) < glossary_count)
        while (first + 1 < glossary_count &&
               help_glossary_place(&layout, state->columns, first, &height).page < state->help_page)
            first++;
    glossary_rows(view, in, first, true);
}

void window_draw_help(const WindowView *view) {
    Pen *pen = view->pen;
    if (!view->state->help)
        return;
    if (view->spots)
        view->spots->count = 0; /* it covers everything */
    double w = view->layout.w - 2 * WINDOW_MARGIN, h = view->layout.h - 2 * WINDOW_MARGIN;
    Box box = {WINDOW_MARGIN, WINDOW_MARGIN, w, h};
    Box in = {box.x + HELP_PAD, box.y + HELP_PAD, w - 2 * HELP_PAD, h - 2 * HELP_PAD};
    pen_fill(pen, (Box){0, 0, view->layout.w, view->layout.h}, pen->theme->page, 1);
    pen_frame(pen, box, pen->theme->rule, 1, 1);
    help_title(view, in);
    in.y += HELP_HEAD;
    in.h -= HELP_HEAD;
    if (view->state->glossary)
        draw_glossary(view, in);
    else
        draw_controls(view, in);
}
