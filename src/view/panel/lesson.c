/* SPDX-License-Identifier: MIT */
/* The lesson on the dashboard: its rows, wrapped; and the frame around the panel that it points
 * at. */
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 2 };

/* A line of a row, which is wrapped. */
typedef struct {
    const PaneRow *row;
    bool first; /* of its row */
    const char *text;
    int length, indent;
} Line;

/* Whether a blank line stands above the row: between paragraphs, and before a new kind of row. */
static bool begins_block(const PaneText *body, int row) {
    PaneKind kind = body->rows[row].kind, before = row ? body->rows[row - 1].kind : kind;
    bool list =
        kind == PANE_CHOICE || kind == PANE_CODE || kind == PANE_DRAWING || kind == PANE_INPUT;
    return row > 0 && !(list && (before == kind || kind == PANE_CODE || before == PANE_CHOICE));
}

/* Returns the indent of a row's second line: behind the number of a choice, and a little to the
 * right of the beginning of a line of code. */
static int hanging_indent(PaneKind kind, const char *text, int width) {
    if (kind != PANE_CODE)
        return kind == PANE_CHOICE ? 3 : 0;
    int code = (int)strspn(text, " 0123456789") + 4;
    return code < width / 2 ? code : width / 2;
}

static bool is_bold(PaneKind kind) {
    return kind == PANE_QUESTION || kind == PANE_INPUT || kind == PANE_RIGHT || kind == PANE_WRONG;
}

/* Returns how much of the text fits, as sheet_fit does. A longer list of a command is broken behind
 * a comma. */
static int fit(const Sheet *sheet, PaneKind kind, const char *text, int width) {
    enum { BOLDER = 8 }; /* bold letters are wider by this part */
    if (sheet->pixels && is_bold(kind))
        width -= width / BOLDER;
    int length = sheet_fit(sheet, text, width), comma = 0;
    for (int i = 0; kind == PANE_CODE && length > width && i < width; i++)
        comma = text[i] == ',' ? i + 1 : comma;
    return comma ? comma : length;
}

/* ---- drawing --------------------------------------------------------------------------------- */

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

/* Draws a line of a drawing, a column a character: two dots in a row are points, filled or hollow.
 */
static void draw_drawing(Sheet *sheet, int x, int y, int w, const char *text, int length) {
    for (int i = 0; i < length && i < w; i++) {
        const char sign = text[i], before = i ? text[i - 1] : ' ';
        const char after = i + 1 < length ? text[i + 1] : ' ';
        bool dot = strchr("o*", sign) && (strchr("o*", before) || strchr("o*", after));
        Ink ink = dot && sign == '*'             ? INK_OUTPUT
                  : strchr("\\/:^", sign)        ? INK_ACCENT
                  : strchr(".+-|", sign) && !dot ? INK_RULE
                                                 : INK_TEXT;
        uint32_t glyph = !dot ? (uint32_t)sign : sign == '*' ? 0x25cf : 0x25cb;
        if (sign != ' ')
            sheet_sign(sheet, x + i, y, glyph, cell_style(ink));
    }
}

/* Draws a line. A unit at its beginning belongs to the number at the end of the line before. */
static void draw_line(Sheet *sheet, int x, int y, int w, const Line *line) {
    char ascii[256], micro[300];
    const PaneKind kind = line->row->kind;
    const int before = line->first ? 0 : 2; /* a digit and the blank */
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
    const int hanging = hanging_indent(r->kind, pane_row(body, row), area.w);
    const int indent = r->kind == PANE_CHOICE || r->kind == PANE_INPUT ? INDENT : 0;
    Line line = {.row = r, .first = true, .text = pane_row(body, row), .indent = indent};
    do {
        line.length = r->kind == PANE_DRAWING
                          ? (int)strlen(line.text)
                          : fit(sheet, r->kind, line.text, area.w - line.indent);
        if (y >= area.y && y < area.y + area.h)
            draw_line(sheet, area.x, y, area.w, &line);
        y++;
        line.text += line.length;
        line.text += *line.text == ' ';
        line.indent = indent + hanging;
        line.first = false;
    } while (*line.text);
    return y;
}

/* Draws all rows but the last, which names the keys and stands at the bottom, from line `first` on.
 * Returns how many lines there are. */
static int draw_rows(Sheet *sheet, Area area, const PaneText *body, bool blanks, int first) {
    int y = area.y - first;
    for (int i = 0; i + 1 < body->count; i++)
        y = draw_row(sheet, area, y + (blanks && begins_block(body, i)), body, i);
    return y - area.y + first;
}

int lesson_want(Sheet *sheet, const PanelData *data, int width) {
    return draw_rows(sheet, (Area){.w = width}, &data->state->lesson.body, true, 0) + 3;
}

/* Returns the line at the top: a text is read from its beginning; with a question or a verdict the
 * end is seen. The learner moves it. */
static int first_line(const LessonPane *pane, int count, int rows) {
    int last = count > rows ? count - rows : 0;
    bool end = false;
    for (int i = 0; i < pane->body.count; i++)
        end |= pane->body.rows[i].kind == PANE_QUESTION;
    int first = (end ? last : 0) + pane->scroll;
    return first < 0 ? 0 : first > last ? last : first;
}

/* Draws the keys, in the last rows; returns how many. On a small screen the figures are a page of
 * their own. */
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
    const Area nowhere = {.w = text.w};
    int count = draw_rows(sheet, nowhere, &pane->body, true, 0);
    const bool blanks = count <= area.h;
    if (!blanks)
        count = draw_rows(sheet, nowhere, &pane->body, false, 0);
    const int first = first_line(pane, count, area.h);
    draw_rows(sheet, text, &pane->body, blanks, first);
    const int arrow_x = area.x + area.w - 1; /* arrows where there is more text */
    if (first > 0)
        sheet_sign(sheet, arrow_x, area.y, 0x2191, cell_bold(INK_ACCENT));
    if (first + area.h < count)
        sheet_sign(sheet, arrow_x, area.y + area.h - 1, 0x2193, cell_bold(INK_ACCENT));
}
