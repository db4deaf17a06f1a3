/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "kernels/clean.h"
#include "src/base/json_fields.h"
#include "src/base/progress.h"
#include "src/cli/model.h"
#include "src/cli/report.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

int report_screen_columns;

json_t *cell_text(const char *text) {
    return text ? fields_text(text) : json_null();
}

json_t *cell_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

double row_number(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *row_text(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* Returns the column with that key. -1: there is none. */
static int column_of(const Report *report, const char *key) {
    for (int column = 0; column < report->column_count; column++)
        if (!strcmp(report->columns[column].key, key))
            return column;
    return -1;
}

void report_row(Report *report) {
    static json_t *rows_of_all; /* the rows of all reports, which nobody frees */
    if (!rows_of_all)
        rows_of_all = json_array();
    if (!report->rows)
        json_array_append_new(rows_of_all, report->rows = json_array());
    json_array_append_new(report->rows, json_object());
    report->row_count++;
    report->unknown = false;
}

json_t *report_at(const Report *report, int row) {
    return json_array_get(report->rows, (size_t)row);
}

void report_add(Report *report, const char *key, const char *heading, int digits, json_t *cell) {
    if (column_of(report, key) < 0) {
        assert(report->row_count == 1 && report->column_count < REPORT_COLUMNS);
        report->columns[report->column_count++] = (ReportColumn){key, heading, digits};
    }
    if (report->unknown) {
        json_decref(cell);
        cell = json_null();
    }
    json_object_set_new(report_at(report, report->row_count - 1), key, cell);
}

void add_text(Report *report, const char *key, const char *heading, const char *text) {
    report_add(report, key, heading, 0, cell_text(text));
}

void add_int(Report *report, const char *key, const char *heading, long long value) {
    report_add(report, key, heading, 0, json_integer(value));
}

void add_real(Report *report, const char *key, const char *heading, int digits, double value) {
    report_add(report, key, heading, digits, cell_real(value));
}

void add_mb(Report *report, const char *key, const char *heading, int digits, double bytes) {
    add_real(report, key, heading, digits, bytes * 1e-6);
}

void add_bool(Report *report, const char *key, const char *heading, bool value) {
    report_add(report, key, heading, 0, json_boolean(value));
}

void report_add_config(Report *report, const char *scene, const KernelConfig *config) {
    add_text(report, "scene", "scene", scene);
    add_text(report, "kernel", "kernel", config->kernel->name);
    add_text(report, "where", "where", where_names[config->kernel->where]);
    add_text(report, "dtype", "dtype", bev_dtypes[config->dtype].name);
    add_text(report, "align", "align", bev_aligns[config->align].name);
}

void report_clear(Report *report) {
    json_array_clear(report->rows);
    report->row_count = 0;
}

ShortText report_number(double value, int digits) {
    double magnitude = fabs(value);
    if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e10))
        return short_text("%.*e", digits - 1, value);
    int decimals = magnitude > 0 ? digits - 1 - (int)floor(log10(magnitude)) : 0;
    return short_text("%.*f", decimals > 0 ? decimals : 0, value);
}

static const json_t *cell_at(const Report *report, int row, int column) {
    return json_object_get(report_at(report, row), report->columns[column].key);
}

void report_cell(const Report *report, int row, int column, char *text, size_t size) {
    const ReportColumn *head = &report->columns[column];
    const json_t *cell = cell_at(report, row, column);
    if (row < 0)
        text_micro(head->heading, text, size);
    else if (json_is_string(cell) && json_string_length(cell) < size)
        memcpy(text, json_string_value(cell), json_string_length(cell) + 1);
    else if (json_is_string(cell))
        clean_text(json_string_value(cell), text, size); /* cut between two characters */
    else if (json_is_real(cell))
        snprintf(text, size, "%s", report_number(json_real_value(cell), head->digits).text);
    else if (json_is_integer(cell))
        snprintf(text, size, "%lld", (long long)json_integer_value(cell));
    else if (json_is_boolean(cell))
        snprintf(text, size, "%s", json_is_true(cell) ? "yes" : "no");
    else
        snprintf(text, size, "%s", head->digits != DIGITS_BLANK ? "n/a" : "");
}

/* The columns as people see them. */
typedef struct {
    int widths[REPORT_COLUMNS];  /* 0: the column is not shown */
    bool words[REPORT_COLUMNS];  /* aligned to the left, as words are; numbers to the right */
    bool folded[REPORT_COLUMNS]; /* all rows have this value, which is no number */
    int width;                   /* of the table */
} Layout;

enum { BETWEEN = 2, HEADINGS = -1 }; /* blanks between two columns; the row of the headings */

/* Returns the characters that a column adds to the width of a table. */
static int room_of(int width) {
    return width ? width + BETWEEN : 0;
}

/* Measures the columns. `folds`: values that all rows share are folded; of one row, the group. */
static Layout lay_out(const Report *report, bool folds) {
    Layout layout = {.width = -BETWEEN};
    for (int column = 0; column < report->column_count; column++) {
        const ReportColumn *head = &report->columns[column];
        const json_t *first = cell_at(report, 0, column), *known = NULL; /* a cell with a value */
        const bool groups = report->group && !strcmp(head->key, report->group);
        bool same = folds && (report->row_count > 1 || groups) && !json_is_number(first);
        int width = 0;
        for (int row = HEADINGS; head->heading && row < report->row_count; row++) {
            char text[256];
            report_cell(report, row, column, text, sizeof text);
            const int characters = text_characters(text, strlen(text));
            width = characters > width ? characters : width;
            if (row == HEADINGS)
                continue;
            const json_t *cell = cell_at(report, row, column);
            same = same && json_equal(cell, first);
            if (!known && !json_is_null(cell))
                known = cell;
        }
        layout.words[column] = !known || json_is_string(known);
        layout.folded[column] = same && head->heading;
        layout.widths[column] = same ? 0 : width;
        layout.width += room_of(layout.widths[column]);
    }
    return layout;
}

/* Writes the folded columns as words: "dtype fp16; align nearest". "": no column is folded. */
static void describe_folded(const Report *report, const Layout *layout, char *text, size_t size) {
    text[0] = '\0';
    for (int column = 0; column < report->column_count; column++) {
        char cell[128], heading[64];
        if (!layout->folded[column])
            continue;
        report_cell(report, 0, column, cell, sizeof cell);
        text_for_locale(report->columns[column].heading, heading, sizeof heading);
        if (text[0])
            text_add(text, size, "; ");
        if (!strcmp(cell, "n/a"))
            text_add(text, size, "no %s", heading);
        else
            text_add(text, size, "%s %s", heading, cell);
    }
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

/* Prints a row, or the HEADINGS. */
static void print_row(const Report *report, int row, const Layout *layout, bool markdown,
                      FILE *out) {
    char text[256];
    const char *before = markdown ? "| " : "";
    for (int column = 0; column < report->column_count; column++) {
        const bool words = layout->words[column];
        if (!layout->widths[column])
            continue;
        report_cell(report, row, column, text, sizeof text);
        if (row == HEADINGS)
            text_for_locale(report->columns[column].heading, text, sizeof text);
        if (markdown)
            escape_bars(text, sizeof text);
        int pad = layout->widths[column] - text_characters(text, strlen(text));
        fprintf(out, "%s%*s%s%*s", before, words ? 0 : pad, "", text, words ? pad : 0, "");
        before = markdown ? " | " : "  ";
    }
    fputs(markdown ? " |\n" : "\n", out);
}

/* Returns how many columns identify a row: up to `names_to`, or all before the first numbers. */
static int count_name_columns(const Report *report, const Layout *layout) {
    int names = 0;
    if (report->names_to)
        return column_of(report, report->names_to) + 1;
    while (names < report->column_count && (!layout->widths[names] || layout->words[names]))
        names++;
    return names;
}

/* Chooses the columns of the next part of a split table: the first `names` columns, and all from
 * `*next` on that fit the screen. A part has at least one visible column besides the names. */
static Layout take_part(const Report *report, const Layout *layout, int names, int screen,
                        int *next) {
    Layout part = *layout;
    int used = -BETWEEN;
    bool has_column = false;
    for (int column = 0; column < names; column++)
        used += room_of(layout->widths[column]);
    for (int column = names; column < report->column_count; column++)
        part.widths[column] = 0;
    for (; *next < report->column_count; ++*next) {
        const int width = layout->widths[*next];
        if (has_column && used + room_of(width) > screen)
            break;
        part.widths[*next] = width;
        used += room_of(width);
        has_column |= width > 0;
    }
    return part;
}

/* Prints the folded columns as words, then the table. A table that is wider than the screen is
 * split. Each part begins with the columns that identify a row. */
static void print_whole(const Report *report, bool folds, bool markdown, FILE *out) {
    char folded[512];
    const Layout layout = lay_out(report, folds);
    const int count = report->column_count;
    const int screen = markdown || !report_screen_columns ? layout.width : report_screen_columns;
    const int names = layout.width > screen ? count_name_columns(report, &layout) : 0;
    int next = names;
    describe_folded(report, &layout, folded, sizeof folded);
    if (folded[0])
        fprintf(out, "In every row: %s.\n\n", folded);
    do {
        fputs(next > names ? "\n" : "", out);
        const Layout part = take_part(report, &layout, names, screen, &next);
        print_row(report, HEADINGS, &part, markdown, out);
        for (int column = 0; markdown && column < count; column++)
            if (part.widths[column])
                fputs(part.words[column] ? "|---" : "|---:", out);
        fputs(markdown ? "|\n" : "", out);
        for (int row = 0; row < report->row_count; row++)
            print_row(report, row, &part, markdown, out);
    } while (next < count);
}

/* Prints a table for each run of rows with equal values in the column `group`. */
static void print_groups(const Report *report, FILE *out) {
    const int group = column_of(report, report->group);
    for (int first = 0, end; first < report->row_count; first = end) {
        const json_t *shared = cell_at(report, first, group);
        Report part = *report;
        part.rows = json_array();
        json_array_append(part.rows, report_at(report, first));
        for (end = first + 1; json_equal(cell_at(report, end, group), shared); end++)
            json_array_append(part.rows, report_at(report, end));
        part.row_count = end - first;
        fputs(first ? "\n" : "", out);
        print_whole(&part, true, false, out);
        json_decref(part.rows);
    }
}

/* Prints a table. A table that is too wide is printed by its groups; without groups it folds. */
static void print_table(const Report *report, bool markdown, FILE *out) {
    bool too_wide = !markdown && report_screen_columns &&
                    lay_out(report, report->folds).width > report_screen_columns;
    if (too_wide && report->group)
        print_groups(report, out);
    else
        print_whole(report, report->folds || too_wide, markdown, out);
}

void report_text(const Report *report, FILE *out) {
    print_table(report, false, out);
}

static void report_markdown(const Report *report, FILE *out) {
    print_table(report, true, out);
}

/* Prints a text of CSV with the quotes of RFC 4180. A spreadsheet would take a text that begins
 * with = + - @ for a formula. Such a text gets an apostrophe in front. */
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

static void report_csv(const Report *report, FILE *out) {
    for (int column = 0; column < report->column_count; column++)
        fprintf(out, "%s%s", column ? "," : "", report->columns[column].key);
    fputc('\n', out);
    for (int row = 0; row < report->row_count; row++) {
        for (int column = 0; column < report->column_count; column++) {
            const json_t *cell = cell_at(report, row, column);
            fputs(column ? "," : "", out);
            if (json_is_string(cell))
                print_csv_text(json_string_value(cell), out);
            else if (json_is_real(cell))
                fprintf(out, "%.10g", json_real_value(cell));
            else if (json_is_integer(cell))
                fprintf(out, "%lld", (long long)json_integer_value(cell));
            else if (json_is_boolean(cell))
                fputs(json_is_true(cell) ? "true" : "false", out);
        }
        fputc('\n', out);
    }
}

json_t *report_json(const Report *report) {
    return report->rows ? json_incref(report->rows) : json_array();
}

void report_columns(Report *report, const ReportColumn *columns, size_t count) {
    report_clear(report);
    assert(report->column_count + count <= REPORT_COLUMNS);
    memcpy(report->columns + report->column_count, columns, count * sizeof *columns);
    report->column_count += (int)count;
}

void report_add_object(Report *report, const json_t *row) {
    report_row(report);
    for (int i = 0; i < report->column_count; i++) {
        const ReportColumn *column = &report->columns[i];
        json_t *value = json_object_get(row, column->key), *cell = json_null();
        if (json_is_string(value))
            cell = cell_text(json_string_value(value)); /* without control characters */
        else if (value)
            cell = json_incref(value);
        report_add(report, column->key, column->heading, column->digits, cell);
    }
}

void report_hide(Report *report, const char *key) {
    int column = column_of(report, key);
    if (column >= 0)
        report->columns[column].heading = NULL;
}

/* ---- where a result goes --------------------------------------------------------------------- */

const char output_command[] = "        ";

/* Returns the indent for the rest of a long line: the place of the last column in the left half of
 * the screen. Two blanks stand before a column. */
static int hanging_indent(const char *line, size_t length) {
    int indent = 0;
    for (size_t i = 2; i < length; i++) {
        const bool begins = line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ';
        if (begins && text_characters(line, i) <= report_screen_columns / 2)
            indent = text_characters(line, i);
    }
    return indent;
}

/* Prints a result. A terminal gets its lines without the blanks at their ends, and long lines are
 * broken, except commands to paste. */
static bool print_result(const MemoryStream *output) {
    const char *line = output->bytes;
    const bool wraps = report_screen_columns > 0;
    bool ok = wraps || fwrite(line, 1, output->length, stdout) == output->length;
    while (wraps && ok && *line) {
        const size_t end = strcspn(line, "\n");
        const bool is_command = !strncmp(line, output_command, strlen(output_command));
        size_t length = end;
        while (length && line[length - 1] == ' ')
            length--;
        const int indent = is_command ? 0 : hanging_indent(line, length);
        const int columns = is_command ? INT_MAX : report_screen_columns;
        ok = text_wrap(line, length, 0, indent, columns, stdout);
        line += end + (line[end] == '\n');
    }
    return fflush(stdout) == 0 && ok;
}

bool output_close(MemoryStream *output, const char *path, Err *err) {
    if (!memory_stream_close(output, path ? path : "standard output", err))
        return false;
    bool ok = path ? data_write(path, output->bytes, output->length, err)
                   : print_result(output) ||
                         err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
    free(output->bytes);
    return ok;
}

int output_screen_columns(void) {
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static ReportPrinter *format_printer(const Options *options) {
    static ReportPrinter *const printers[] = {report_text, report_markdown, report_csv, NULL, NULL,
                                              NULL};
    progress_end(); /* the caller prints now */
    ReportPrinter *print = printers[choices_find(CHOICE_RECORDS, options->format)];
    report_screen_columns = print == report_text && !options->output ? output_screen_columns() : 0;
    return print;
}

ReportPrinter *output_printer(const Options *options) {
    ReportPrinter *print = format_printer(options);
    return print == report_csv ? NULL : print;
}

/* Prints `root` with the rows of the report, and the keys of output_head that `root` lacks. */
static void print_json(const Options *options, const Report *report, json_t *root, FILE *out) {
    json_t *head = output_head(commands[options->command].name);
    json_object_update_missing(root, head);
    json_decref(head);
    json_object_set_new(root, "results", report_json(report));
    json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    fputc('\n', out);
}

bool output_tables(const Options *options, const OutputTable *tables, int count, json_t *root,
                   Err *err) {
    ReportPrinter *print = format_printer(options);
    const bool people = print && print != report_csv;
    MemoryStream output;
    bool ok = memory_stream_open(&output, err);
    for (int i = 0; ok && i < count; i++) {
        const Report *report = tables[i].report;
        const bool shown = !i || (people && (!report || report->row_count));
        if (tables[i].key)
            json_object_set_new(root, tables[i].key, report_json(report));
        if (shown && people && tables[i].above)
            fputs(tables[i].above, output.stream);
        if (shown && print && report)
            (people && tables[i].print ? tables[i].print : print)(report, output.stream);
    }
    if (ok && !print)
        print_json(options, tables->report, root, output.stream);
    json_decref(root);
    return ok && output_close(&output, options->output, err);
}

bool output_report(const Options *options, const Report *report, json_t *root, Err *err) {
    return output_tables(options, &(OutputTable){.report = report}, 1, root, err);
}

/* Reads a length in 1/96 inch. A PNG whose length is in mm, pt or in has 300 pixels an inch. */
static bool read_width(const char *text, PictureFile *file) {
    static const struct {
        const char *unit;
        double units;
    } units[] = {{"", 1}, {"px", 1}, {"mm", 96 / 25.4}, {"pt", 96 / 72.0}, {"in", 96}};
    char *end;
    double length = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && !strcmp(end, units[i].unit)) {
            file->w = length * units[i].units;
            file->scale = file->format == PICTURE_PNG && i > 1 ? 300 / 96.0 : 1;
            return file->w >= 240 && file->w <= 8000;
        }
    return false;
}

bool output_picture(const Options *options, const char *path, const char *command,
                    PictureFile *file, Err *err) {
    static const char *const suffixes[] = {".png", ".svg", ".pdf"};
    int format = 0;
    const char *name = path && !strcmp(path, "-") ? "-.png" : path; /* standard output is a PNG */
    *file = (PictureFile){.scale = 1};
    if (!path)
        return err_set(err, ERR_USAGE, command, "add -o FILE.png, -o FILE.svg or -o FILE.pdf",
                       "no picture is named");
    const size_t length = strlen(name);
    while (format < 3 && (length < 5 || strcasecmp(name + length - 4, suffixes[format]) != 0))
        format++;
    if (format == 3)
        return err_set(err, ERR_USAGE, path, "name it .png, .svg or .pdf",
                       "the suffix does not say which format");
    file->format = (PictureFormat)format;
    return !options->width || read_width(options->width, file) ||
           err_set(err, ERR_USAGE, "--width",
                   "use 85mm, 240pt, 3.3in or 800px, from 240 to 8000 px",
                   "'%s' is no width of a picture", options->width);
}

bool output_page(const PageSpec *page, PictureFormat format, const char *path, Err *err) {
    MemoryStream file;
    bool ok = page_file(page, format, &file, err) && data_write(path, file.bytes, file.length, err);
    free(file.bytes);
    return ok;
}

bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err) {
    PictureFile file;
    PlotPage page;
    spec->theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme);
    return output_picture(options, path, "plot", &file, err) &&
           output_page(plot_page(spec, file.w, file.scale, &page), file.format, path, err);
}

static const char *text_or_null(const char *text) {
    return text[0] ? text : NULL;
}

static json_t *count_or_null(int64_t count) {
    return count > 0 ? json_integer(count) : json_null();
}

void output_left_out(const char *scene, int64_t values, double time_s, int moments) {
    static char said[256];
    char name[256];
    clean_text(scene, name, sizeof name);
    if (!values || !strcmp(name, said))
        return;
    memcpy(said, name, sizeof said);
    progress_hide();
    const ShortText when =
        isnan(time_s) ? (ShortText){""}
                      : short_text(moments > 1 ? " at %g s, and at %d moments more" : " at %g s",
                                   time_s, moments - 1);
    fprintf(stderr, "bevscope: %s: FP64 is NaN or infinite%s: %lld values are not compared\n", name,
            when.text, (long long)values);
}

json_t *output_machine(const Machine *machine) {
    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "cpu",
                     text_or_null(machine->cpu), "cores", count_or_null(machine->cores), "threads",
                     count_or_null(machine->threads), "l2_bytes", count_or_null(machine->l2_bytes),
                     "l3_bytes", count_or_null(machine->l3_bytes), "memory_bytes",
                     count_or_null(machine->memory_bytes), "system", text_or_null(machine->system),
                     "bevscope", text_or_null(machine->version), "date",
                     text_or_null(machine->date), "gpu", text_or_null(machine->gpu), "driver",
                     text_or_null(machine->driver), "cuda", text_or_null(machine->cuda));
}

json_t *output_head(const char *command) {
    Machine machine;
    machine_read(&machine);
    return json_pack("{ss ss so}", "command", command, "version", PACKAGE_VERSION, "machine",
                     output_machine(&machine));
}

int output_check(int status) {
    errno = 0;
    const bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || status)
        return status;
    fprintf(stderr, "bevscope: standard output: cannot write%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return ERR_FAILED;
}
