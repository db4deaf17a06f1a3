/* SPDX-License-Identifier: MIT */
/* The panel of a lesson: the lesson's rows, broken into lines of the panel's width. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 2 };

/* A line of the panel. A long row of the lesson is broken into several lines. */
typedef struct {
    const PaneRow *row;
    bool first; /* the first line of the row */
    const char *text;
    int length, indent;
} Line;

/* Whether a blank line stands above the row: between paragraphs, and before a new kind of row. The
 * rows of a list stand together. */
static bool begins_block(const PaneText *body, int row) {
    if (row == 0)
        return false;
    const PaneKind kind = body->rows[row].kind, before = body->rows[row - 1].kind;
    const bool is_list =
        kind == PANE_CHOICE || kind == PANE_CODE || kind == PANE_DRAWING || kind == PANE_INPUT;
    const bool continues_list = before == kind || kind == PANE_CODE || before == PANE_CHOICE;
    return !(is_list && continues_list);
}

/* Returns how much farther to the right a row's second line begins. In a choice the line begins
 * behind the choice's number, in code a little to the right of the first line. */
static int hanging_indent(PaneKind kind, const char *text, int width) {
    if (kind != PANE_CODE)
        return kind == PANE_CHOICE ? 3 : 0;
    int code = (int)strspn(text, " 0123456789") + 4;
    return code < width / 2 ? code : width / 2;
}

static bool is_bold(PaneKind kind) {
    return kind == PANE_QUESTION || kind == PANE_INPUT || kind == PANE_RIGHT || kind == PANE_WRONG;
}

/* Returns how many bytes of the text fit into a line. A word of code without blanks that is too
 * long, as the list of a command, is broken behind a comma. */
static int fitting_length(const Sheet *sheet, PaneKind kind, const char *text, int width) {
    enum { BOLDER = 8 }; /* bold letters are wider by an eighth */
    if (sheet->pixels && is_bold(kind))
        width -= width / BOLDER;
    const int length = sheet_fit(sheet, text, width);
    int behind_comma = 0;
    if (kind == PANE_CODE && length > width)
        for (int i = 0; i < width; i++)
            behind_comma = text[i] == ',' ? i + 1 : behind_comma;
    return behind_comma ? behind_comma : length;
}

/* Returns the style of a line. Without colours the marked line is reversed. */
static CellStyle style_of(const Sheet *sheet, const PaneRow *row) {
    static const Ink inks[PANE_KIND_COUNT] = {
        [PANE_TEXT] = INK_TEXT,   [PANE_TERM] = INK_MUTED,   [PANE_QUESTION] = INK_TITLE,
        [PANE_CHOICE] = INK_TEXT, [PANE_INPUT] = INK_ACCENT, [PANE_RIGHT] = INK_GOOD,
        [PANE_WRONG] = INK_WARN,  [PANE_SHOW] = INK_TEXT,    [PANE_WHY] = INK_ACCENT,
        [PANE_HINT] = INK_WARN,   [PANE_SOURCE] = INK_MUTED, [PANE_CODE] = INK_TEXT,
        [PANE_NOTE] = INK_WARN,   [PANE_KEYS] = INK_MUTED,   [PANE_DRAWING] = INK_MUTED};
    CellStyle style = cell_style(inks[row->kind]);
    if (is_bold(row->kind) || row->marked)
        style.attributes = CELL_BOLD;
    if (row->marked && sheet->color)
        style.paper = INK_SELECTED;
    else if (row->marked)
        style.attributes |= CELL_REVERSE;
    return style;
}

/* Draws a line of a drawing, a column for each character. Neighbours of "o" and "*" become hollow
 * and filled dots; a single "o" or "*" is a letter or a product. */
static void draw_drawing(Sheet *sheet, int x, int y, int w, const char *text, int length) {
    enum { FILLED_DOT = 0x25cf, HOLLOW_DOT = 0x25cb };
    for (int i = 0; i < length && i < w; i++) {
        const char sign = text[i], before = i ? text[i - 1] : ' ';
        const char after = i + 1 < length ? text[i + 1] : ' ';
        const bool is_dot = strchr("o*", sign) && (strchr("o*", before) || strchr("o*", after));
        const bool filled = is_dot && sign == '*';
        const Ink ink = filled                  ? INK_OUTPUT
                        : strchr("\\/:^", sign) ? INK_ACCENT
                        : strchr(".+-|", sign)  ? INK_RULE
                                                : INK_TEXT;
        const uint32_t dot = filled ? FILLED_DOT : HOLLOW_DOT;
        if (sign != ' ')
            sheet_sign(sheet, x + i, y, is_dot ? dot : (uint32_t)sign, cell_style(ink));
    }
}

/* Draws a line. A line may begin with "us", the unit of the number before the break. text_micro()
 * writes "µs" only behind a digit: it gets that number's last one, too, which is not drawn. */
static void draw_line(Sheet *sheet, int x, int y, int w, const Line *line) {
    char ascii[256], micro[300];
    const PaneKind kind = line->row->kind;
    const int before = line->first ? 0 : 2; /* bytes: the number's last digit, and a blank */
    if (kind == PANE_DRAWING) {
        draw_drawing(sheet, x, y, w, line->text, line->length);
        return;
    }
    snprintf(ascii, sizeof ascii, "%.*s", before + line->length, line->text - before);
    text_micro(ascii, micro, sizeof micro);
    if (line->first && line->row->marked)
        sheet_sign(sheet, x, y, 0x203a, cell_bold(INK_ACCENT));
    sheet_line(sheet, (Area){x + line->indent, y, w - line->indent, 1}, style_of(sheet, line->row),
               (kind == PANE_CODE ? ascii : micro) + before);
}

/* Draws a row's lines from row `y` on, as far as they lie in the area. Returns the row below. */
static int draw_row(Sheet *sheet, Area area, int y, const PaneText *body, int row) {
    const PaneRow *r = &body->rows[row];
    const int indent = r->kind == PANE_CHOICE || r->kind == PANE_INPUT ? INDENT : 0;
    Line line = {.row = r, .first = true, .text = pane_row(body, row), .indent = indent};
    do {
        line.length = r->kind == PANE_DRAWING
                          ? (int)strlen(line.text)
                          : fitting_length(sheet, r->kind, line.text, area.w - line.indent);
        if (y >= area.y && y < area.y + area.h)
            draw_line(sheet, area.x, y, area.w, &line);
        y++;
        line.text += line.length;
        line.text += *line.text == ' ';
        line.indent = indent + hanging_indent(r->kind, pane_row(body, row), area.w);
        line.first = false;
    } while (*line.text);
    return y;
}

/* Draws all rows, from line `first` on, but not the last row: the keys stand at the bottom. Returns
 * how many lines the rows have. `blanks`: a blank line divides blocks. */
static int draw_rows(Sheet *sheet, Area area, const PaneText *body, bool blanks, int first) {
    int y = area.y - first;
    for (int i = 0; i + 1 < body->count; i++)
        y = draw_row(sheet, area, y + (blanks && begins_block(body, i)), body, i);
    return y - area.y + first;
}

/* Returns how many lines the rows have. Nothing is drawn: the area has no height. */
static int count_lines(Sheet *sheet, int width, const PaneText *body, bool blanks) {
    return draw_rows(sheet, (Area){.w = width}, body, blanks, 0);
}

int lesson_want(Sheet *sheet, const PanelData *data, int width) {
    enum { TITLE_AND_KEYS = 3 };
    const bool blanks = true;
    return count_lines(sheet, width, &data->state->lesson.body, blanks) + TITLE_AND_KEYS;
}

/* Returns the line at the top of the panel. A text is read from its beginning; a text with a
 * question is shown from its end. The learner scrolls from there. */
static int first_line(const LessonPane *pane, int count, int rows) {
    const int last = count > rows ? count - rows : 0;
    bool has_question = false;
    for (int i = 0; i < pane->body.count; i++)
        has_question |= pane->body.rows[i].kind == PANE_QUESTION;
    const int first = (has_question ? last : 0) + pane->scroll;
    return (int)fmax(fmin(first, last), 0);
}

/* Draws the keys into the last rows of the area. Returns how many rows the keys take. On a small
 * screen the figures are a page of their own, and the keys name that page's key. */
static int draw_keys(Sheet *sheet, Area area, const LessonPane *pane) {
    char text[256];
    const char *tab = key_of(ACTION_PAGE).name;
    bool small = !sheet->pixels && sheet->columns < PAGE_BOTH_COLUMNS;
    snprintf(text, sizeof text, "%.200s", pane_row(&pane->body, pane->body.count - 1));
    if (small && pane->point == PANEL_BEV)
        text_add(text, sizeof text, ", %s %s: picture", tab, tab);
    else if (small)
        text_add(text, sizeof text, ", %s: figures", tab);
    const int rows = sheet_paragraph_rows(sheet, (Area){0, 0, area.w, area.h / 2}, text);
    sheet_paragraph(sheet, area_below(area, area.h - rows), INK_MUTED, text);
    return rows;
}

void lesson_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LessonPane *pane = &data->state->lesson;
    const ShortText place =
        pane->steps ? short_text("%d of %d", pane->step, pane->steps) : (ShortText){""};
    const ShortText score =
        pane->steps && pane->asked
            ? short_text("%s, %d of %d right", place.text, pane->right, pane->asked)
            : place;
    area = sheet_title(sheet, area, pane->title,
                       sheet_note(sheet, area, pane->title, score.text, place.text));
    if (pane->body.count && area.h > 1)
        area.h -= draw_keys(sheet, area, pane);
    const Area text = {area.x, area.y, area.w - 2, area.h}; /* room for the arrows */
    bool blanks = true;
    if (count_lines(sheet, text.w, &pane->body, blanks) > area.h)
        blanks = false; /* blank lines yield to text */
    const int count = count_lines(sheet, text.w, &pane->body, blanks);
    const int first = first_line(pane, count, area.h);
    draw_rows(sheet, text, &pane->body, blanks, first);
    const int arrow_x = area.x + area.w - 1; /* arrows tell that more text lies above or below */
    enum { UP_ARROW = 0x2191, DOWN_ARROW = 0x2193 };
    if (first > 0)
        sheet_sign(sheet, arrow_x, area.y, UP_ARROW, cell_bold(INK_ACCENT));
    if (first + area.h < count)
        sheet_sign(sheet, arrow_x, area.y + area.h - 1, DOWN_ARROW, cell_bold(INK_ACCENT));
}
