/* The table beside the picture, in the style of printed tables: rules above and below, none
 * between columns. */
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 24, HEADING_ROW = 30, GAP = 22, MAX_COLUMNS = 12, NARROWEST = 60 };

static const char *cell_text(const FigureTable *table, int row, int column) {
    const char *text =
        row < 0 ? table->header[column] : table->cells[row * table->columns + column];
    return text ? text : "n/a";
}

static int columns_of(const FigureTable *table) {
    return table->columns < MAX_COLUMNS ? table->columns : MAX_COLUMNS;
}

/* The row that the picture shows is set in bold. */
static TextStyle row_style(const Pen *pen, const FigureTable *table, int row) {
    TextStyle style = row < 0 ? style_muted(pen) : style_body(pen);
    style.bold = row >= 0 && row == table->highlight;
    return style;
}

static double natural_widths(Pen *pen, const FigureTable *table, double widths[MAX_COLUMNS]) {
    double total = 0;
    for (int column = 0; column < columns_of(table); column++) {
        widths[column] = 0;
        for (int row = -1; row < table->rows; row++) {
            TextStyle style = row_style(pen, table, row);
            double width = pen_text_width(pen, &style, cell_text(table, row, column));
            widths[column] = fmax(widths[column], ceil(width));
        }
        total += widths[column] + (column ? GAP : 0);
    }
    return total;
}

double table_width(Pen *pen, const Figure *figure) {
    double widths[MAX_COLUMNS];
    return figure->spec->table ? natural_widths(pen, figure->spec->table, widths) + 16 : 0;
}

/* Gives the names what the numbers leave; takes from all when that is too little. */
static void fit_widths(double widths[MAX_COLUMNS], int columns, double total, double w) {
    if (!columns)
        return;
    double spare = w - total;
    double first = fmax(widths[0] + spare, fmin(widths[0], NARROWEST));
    double rest_before = total - widths[0], rest_after = w - first;
    widths[0] = first;
    if (rest_after >= rest_before)
        return;
    double gaps = GAP * (columns - 1);
    double shrink = fmax(rest_after - gaps, 0) / fmax(rest_before - gaps, 1);
    for (int column = 1; column < columns; column++)
        widths[column] *= shrink;
}

static void table_row(Pen *pen, const FigureTable *table, int row, const double widths[MAX_COLUMNS],
                      double x, double top) {
    TextStyle style = row_style(pen, table, row);
    double right = x;
    for (int column = 0; column < columns_of(table); column++) {
        right += widths[column] + (column ? GAP : 0);
        style.align = column ? ALIGN_RIGHT : ALIGN_LEFT;
        pen_text(pen, column ? right : x, top + ROW / 2.0 + 0.36 * style.size, widths[column],
                 &style, cell_text(table, row, column));
    }
}

double table_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureTable *table = figure->spec->table;
    if (!table)
        return 0;
    double widths[MAX_COLUMNS], inset = 8;
    double total = natural_widths(pen, table, widths);
    fit_widths(widths, columns_of(table), total, w - 2 * inset);
    TextStyle head = style_heading(pen), small = style_muted(pen);
    pen_text(pen, x, top + SIZE_HEADING, w, &head, table->title);
    double y = top + HEADING_ROW;
    pen_line(pen, x, y, x + w, y, pen->theme->text, 1, 1.5);
    table_row(pen, table, -1, widths, x + inset, y + 2);
    y += ROW + 4;
    pen_line(pen, x, y, x + w, y, pen->theme->rule, 1, 1);
    for (int row = 0; row < table->rows; row++, y += ROW) {
        if (row == table->highlight)
            pen_fill(pen, (Box){x, y + 0.5, w, ROW}, pen->theme->tint, 1);
        table_row(pen, table, row, widths, x + inset, y);
    }
    pen_line(pen, x, y + 2, x + w, y + 2, pen->theme->text, 1, 1.5);
    y += 10;
    if (table->note)
        y += pen_paragraph(pen, x, y, w, &small, table->note);
    return y - top;
}
