#include "src/view/term/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int min_int(int a, int b) {
    return a < b ? a : b;
}

Area panel_title(Cells *cells, Area area, const char *title, const char *note) {
    int used = cells_line(cells, area, cell_bold(INK_TITLE), title);
    int note_w = note[0] ? cells_width(note) : 0;
    /* The note is left out where title and rule leave no room for it. */
    if (used + note_w + 4 > area.w)
        note_w = 0;
    int end = area.x + area.w - (note_w ? note_w + 1 : 0);
    for (int x = area.x + used + 1; x < end; x++)
        cells_put(cells, x, area.y, 0x2500, cell_style(INK_RULE));
    if (note_w)
        cells_text_right(cells, end, area.y, note_w + 1, cell_style(INK_MUTED), note);
    return (Area){area.x, area.y + 1, area.w, area.h - 1};
}

/* Bytes of the words that fit into a row; all of them where none fits, or no row follows. */
static int row_length(const char *text, int w, bool last) {
    int length = (int)strlen(text), fit = 0;
    if (last || cells_width(text) <= w)
        return length;
    for (int i = 0; i < length && i <= w; i++)
        if (text[i] == ' ')
            fit = i;
    return fit ? fit : length;
}

int draw_paragraph(Cells *cells, Area area, Ink ink, const char *text) {
    int row = 0;
    for (; *text && row < area.h; row++) {
        char line[256];
        int length = row_length(text, area.w, row == area.h - 1);
        snprintf(line, sizeof line, "%.*s", length, text);
        if (cells)
            cells_text(cells, area.x, area.y + row, area.w, cell_style(ink), line);
        text += length;
        text += *text == ' ';
    }
    return row;
}

void draw_figure_line(Cells *cells, Area area, Ink ink, char *line) {
    for (char *comma; cells_width(line) > area.w && (comma = strrchr(line, ','));)
        *comma = '\0';
    cells_line(cells, area, cell_style(ink), line);
}

/* ---- bars ----------------------------------------------------------------------------------- */

/* Which segment covers position `at` (in columns); -1: none. */
static int segment_at(const Segment *segments, int count, double per_column, double at) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += segments[i].value * per_column;
        if (at < sum)
            return i;
    }
    return -1;
}

/* Eighths of a column, counted from its left edge, that lie before the end of a segment. */
static int eighths_of(const Segment *segments, int segment, double per_column, int column) {
    double end = 0;
    for (int i = 0; i <= segment; i++)
        end += segments[i].value * per_column;
    double eighths = round((end - column) * 8);
    return eighths < 1 ? 1 : eighths > 8 ? 8 : (int)eighths;
}

static CellStyle inks(Ink ink, Ink paper) {
    return (CellStyle){.ink = ink, .paper = paper};
}

/* With colour: an eighth block in this segment's ink, on the next segment's as paper. Without
 * colour: the texture of the segment at the middle of the column. */
static void stack_column(Cells *cells, int x, int y, const Segment *segments, int count,
                         double per_column, int column) {
    int here = segment_at(segments, count, per_column, column + 1.0 / 16);
    int middle = segment_at(segments, count, per_column, column + 0.5);
    int end = segment_at(segments, count, per_column, column + 15.0 / 16);
    if (!cells->color && middle >= 0)
        cells_put(cells, x, y, segments[middle].texture, cell_style(INK_DEFAULT));
    if (!cells->color || here < 0)
        return;
    int eighths = eighths_of(segments, here, per_column, column);
    Ink paper = end >= 0 && end != here ? segments[end].ink : INK_DEFAULT;
    cells_put(cells, x, y, 0x2590 - (uint32_t)eighths, inks(segments[here].ink, paper));
}

void draw_stack(Cells *cells, int x, int y, int w, const Segment *segments, int count, double scale,
                double limit) {
    if (w <= 0 || !(scale > 0))
        return;
    double per_column = w / scale, total = 0;
    for (int i = 0; i < count; i++)
        total += segments[i].value;
    bool beyond = total > scale * (1 + 1e-9);
    int mark = isnan(limit) ? -1 : min_int((int)(limit * per_column), w - 1);
    for (int column = 0; column < w; column++) {
        int under = segment_at(segments, count, per_column, column + 0.5);
        Ink paper = under < 0 || !cells->color ? INK_DEFAULT : segments[under].ink;
        if (column == w - 1 && beyond)
            cells_put(cells, x + column, y, 0x25b6, cell_style(INK_BAD));
        else if (column == mark)
            cells_put(cells, x + column, y, 0x2502, inks(under < 0 ? INK_MUTED : INK_RGB, paper));
        else
            stack_column(cells, x + column, y, segments, count, per_column, column);
    }
}

void draw_bar(Cells *cells, int x, int y, int w, double value, double scale, Ink ink) {
    Segment segment = {value, ink, 0x2588};
    draw_stack(cells, x, y, w, &segment, 1, scale, NAN);
}

void draw_sparkline(Cells *cells, int x, int y, int w, const float *values, int count, Ink ink) {
    if (count > w) {
        values += count - w;
        count = w;
    }
    double lo = INFINITY, hi = 0;
    for (int i = 0; i < count; i++) {
        lo = fmin(lo, values[i]);
        hi = fmax(hi, values[i]);
    }
    /* A scale of at least a quarter of the largest value: noise of a few percent must look flat. */
    double span = fmax(hi - lo, 0.25 * hi);
    for (int i = 0; i < count; i++) {
        int level = span > 0 ? (int)floor((values[i] - lo) / span * 7.999) : 0;
        cells_put(cells, x + w - count + i, y, 0x2581 + (uint32_t)min_int(level, 7),
                  cell_style(ink));
    }
}

/* ---- tables --------------------------------------------------------------------------------- */

static int total_width(const Column *columns, int count, int rank) {
    int width = 0;
    for (int i = 0; i < count; i++)
        width += columns[i].rank <= rank ? columns[i].width + (width > 0) : 0;
    return width;
}

void table_begin(Table *table, Cells *cells, Area area, const Column *columns, int count) {
    *table = (Table){.columns = columns, .count = count, .y = area.y};
    int rank = count, x = area.x;
    while (rank > 0 && total_width(columns, count, rank) > area.w)
        rank--;
    /* Room that is left goes between the columns, up to two more blanks each. */
    int shown = 0;
    for (int i = 0; i < count; i++)
        shown += columns[i].rank <= rank;
    int spare = area.w - total_width(columns, count, rank);
    int gap = 1 + (shown > 1 ? min_int(spare / (shown - 1), 2) : 0);
    gap = gap < 1 ? 1 : gap;
    for (int i = 0; i < count; i++) {
        bool fits = columns[i].rank <= rank && x + columns[i].width <= area.x + area.w;
        table->x[i] = fits ? x : -1;
        x += fits ? columns[i].width + gap : 0;
    }
    table->style = cell_style(INK_MUTED);
    for (int i = 0; i < count; i++)
        table_cell(table, cells, i, columns[i].title);
    table->y++;
    table->style = cell_style(INK_TEXT);
}

bool table_has(const Table *table, int column) {
    return table->x[column] >= 0;
}

void table_cell(const Table *table, Cells *cells, int column, const char *text) {
    const Column *c = &table->columns[column];
    if (!table_has(table, column))
        return;
    if (c->left)
        cells_text(cells, table->x[column], table->y, c->width, table->style, text);
    else
        cells_text_right(cells, table->x[column], table->y, c->width, table->style, text);
}
