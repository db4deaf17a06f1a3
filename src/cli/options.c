#include "src/cli/options.h"

#include "src/cli/choices.h"
#include "src/cli/controls.h"
#include "src/base/nearest.h"
#include "src/scene/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const Command commands[COMMAND_COUNT] = {
    [COMMAND_LIVE] =
        {"live", "[SCENE]", "watch a moving scene, toggle kernels and formats",
         "The terminal becomes a dashboard, and a window shows the BEV where there is a display; "
         "keys change what is computed, '?' lists them. The word live may be left out. Where there "
         "is no terminal, control words are read from standard input, a line each, and figures are "
         "printed as plain lines. Without SCENE: intersection.",
         0, 1, cmd_live},
    [COMMAND_SNAPSHOT] =
        {"snapshot", "SCENE -o FILE.png", "draw the BEV grid as a figure",
         "Pools SCENE with one kernel and draws the result as seen from above, x forward up, as "
         "PNG "
         "or SVG (by the name's suffix). The same scene and options give the same pixels, unless "
         "--timing measured puts this moment's clock into the caption.",
         1, 1, cmd_snapshot},
    [COMMAND_VERIFY] =
        {"verify", "[SCENE]...", "judge every kernel by three accuracy gates",
         "Gate A compares with FP64 over the stored inputs and a bound for rounding, gate B says "
         "what the number format costs against FP64 over the original inputs, gate C demands exact "
         "equality on data that every order of summation sums exactly. Without SCENE: canonical, "
         "asymmetric and toy. Exit status 3 when a gate fails.",
         0, OPTIONS_MAX_ARGUMENTS, cmd_verify},
    [COMMAND_BENCH] =
        {"bench", "[SCENE]...", "time every kernel, caches warm and cold",
         "Medians and percentiles of single poolings, the prepare step apart, effective bandwidth "
         "by the kernel's own traffic model, and the speed-up over V2 on the same device. Without "
         "SCENE: the published configurations.",
         0, OPTIONS_MAX_ARGUMENTS, cmd_bench},
    [COMMAND_INFO] =
        {"info", "[SCENE]...", "describe this machine, build and scenes",
         "Without SCENE: the machine, the devices and the kernels. With SCENE: shapes, points, "
         "intervals, gather traffic and footprint.",
         0, OPTIONS_MAX_ARGUMENTS, cmd_info},
    [COMMAND_EXPORT] =
        {"export", "SCENE OUT.npz", "write a scene's tensors for NumPy",
         "Writes depth, feat, the calibration, the five index arrays and bev_shape, as "
         "numpy.load and bevscope itself read them.",
         2, 2, cmd_export},
    [COMMAND_REGIME] =
        {"regime", "SCENE", "model a scene's memory traffic on any GPU",
         "Follows the accesses of every CUDA kernel in the order of its blocks and warps, counts "
         "them, "
         "finds the hit rate of an L2 of every size, and predicts DRAM bytes and the latency with "
         "its parts: DRAM, L2, issue and the longest chain. All of it is a model and needs no GPU; "
         "recorded and published latencies stand beside it where known. With --counters, what the "
         "hardware counted stands beside it.",
         1, 1, cmd_regime},
    [COMMAND_AGREEMENT] =
        {"agreement", "[SCENE]...", "hold the memory model against hardware counters",
         "How far the model is off, kernel by kernel, where counters were recorded: L2 hit rate, "
         "DRAM "
         "bytes, latency, and the order of the kernels. Needs no GPU. Without SCENE: all that were "
         "counted, which takes minutes.",
         0, OPTIONS_MAX_ARGUMENTS, cmd_agreement},
    [COMMAND_PLOT] =
        {"plot", "KIND SCENE -o FILE.png", "draw the memory model as a chart",
         "KIND is a chart's name, as bevscope --list shows them. PNG or SVG, by the name's suffix. "
         "Charts of one GPU show the first of --gpu. Everything modelled says so.",
         2, 2, cmd_plot},
    [COMMAND_REPORT] =
        {"report", "SCENE -o FOLDER", "write a page about a scene's memory regimes",
         "FOLDER/report.html holds its pictures and tables, the machine and the command lines in "
         "one "
         "file, to send around. The model beside what was published and recorded, with its errors. "
         "Half a minute; needs no GPU.",
         1, 1, cmd_report},
    [COMMAND_GLOSSARY] =
        {"glossary", "[WORD]...", "say what the words on the screens mean",
         "Prints what each WORD means; without WORD, the whole glossary.", 0,
         OPTIONS_MAX_ARGUMENTS, cmd_glossary},
};

typedef enum { KIND_FLAG, KIND_TEXT, KIND_CHOICE, KIND_LIST, KIND_REAL, KIND_INT } OptionKind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    const char *argument;
    OptionKind kind;
    unsigned commands; /* bit mask of CommandId */
    size_t offset;
    ChoiceSet choices; /* KIND_CHOICE, KIND_LIST */
    double min, max;   /* KIND_REAL, KIND_INT */
    const char *help;
} OptionRow;

#define ON(command)  (1u << COMMAND_##command)
#define ALL          ((1u << COMMAND_COUNT) - 1)
#define RUNS         (ON(LIVE) | ON(SNAPSHOT) | ON(VERIFY) | ON(BENCH))
#define MODELS       (ON(REGIME) | ON(PLOT) | ON(REPORT))
#define SCENES       (RUNS | MODELS | ON(INFO) | ON(EXPORT))
#define FIELD(field) offsetof(Options, field)

static const OptionRow rows[] = {
    {"kernel", 'k', "NAME", KIND_CHOICE, RUNS, FIELD(kernel), CHOICE_KERNEL, 0, 0,
     "kernel by name or title (live and snapshot: the best of the device; else all)"},
    {"dtype", 'd', "LIST", KIND_LIST, RUNS | MODELS | ON(INFO), FIELD(dtype), CHOICE_DTYPE, 0, 0,
     "number formats (bench: fp32,fp16; verify: all; else fp16)"},
    {"align", 'a', "LIST", KIND_LIST, SCENES, FIELD(align), CHOICE_ALIGN, 0, 0,
     "how points meet cells (verify: all; else nearest)"},
    {"device", 0, "WHICH", KIND_TEXT, ALL & ~ON(GLOSSARY), FIELD(device), CHOICE_NONE, 0, 0,
     "auto, cpu, cuda or a GPU's number (default: auto)"},
    {"time", 't', "SECONDS", KIND_REAL, SCENES, FIELD(time_s), CHOICE_NONE, 0, 1e6,
     "moment of a moving world (default: 0)"},
    {"temperature", 0, "T", KIND_REAL, SCENES, FIELD(temperature), CHOICE_NONE, 0.01, 100,
     "of the depth distribution: below 1 sharpens, above 1 smears"},
    {"channels", 'c', "N", KIND_INT, SCENES, FIELD(channels), CHOICE_NONE, 1, 1024,
     "feature channels instead of the scene's own"},
    {"output", 'o', "FILE", KIND_TEXT,
     ON(SNAPSHOT) | ON(VERIFY) | ON(BENCH) | ON(INFO) | ON(AGREEMENT) | MODELS, FIELD(output),
     CHOICE_NONE, 0, 0, "write here instead of to standard output, atomically"},
    {"format", 'f', "FORMAT", KIND_CHOICE,
     ON(VERIFY) | ON(BENCH) | ON(INFO) | ON(REGIME) | ON(AGREEMENT), FIELD(format), CHOICE_FORMAT,
     0, 0, "table, markdown, csv or json (default: table)"},
    {"cache", 0, "LIST", KIND_LIST, ON(BENCH), FIELD(cache), CHOICE_CACHE, 0, 0,
     "cache states to time (default: both)"},
    {"quick", 'q', NULL, KIND_FLAG, ON(BENCH) | ON(REPORT), FIELD(quick), CHOICE_NONE, 0, 0,
     "bench: fewer samples, noisier figures; report: compare on canonical only"},
    {"single", 0, NULL, KIND_FLAG, ON(BENCH), FIELD(single), CHOICE_NONE, 0, 0,
     "time single launches, waited for one by one, instead of CUDA graphs: the difference is what "
     "a launch costs"},
    {"l2-carveout", 0, "LIST", KIND_TEXT, ON(BENCH), FIELD(l2_carveout), CHOICE_NONE, 0, 0,
     "as if the GPU's L2 were smaller: sets so many MB of it (2^20 bytes) aside, fills them with "
     "lines "
     "that nobody uses, and says what was left; several one after the other, such as 0,16,32"},
    {"recorded", 'r', NULL, KIND_FLAG, ON(BENCH), FIELD(recorded), CHOICE_NONE, 0, 0,
     "show the results recorded on named machines instead of measuring"},
    {"counters", 0, NULL, KIND_FLAG, ON(REGIME), FIELD(counters), CHOICE_NONE, 0, 0,
     "beside the model what this GPU's hardware counters say; without a GPU or the permission, "
     "what "
     "they said on named machines (csv: that table alone)"},
    {"half", 0, NULL, KIND_FLAG, ON(EXPORT), FIELD(half), CHOICE_NONE, 0, 0,
     "write float16 tensors"},
    {"kernels", 0, NULL, KIND_FLAG, ON(INFO), FIELD(kernels), CHOICE_NONE, 0, 0,
     "registers, shared memory and occupancy of every CUDA kernel"},
    {"probe", 0, NULL, KIND_FLAG, ON(INFO), FIELD(probe), CHOICE_NONE, 0, 0,
     "what a GPU reaches at best: bandwidths, rates and latencies by small kernels that do nothing "
     "else, beside the data sheet; without a GPU, what was recorded of others"},
    {"view", 'v', "VIEW", KIND_CHOICE, ON(LIVE) | ON(SNAPSHOT), FIELD(view), CHOICE_VIEW, 0, 0,
     "what the cells show (default: color)"},
    {"channel", 0, "N", KIND_INT, ON(SNAPSHOT), FIELD(channel), CHOICE_NONE, 0, 1023,
     "which channel --view channel shows (default: 0)"},
    {"colormap", 'm', "MAP", KIND_CHOICE, ON(LIVE) | ON(SNAPSHOT), FIELD(colormap), CHOICE_COLORMAP,
     0, 0, "colours of scalar views (default: viridis; errors: the diverging map)"},
    {"range", 0, "LOW:HIGH", KIND_TEXT, ON(SNAPSHOT), FIELD(range), CHOICE_NONE, 0, 0,
     "lock the colour range instead of fitting it"},
    {"compare", 0, "SELECTION", KIND_TEXT, ON(SNAPSHOT), FIELD(compare), CHOICE_NONE, 0, 0,
     "a second selection beside the first, with the difference: kernel, dtype and align in any "
     "combination, such as fp8 or v2,bilinear"},
    {"cameras", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(cameras), CHOICE_NONE, 0, 0,
     "add the strip of camera views"},
    {"table", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(table), CHOICE_NONE, 0, 0,
     "add a table of every kernel's latency and accuracy, also printed"},
    {"timing", 0, "SOURCE", KIND_CHOICE, ON(SNAPSHOT), FIELD(timing), CHOICE_TIMING, 0, 0,
     "latencies shown: recorded (same pixels every time), measured now, or off (default: "
     "recorded)"},
    {"no-outlines", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(no_outlines), CHOICE_NONE, 0, 0,
     "leave out the true outlines of the world's objects"},
    {"theme", 0, "THEME", KIND_CHOICE, ON(SNAPSHOT) | ON(PLOT) | ON(REPORT), FIELD(theme),
     CHOICE_THEME, 0, 0, "light or dark page (default: light)"},
    {"width", 'w', "PIXELS", KIND_INT, ON(SNAPSHOT), FIELD(width), CHOICE_NONE, 600, 8000,
     "width of the figure (default: by its contents)"},
    {"title", 0, "TEXT", KIND_TEXT, ON(SNAPSHOT), FIELD(title), CHOICE_NONE, 0, 0,
     "instead of the scene's title"},
    {"no-window", 0, NULL, KIND_FLAG, ON(LIVE), FIELD(no_window), CHOICE_NONE, 0, 0,
     "stay in the terminal, which then shows the BEV too"},
    {"plain", 0, NULL, KIND_FLAG, ON(LIVE), FIELD(plain), CHOICE_NONE, 0, 0,
     "plain lines instead of a dashboard, as where there is no terminal"},
    {"ascii", 0, NULL, KIND_FLAG, ON(LIVE), FIELD(ascii), CHOICE_NONE, 0, 0,
     "no characters beyond ASCII on the dashboard"},
    {"color", 0, "WHEN", KIND_CHOICE, ON(LIVE), FIELD(color), CHOICE_COLOR, 0, 0,
     "auto, always or never: colours on the dashboard (default: auto, not if NO_COLOR is set)"},
    {"script", 0, "FILE", KIND_TEXT, ON(LIVE), FIELD(script), CHOICE_NONE, 0, 0,
     "no terminal, no window: read words and ticks from FILE, write a frame a tick"},
    {"frames", 0, "FOLDER", KIND_TEXT, ON(LIVE), FIELD(frames), CHOICE_NONE, 0, 0,
     "where the frames of a script go, as text and PNG (default: frames)"},
    {"size", 0, "CxR", KIND_TEXT, ON(LIVE), FIELD(size), CHOICE_NONE, 0, 0,
     "columns and rows of a script's terminal (default: 120x40)"},
    {"gpu", 'g', "LIST", KIND_LIST, MODELS, FIELD(gpu), CHOICE_GPU, 0, 0,
     "GPUs to model (default: the article's two and the one that results were recorded on)"},
    {"gpu-file", 0, "FILE", KIND_TEXT, MODELS, FIELD(gpu_file), CHOICE_NONE, 0, 0,
     "a GPU of your own: JSON with name, compute_capability, multiprocessors, l2_mb, dram_gbps "
     "and, if known, l2_gbps, l2_partitions, fp32_tflops and converts_fp8"},
    {"over", 0, "WHAT", KIND_CHOICE, ON(PLOT), FIELD(over), CHOICE_SWEEP, 0, 0,
     "what a sweep varies (default: grid)"},
    {"l2-mb", 0, "MB", KIND_REAL, MODELS, FIELD(l2_mb), CHOICE_NONE, 0.01, 100000,
     "what if their L2 had this size (2^20 bytes)"},
    {"help", 'h', NULL, KIND_FLAG, ALL, FIELD(help), CHOICE_NONE, 0, 0, "show this text"},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- parsing -------------------------------------------------------------------------------- */

static bool applies(const OptionRow *row, CommandId command) {
    return row->commands & 1u << command;
}

static bool usage(Err *err, CommandId command, const char *where, const char *suggestion,
                  const char *what) {
    char hint[128];
    if (suggestion)
        snprintf(hint, sizeof hint, "did you mean %s?", suggestion);
    else
        snprintf(hint, sizeof hint, "see bevscope %s --help", commands[command].name);
    return err_set(err, ERR_USAGE, where, hint, "%s", what);
}

static bool store_number(Options *options, const OptionRow *row, const char *value, Err *err) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    bool whole = number == floor(number);
    if (end == value || *end || errno || !(number >= row->min && number <= row->max) ||
        (row->kind == KIND_INT && !whole))
        return err_set(err, ERR_USAGE, row->name, "", "'%s' is not %s from %g to %g", value,
                       row->kind == KIND_INT ? "a whole number" : "a number", row->min, row->max);
    void *field = (char *)options + row->offset;
    if (row->kind == KIND_INT)
        *(int64_t *)field = (int64_t)number;
    else
        *(double *)field = number;
    return true;
}

/* Choices are checked here, so that a typo costs no computation. */
static bool store(Options *options, const OptionRow *row, const char *value, Err *err) {
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return true;
    case KIND_REAL:
    case KIND_INT:
        return store_number(options, row, value, err);
    case KIND_CHOICE:
    case KIND_LIST:
        if (!choices_check(row->choices, value, row->kind == KIND_LIST, row->name, err))
            return false;
        break;
    case KIND_TEXT:
        break;
    }
    *(const char **)field = value;
    return true;
}

static const OptionRow *find_long(const char *name, size_t length, CommandId command) {
    for (int i = 0; i < ROW_COUNT; i++)
        if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length) &&
            applies(&rows[i], command))
            return &rows[i];
    return NULL;
}

static const OptionRow *find_letter(char letter, CommandId command) {
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].letter == letter && applies(&rows[i], command))
            return &rows[i];
    return NULL;
}

/* "--name", "--name=value", "--name value"; advances *i over a separate value. */
static bool parse_long(Options *options, int argc, char **argv, int *i, Err *err) {
    const char *text = argv[*i] + 2;
    size_t length = strcspn(text, "=");
    const OptionRow *row = find_long(text, length, options->command);
    if (!row) {
        char suggestion[64] = "", word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        const char *names[ROW_COUNT];
        size_t count = 0;
        for (int j = 0; j < ROW_COUNT; j++)
            if (applies(&rows[j], options->command))
                names[count++] = rows[j].name;
        const char *nearest = nearest_name(word, names, count);
        if (nearest)
            snprintf(suggestion, sizeof suggestion, "--%s", nearest);
        return usage(err, options->command, argv[*i], suggestion[0] ? suggestion : NULL,
                     "no such option");
    }
    if (row->kind == KIND_FLAG)
        return text[length] ? usage(err, options->command, argv[*i], NULL, "takes no value")
                            : store(options, row, NULL, err);
    if (text[length])
        return store(options, row, text + length + 1, err);
    if (*i + 1 == argc)
        return usage(err, options->command, argv[*i], NULL, "needs a value");
    return store(options, row, argv[++*i], err);
}

/* "-k", "-kvalue", "-k value", and flags run together: "-qr". */
static bool parse_short(Options *options, int argc, char **argv, int *i, Err *err) {
    for (const char *letter = argv[*i] + 1; *letter; letter++) {
        const OptionRow *row = find_letter(*letter, options->command);
        if (!row)
            return usage(err, options->command, argv[*i], NULL, "no such option");
        if (row->kind == KIND_FLAG) {
            if (!store(options, row, NULL, err))
                return false;
            continue;
        }
        if (letter[1])
            return store(options, row, letter + 1, err);
        if (*i + 1 == argc)
            return usage(err, options->command, argv[*i], NULL, "needs a value");
        return store(options, row, argv[++*i], err);
    }
    return true;
}

/* What can stand where a command does: a scene's name, or what looks like a file. */
static bool means_scene(const char *word, const SceneName *scenes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(scenes[i].name, word))
            return true;
    return word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* Sets the command; *first is where its options and arguments begin. */
static bool find_command(Options *options, int argc, char **argv, int *first, Err *err) {
    enum { MAX_SCENES = 64 };
    SceneName scenes[MAX_SCENES];
    const char *names[COMMAND_COUNT + MAX_SCENES];
    options->command = COMMAND_LIVE;
    *first = 1;
    if (argc < 2)
        return true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, argv[1])) {
            options->command = (CommandId)i;
            *first = 2;
            return true;
        }
    size_t count = scene_names(scenes, MAX_SCENES);
    if (means_scene(argv[1], scenes, count))
        return true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    for (size_t i = 0; i < count; i++)
        names[COMMAND_COUNT + i] = scenes[i].name;
    char hint[96];
    snprintf(hint, sizeof hint, "did you mean %s?",
             nearest_name(argv[1], names, COMMAND_COUNT + count));
    return err_set(err, ERR_USAGE, argv[1], hint, "no such command or scene");
}

bool options_parse(Options *options, int argc, char **argv, Err *err) {
    *options = (Options){.device = "auto",
                         .format = "table",
                         .timing = "recorded",
                         .theme = "light",
                         .color = "auto"};
    int first;
    if (!find_command(options, argc, argv, &first, err))
        return false;
    bool only_arguments = false;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i];
        bool ok = true;
        if (only_arguments || word[0] != '-' || !word[1]) {
            if (options->argument_count == OPTIONS_MAX_ARGUMENTS)
                return usage(err, options->command, word, NULL, "too many arguments");
            options->arguments[options->argument_count++] = word;
        } else if (!strcmp(word, "--"))
            only_arguments = true;
        else
            ok = word[1] == '-' ? parse_long(options, argc, argv, &i, err)
                                : parse_short(options, argc, argv, &i, err);
        if (!ok)
            return false;
    }
    const Command *command = &commands[options->command];
    if (!options->help && (options->argument_count < command->min_arguments ||
                           options->argument_count > command->max_arguments)) {
        char what[128];
        snprintf(what, sizeof what, "usage: bevscope %s %s", command->name, command->synopsis);
        return usage(err, options->command, command->name, NULL, what);
    }
    return true;
}

/* ---- help and manual ------------------------------------------------------------------------- */

/* Prints `text` wrapped at 80 columns, continuation lines indented. */
static void print_wrapped(FILE *out, const char *text, int indent, int column) {
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column + 1 + length > 80) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_option(const OptionRow *row, FILE *out) {
    char left[64];
    int width = row->letter ? snprintf(left, sizeof left, "  -%c, --%s", row->letter, row->name)
                            : snprintf(left, sizeof left, "      --%s", row->name);
    if (row->argument)
        width += snprintf(left + width, sizeof left - (size_t)width, " %s", row->argument);
    fprintf(out, "%-28s", left);
    char help[512];
    int n = snprintf(help, sizeof help, "%s", row->help);
    if (row->choices != CHOICE_NONE)
        choices_list(row->choices, help + n, (int)sizeof help - n);
    print_wrapped(out, help, 28, width > 27 ? 81 : 28);
}

void options_help_command(CommandId command, FILE *out) {
    fprintf(out, "Usage: bevscope %s [OPTION]... %s\n\n", commands[command].name,
            commands[command].synopsis);
    print_wrapped(out, commands[command].details, 0, 0);
    fputs("\nOptions:\n", out);
    for (int i = 0; i < ROW_COUNT; i++)
        if (applies(&rows[i], command))
            print_option(&rows[i], out);
    if (strstr(commands[command].synopsis, "SCENE"))
        fputs("\nSCENE is a .json or .npz file, a sample or a configuration: see bevscope "
              "--list.\n",
              out);
}

void options_help(FILE *out) {
    fputs("Usage: bevscope [COMMAND] [OPTION]... [SCENE]...\n"
          "Shows how camera features become a bird's-eye-view grid, and what each pooling kernel,\n"
          "number format and alignment costs.\n\nCommands:\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  --list     scenes, configurations, kernels, formats, views and colour maps\n"
          "  --version  version and what it was built with\n"
          "  --man      the manual page (roff)\n"
          "  --help     this text; bevscope COMMAND --help tells about one command\n\n"
          "Exit status: 0 done, 1 failed, 2 wrong usage, 3 an accuracy gate failed,\n"
          "4 device not available.\n\n"
          "Try: bevscope\n     bevscope snapshot intersection --cameras -o intersection.png\n",
          out);
}

/* Escapes what roff would read as a request or a hyphenation point. */
static void print_roff(FILE *out, const char *text) {
    for (; *text; text++)
        fputs(*text == '-'    ? "\\-"
              : *text == '\\' ? "\\e"
              : *text == '\'' ? "\\(aq"
                              : (char[]){*text, 0},
              out);
}

static void man_option(const OptionRow *row, FILE *out) {
    fputs(".TP\n", out);
    if (row->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", out);
    print_roff(out, row->name);
    fprintf(out, "\\fR%s\\fI%s\\fR\n", row->argument ? " " : "",
            row->argument ? row->argument : "");
    char help[512];
    int n = snprintf(help, sizeof help, "%s", row->help);
    if (row->choices != CHOICE_NONE)
        choices_list(row->choices, help + n, (int)sizeof help - n);
    print_roff(out, help);
    fputc('\n', out);
}

void options_man(FILE *out) {
    fputs(".TH BEVSCOPE 1\n.SH NAME\nbevscope \\- see how camera features become a "
          "bird\\(aqs\\-eye\\-view grid\n.SH SYNOPSIS\n.B bevscope\n.I COMMAND\n"
          "[\\fIOPTION\\fR]... [\\fISCENE\\fR]...\n.SH DESCRIPTION\n"
          "Pools the features of a camera rig into a bird\\(aqs\\-eye\\-view grid with each of "
          "the known kernels, draws the result, times it and judges its accuracy.\n"
          ".PP\nA \\fISCENE\\fR is a .json file (a world and a rig), a .npz file (tensors from "
          "a network), the name of a sample, or the name of a configuration; "
          "\\fBbevscope \\-\\-list\\fR shows the names.\n.SH COMMANDS\n",
          out);
    for (int command = 0; command < COMMAND_COUNT; command++) {
        fprintf(out, ".SS \"%s %s\"\n", commands[command].name, commands[command].synopsis);
        print_roff(out, commands[command].details);
        fputc('\n', out);
        for (int i = 0; i < ROW_COUNT; i++)
            if (applies(&rows[i], (CommandId)command))
                man_option(&rows[i], out);
    }
    man_controls(out, print_roff);
    man_glossary(out, print_roff);
    fputs(
        ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 an accuracy gate failed, 4 device "
        "or backend not available.\n.SH ENVIRONMENT\n.TP\n.B BEVSCOPE_DATA\nfolder that holds "
        "samples/ (default: beside the program, the installed data folder, the source folder)\n"
        ".TP\n.B BEVSCOPE_CUPTI\nlibcupti.so that hardware counters are read with (default: where "
        "the loader and the CUDA toolkit have it)\n"
        ".TP\n.B OMP_NUM_THREADS\nthreads of the CPU kernels\n",
        out);
}
