/* SPDX-License-Identifier: MIT */
/* The lesson on the dashboard: its rows, wrapped; and the frame around the panel that it points
 * at. */
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LINES = 320, INDENT = 2 };

typedef struct {
    PaneKind kind;
    bool marked, first; /* `first`: of its row */
    const char *text;   /* NULL: a blank line */
    int length, indent;
} Line;

typedef struct {
    int count;
    Line lines[MAX_LINES];
} Lines;

/* ---- from rows to lines ---------------------------------------------------------------------- */

static void add_line(Lines *lines, Line line) {
    if (lines->count < MAX_LINES)
        lines->lines[lines->count++] = line;
}

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

/* Wraps a row of the lesson's page into lines of that width. */
static void add_row(const Sheet *sheet, Lines *lines, const PaneText *body, int row, int width) {
    const PaneRow *r = &body->rows[row];
    const char *text = pane_row(body, row);
    int indent = r->kind == PANE_CHOICE || r->kind == PANE_INPUT ? INDENT : 0;
    Line line = {.kind = r->kind, .marked = r->marked, .indent = indent};
    if (r->kind == PANE_DRAWING) {
        add_line(lines, (Line){.kind = r->kind, .text = text, .length = (int)strlen(text)});
        return;
    }
    for (bool first = true; *text || first; first = false) {
        line.indent = indent + (first ? 0 : hanging_indent(r->kind, pane_row(body, row), width));
        line.first = first;
        line.text = text;
        line.length = fit(sheet, r->kind, text, width - line.indent);
        add_line(lines, line);
        text += line.length;
        text += *text == ' ';
    }
}

/* Makes the lines of all rows but the last, which names the keys and stands at the bottom. */
static void make_lines(const Sheet *sheet, Lines *lines, const PaneText *body, int width,
                       bool blanks) {
    lines->count = 0;
    for (int i = 0; i + 1 < body->count; i++) {
        if (blanks && begins_block(body, i))
            add_line(lines, (Line){.text = NULL});
        add_row(sheet, lines, body, i, width);
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Returns the style of a line. Without colours the marked line is reversed. */
static CellStyle style_of(const Sheet *sheet, const Line *line) {
    static const Ink inks[PANE_KIND_COUNT] = {
        [PANE_TEXT] = INK_TEXT,   [PANE_TERM] = INK_MUTED,   [PANE_QUESTION] = INK_TITLE,
        [PANE_CHOICE] = INK_TEXT, [PANE_INPUT] = INK_ACCENT, [PANE_RIGHT] = INK_GOOD,
        [PANE_WRONG] = INK_WARN,  [PANE_SHOW] = INK_TEXT,    [PANE_WHY] = INK_ACCENT,
        [PANE_HINT] = INK_WARN,   [PANE_SOURCE] = INK_MUTED, [PANE_CODE] = INK_TEXT,
        [PANE_NOTE] = INK_WARN,   [PANE_KEYS] = INK_MUTED,   [PANE_DRAWING] = INK_MUTED};
    bool bold = is_bold(line->kind) || line->marked;
    CellStyle style = bold ? cell_bold(inks[line->kind]) : cell_style(inks[line->kind]);
    if (line->marked && sheet->color)
        style.paper = INK_SELECTED;
    if (line->marked && !sheet->color)
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
    if (!line->text)
        return;
    int before = line->first ? 0 : 2; /* a digit and the blank */
    snprintf(ascii, sizeof ascii, "%.*s", before + line->length, line->text - before);
    if (line->kind == PANE_CODE)
        snprintf(micro, sizeof micro, "%s", ascii);
    else
        text_micro(ascii, micro, sizeof micro);
    if (line->kind == PANE_DRAWING) {
        draw_drawing(sheet, x, y, w, line->text, line->length);
        return;
    }
    if (line->first && line->marked)
        sheet_sign(sheet, x, y, 0x203a, cell_bold(INK_ACCENT));
    sheet_text(sheet, x + line->indent, y, w - line->indent, style_of(sheet, line), micro + before);
}

int lesson_want(Sheet *sheet, const PanelData *data, int width) {
    static Lines lines; /* large; screens are drawn by one thread */
    make_lines(sheet, &lines, &data->state->lesson.body, width, true);
    return lines.count + 3;
}

/* "3 of 9, 2 of 2 right", or without the score where that leaves no room for the title. */
static void progress_note(const Sheet *sheet, const LessonPane *pane, int width, char *text,
                          size_t size) {
    int title = sheet_width(sheet, pane->title);
    text[0] = '\0';
    if (!pane->steps)
        return;
    snprintf(text, size, "%d of %d, %d of %d right", pane->step, pane->steps, pane->right,
             pane->asked);
    if (!pane->asked || title + sheet_width(sheet, text) + 4 > width)
        snprintf(text, size, "%d of %d", pane->step, pane->steps);
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

/* Arrows at the right edge where there is more text. */
static void draw_more(Sheet *sheet, Area area, int first, int count) {
    if (first > 0)
        sheet_sign(sheet, area.x + area.w - 1, area.y, 0x2191, cell_bold(INK_ACCENT));
    if (first + area.h < count)
        sheet_sign(sheet, area.x + area.w - 1, area.y + area.h - 1, 0x2193, cell_bold(INK_ACCENT));
}

/* Draws the keys, in the last rows; returns how many. On a small screen the figures are a page of
 * their own. */
static int draw_keys(Sheet *sheet, Area area, const LessonPane *pane) {
    int bottom = area.y + area.h;
    char text[256], page[48] = "";
    const char *tab = key_of(ACTION_PAGE).name;
    bool small = !sheet->pixels && sheet->columns < PAGE_BOTH_COLUMNS;
    if (small && pane->point == PANEL_BEV)
        snprintf(page, sizeof page, ", %s %s: picture", tab, tab);
    else if (small)
        snprintf(page, sizeof page, ", %s: figures", tab);
    snprintf(text, sizeof text, "%.200s%s", pane_row(&pane->body, pane->body.count - 1), page);
    area.h = sheet_paragraph_rows(sheet, (Area){0, 0, area.w, area.h / 2}, INK_MUTED, text);
    area.y = bottom - area.h;
    sheet_paragraph(sheet, area, INK_MUTED, text);
    return area.h;
}

void lesson_draw(Sheet *sheet, Area area, const PanelData *data) {
    static Lines lines;
    const LessonPane *pane = &data->state->lesson;
    char note[64];
    progress_note(sheet, pane, area.w, note, sizeof note);
    area = sheet_title(sheet, area, pane->title, note);
    if (pane->body.count && area.h > 1)
        area.h -= draw_keys(sheet, area, pane);
    int width = area.w - 2; /* room for the arrows */
    make_lines(sheet, &lines, &pane->body, width, true);
    if (lines.count > area.h)
        make_lines(sheet, &lines, &pane->body, width, false);
    int first = first_line(pane, lines.count, area.h);
    for (int i = 0; i < area.h && first + i < lines.count; i++)
        draw_line(sheet, area.x, area.y + i, width, &lines.lines[first + i]);
    draw_more(sheet, area, first, lines.count);
}
