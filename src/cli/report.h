/* Tables, and the places they go: a column is described where its cell is filled, and the same
 * table is printed as aligned text, Markdown, CSV or JSON. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/base/memory_stream.h"
#include "src/cli/output_chart.h"
#include "src/run/machine.h"

#include <jansson.h>

/* ---- a table --------------------------------------------------------------------------------- */

typedef enum { CELL_NONE, CELL_TEXT, CELL_INT, CELL_REAL, CELL_BOOL } CellKind;

typedef struct {
    CellKind kind; /* CELL_NONE prints as "n/a" for people and as null in JSON */
    const char *text;
    double real;
    long long integer;
} Cell;

Cell cell_text(const char *text); /* NULL: an empty cell; report_add copies the text, cleaned */
Cell cell_int(long long value);
Cell cell_real(double value); /* NaN and infinity give an empty cell: JSON cannot write them */
Cell cell_mb(double bytes);   /* 10^6 bytes */
Cell cell_bool(bool value);
Cell cell_if(bool known, Cell cell); /* `cell`, or an empty cell when the value is not known */

typedef struct {
    const char *key;     /* name in JSON and CSV, with the unit: "median_us" */
    const char *heading; /* name for people: "median us"; NULL: the column is for machines only */
    int digits;          /* significant digits of a real number, for people */
} ReportColumn;

enum { REPORT_COLUMNS = 64, DIGITS_BLANK = -1 }; /* as digits: an empty cell stays blank */

/* Begins empty: (Report){0}. The first row defines the columns. */
typedef struct {
    ReportColumn columns[REPORT_COLUMNS];
    Cell *cells; /* (row, column) */
    int column_count, row_count;
    size_t cell_count, capacity;
    bool folds;         /* say once, before the table, values that all rows share */
    /* For a terminal too narrow for all columns, keys: the last column that tells rows apart (NULL:
     * the words that rows begin with), and one that becomes a line above its rows (NULL: none). */
    const char *names_to, *group;
    bool out_of_memory; /* some cells are missing; output_report then fails */
} Report;

/* Begins a row. Then call report_add once for each column, in the same order in every row. `key`
 * and `heading` must be string literals or live as long. */
void report_row(Report *report);
void report_add(Report *report, const char *key, const char *heading, int digits, Cell cell);

/* The columns scene, kernel, where, dtype and align. */
void report_add_config(Report *report, const char *scene, const KernelConfig *config);

void report_clear(Report *report); /* removes the rows, keeps the columns */
void report_free(Report *report);

/* The column with that key; -1: none. */
int report_column(const Report *report, const char *key);

/* One cell as people see it; row -1 holds the headings, with "µs". */
void report_cell(const Report *report, int row, int column, char *text, size_t size);

/* "12.3": `digits` significant digits, no exponent for 1e-3 <= |value| < 1e10. */
void report_number(char *text, size_t size, double value, int digits);

typedef void ReportPrinter(const Report *report, FILE *out);
ReportPrinter report_text, report_markdown, report_csv;

/* Width of the terminal that tables and prose for people go to; 0: they go elsewhere. A table that
 * is wider is split, and longer lines are broken at blanks. */
extern int report_screen_columns;

/* The rows as an array of objects. The caller owns it. NULL: out of memory. */
json_t *report_json(const Report *report);

/* The first of `rows`, as report_json writes them, that has the values of the report's last row
 * under all these keys (ended by NULL); NULL: none. */
const json_t *report_join(const Report *report, const json_t *rows, const char *const *keys);

/* ---- where a result goes --------------------------------------------------------------------- */

/* The width of the terminal that is standard output; 0: no terminal. */
int output_screen_columns(void);

/* Ends a result that was collected in memory, so that a file is replaced as a whole or not at all:
 * writes to `path`, or to standard output when `path` is NULL. `whole` is false where a report that
 * was printed into it had run out of memory: then nothing is written, and it fails. */
bool output_close(MemoryStream *output, bool whole, const char *path, Err *err);

/* The printer of --format for people: text or Markdown. NULL for CSV and JSON. */
ReportPrinter *output_printer(const Options *options);

/* Prints a report in the format of --format. For JSON, `root` gets the rows under "results" and is
 * printed. Releases `root` in all cases; NULL stands for out of memory. */
bool output_report(const Options *options, const Report *report, json_t *root, Err *err);

/* A table of a result, with the text that people see above it. */
typedef struct {
    const char *above;
    const Report *report; /* NULL: the text alone */
    ReportPrinter *print; /* NULL: the printer of --format */
} OutputTable;

/* As output_report. People see all tables, of the later ones those that have rows. */
bool output_tables(const Options *options, const OutputTable *tables, int count, json_t *root,
                   Err *err);

/* Says on standard error that a table's errors leave out `values` values of a scene, where FP64 is
 * not finite. Says it once where calls of one scene follow each other, and nothing where `values`
 * is 0. `time_s`: the first moment of `moments`; NaN: the scene has one. */
void output_left_out(const char *scene, int64_t values, double time_s, int moments);

/* The JSON block about the machine of a result; the second function is of this machine. */
json_t *output_machine(const Machine *machine);
json_t *output_this_machine(void);
