/* SPDX-License-Identifier: MIT */
#include "src/cli/report.h"

#include "kernels/clean.h"
#include "src/base/data.h"
#include "src/base/json_fields.h"
#include "src/base/units.h"
#include "src/run/bench.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int report_screen_columns;

static Cell cell_none(void) {
    return (Cell){.kind = CELL_NONE};
}

Cell cell_text(const char *text) {
    return (Cell){.kind = text ? CELL_TEXT : CELL_NONE, .text = text};
}

Cell cell_int(long long value) {
    return (Cell){.kind = CELL_INT, .integer = value};
}

Cell cell_real(double value) {
    return isfinite(value) ? (Cell){.kind = CELL_REAL, .real = value} : cell_none();
}

Cell cell_mb(double bytes) {
    return cell_real(bytes * 1e-6);
}

Cell cell_bool(bool value) {
    return (Cell){.kind = CELL_BOOL, .integer = value};
}

Cell cell_if(bool known, Cell cell) {
    return known ? cell : cell_none();
}

/* Copies a text and cleans it: titles, paths and machine names come from outside. NULL: no
 * memory. */
static char *clean_copy(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        clean_text(text, copy, size);
    return copy;
}

void report_row(Report *report) {
    report->row_count++;
}

void report_add(Report *report, const char *key, const char *heading, int digits, Cell cell) {
    if (report->out_of_memory)
        return;
    if (report->row_count == 1 && report->cell_count == (size_t)report->column_count) {
        assert(report->column_count < REPORT_COLUMNS);
        report->columns[report->column_count++] = (ReportColumn){key, heading, digits};
    }
    assert(!strcmp(key, report->columns[report->cell_count % (size_t)report->column_count].key));
    if (report->cell_count == report->capacity) {
        size_t capacity = report->capacity ? 2 * report->capacity : 256;
        Cell *cells = realloc(report->cells, capacity * sizeof *cells);
        if (!cells) {
            report->out_of_memory = true;
            return;
        }
        report->cells = cells;
        report->capacity = capacity;
    }
    if (cell.kind == CELL_TEXT && !(cell.text = clean_copy(cell.text))) {
        report->out_of_memory = true;
        cell = cell_none();
    }
    report->cells[report->cell_count++] = cell;
}

void report_add_config(Report *report, const char *scene, const KernelConfig *config) {
    report_add(report, "scene", "scene", 0, cell_text(scene));
    report_add(report, "kernel", "kernel", 0, cell_text(config->kernel->name));
    report_add(report, "where", "where", 0, cell_text(where_names[config->kernel->where]));
    report_add(report, "dtype", "dtype", 0, cell_text(bev_dtypes[config->dtype].name));
    report_add(report, "align", "align", 0, cell_text(bev_aligns[config->align].name));
}

void report_clear(Report *report) {
    for (size_t i = 0; i < report->cell_count; i++)
        free((char *)report->cells[i].text);
    report->cell_count = 0;
    report->row_count = 0;
}

void report_free(Report *report) {
    report_clear(report);
    free(report->cells);
    *report = (Report){0};
}

void report_number(char *text, size_t size, double value, int digits) {
    double magnitude = fabs(value);
    if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e10)) {
        snprintf(text, size, "%.*e", digits - 1, value);
        return;
    }
    int whole = magnitude >= 1 ? (int)floor(log10(magnitude)) + 1 : 1;
    int decimals = magnitude == 0 ? 0 : digits - whole;
    if (magnitude > 0 && magnitude < 1)
        decimals = digits - 1 - (int)floor(log10(magnitude));
    snprintf(text, size, "%.*f", decimals > 0 ? decimals : 0, value);
}

int report_column(const Report *report, const char *key) {
    for (int column = 0; column < report->column_count; column++)
        if (!strcmp(report->columns[column].key, key))
            return column;
    return -1;
}

static const Cell *cell_at(const Report *report, int row, int column) {
    static const Cell missing = {.kind = CELL_NONE};
    size_t at = (size_t)row * (size_t)report->column_count + (size_t)column;
    return at < report->cell_count ? &report->cells[at] : &missing;
}

/* Writes a cell of any kind except text. */
static void write_cell(const Cell *cell, bool for_people, int digits, char *text, size_t size) {
    switch (cell->kind) {
    case CELL_TEXT:
    case CELL_NONE:
        snprintf(text, size, "%s", for_people && digits != DIGITS_BLANK ? "n/a" : "");
        break;
    case CELL_INT:
        snprintf(text, size, "%lld", cell->integer);
        break;
    case CELL_REAL:
        if (for_people)
            report_number(text, size, cell->real, digits);
        else
            snprintf(text, size, "%.10g", cell->real);
        break;
    case CELL_BOOL:
        snprintf(text, size, "%s",
                 for_people ? (cell->integer ? "yes" : "no") : (cell->integer ? "true" : "false"));
        break;
    }
}

void report_cell(const Report *report, int row, int column, char *text, size_t size) {
    const ReportColumn *head = &report->columns[column];
    const Cell *cell = cell_at(report, row < 0 ? 0 : row, column);
    if (row < 0)
        heading_micro(head->heading, text, size);
    else if (cell->kind == CELL_TEXT)
        clean_text(cell->text, text, size);
    else
        write_cell(cell, true, head->digits, text, size);
}

static bool starts_with_words(const Report *report, int column) {
    const Cell *first = cell_at(report, 0, column);
    for (int row = 0; row < report->row_count; row++) {
        const Cell *cell = cell_at(report, row, column);
        if (cell->kind != first->kind || cell->kind == CELL_INT || cell->kind == CELL_REAL ||
            (cell->kind == CELL_TEXT && strcmp(cell->text, first->text) != 0) ||
            (cell->kind == CELL_BOOL && cell->integer != first->integer))
            return false;
    }
    return true;
}

/* Whether a column is folded. Of a single row, only the column `group` is. */
static bool is_folded(const Report *report, int column) {
    bool groups = report->group && !strcmp(report->columns[column].key, report->group);
    return report->folds && (report->row_count > 1 || groups) && report->columns[column].heading &&
           starts_with_words(report, column);
}

/* Whether people see the column: it has a heading and is not folded. */
static bool report_shows(const Report *report, int column) {
    return report->columns[column].heading && !is_folded(report, column);
}

/* Writes the folded columns as words: "dtype fp16, align nearest". "": there are none. */
static void report_folded(const Report *report, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int column = 0; column < report->column_count && length < size; column++) {
        char cell[128], heading[64];
        if (!is_folded(report, column))
            continue;
        report_cell(report, 0, column, cell, sizeof cell);
        heading_for_locale(report->columns[column].heading, heading, sizeof heading);
        bool lacks = !strcmp(cell, "n/a");
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s%s%s%s", length ? "; " : "",
                             lacks ? "no " : "", heading, lacks ? "" : " ", lacks ? "" : cell);
    }
}

/* Returns the width of a text. Each character is one column wide. */
static int text_width(const char *text) {
    return text_characters(text, strlen(text));
}

static int column_width(const Report *report, int column) {
    int width = 0;
    for (int row = -1; row < report->row_count; row++) {
        char text[256];
        report_cell(report, row, column, text, sizeof text);
        width = text_width(text) > width ? text_width(text) : width;
    }
    return width;
}

/* Whether the column holds words. They are aligned to the left, numbers to the right. */
static bool report_is_text(const Report *report, int column) {
    for (int row = 0; row < report->row_count; row++)
        if (cell_at(report, row, column)->kind != CELL_NONE)
            return cell_at(report, row, column)->kind == CELL_TEXT;
    return true;
}

static void print_padded(FILE *out, const char *text, int width, bool left) {
    int pad = width - text_width(text);
    fprintf(out, "%*s%s%*s", left ? 0 : pad, "", text, left ? pad : 0, "");
}

/* Escapes the character |, which ends a cell of Markdown. */
static void escape_bars(char *text, size_t size) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length && length + 1 < size; i++)
        if (text[i] == '|') {
            memmove(text + i + 1, text + i, ++length - i);
            text[i++] = '\\';
        }
}

/* Prints a row. `widths` are those of the columns; 0: not shown. */
static void print_row(const Report *report, int row, const int *widths, bool markdown, FILE *out) {
    char text[256];
    const char *before = markdown ? "| " : "";
    for (int column = 0; column < report->column_count; column++) {
        if (!widths[column])
            continue;
        report_cell(report, row, column, text, sizeof text);
        if (row < 0)
            heading_for_locale(report->columns[column].heading, text, sizeof text);
        if (markdown)
            escape_bars(text, sizeof text);
        fputs(before, out);
        print_padded(out, text, widths[column], report_is_text(report, column));
        before = markdown ? " | " : "  ";
    }
    fputs(markdown ? " |\n" : "\n", out);
}

static void print_columns(const Report *report, const int *widths, bool markdown, FILE *out) {
    print_row(report, -1, widths, markdown, out);
    for (int column = 0; markdown && column < report->column_count; column++)
        if (widths[column])
            fputs(report_is_text(report, column) ? "|---" : "|---:", out);
    fputs(markdown ? "|\n" : "", out);
    for (int row = 0; row < report->row_count; row++)
        print_row(report, row, widths, markdown, out);
}

enum { BETWEEN = 2 }; /* blanks between two columns */

/* Sets the width of each shown column, and 0 for the others. Returns the width of the table. */
static int measure_columns(const Report *report, int *widths) {
    int width = -BETWEEN;
    for (int column = 0; column < report->column_count; column++) {
        widths[column] = report_shows(report, column) ? column_width(report, column) : 0;
        width += widths[column] ? widths[column] + BETWEEN : 0;
    }
    return width;
}

/* Returns how many columns at the beginning identify a row. */
static int name_columns(const Report *report) {
    int names = 0;
    if (report->names_to)
        return report_column(report, report->names_to) + 1;
    while (names < report->column_count &&
           (!report_shows(report, names) || report_is_text(report, names)))
        names++;
    return names;
}

/* Takes as many columns from `next` on as fit the screen, at least one. Returns the next. */
static int fill_screen(int next, int column_count, int used, const int *widths, int *taken) {
    for (bool any = false; next < column_count; next++) {
        int width = widths[next] ? widths[next] + BETWEEN : 0;
        if (any && used + width > report_screen_columns + BETWEEN)
            break;
        used += width;
        taken[next] = widths[next];
        any |= width > 0;
    }
    return next;
}

/* Prints several tables that fit the screen. Each begins with the columns that identify a row. */
static void print_split(const Report *report, const int *widths, FILE *out) {
    const int names = name_columns(report);
    int used = 0;
    for (int column = 0; column < names; column++)
        used += widths[column] ? widths[column] + BETWEEN : 0;
    for (int next = names; next < report->column_count;) {
        int taken[REPORT_COLUMNS] = {0};
        memcpy(taken, widths, (size_t)names * sizeof *taken);
        fputs(next > names ? "\n" : "", out);
        next = fill_screen(next, report->column_count, used, widths, taken);
        print_columns(report, taken, false, out);
    }
}

/* Prints the columns that all rows share as words, then the table. `narrow`: splits a wide
 * table. */
static void print_whole(const Report *report, bool markdown, bool narrow, FILE *out) {
    int widths[REPORT_COLUMNS];
    char folded[512];
    int width = measure_columns(report, widths);
    report_folded(report, folded, sizeof folded);
    if (folded[0]) {
        fputs("In every row: ", out);
        fputs(folded, out);
        fputs(".\n\n", out);
    }
    if (narrow && width > report_screen_columns)
        print_split(report, widths, out);
    else
        print_columns(report, widths, markdown, out);
}

/* Prints a table for each run of rows with equal values in the column `group`. */
static void print_groups(const Report *report, FILE *out) {
    const int group = report_column(report, report->group);
    for (int first = 0, end; first < report->row_count; first = end) {
        char text[256], other[256];
        report_cell(report, first, group, text, sizeof text);
        for (end = first + 1; end < report->row_count; end++) {
            report_cell(report, end, group, other, sizeof other);
            if (strcmp(text, other) != 0)
                break;
        }
        Report part = *report;
        part.cells += (size_t)first * (size_t)part.column_count;
        part.row_count = end - first;
        part.cell_count = (size_t)part.row_count * (size_t)part.column_count;
        fputs(first ? "\n" : "", out);
        print_whole(&part, false, true, out);
    }
}

static void print_table(const Report *report, bool markdown, FILE *out) {
    int widths[REPORT_COLUMNS];
    Report table = *report;
    bool narrow = !markdown && report_screen_columns &&
                  measure_columns(report, widths) > report_screen_columns;
    table.folds = report->folds || narrow;
    if (narrow && report->group)
        print_groups(&table, out);
    else
        print_whole(&table, markdown, narrow, out);
}

void report_text(const Report *report, FILE *out) {
    print_table(report, false, out);
}

void report_markdown(const Report *report, FILE *out) {
    print_table(report, true, out);
}

/* Prints a text of CSV with the quotes of RFC 4180. A text that begins with = + - @ gets an
 * apostrophe, so that a spreadsheet does not take it for a formula. */
static void print_csv_text(const char *text, FILE *out) {
    bool formula = text[0] && strchr("=+-@", text[0]);
    if (!formula && !strpbrk(text, "\",'")) {
        fputs(text, out);
        return;
    }
    fputs(formula ? "\"'" : "\"", out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void print_csv_cell(const Cell *cell, FILE *out) {
    char text[32];
    write_cell(cell, false, 0, text, sizeof text);
    if (cell->kind == CELL_TEXT)
        print_csv_text(cell->text, out);
    else
        fputs(text, out);
}

void report_csv(const Report *report, FILE *out) {
    for (int column = 0; column < report->column_count; column++)
        fprintf(out, "%s%s", column ? "," : "", report->columns[column].key);
    fputc('\n', out);
    for (int row = 0; row < report->row_count; row++) {
        for (int column = 0; column < report->column_count; column++) {
            fputs(column ? "," : "", out);
            print_csv_cell(cell_at(report, row, column), out);
        }
        fputc('\n', out);
    }
}

static json_t *cell_json(const Cell *cell) {
    switch (cell->kind) {
    case CELL_TEXT:
        return fields_text(cell->text);
    case CELL_INT:
        return json_integer(cell->integer);
    case CELL_REAL:
        return json_real(cell->real);
    case CELL_BOOL:
        return json_boolean(cell->integer);
    case CELL_NONE:
        break;
    }
    return json_null();
}

static json_t *json_row(const Report *report, int row) {
    json_t *object = json_object();
    bool whole = object != NULL;
    for (int column = 0; whole && column < report->column_count; column++)
        whole = json_object_set_new(object, report->columns[column].key,
                                    cell_json(cell_at(report, row, column))) == 0;
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

json_t *report_json(const Report *report) {
    json_t *rows = json_array();
    bool whole = rows != NULL;
    for (int row = 0; whole && row < report->row_count; row++)
        whole = json_array_append_new(rows, json_row(report, row)) == 0;
    if (whole)
        return rows;
    json_decref(rows);
    return NULL;
}

static Cell json_cell(const json_t *value) {
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return cell_text(json_string_value(value));
    case JSON_INTEGER:
        return cell_int(json_integer_value(value));
    case JSON_REAL:
        return cell_real(json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return cell_bool(json_is_true(value));
    default:
        return cell_none();
    }
}

void report_columns(Report *report, const ReportColumn *columns, size_t count) {
    report_clear(report);
    assert(report->column_count + count <= REPORT_COLUMNS);
    memcpy(report->columns + report->column_count, columns, count * sizeof *columns);
    report->column_count += (int)count;
}

void report_take(Report *report, const json_t *row) {
    report_row(report);
    for (int i = 0; i < report->column_count; i++) {
        const ReportColumn *column = &report->columns[i];
        report_add(report, column->key, column->heading, column->digits,
                   json_cell(json_object_get(row, column->key)));
    }
}

void report_head(Report *report, const char *key, const char *heading) {
    int column = report_column(report, key);
    if (column >= 0)
        report->columns[column].heading = heading;
}
