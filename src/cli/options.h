/* SPDX-License-Identifier: MIT */
/* The command line, with a table of commands and a table of options. Parsing, --help, the manual
 * pages and the texts of errors follow from these tables. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/scene/scatter.h"

// clang-format off
typedef enum {
    COMMAND_LIVE, COMMAND_SNAPSHOT, COMMAND_VERIFY, COMMAND_BENCH, COMMAND_INFO, COMMAND_EXPORT,
    COMMAND_REGIME, COMMAND_PLOT, COMMAND_GLOSSARY,
    COMMAND_LEARN, COMMAND_TRY,
    COMMAND_STEPS, COMMAND_DEMO, COMMAND_RIG, COMMAND_CALIBRATE,
    COMMAND_SENSITIVITY, COMMAND_MERGE,
    COMMAND_COUNT
} CommandId;

/* Sets of values that an option may accept. options.c has the table of each set. */
typedef enum {
    CHOICE_NONE, CHOICE_KERNEL, CHOICE_DTYPE, CHOICE_ALIGN, CHOICE_VIEW, CHOICE_COLORMAP,
    CHOICE_FORMAT, CHOICE_CACHE, CHOICE_TIMING, CHOICE_THEME, CHOICE_COLOR, CHOICE_GPU,
    CHOICE_SWEEP, CHOICE_STORES, CHOICE_DIRECTION, CHOICE_STAGE, CHOICE_TIMED, CHOICE_LOSS,
    CHOICE_STRIP, CHOICE_TRUTH, CHOICE_ROUNDING, CHOICE_METHOD, CHOICE_TENSOR, CHOICE_PIXELS,
    CHOICE_RECORDS, CHOICE_MERGED, CHOICE_SET_COUNT
} ChoiceSet;
// clang-format on

/* The rigs of samples/rigs/, as words of --from. */
#define RIG_NAMES "nuscenes argoverse2 waymo kitti360 robot"

enum { OPTIONS_MAX_ROWS = 160 };

/* The types of the fields, by kind. */
#define OPTION_FLAG              bool
#define OPTION_TEXT              const char *
#define OPTION_PRUNE             Prune
#define OPTION_CHOICE(set)       const char *
#define OPTION_LIST(set)         const char *
#define OPTION_REAL(least, most) double
#define OPTION_INT(least, most)  int64_t
#define OPTION_REAL_SAME         double
#define OPTION_INT_SAME          int64_t
#define OPTION(kind, field, ...) OPTION_##kind field;
#define SAME(kind, field, ...)   OPTION_##kind field;
#define AGAIN(...)
#define SAME_IN(...)

/* The parsed values. Texts and names are NULL and numbers 0 where an option was not given, unless
 * options_parse() says otherwise. */
typedef struct {
    CommandId command;
    const char **arguments; /* SCENE ..., in argv */
    int argument_count;
    CameraError fault; /* the error in the calibration of `camera` */
#include "src/cli/options.inc"
#undef OPTION
#undef SAME
#undef AGAIN
#undef SAME_IN
    const char *given[OPTIONS_MAX_ROWS]; /* by row; "on": a flag; NULL: not given */
} Options;

typedef bool CommandFunction(const Options *options, Err *err);

typedef struct {
    const char *name, *synopsis, *summary;
    const char *details;  /* paragraphs of --help and the manual page */
    const char *examples; /* uses of the command, a line each */
    int min_arguments, max_arguments;
    CommandFunction *run;
} Subcommand;

/* In the order of CommandId. A command runs once, and the program ends after it: what a command has
 * once is static and is not freed. The functions are in cmd_*.c, plots.c, records.c and help.c. */
extern const Subcommand commands[COMMAND_COUNT];
CommandFunction cmd_live, cmd_snapshot, cmd_verify, cmd_bench, cmd_info, cmd_export, cmd_regime,
    cmd_plot, cmd_glossary, cmd_learn, cmd_try, cmd_steps, cmd_demo, cmd_rig, cmd_calibrate,
    cmd_sensitivity, cmd_merge;

/* Sets the defaults, then parses the command, its options and its arguments. Without a command it
 * is live. The arguments move to the front in `argv`, and options->arguments points there. */
bool options_parse(Options *options, int argc, char **argv, Err *err);

/* Refuses the options `names`, such as "cell,loss": the first one that was given is the error.
 * True: none of these options was given. */
bool options_refuse(const Options *options, const char *names, const char *hint, const char *what,
                    Err *err);

typedef struct {
    const char *name;
    char letter;          /* 0: no letter */
    const char *argument; /* NULL: a flag */
    unsigned commands;    /* bit mask of CommandId */
    size_t offset;        /* offset of the field in Options */
    enum { KIND_FLAG, KIND_TEXT, KIND_CHOICE, KIND_LIST, KIND_REAL, KIND_INT, KIND_PRUNE } kind;
    const char *help;
    ChoiceSet choices; /* KIND_CHOICE, KIND_LIST */
    double min, max;   /* KIND_REAL, KIND_INT */
    bool apart;        /* no figure depends on the option */
    int control;       /* 1 + the Action (src/state/keys.h) of the live display's control that the
                          option sets; 0: none */
    int number;        /* in Options.given */
} OptionRow;

/* Returns the option of a command that follows `row`; NULL: the first. After the last NULL. */
const OptionRow *options_next(CommandId command, const OptionRow *row);

/* Writes the help of an option with the names that the option accepts. */
enum { OPTION_HELP = 768 };
void option_help(const OptionRow *row, char text[OPTION_HELP]);

/* Returns the command of this name. COMMAND_COUNT: there is none. */
CommandId command_find(const char *name);

/* Writes all arguments with `between` between two of them. */
void options_arguments(const Options *options, const char *between, char *text, size_t size);

/* Writes the given options on which the figures of a result depend: "--kernel v4 --dtype fp8". */
void options_given(const Options *options, char *text, size_t size);

/* Print the help of one command, the help of the program, and a manual page (roff): of the command
 * with this name, or of the program for NULL. False: there is no such command. */
void help_command(CommandId command, FILE *out);
void help_program(FILE *out);
bool help_man(const char *command, FILE *out, Err *err);

/* Prints the values that the last word may have, each with a tab and its help. */
void help_complete(int count, char **words, FILE *out);

/* bevscope --list: prints every name that the program accepts. False: a sample could not be loaded.
 * The list has the reason, too. */
bool help_list(FILE *out, Err *err);

/* ---- the values that an option may take ------------------------------------------------------ */

/* Returns name `i` of a table. NULL: the table has fewer. */
const char *choices_name(ChoiceSet set, int i);

/* Returns the position of a name in its table. -1: the name is not there. */
int choices_find(ChoiceSet set, const char *name);

/* Returns the position of a name in its table; `fallback` for NULL. */
int choices_or(ChoiceSet set, const char *name, int fallback);

/* Checks a name, or a list of names with commas or "all". The error suggests a known name. */
bool choices_check(ChoiceSet set, const char *text, bool list, const char *option, Err *err);

/* Copies the first item of a comma-separated list, at most 63 bytes, and moves `*list` to the next
 * item. After the last item `*list` is NULL. Returns false if `*list` is NULL. */
enum { CHOICE_ITEM = 64 };
bool choices_item(const char **list, char item[CHOICE_ITEM]);

/* Returns the bits of the names in a list that choices_check has accepted. NULL: returns
 * `fallback`. The title of a kernel or GPU gives the bits of all rows with this title. */
uint64_t choices_mask(ChoiceSet set, const char *text, uint64_t fallback);
