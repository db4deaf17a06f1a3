/* SPDX-License-Identifier: MIT */
#include "src/view/panel/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Sheet sheet_quiet(const Sheet *sheet) {
    Sheet quiet = *sheet;
    quiet.quiet = true;
    quiet.bottom = 0;
    quiet.spots = NULL;
    return quiet;
}

Sheet sheet_magnified(const Sheet *sheet, Area area, double times) {
    Sheet large = *sheet;
    large.left += area.x * sheet->column_w;
    large.top += area.y * sheet->row_h;
    large.column_w *= times;
    large.row_h *= times;
    large.columns = (int)(area.w / times);
    large.rows = (int)(area.h / times);
    return large;
}

/* ---- what is where -------------------------------------------------------------------------- */

/* Returns whether the sheet is quiet: then the caller draws nothing. Notes that a drawing on a
 * quiet sheet would reach down to row y + h. */
static bool note_if_quiet(Sheet *sheet, int y, int h) {
    if (sheet->quiet && y + h > sheet->bottom)
        sheet->bottom = y + h;
    return sheet->quiet;
}

Area area_below(Area area, int rows) {
    return (Area){area.x, area.y + rows, area.w, area.h - rows};
}

Area area_behind(Area area, int columns) {
    area_columns(&area, columns);
    return area;
}

Area area_row(Area *area) {
    const Area row = {area->x, area->y, area->w, area->h > 0};
    *area = area_below(*area, row.h);
    return row;
}

Area area_columns(Area *area, int columns) {
    const int w = (int)fmax(fmin(columns, area->w), 0);
    area->x += w, area->w -= w;
    return (Area){area->x - w, area->y, w, area->h};
}

Box sheet_box(const Sheet *sheet, Area area) {
    return (Box){sheet->left + area.x * sheet->column_w, sheet->top + area.y * sheet->row_h,
                 area.w * sheet->column_w, area.h * sheet->row_h};
}

void sheet_spot(Sheet *sheet, Area area, Action action, int step, const char *argument) {
    Spots *spots = sheet->spots;
    if (!spots || spots->count == SPOTS_MAX)
        return;
    Command *command = &spots->list[spots->count].command;
    *command = (Command){.action = action, .step = step};
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    spots->list[spots->count++].box = sheet_box(sheet, area);
}

void sheet_origin(Sheet *sheet, OriginTopic topic, const BevKernel *kernel) {
    sheet->origin = (Origin){.topic = topic, .kernel = kernel};
}

void sheet_figure(Sheet *sheet, Area area) {
    spots_add_figure(sheet->spots, sheet_box(sheet, area), &sheet->origin);
}

static bool has_digit(const char *text) {
    return text[strcspn(text, "0123456789")];
}

/* ---- text ----------------------------------------------------------------------------------- */

int sheet_width(const Sheet *sheet, const char *text) {
    return sheet->back->width(sheet, text);
}

static int put_text(Sheet *sheet, Area area, CellStyle style, TextAlign align, const char *text) {
    if (area.h < 1)
        return 0;
    if (note_if_quiet(sheet, area.y, 1))
        return (int)fmin(sheet_width(sheet, text), area.w);
    int used = sheet->back->text(sheet, area.x, area.y, area.w, style, align, text);
    int x = align == ALIGN_RIGHT ? area.x + area.w - used : area.x;
    if (has_digit(text))
        sheet_figure(sheet, (Area){x, area.y, used, 1});
    return used;
}

int sheet_line(Sheet *sheet, Area area, CellStyle style, const char *text) {
    return put_text(sheet, area, style, ALIGN_LEFT, text);
}

void sheet_cell(Sheet *sheet, Area *row, int columns, CellStyle style, const char *text) {
    Area cell = area_columns(row, columns);
    cell.w--;
    sheet_line(sheet, cell, style, text);
}

void sheet_right(Sheet *sheet, Area area, CellStyle style, const char *text) {
    put_text(sheet, area, style, ALIGN_RIGHT, text);
}

const char *sheet_shortened(const Sheet *sheet, int w, const char *const texts[]) {
    while (texts[1] && sheet_width(sheet, texts[0]) > w)
        texts++;
    return texts[0];
}

int sheet_fit(const Sheet *sheet, const char *text, int w) {
    enum { LONGEST = 512 };
    char begin[LONGEST];
    int blanks[LONGEST], fitting = 0, end = 0, length = (int)strlen(text);
    if (sheet_width(sheet, text) <= w)
        return length;
    for (int i = 1; i < length && i < LONGEST; i++)
        if (text[i] == ' ')
            blanks[end++] = i;
    /* The width grows from blank to blank: a binary search finds the last blank that fits. */
    while (fitting < end) {
        int middle = (fitting + end) / 2;
        snprintf(begin, sizeof begin, "%.*s", blanks[middle], text);
        if (sheet_width(sheet, begin) <= w)
            fitting = middle + 1;
        else
            end = middle;
    }
    return fitting ? blanks[fitting - 1] : length;
}

int sheet_wrapped(Sheet *sheet, Area area, CellStyle style, const char *text) {
    int row = 0;
    for (; *text && row < area.h; row++) {
        char line[512];
        int length = row == area.h - 1 ? (int)strlen(text) : sheet_fit(sheet, text, area.w);
        snprintf(line, sizeof line, "%.*s", length, text);
        sheet_line(sheet, area_below(area, row), style, line);
        text += length;
        text += *text == ' ';
    }
    return row;
}

int sheet_paragraph(Sheet *sheet, Area area, Ink ink, const char *text) {
    return sheet_wrapped(sheet, area, cell_style(ink), text);
}

void sheet_say(Sheet *sheet, Area *area, Ink ink, const char *text) {
    *area = area_below(*area, sheet_paragraph(sheet, *area, ink, text));
}

int sheet_paragraph_rows(const Sheet *sheet, Area area, const char *text) {
    Sheet quiet = sheet_quiet(sheet);
    return sheet_paragraph(&quiet, area, INK_TEXT, text);
}

void sheet_cut_figures(Sheet *sheet, int w, char *line) {
    for (char *at = line + strlen(line); at > line && sheet_width(sheet, line) > w; at--)
        if (at[-1] == ',' && at[0] == ' ')
            at[-1] = '\0';
}

void sheet_figures(Sheet *sheet, Area area, Ink ink, char *line) {
    sheet_cut_figures(sheet, area.w, line);
    sheet_line(sheet, area, cell_style(ink), line);
}

Area sheet_title(Sheet *sheet, Area area, const char *title, const char *note) {
    if (!note_if_quiet(sheet, area.y, 1))
        sheet->back->title(sheet, area, title, note);
    if (sheet->origin.topic != ORIGIN_NONE)
        sheet_figure(sheet, (Area){area.x, area.y, area.w, 1});
    return area_below(area, 1);
}

const char *sheet_note(const Sheet *sheet, Area area, const char *title, const char *note,
                       const char *brief) {
    return sheet_width(sheet, title) + sheet_width(sheet, note) + 4 <= area.w ? note : brief;
}

/* ---- marks ---------------------------------------------------------------------------------- */

void sheet_sign(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style) {
    if (!note_if_quiet(sheet, y, 1))
        sheet->back->sign(sheet, x, y, glyph, style);
}

void sheet_key(Sheet *sheet, Area *row, Ink ink, uint32_t texture) {
    const Area at = area_columns(row, 2);
    if (at.h > 0)
        sheet_sign(sheet, at.x, at.y, sheet->color ? 0x25a0 : texture, cell_style(ink));
}

void sheet_paper(Sheet *sheet, Area area, Ink paper) {
    if (!sheet->quiet)
        sheet->back->paper(sheet, area, paper);
}

void sheet_stack(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                 double limit) {
    if (row.h < 1 || note_if_quiet(sheet, row.y, 1) || row.w <= 0 || scale <= 0)
        return;
    row.h = 1;
    sheet->back->stack(sheet, row, segments, count, scale, limit);
    sheet_figure(sheet, row);
}

void sheet_bar(Sheet *sheet, Area row, double value, double scale, Ink ink) {
    Segment segment = {value, ink, 0x2588};
    sheet_stack(sheet, row, &segment, 1, scale, NAN);
}

void sheet_bars(Sheet *sheet, Area area, const double *heights, int count, Ink ink) {
    if (area.w > 0 && area.h > 0 && !sheet->quiet)
        sheet->back->bars(sheet, area, heights, count, ink);
}

void sheet_pixels(const Sheet *sheet, Area area, int *w, int *h) {
    Box box = sheet_box(sheet, area);
    *w = sheet->pixels ? (int)box.w : area.w;
    *h = sheet->pixels ? (int)box.h : 2 * area.h;
}

void sheet_picture(Sheet *sheet, Area area, const Image *image) {
    if (!note_if_quiet(sheet, area.y, area.h))
        sheet->back->picture(sheet, area, image);
}

void sheet_chart(Sheet *sheet, Area area, const ChartSpec *spec, const char *note) {
    if (!sheet->quiet)
        sheet->back->chart(sheet, area, spec, note);
    sheet_figure(sheet, area);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Writes a cell. `figure`: notes the whole cell as the place of a figure. */
static void put_cell(Table *table, int column, const char *text, bool figure) {
    const Column *c = &table->columns[column];
    Sheet *sheet = table->sheet;
    const Area at = {table->x[column], table->y, c->width, 1};
    const OriginTopic topic = sheet->origin.topic;
    table->filled |= text[0] ? 1U << column : 0;
    if (!table_has(table, column) || note_if_quiet(sheet, table->y, 1))
        return;
    if (table->topics && table->topics[column])
        sheet->origin.topic = table->topics[column];
    if (c->left)
        sheet_line(sheet, at, table->style, text);
    else
        sheet_right(sheet, at, table->style, text);
    if (figure && sheet->origin.topic)
        sheet_figure(sheet, at);
    sheet->origin.topic = topic;
}

void table_begin(Table *table, Sheet *sheet, Area area, const Column *columns, int count,
                 const OriginTopic *topics) {
    *table =
        (Table){.sheet = sheet, .columns = columns, .count = count, .y = area.y, .topics = topics};
    int rank = count + 1, x = area.x, gaps, spare; /* the columns up to `rank` stay */
    do {
        rank--;
        gaps = -1;
        spare = area.w;
        for (int i = 0; i < count; i++)
            if (columns[i].rank <= rank) {
                gaps++;
                spare -= columns[i].width;
            }
    } while (rank > 0 && spare < gaps);
    /* Room that is left widens the gaps between the columns, from one blank to three. */
    const int gap = gaps > 0 ? (int)fmax(1, fmin(spare / gaps, 3)) : 1;
    for (int i = 0; i < count; i++) {
        bool fits = columns[i].rank <= rank && x + columns[i].width <= area.x + area.w;
        table->x[i] = fits ? x : -1;
        x += fits ? columns[i].width + gap : 0;
    }
    table->style = cell_style(INK_MUTED);
    const char *const word = sheet->origin.word;
    for (int i = 0; i < count; i++) {
        sheet->origin.word = columns[i].title;
        put_cell(table, i, columns[i].title, columns[i].title[0]);
    }
    sheet->origin.word = word;
    table->filled = 0;
    table->y++;
    table->style = cell_style(INK_TEXT);
}

bool table_has(const Table *table, int column) {
    return table->x[column] >= 0;
}

void table_name(Table *table, int column, const char *text, const char *word) {
    table->sheet->origin.word = word;
    put_cell(table, column, text, true);
}

void table_cell(Table *table, int column, const char *text) {
    put_cell(table, column, text, has_digit(text));
}

void table_number(Table *table, int column, const char *format, double value) {
    table_cell(table, column, isfinite(value) ? short_text(format, value).text : "");
}
