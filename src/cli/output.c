/* SPDX-License-Identifier: MIT */
/* Writes a result to a file, completely or not at all, or to standard output. */
#include "config.h"
#include "kernels/clean.h"
#include "src/base/data.h"
#include "src/base/units.h"
#include "src/cli/model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char output_command[] = "        ";

/* Returns the indent for the rest of a long line: its last column, which two blanks precede. */
static int hanging_indent(const char *line, size_t length) {
    int indent = 0;
    for (size_t i = 2; i < length; i++)
        if (line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ' &&
            text_characters(line, i) <= report_screen_columns / 2)
            indent = text_characters(line, i);
    return indent;
}

/* Prints a result. On a terminal long lines are broken, and blanks at their ends left out. */
static bool print_result(const MemoryStream *output) {
    const char *text = output->bytes;
    bool ok = report_screen_columns || fwrite(text, 1, output->length, stdout) == output->length;
    while (report_screen_columns && ok && *text) {
        size_t end = strcspn(text, "\n"), length = end;
        const bool whole = !strncmp(text, output_command, strlen(output_command));
        while (length && text[length - 1] == ' ')
            length--;
        ok = text_wrap(text, length, 0, whole ? 0 : hanging_indent(text, length),
                       whole ? INT_MAX : report_screen_columns, stdout);
        text += end + (text[end] == '\n');
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
    static ReportPrinter *const printers[] = {report_text, report_markdown, report_csv,
                                              NULL,        NULL,            NULL};
    ReportPrinter *print = printers[choices_find(CHOICE_RECORDS, options->format)];
    report_screen_columns = print == report_text && !options->output ? output_screen_columns() : 0;
    return print;
}

ReportPrinter *output_printer(const Options *options) {
    ReportPrinter *print = format_printer(options);
    return print == report_csv ? NULL : print;
}

/* Prints `root` with the rows as text, and what every result has, as far as it lacks that. */
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

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcasecmp(path + length - tail, suffix);
}

/* Reads a length in units of a page, 1/96 inch. A picture of a length in mm, pt or in has 300
 * pixels an inch. */
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
    const char *name = path && !strcmp(path, "-") ? "-.png" : path; /* of standard output */
    *file = (PictureFile){.scale = 1};
    if (!path)
        return err_set(err, ERR_USAGE, command, "add -o FILE.png, -o FILE.svg or -o FILE.pdf",
                       "no picture is named");
    while (format < 3 && !has_suffix(name, suffixes[format]))
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

bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    PictureFile file;
    PlotPage page;
    spec->theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme);
    bool ok =
        output_picture(options, path, "plot", &file, err) &&
        page_file(plot_page(spec, file.w, file.scale, &page), file.format, &bytes, &length, err) &&
        data_write(path, bytes, length, err);
    free(bytes);
    return ok;
}

static const char *text_or_null(const char *text) {
    return text[0] ? text : NULL;
}

static json_t *count_or_null(int64_t count) {
    return count > 0 ? json_integer(count) : json_null();
}

void output_left_out(const char *scene, int64_t values, double time_s, int moments) {
    static char said[256];
    char name[256], when[64] = "";
    clean_text(scene, name, sizeof name);
    if (!values || !strcmp(name, said))
        return;
    memcpy(said, name, sizeof said);
    if (!isnan(time_s))
        snprintf(when, sizeof when, moments > 1 ? " at %g s, and at %d moments more" : " at %g s",
                 time_s, moments - 1);
    fprintf(stderr, "bevscope: %s: FP64 is NaN or infinite%s: %lld values are not compared\n", name,
            when, (long long)values);
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
