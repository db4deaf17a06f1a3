/* SPDX-License-Identifier: MIT */
/* Tables of results. A column is described where its cell is filled. The same table can be printed
 * as aligned text, Markdown, CSV or JSON. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/base/data.h"
#include "src/cli/options.h"
#include "src/run/machine.h"
#include "src/view/chart/chart.h"

#include <jansson.h>

/* ---- a table --------------------------------------------------------------------------------- */

/* A cell is a value in JSON. null, an empty cell, prints as "n/a" for people. */
json_t *cell_text(const char *text); /* cleaned; NULL: an empty cell */
json_t *cell_real(double value); /* NaN and infinity give an empty cell: JSON cannot write them */

/* Returns a row's number, NaN for none, and its text, "" for none. */
double row_number(const json_t *row, const char *key);
const char *row_text(const json_t *row, const char *key);

typedef struct {
    const char *key;     /* name in JSON and CSV, with the unit: "median_us" */
    const char *heading; /* name for people: "median us"; NULL: the column is for machines only */
    int digits;          /* significant digits of a real number, for people */
} ReportColumn;

/* DIGITS_BLANK as digits: an empty cell stays blank */
enum { REPORT_COLUMNS = 64, DIGITS_BLANK = -1 };

/* A table, which starts as (Report){0}. The first row defines the columns. */
typedef struct {
    ReportColumn columns[REPORT_COLUMNS];
    json_t *rows; /* objects; NULL: there are no rows */
    int column_count, row_count;
    bool unknown; /* cells that are added now are empty, until the next row */
    bool folds; /* values that all rows share are printed once, before the table */
    /* Keys for a terminal that is too narrow. `names_to` is the last column that identifies a row;
     * NULL: the columns of words at the start. `group` becomes a line above its rows. */
    const char *names_to, *group;
} Report;

/* Begins a row. Then call report_add for each column, which takes the cell, or a function below.
 * `key` and `heading` must be string literals or live as long. */
void report_row(Report *report);
void report_add(Report *report, const char *key, const char *heading, int digits, json_t *cell);
void add_text(Report *report, const char *key, const char *heading, const char *text);
void add_int(Report *report, const char *key, const char *heading, long long value);
void add_real(Report *report, const char *key, const char *heading, int digits, double value);
void add_mb(Report *report, const char *key, const char *heading, int digits, double bytes);
void add_bool(Report *report, const char *key, const char *heading, bool value);

/* Returns a row, borrowed. */
json_t *report_at(const Report *report, int row);

/* Adds the columns scene, kernel, where, dtype and align. */
void report_add_config(Report *report, const char *scene, const KernelConfig *config);

/* Adds columns to a report without rows. */
void report_columns(Report *report, const ReportColumn *columns, size_t count);

/* Adds a row of the report's columns, which it has, with the values of a JSON object. */
void report_take(Report *report, const json_t *row);

/* Hides a column from people. Files keep it. */
void report_hide(Report *report, const char *key);

void report_clear(Report *report); /* removes the rows, keeps the columns */
void report_free(Report *report);

/* Returns the column with that key. -1: there is none. */
int report_column(const Report *report, const char *key);

/* Writes one cell as people see it. Row -1 holds the headings, with "µs". */
void report_cell(const Report *report, int row, int column, char *text, size_t size);

/* Writes `digits` significant digits: "12.3". For 1e-3 <= |value| < 1e10 without an exponent. */
void report_number(char *text, size_t size, double value, int digits);

typedef void ReportPrinter(const Report *report, FILE *out);
ReportPrinter report_text;

/* The width of the terminal on which tables and prose for people appear; 0: no terminal. Wider
 * tables are split. Longer lines are broken at blanks. */
extern int report_screen_columns;

/* Returns the rows as an array of objects, which the caller owns. */
json_t *report_json(const Report *report);

/* ---- where a result goes --------------------------------------------------------------------- */

/* Begins a line with a command to paste, which no terminal's width breaks. */
extern const char output_command[];

/* Returns the width of the terminal that is standard output; 0: no terminal. */
int output_screen_columns(void);

/* Ends a result that was collected in memory, so that a file is replaced completely or not at all.
 * Writes to `path`, or to standard output when `path` is NULL. */
bool output_close(MemoryStream *output, const char *path, Err *err);

/* Returns the printer of --format for people, text or Markdown. NULL: the format is CSV or JSON. */
ReportPrinter *output_printer(const Options *options);

/* Prints a report in the format of --format. For JSON, `root` gets the rows under "results" and is
 * printed. Releases `root` in all cases. */
bool output_report(const Options *options, const Report *report, json_t *root, Err *err);

/* A table of a result, with the text that people see above it. */
typedef struct {
    const char *above;
    const Report *report; /* NULL: only the text */
    const char *key;      /* of its rows in JSON; NULL: JSON does not have the table */
    ReportPrinter *print; /* NULL: the printer of --format */
} OutputTable;

/* Prints several tables as output_report does. CSV has only the first, JSON as its results. People
 * see all tables with rows, and always the first. */
bool output_tables(const Options *options, const OutputTable *tables, int count, json_t *root,
                   Err *err);

/* Warns on standard error that errors of a scene leave out `values` values where FP64 is not
 * finite. Several calls for one scene in succession warn once. `values` 0: no warning. `time_s` is
 * the first of the `moments`; NaN: the scene has one moment. */
void output_left_out(const char *scene, int64_t values, double time_s, int moments);

/* Returns what every result in JSON has: its command, the version and this machine. */
json_t *output_head(const char *command);

/* Returns the JSON block about the machine of a result. */
json_t *output_machine(const Machine *machine);

/* ---- pictures -------------------------------------------------------------------------------- */

/* Reads the format from the suffix of `path`, and the size from --width. Fails without a path, with
 * another suffix or with a wrong width. `command` heads the error. */
bool output_picture(const Options *options, const char *path, const char *command,
                    PictureFile *file, Err *err);

/* Writes a chart to `path` in the theme of --theme and the width of --width. */
bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err);
