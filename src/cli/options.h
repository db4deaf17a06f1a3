/* The command line: one table of options, from which parsing, --help, the man page and the errors
 * are derived. */
#ifndef BEV_OPTIONS_H
#define BEV_OPTIONS_H

#include "kernels/err.h"

#include <stdint.h>
#include <stdio.h>

typedef enum {
    COMMAND_LIVE,
    COMMAND_SNAPSHOT,
    COMMAND_VERIFY,
    COMMAND_BENCH,
    COMMAND_INFO,
    COMMAND_EXPORT,
    COMMAND_REGIME,
    COMMAND_AGREEMENT,
    COMMAND_PLOT,
    COMMAND_REPORT,
    COMMAND_GLOSSARY,
    COMMAND_COUNT
} CommandId;

enum { OPTIONS_MAX_ARGUMENTS = 32 };

/* Parsed values; each field is one row of the table. */
typedef struct {
    CommandId command;
    const char *arguments[OPTIONS_MAX_ARGUMENTS]; /* SCENE ... */
    int argument_count;
    bool help;

    const char *kernel, *dtype, *align, *device; /* names, or comma-separated lists of them */
    double time_s, temperature;
    int64_t channels;

    const char *output, *format, *cache, *timing, *l2_carveout;
    bool quick, single, recorded, half, kernels, probe;

    const char *view, *colormap, *range, *compare, *theme, *title;
    int64_t channel, width;
    bool cameras, table, no_outlines;

    const char *gpu, *gpu_file, *over;
    double l2_mb;
    bool counters;

    const char *color;
    bool ascii, no_window, plain;
    const char *script, *frames, *size;
} Options;

typedef struct {
    const char *name, *synopsis, *summary;
    const char *details; /* paragraphs for --help and the man page */
    int min_arguments, max_arguments;
    bool (*run)(const Options *options, Err *err);
} Command;

/* In the order of CommandId; `run` lives in src/cli/cmd_*.c. */
extern const Command commands[COMMAND_COUNT];

/* Fills defaults and parses argv[1..]: the command, its options and arguments. No command, or a
 * scene in its place, means the live display. */
bool options_parse(Options *options, int argc, char **argv, Err *err);

/* Help of one command, of the whole program, and the manual page (roff), all from the tables. */
void options_help_command(CommandId command, FILE *out);
void options_help(FILE *out);
void options_man(FILE *out);

/* The manual's section on the words. `print` writes a text with what roff would take for its own
 * escaped. */
void man_glossary(FILE *out, void (*print)(FILE *out, const char *text));

bool cmd_live(const Options *options, Err *err);
bool cmd_snapshot(const Options *options, Err *err);
bool cmd_verify(const Options *options, Err *err);
bool cmd_bench(const Options *options, Err *err);
bool cmd_info(const Options *options, Err *err);
bool cmd_export(const Options *options, Err *err);
bool cmd_regime(const Options *options, Err *err);
bool cmd_agreement(const Options *options, Err *err);
bool cmd_plot(const Options *options, Err *err);
bool cmd_report(const Options *options, Err *err);
bool cmd_glossary(const Options *options, Err *err);

#endif
