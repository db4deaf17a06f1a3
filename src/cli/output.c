#include "src/cli/report.h"

#include "src/base/data.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool output_open(Output *output, Err *err) {
    *output = (Output){0};
    output->stream = open_memstream(&output->text, &output->length);
    return output->stream || err_set(err, ERR_FAILED, "output", "", "out of memory");
}

bool output_close(Output *output, const char *path, Err *err) {
    bool complete = fclose(output->stream) == 0;
    bool ok = complete || err_set(err, ERR_FAILED, "output", "", "out of memory");
    if (ok && path)
        ok = data_write(path, output->text, output->length, err);
    else if (ok && (fwrite(output->text, 1, output->length, stdout) != output->length ||
                    fflush(stdout) != 0))
        ok = err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
    free(output->text);
    return ok;
}

static ReportPrinter *printer_of(const Options *options) {
    static ReportPrinter *const printers[] = {report_text, report_markdown, report_csv, NULL};
    return printers[choices_find(CHOICE_FORMAT, options->format)];
}

ReportPrinter *output_printer(const Options *options) {
    ReportPrinter *print = printer_of(options);
    return print == report_csv ? NULL : print;
}

bool output_report(const Options *options, const Report *report, json_t *root, Err *err) {
    ReportPrinter *print = printer_of(options);
    Output output;
    bool ok = !report->out_of_memory || err_set(err, ERR_FAILED, "output", "", "out of memory");
    ok = ok && output_open(&output, err);
    if (ok && print)
        print(report, output.stream);
    else if (ok) {
        json_object_set_new(root, "results", report_json(report));
        json_dumpf(root, output.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        fputc('\n', output.stream);
    }
    json_decref(root);
    return ok && output_close(&output, options->output, err);
}

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcasecmp(path + length - tail, suffix);
}

bool output_picture(const Options *options, const char *command, bool *svg, Err *err) {
    if (!options->output)
        return err_set(err, ERR_USAGE, command, "add -o FILE.png or -o FILE.svg",
                       "no picture is named");
    *svg = has_suffix(options->output, ".svg");
    return *svg || has_suffix(options->output, ".png") ||
           err_set(err, ERR_USAGE, options->output, "name it .png or .svg",
                   "the suffix does not say which format");
}

static void set_text(json_t *object, const char *key, const char *text) {
    json_object_set_new(object, key, text[0] ? json_string(text) : json_null());
}

static void set_count(json_t *object, const char *key, int64_t count) {
    json_object_set_new(object, key, count > 0 ? json_integer(count) : json_null());
}

json_t *output_machine(const Machine *machine) {
    json_t *block = json_object();
    set_text(block, "cpu", machine->cpu);
    set_count(block, "cores", machine->cores);
    set_count(block, "threads", machine->threads);
    set_count(block, "l2_bytes", machine->l2_bytes);
    set_count(block, "l3_bytes", machine->l3_bytes);
    set_count(block, "memory_bytes", machine->memory_bytes);
    set_text(block, "system", machine->system);
    set_text(block, "bevscope", machine->version);
    set_text(block, "date", machine->date);
    set_text(block, "gpu", machine->gpu);
    set_text(block, "driver", machine->driver);
    set_text(block, "cuda", machine->cuda);
    return block;
}

json_t *output_this_machine(void) {
    Machine machine;
    machine_read(&machine);
    return output_machine(&machine);
}
