/* SPDX-License-Identifier: MIT */
/* Tables of results. A column is described where its cell is filled. The same table can be printed
 * as aligned text, Markdown, CSV or JSON. */
#pragma once

#include "src/cli/options.h"
#include "src/run/machine.h"
#include "src/view/chart/chart.h"

/* ---- a table --------------------------------------------------------------------------------- */

/* A cell is a value in JSON. null is an empty cell, which people see as "n/a". */
json_t *cell_text(const char *text); /* cleaned; NULL: an empty cell */
json_t *cell_real(double value); /* NaN and infinity give an empty cell: JSON cannot write them */

/* Return a number and a text of a row. NaN and "": the row has none. */
double row_number(const json_t *row, const char *key);
const char *row_text(const json_t *row, const char *key);

typedef struct {
    const char *key;     /* name in JSON and CSV, with the unit: "median_us" */
    const char *heading; /* name for people: "median us"; NULL: the column is for machines only */
    int digits;          /* significant digits of a real number, for people */
} ReportColumn;

/* DIGITS_BLANK as digits: an empty cell stays blank */
enum { REPORT_COLUMNS = 64, DIGITS_BLANK = -1 };

/* A table, which starts as (Report){0}. The first row defines the columns. Rows are never freed. */
typedef struct {
    ReportColumn columns[REPORT_COLUMNS];
    json_t *rows; /* objects; NULL: there are no rows */
    int column_count, row_count;
    bool unknown; /* until the next row, every cell that is added is empty */
    bool folds;   /* a value that all rows share is printed once, before the table */
    /* Keys of columns, for a terminal that is too narrow: the last column that identifies a row
     * (NULL: the words at the start do), and the column whose values stand above rows. */
    const char *names_to, *group;
} Report;

/* Begins a row. Then call report_add, or a function below, for each column. report_add owns the
 * cell afterwards. `key` and `heading` must live as long as the report. */
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

/* Adds a row with the values that a JSON object has for the report's columns. */
void report_add_object(Report *report, const json_t *row);

/* Hides a column from people. Files have the column nevertheless. */
void report_hide(Report *report, const char *key);

void report_clear(Report *report); /* removes the rows, keeps the columns */

/* Writes one cell as people see it. Row -1 holds the headings, with "µs". */
void report_cell(const Report *report, int row, int column, char *text, size_t size);

/* Returns `digits` significant digits: "12.3". Values from 1e-3 to 1e10 have no exponent. */
ShortText report_number(double value, int digits);

typedef void ReportPrinter(const Report *report, FILE *out);
ReportPrinter report_text;

/* The columns of the terminal that shows the result; 0: no terminal. A table that is wider is
 * split, and a longer line is broken at a blank. */
extern int report_screen_columns;

/* Returns the rows as an array of objects, which the caller owns. */
json_t *report_json(const Report *report);

/* ---- where a result goes --------------------------------------------------------------------- */

/* The beginning of a line with a command to paste. A terminal shows this line unbroken, because a
 * shell would take a broken line for two commands. */
extern const char output_command[];

/* Returns the width of the terminal that is standard output; 0: no terminal. */
int output_screen_columns(void);

/* Writes a result that was collected in memory to `path`. NULL: to standard output. A file is
 * replaced completely or not at all. */
bool output_close(MemoryStream *output, const char *path, Err *err);

/* Returns the exit status of the program: a failure if printed text did not reach its file. */
int output_check(int status);

/* Returns the printer of --format for people, text or Markdown. NULL: the format is CSV or JSON. */
ReportPrinter *output_printer(const Options *options);

/* Prints a report in the format of --format. The JSON format prints `root`, with the rows under
 * "results". Releases `root` in all cases. */
bool output_report(const Options *options, const Report *report, json_t *root, Err *err);

/* A table of a result, with the text that people see above it. */
typedef struct {
    const char *above;
    const Report *report; /* NULL: only the text */
    const char *key;      /* the key of the rows in JSON; NULL: JSON does not have the table */
    ReportPrinter *print; /* NULL: the printer of --format */
} OutputTable;

/* Prints several tables as output_report does. CSV has only the first table, and the results of
 * JSON are its rows. People see the first table, and all others that have rows. */
bool output_tables(const Options *options, const OutputTable *tables, int count, json_t *root,
                   Err *err);

/* Warns that the errors of a scene leave out `values` values (0: no warning), because their FP64 is
 * not finite. Several calls for one scene in succession warn once. So many `moments` have such
 * values, the first at `time_s`. NaN: the scene has one moment. */
void output_left_out(const char *scene, int64_t values, double time_s, int moments);

/* Returns an object that every result in JSON has: the command, the version and this machine. */
json_t *output_head(const char *command);

/* Returns the JSON block about the machine of a result. */
json_t *output_machine(const Machine *machine);

/* ---- pictures -------------------------------------------------------------------------------- */

/* Reads the format from the suffix of `path`, and the size from --width. Fails without a path, with
 * another suffix or with a wrong width. `command` heads the error. */
bool output_picture(const Options *options, const char *path, const char *command,
                    PictureFile *file, Err *err);

/* Writes a page to `path`; "-" is standard output. */
bool output_page(const PageSpec *page, PictureFormat format, const char *path, Err *err);

/* Writes a chart to `path` in the theme of --theme and the width of --width. */
bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err);
