/* One table of columns, four ways to print it: aligned text, Markdown, CSV and JSON. */
#ifndef BEV_REPORT_H
#define BEV_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum { CELL_NONE, CELL_TEXT, CELL_INT, CELL_REAL, CELL_BOOL } CellKind;

typedef struct {
    CellKind kind; /* NONE: "n/a" for people, null for machines */
    const char *text;
    double real;
    long long integer;
} Cell;

Cell cell_none(void);
Cell cell_text(const char *text); /* borrowed until the report is printed */
Cell cell_int(long long value);
Cell cell_real(double value); /* NaN and infinities become NONE: JSON has no word for them */
Cell cell_bool(int value);

typedef struct {
    const char *key;     /* JSON and CSV, unit included: "median_us" */
    const char *heading; /* for people: "median us"; NULL: machine formats only */
    int digits;          /* significant digits of a real, for people */
} ReportColumn;

typedef struct {
    const ReportColumn *columns;
    int column_count;
    Cell *cells;
    int row_count, capacity;
    bool folds; /* for people, what all rows say alike in words is said once, before them */
} Report;

/* Appends a row of column_count cells, copied. Returns 0 when memory is out. */
int report_add(Report *report, const Cell *row);
void report_free(Report *report);

/* One cell for people. */
void report_cell(const Report *report, int row, int column, char *text, size_t size);

/* Whether people see the column in the table: it has a heading and is not folded. */
bool report_shows(const Report *report, int column);

/* Whether the column's cells are words: those stand left, numbers right. */
int report_is_text(const Report *report, int column);

/* What the folded columns say: "dtype fp16, align nearest"; "" when there are none. */
void report_folded(const Report *report, char *text, size_t size);

void report_text(const Report *report, FILE *out);
void report_markdown(const Report *report, FILE *out);
void report_csv(const Report *report, FILE *out);

/* The rows as an array of objects; the caller owns it. */
json_t *report_json(const Report *report);

/* "12.3", with `digits` significant digits and without an exponent for 1e-3 <= |v| < 1e7. */
void report_number(char *text, size_t size, double value, int digits);

#endif
