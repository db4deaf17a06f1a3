/* Where a command's result goes: standard output, or a file that is replaced as a whole. */
#ifndef BEV_OUTPUT_H
#define BEV_OUTPUT_H

#include "src/run/machine.h"
#include "src/cli/options.h"
#include "src/cli/report.h"

/* Collects in memory; output_close writes to `path`, or to standard output when NULL. */
typedef struct {
    FILE *stream;
    char *text;
    size_t length;
} Output;

bool output_open(Output *output, Err *err);
bool output_close(Output *output, const char *path, Err *err);

/* Prints a report in the asked-for format. For JSON, `root` gets the rows under "results" and is
 * printed and released; for the others it is only released. */
bool output_report(const Options *options, const Report *report, json_t *root, Err *err);

/* Whether the picture asked for with --output is to be SVG rather than PNG, by its suffix. False:
 * none is named, or it has another. `command` heads the error. */
bool output_picture(const Options *options, const char *command, bool *svg, Err *err);

/* The block that says what a result was measured on. */
json_t *output_machine(const Machine *machine);

#endif
