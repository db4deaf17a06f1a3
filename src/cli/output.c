#include "src/cli/output.h"

#include "src/cli/choices.h"
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

bool output_report(const Options *options, const Report *report, json_t *root, Err *err) {
    static void (*const printers[])(const Report *, FILE *) = {report_text, report_markdown,
                                                               report_csv};
    Output output;
    int format = choices_find(CHOICE_FORMAT, options->format);
    bool is_json = format >= (int)(sizeof printers / sizeof *printers);
    bool ok = output_open(&output, err);
    if (ok && is_json) {
        json_object_set_new(root, "results", report_json(report));
        json_dumpf(root, output.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        fputc('\n', output.stream);
    } else if (ok)
        printers[format](report, output.stream);
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

static json_t *text_or_null(const char *text) {
    return text[0] ? json_string(text) : json_null();
}

static json_t *count_or_null(int64_t count) {
    return count > 0 ? json_integer(count) : json_null();
}

json_t *output_machine(const Machine *machine) {
    return json_pack("{so so so so so so so so so so so so}", "cpu", text_or_null(machine->cpu),
                     "cores", count_or_null(machine->cores), "threads",
                     count_or_null(machine->threads), "l2_bytes", count_or_null(machine->l2_bytes),
                     "l3_bytes", count_or_null(machine->l3_bytes), "memory_bytes",
                     count_or_null(machine->memory_bytes), "system", text_or_null(machine->system),
                     "bevscope", text_or_null(machine->version), "date",
                     text_or_null(machine->date), "gpu", text_or_null(machine->gpu), "driver",
                     text_or_null(machine->driver), "cuda", text_or_null(machine->cuda));
}
