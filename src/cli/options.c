/* SPDX-License-Identifier: MIT */
/* The command line: the tables of commands, options and their values, and how words are parsed. */
#include "src/cli/options.h"
#include "src/base/nearest.h"
#include "src/cli/model.h"
#include "src/view/bev/decode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- the commands: name, arguments, help, and the function that runs each -------------------- */

const Subcommand commands[COMMAND_COUNT] = {
    {"live", "[SCENE]", "watch a moving scene, toggle kernels and formats",
     "The terminal becomes a dashboard, and a window shows the BEV where there is a display; keys "
     "change what is computed, '?' lists them. The word live may be left out. Where there is no "
     "terminal, control words are read from standard input, a line each, and figures are printed "
     "as plain lines. Without SCENE: intersection.",
     "bevscope\nbevscope live parking --kernel v3 --dtype fp16", 0, 1, cmd_live},
    {"snapshot", "SCENE -o FILE.png", "draw the BEV grid as a figure",
     "Pools SCENE with one kernel and draws the result as seen from above, x forward up, as PNG, "
     "SVG or PDF (by the name's suffix). The same scene and options give the same pixels, unless "
     "--timing measured puts this moment's clock into the caption.",
     "bevscope snapshot intersection --cameras -o street.png\n"
     "bevscope snapshot toy --compare cpu_v2 --kernel cpu_v4 -o two.svg",
     1, 1, cmd_snapshot},
    {"verify", "[SCENE]...", "judge every kernel by three accuracy gates",
     "Gate A compares with FP64 over the quantised inputs and a bound for rounding: 1.00 of it is "
     "the most that a correct kernel's rounding takes. Gate B holds rel L2 against FP64 over the "
     "original inputs to the format's limit. Gate C demands exact equality on data that every "
     "order of summation sums exactly. Backward the same gates judge both gradients, and the "
     "adjoint identity: sum(pool(d, f) * g) = sum(d * grad_d) = sum(f * grad_f). Of several "
     "moments a row has the largest rel L2 and the largest max abs, each with its moment, and a "
     "second table the scenes' classes; --format json has every moment. Without SCENE: "
     "canonical, asymmetric and toy. Exit status 3 when a gate fails.",
     "bevscope verify\nbevscope verify clip/ --dtype fp8 --format json", 0, INT_MAX, cmd_verify},
    {"bench", "[SCENE]...", "time every kernel, caches warm and cold",
     "Medians and percentiles of samples, the prepare step apart, effective bandwidth by the "
     "kernel's own traffic model, and the speed-up over V2 on the same device (backward over V2 "
     "(BEVDet), on the CPU over cpu_grad_owner). A warm sample is the mean of up to 256 launches "
     "in a row. Cold: caches flushed before each launch, which is then timed alone: on an H200 "
     "that adds 2.3 us. Without SCENE: the published configurations.",
     "bevscope bench canonical --quick\n"
     "bevscope bench canonical --dtype fp16 --format json -o mine.json",
     0, INT_MAX, cmd_bench},
    {"info", "[SCENE]...", "describe this machine, build and scenes",
     "Without SCENE: the machine, the devices and the kernels. With SCENE: shapes, points, "
     "intervals, the share of the frustum outside of the grid, gather traffic and footprint.",
     "bevscope info\nbevscope info net.npz", 0, INT_MAX, cmd_info},
    {"export", "SCENE [OUT.npz]", "write a scene's tensors for NumPy",
     "Writes depth, feat, the calibration, the five index arrays and bev_shape, as numpy.load and "
     "bevscope itself read them; and what the scene's car recorded besides, which a world has "
     "rendered: images, camera_names, boxes, box_labels, lidar, timestamps. With --pooled also, "
     "or only, what a kernel computes.",
     "bevscope export canonical canonical.npz\n"
     "bevscope export net.npz --kernel v4 --pooled bev.npy",
     1, 2, cmd_export},
    {"regime", "SCENE", "model a scene's memory traffic on any GPU",
     "Follows the accesses of the CUDA kernels in the order of their blocks and warps, counts "
     "them, finds the hit rate of an L2 of every size, and predicts DRAM bytes and the latency "
     "with its parts: DRAM, L2, issue and dependent loads. All of it is a model and needs no GPU; "
     "recorded and published latencies stand beside it where known. Findings of pooling end with "
     "the four steps: classify, remove traffic, map, validate.",
     "bevscope regime canonical --gpu h200,a6000", 1, 1, cmd_regime},
    {"plot", "KIND SCENE -o FILE.png", "draw the memory model as a chart",
     "KIND is a chart's name, as bevscope --list shows them. The name's suffix chooses PNG, SVG or "
     "PDF. Charts of one GPU show the first of --gpu. Everything modelled says so.",
     "bevscope plot roofline canonical --gpu h200 -o roofline.svg", 2, 2, cmd_plot},
    {"glossary", "[WORD]...", "say what the words on the screens mean",
     "Prints what each WORD means; without WORD, the whole glossary.",
     "bevscope glossary\nbevscope glossary interval footprint", 0, INT_MAX, cmd_glossary},
    {"learn", "[LESSON]", "take a lesson: predict, run, see why",
     "Without LESSON lists the course and how far you are. LESSON is a number, a name or a file: "
     "the live display opens with it, asks for predictions, runs what they are about and shows "
     "why. Where there is no terminal it asks and reads lines. A lesson goes on where you left "
     "it. Progress is kept in $XDG_STATE_HOME/bevscope, else in ~/.local/state/bevscope.",
     "bevscope learn\nbevscope learn 1\nbevscope learn --quiz", 0, 1, cmd_learn},
    {"try", "FILE [SCENE]", "judge and time a kernel of your own",
     "FILE.c holds one function in C, void pool(const Pool *p): BEV pooling in FP32, nearest. It "
     "is compiled by cc, gcc, clang or $CC, with -O2, -fopenmp where that is known, and $CFLAGS; "
     "then judged by gates A and C on the cases that this program's own kernels are judged on: out "
     "is NaN before each call, two runs must both pass, and only out may be written. Then it is "
     "timed on SCENE beside the kernels of the CPU. Without SCENE: canonical. The kernel runs in a "
     "process of its own, with limits of time and memory. That contains mistakes, not attacks: it "
     "runs with your rights. FILE.cu holds a kernel in CUDA and needs a GPU, a build with CUDA and "
     "libnvrtc. Exit status 3 when a case is wrong, 1 when the kernel does not compile, crashes or "
     "does not end, 4 without a compiler or a GPU.",
     "bevscope try --new mine.c\nbevscope try mine.c toy", 1, 2, cmd_try},
    {"steps", "[SCENE]", "follow warps of a kernel, step by step",
     "What each instruction of the warps reads, adds and writes: points, sectors of 32 bytes, the "
     "lanes (0 to v) that ask for each word of them, what waits for what, and running counters. "
     "The steps are those that the memory model counts, for CUDA kernels, without a GPU. Without "
     "SCENE: canonical; without a cell, a block or a warp: the cell whose first points have the "
     "most depth weight.",
     "bevscope steps canonical --kernel v2,v4 --count 4", 0, 1, cmd_steps},
    {"demo", "", "a talk of two minutes in the live display",
     "Plays samples/demo.keys in the live display, with captions: how the grid is made, "
     "four kernels in a race, one that waits, the L2, formats, camera dropout. Esc ends it and "
     "puts everything back; any other key or click takes over. The control tour plays it, too.",
     "bevscope demo", 0, 0, cmd_demo},
    {"rig", "", "say in a minute how large a problem your rig is",
     "Points, intervals, footprint and, for every GPU of the table, the regime, the fastest "
     "kernel and its latency by the model. --from names a rig that comes with the program "
     "(" RIG_NAMES
     "), or a scene in JSON; the other options change it. -o writes the changed rig, a scene that "
     "every command takes.",
     "bevscope rig --from waymo\n"
     "bevscope rig --from nuscenes --input 1408x512 --stride 16 -o mine.json",
     0, 0, cmd_rig},
    {"calibrate", "SCENE... [-o scales.json]", "choose scales beforehand, as a vehicle needs them",
     "Counts the magnitudes of depth, features and output over all moments of all scenes, in "
     "FP32, and shows what each method keeps and what that costs. max keeps all; percentile leaves "
     "out the largest; entropy has the least Kullback-Leibler divergence, as PyTorch Quantization "
     "and TensorRT define it; mse the least squared error. -o writes the ranges of --method, from "
     "which the scale of each format follows.",
     "bevscope calibrate clip/ --method mse -o scales.json", 1, INT_MAX, cmd_calibrate},
    {"sensitivity", "SCENE...", "find the tensor that a number format harms most",
     "Depth, features and output in a format, one at a time: the tensor is encoded and decoded, "
     "all else stays FP32, and sums are FP64; all is the three together. The most harmful comes "
     "first, with its bytes and, of all, the latency of V4 as recorded (bench --recorded says "
     "where). A second table has groups of 16 channels, and their share of the error of the whole "
     "grid. Of a clip and with --moments the errors are of all moments.",
     "bevscope sensitivity canonical --dtype fp8,int8", 1, INT_MAX, cmd_sensitivity},
    {"merge", "FILE...", "judge results that verify and bench have written",
     "Each FILE is the --format jsonl of one shard, or a --format json. What is printed, and the "
     "exit status, are those of one process that did all moments. A shard that is missing, or was "
     "ended before its end, is refused: the same command again does what is left. Of bench, "
     "--against OLD compares two files with each other. Nothing is computed here. Of more than 32 "
     "scenes a row stands for all of them, and shows the worst.",
     "bevscope merge shard-*.jsonl", 1, INT_MAX, cmd_merge},
};

/* ---- the values that an option may take ------------------------------------------------------ */

/* Lists of words. A comment names the enumeration whose order a list has. */
static const char *const formats[] = {"table", "markdown", "csv", "json", "junit", "jsonl", NULL};
static const char *const directions[] = {"forward", "backward", "both", NULL}; /* BevDirection */
static const char *const sweeps[] = {"grid", "channels", "points", NULL};      /* of --over */
static const char *const stages[] = {"pool", "view", "step", NULL};            /* BevStage */
static const char *const tensors[] = {"depth", "feat", "out", NULL};
static const char *const timings[] = {"recorded", "measured", "off", NULL}; /* LatencyWanted */
static const char *const page_themes[] = {"light", "dark", NULL};           /* FigureTheme */
static const char *const color_modes[] = {"auto", "always", "never", NULL}; /* TermColor */
static const char *const pixel_modes[] = {"auto", "kitty", "iterm", "sixel", "off", NULL};

/* The names that an option accepts, from a table of the program or a list of words. */
typedef struct {
    const char *const *names; /* the first name */
    size_t stride;            /* bytes from a name to the next, such as the size of a table's row */
    int count;                /* 0: NULL ends the names, or `counted` has their number */
    const int *counted;
    bool listed; /* --help lists the names; for other sets the option's text has them */
} NameSet;

#define TABLE(table) .names = &(table)->name, .stride = sizeof *(table)
#define WORDS(words) .names = (words), .stride = sizeof *(words)

static const NameSet sets[CHOICE_SET_COUNT] = {
    [CHOICE_DTYPE] = {TABLE(bev_dtypes), .count = BEV_DTYPE_COUNT, .listed = true},
    [CHOICE_ALIGN] = {TABLE(bev_aligns), .count = BEV_ALIGN_COUNT, .listed = true},
    [CHOICE_VIEW] = {TABLE(views), .count = VIEW_COUNT, .listed = true},
    [CHOICE_COLORMAP] = {TABLE(colormaps), .counted = &colormap_count, .listed = true},
    [CHOICE_CACHE] = {WORDS(cache_names), .count = CACHE_COLD + 1, .listed = true},
    [CHOICE_GPU] = {TABLE(gpus), .counted = &gpu_count, .listed = true},
    [CHOICE_FORMAT] = {WORDS(formats), .count = 4},
    [CHOICE_MERGED] = {WORDS(formats), .count = 5},
    [CHOICE_RECORDS] = {WORDS(formats)},
    [CHOICE_TIMING] = {WORDS(timings)},
    [CHOICE_THEME] = {WORDS(page_themes)},
    [CHOICE_COLOR] = {WORDS(color_modes)},
    [CHOICE_PIXELS] = {WORDS(pixel_modes)}, /* by Pixels */
    [CHOICE_STORES] = {WORDS(stores_names), .listed = true},
    [CHOICE_SWEEP] = {WORDS(sweeps), .listed = true},
    [CHOICE_DIRECTION] = {WORDS(directions)},
    [CHOICE_STAGE] = {WORDS(stages), .count = BEV_STAGE_COUNT},
    [CHOICE_TIMED] = {WORDS(stages)},
    [CHOICE_LOSS] = {TABLE(losses), .count = LOSS_COUNT, .listed = true},
    [CHOICE_STRIP] = {WORDS(strip_names), .count = STRIP_COUNT, .listed = true},
    [CHOICE_TRUTH] = {WORDS(truth_names), .count = TRUTH_COUNT, .listed = true},
    [CHOICE_ROUNDING] = {WORDS(rounding_names), .count = ROUNDING_COUNT, .listed = true},
    [CHOICE_TENSOR] = {WORDS(tensors)},
    [CHOICE_METHOD] = {WORDS(scale_method_names), .listed = true},
    [CHOICE_KERNEL] = {.listed = true}, /* by bev_kernels */
};

const char *choices_name(ChoiceSet set, int i) {
    const NameSet *names = &sets[set];
    const int count = names->counted ? *names->counted : names->count;
    if (set == CHOICE_KERNEL)
        return bev_kernels[i] ? bev_kernels[i]->name : NULL;
    if (count && i >= count)
        return NULL;
    const char *name_of_row = (const char *)names->names + (size_t)i * names->stride;
    return *(const char *const *)name_of_row;
}

int choices_find(ChoiceSet set, const char *name) {
    for (int i = 0; choices_name(set, i); i++)
        if (!strcmp(choices_name(set, i), name))
            return i;
    return -1;
}

int choices_or(ChoiceSet set, const char *name, int fallback) {
    return name ? choices_find(set, name) : fallback;
}

/* Returns the bit of a name, or the bits of all rows with this title: the title "V3" stands for a
 * kernel on every device. 0: the name is unknown. */
static uint64_t choice_bits(ChoiceSet set, const char *name) {
    uint64_t bits = 0;
    int found = choices_find(set, name);
    if (found >= 0)
        return UINT64_C(1) << found;
    for (int i = 0; choices_name(set, i); i++) {
        const char *title = set == CHOICE_KERNEL ? bev_kernels[i]->title
                            : set == CHOICE_GPU  ? gpus[i].title
                                                 : NULL;
        if (title && !strcasecmp(title, name))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

static bool check_word(ChoiceSet set, const char *word, const char *option, Err *err) {
    if (choice_bits(set, word))
        return true;
    enum { MOST_NAMES = 64 };
    char hint[256];
    const char *names[MOST_NAMES];
    int count = 0;
    while (count < MOST_NAMES && (names[count] = choices_name(set, count)))
        count++;
    nearest_hint(word, names, (size_t)count, NULL, hint, sizeof hint);
    return err_set(err, ERR_USAGE, short_text("--%s", option).text, hint, "'%s' is not known",
                   word);
}

bool choices_item(const char **list, char item[CHOICE_ITEM]) {
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(item, CHOICE_ITEM, "%.*s", (int)length, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

bool choices_check(ChoiceSet set, const char *text, bool list, const char *option, Err *err) {
    char item[CHOICE_ITEM];
    if (!list)
        return check_word(set, text, option, err);
    while (choices_item(&text, item))
        if (strcmp(item, "all") && !check_word(set, item, option, err))
            return false;
    return true;
}

uint64_t choices_mask(ChoiceSet set, const char *text, uint64_t fallback) {
    char item[CHOICE_ITEM];
    uint64_t bits = text ? 0 : fallback;
    while (choices_item(&text, item))
        bits |= strcmp(item, "all") ? choice_bits(set, item) : UINT64_MAX;
    return bits;
}

/* ---- the options --------------------------------------------------------------------------- */

#define ON(command)           (1u << COMMAND_##command)
#define ALL                   ((1u << COMMAND_COUNT) - 1)
#define RUNS                  (ON(LIVE) | ON(SNAPSHOT) | ON(VERIFY) | ON(BENCH))
#define SCREENS               (ON(LIVE) | ON(LEARN))
#define MODELS                (ON(REGIME) | ON(PLOT))
#define ANY_GPU               (MODELS | ON(RIG))
#define SCENES                (RUNS | MODELS | ON(INFO) | ON(EXPORT) | ON(STEPS) | ON(SENSITIVITY))
#define CALIBRATES            (SCENES | ON(CALIBRATE))
#define SCALED                (RUNS | ON(INFO) | ON(EXPORT) | ON(PLOT) | ON(SENSITIVITY))
#define FAULTY                (MODELS | ON(LIVE) | ON(SNAPSHOT) | ON(EXPORT) | ON(INFO))
#define ROW_FLAG              .kind = KIND_FLAG
#define ROW_TEXT              .kind = KIND_TEXT
#define ROW_PRUNE             .kind = KIND_PRUNE
#define ROW_CHOICE(set)       .kind = KIND_CHOICE, .choices = CHOICE_##set
#define ROW_LIST(set)         .kind = KIND_LIST, .choices = CHOICE_##set
#define ROW_REAL(least, most) .kind = KIND_REAL, .min = least, .max = most
#define ROW_INT(least, most)  .kind = KIND_INT, .min = least, .max = most
#define ROW_REAL_SAME         .kind = KIND_REAL
#define ROW_INT_SAME          .kind = KIND_INT
#define AS(id)                .control = 1 + ACTION_##id
#define APART                 .apart = true
/* clang-format off */
#define OPTION(kind_, field, name_, letter_, argument_, commands_, ...)                            \
    {name_, letter_, argument_, commands_, offsetof(Options, field), ROW_##kind_,                  \
     .help = __VA_ARGS__},
/* clang-format on */
#define AGAIN                 OPTION
#define SAME(kind_, field, id, letter_, argument_, commands_)                                      \
    OPTION(kind_, field, NULL, letter_, argument_, commands_, NULL, AS(id))
#define SAME_IN SAME

static OptionRow rows[] = {
#include "src/cli/options.inc"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };
_Static_assert((int)ROW_COUNT <= (int)OPTIONS_MAX_ROWS, "Options.given has no room");

/* A row without a name has the name, help and bounds of its control. */
const OptionRow *options_next(CommandId command, const OptionRow *row) {
    for (int i = row ? row->number + 1 : 0; i < ROW_COUNT; i++) {
        OptionRow *next = &rows[i];
        if (!(next->commands & 1u << command))
            continue;
        next->number = i;
        if (!next->name) {
            const KeyRow *control = &keys[next->control - 1];
            next->name = control->word;
            next->help = control->help;
            next->min = control->lo;
            next->max = control->hi;
        }
        return next;
    }
    return NULL;
}

void option_help(const OptionRow *row, char text[OPTION_HELP]) {
    snprintf(text, OPTION_HELP, "%s", row->help);
    const bool listed = sets[row->choices].listed;
    for (int i = 0; listed && choices_name(row->choices, i); i++)
        text_add(text, OPTION_HELP, "%s%s", i ? ", " : ": ", choices_name(row->choices, i));
}

/* ---- parsing -------------------------------------------------------------------------------- */

CommandId command_find(const char *name) {
    CommandId command = 0;
    while (command < COMMAND_COUNT && strcmp(commands[command].name, name) != 0)
        command++;
    return command;
}

/* Refuses a word of the command line. The hint names the help. */
static bool refuse_word(Err *err, CommandId command, const char *where, const char *what) {
    const ShortText hint = short_text("see bevscope %s --help", commands[command].name);
    return err_set(err, ERR_USAGE, where, hint.text, "%s", what);
}

static bool store_number(Options *options, const OptionRow *row, const char *value, Err *err) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    const bool is_number = end != value && !*end && !errno;
    const bool in_range = number >= row->min && number <= row->max;
    const bool is_right_kind = row->kind != KIND_INT || number == floor(number);
    if (!is_number || !in_range || !is_right_kind)
        return err_set(err, ERR_USAGE, row->name, "", "'%s' is not %s from %g to %g", value,
                       row->kind == KIND_INT ? "a whole number" : "a number", row->min, row->max);
    void *field = (char *)options + row->offset;
    if (row->kind == KIND_INT)
        *(int64_t *)field = (int64_t)number;
    else
        *(double *)field = number;
    return true;
}

/* Refuses a list where one name is required. */
static bool refuse_list(CommandId command, const OptionRow *row, const char *value, Err *err) {
    bool compares = command == COMMAND_SNAPSHOT && row->choices == CHOICE_KERNEL;
    const ShortText where = short_text("--%s", row->name);
    const ShortText hint =
        short_text(compares ? "%s draws one; --compare draws a second beside it" : "%s takes one",
                   commands[command].name);
    return err_set(err, ERR_USAGE, where.text, hint.text, "'%s' names several", value);
}

/* Stores the value of an option. Checks choices first, so that a typo costs no computation. */
static bool store_option(Options *options, const OptionRow *row, const char *value, Err *err) {
    void *field = (char *)options + row->offset;
    options->given[row->number] = value ? value : "on";
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return true;
    case KIND_REAL:
    case KIND_INT:
        return store_number(options, row, value, err);
    case KIND_CHOICE:
    case KIND_LIST:
        if (row->kind == KIND_CHOICE && strchr(value, ','))
            return refuse_list(options->command, row, value, err);
        if (!choices_check(row->choices, value, row->kind == KIND_LIST, row->name, err))
            return false;
        break;
    case KIND_PRUNE:
        return prune_parse(value, field) ||
               err_set(err, ERR_USAGE, row->name, "",
                       "'%s' is not a number from 0 to 1, nor top1, top2 ...", value);
    case KIND_TEXT:
        break;
    }
    *(const char **)field = value;
    return true;
}

/* Finds an option by its letter. NO_LETTER: by the first `length` characters of `name`. */
enum { NO_LETTER = '\0' };
static const OptionRow *find_row(CommandId command, const char *name, size_t length, char letter) {
    for (const OptionRow *row = NULL; (row = options_next(command, row));) {
        const bool has_name = strlen(row->name) == length && !strncmp(row->name, name, length);
        if (letter == NO_LETTER ? has_name : row->letter == letter)
            return row;
    }
    return NULL;
}

/* Suggests the name that is nearest to the first `length` characters of `name`. */
static bool refuse_unknown_option(const char *word, const char *name, size_t length,
                                  CommandId command, Err *err) {
    const char *names[ROW_COUNT];
    size_t count = 0;
    for (const OptionRow *row = NULL; (row = options_next(command, row));)
        names[count++] = row->name;
    const ShortText typed = short_text("%.*s", (int)length, name);
    const char *nearest = nearest_name(typed.text, names, count);
    if (!nearest)
        return refuse_word(err, command, word, "no such option");
    return err_set(err, ERR_USAGE, word, short_text("did you mean --%s?", nearest).text,
                   "no such option");
}

/* Parses argv[*i]: "--name", "--name=value", "-k", "-kvalue" or flags in one word, "-qr". If the
 * value is the next word, `*i` moves to this word. */
static bool parse_option(Options *options, int argc, char **argv, int *i, Err *err) {
    const char *word = argv[*i];
    const bool is_long = word[1] == '-';
    for (const char *at = is_long ? word + 2 : word + 1; *at;) {
        size_t length = is_long ? strcspn(at, "=") : 1;
        const OptionRow *row = find_row(options->command, at, length, is_long ? NO_LETTER : *at);
        if (!row)
            return refuse_unknown_option(word, is_long ? at : "", length, options->command, err);
        at += length;
        if (row->kind != KIND_FLAG) {
            const char *value = is_long ? at + 1 : at; /* behind the "=" or the letter */
            if (*at)
                return store_option(options, row, value, err);
            if (*i + 1 == argc)
                return refuse_word(err, options->command, word, "needs a value");
            return store_option(options, row, argv[++*i], err);
        }
        if (is_long && *at)
            return refuse_word(err, options->command, word, "takes no value");
        store_option(options, row, NULL, err);
    }
    return true;
}

/* Sets the command, and `*first`, the index in argv of its first option or argument. */
static bool find_command(Options *options, int argc, char **argv, int *first, Err *err) {
    enum { MAX_SCENES = 64 };
    SceneName scenes[MAX_SCENES];
    const char *names[COMMAND_COUNT + MAX_SCENES];
    const CommandId named = argc < 2 ? COMMAND_COUNT : command_find(argv[1]);
    options->command = named < COMMAND_COUNT ? named : COMMAND_LIVE;
    *first = named < COMMAND_COUNT ? 2 : 1;
    if (argc < 2 || named < COMMAND_COUNT)
        return true;
    size_t count;
    bool listed = scene_names(scenes, MAX_SCENES, &count, err);
    /* Without a command the word may be the known name of a scene, or look like a file's name. */
    bool scene = argv[1][0] == '-' || strpbrk(argv[1], "./") || access(argv[1], F_OK) == 0;
    for (size_t i = 0; i < count; i++)
        scene = scene || !strcmp(scenes[i].name, argv[1]);
    if (scene)
        return true;
    if (!listed)
        return false;
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    for (size_t i = 0; i < count; i++)
        names[COMMAND_COUNT + i] = scenes[i].name;
    char hint[96];
    nearest_hint(argv[1], names, COMMAND_COUNT + count,
                 "bevscope --help shows the commands, --list the scenes", hint, sizeof hint);
    return err_set(err, ERR_USAGE, argv[1], hint, "no such command or scene");
}

bool options_parse(Options *options, int argc, char **argv, Err *err) {
    *options = (Options){.device = "auto",
                         .format = "table",
                         .timing = "recorded",
                         .theme = "light",
                         .color = "auto",
                         .pixels = "auto",
                         .block = -1,
                         .warp = -1,
                         .lane = -1,
                         .skew = -1,
                         .limit_s = 10,
                         .from = 1};
    int first;
    if (!find_command(options, argc, argv, &first, err))
        return false;
    bool only_arguments = false;
    options->arguments = (const char **)argv + first;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i];
        bool ok = true;
        if (only_arguments || word[0] != '-' || !word[1]) {
            argv[first + options->argument_count++] = argv[i];
        } else if (!strcmp(word, "--"))
            only_arguments = true;
        else
            ok = parse_option(options, argc, argv, &i, err);
        if (!ok)
            return false;
    }
    const Subcommand *command = &commands[options->command];
    if (!options->help && (options->argument_count < command->min_arguments ||
                           options->argument_count > command->max_arguments)) {
        const ShortText usage =
            short_text("usage: bevscope %s %s", command->name, command->synopsis);
        return refuse_word(err, options->command, command->name, usage.text);
    }
    return true;
}

bool options_refuse(const Options *options, const char *names, const char *hint, const char *what,
                    Err *err) {
    for (char name[CHOICE_ITEM]; choices_item(&names, name);) {
        const OptionRow *row = find_row(options->command, name, strlen(name), NO_LETTER);
        if (row && options->given[row->number])
            return err_set(err, ERR_USAGE, short_text("--%s", name).text, hint, "%s", what);
    }
    return true;
}

void options_arguments(const Options *options, const char *between, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < options->argument_count; i++)
        text_add(text, size, "%s%s", i ? between : "", options->arguments[i]);
}

void options_given(const Options *options, char *text, size_t size) {
    text[0] = '\0';
    for (const OptionRow *row = NULL; (row = options_next(options->command, row));)
        if (options->given[row->number] && !row->apart)
            text_add(text, size, "%s--%s %s", text[0] ? " " : "", row->name,
                     options->given[row->number]);
}
