/* SPDX-License-Identifier: MIT */
/* --help, the manual pages, --list and --complete print the tables of the program. */
#include "config.h"
#include "kernels/clean.h"
#include "kernels/injected_bugs.h"
#include "src/cli/model.h"
#include "src/view/bev/decode.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- help ------------------------------------------------------------------------------------ */

enum { HELP_INDENT = 28, LINE_COLUMNS = 80 };

static void print_option(const OptionRow *option, FILE *out) {
    char left[64], help[OPTION_HELP];
    int width = option->letter
                    ? snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name)
                    : snprintf(left, sizeof left, "      --%s", option->name);
    if (option->argument)
        width += snprintf(left + width, sizeof left - (size_t)width, " %s", option->argument);
    fprintf(out, "%-*s", HELP_INDENT, left);
    if (width >= HELP_INDENT)
        fprintf(out, "\n%*s", HELP_INDENT, "");
    option_help(option, help);
    text_wrap(help, strlen(help), HELP_INDENT, HELP_INDENT, LINE_COLUMNS, out);
}

void help_command(CommandId command, FILE *out) {
    fprintf(out, "Usage: bevscope %s [OPTION]... %s\n\n", commands[command].name,
            commands[command].synopsis);
    text_wrap(commands[command].details, strlen(commands[command].details), 0, 0, LINE_COLUMNS,
              out);
    fputs("\nOptions:\n", out);
    for (const OptionRow *option = NULL; (option = options_next(command, option));)
        print_option(option, out);
    fputs("\nExamples:\n", out);
    for (const char *line = commands[command].examples; *line; line += strspn(line, "\n")) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length;
    }
    if (command == COMMAND_LIVE)
        fputs("\nKeys, each also a word of palette and scripts (all of them: bevscope --man):\n",
              out);
    for (int i = 0; command == COMMAND_LIVE && i < ACTION_COUNT; i++)
        if (keys[i].direct)
            fprintf(out, "  %-16s %-10s %s\n", keys_label(&keys[i]).text, keys[i].word,
                    keys[i].help);
    if (strstr(commands[command].synopsis, "SCENE"))
        fputs(
            "\nSCENE is a .json or .npz file, a folder of .npz files (a clip) or of an operator's\n"
            "arrays, a sample or a configuration: see bevscope --list, which also names the\n"
            "arrays of a .npz.\n",
            out);
}

/* The words that the program takes in place of a command, without their dashes. */
static const struct {
    const char *word, *help;
} help_words[] = {
    {"list", "scenes, configurations, kernels, formats, views and colour maps"},
    {"version", "version and what it was built with"},
    {"man", "the manual page (roff); --man COMMAND: that of a command"},
    {"help", "this text; bevscope COMMAND --help tells about one command"},
    {NULL, NULL},
};

void help_program(FILE *out) {
    fputs("Usage: bevscope [COMMAND] [OPTION]... [SCENE]...\n"
          "Shows how camera features become a bird's-eye-view grid, and what each pooling kernel,\n"
          "number format and alignment costs.\n\nCommands:\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputc('\n', out);
    for (int i = 0; help_words[i].word; i++)
        fprintf(out, "  --%-8s %s\n", help_words[i].word, help_words[i].help);
    fputs("\nExit status: 0 done, 1 failed, 2 wrong usage, 3 a gate failed (accuracy, or\n"
          "bench --fail), 4 device not available.\n\n"
          "Try: bevscope\n     bevscope snapshot intersection --cameras -o intersection.png\n",
          out);
}

/* ---- the manual page ------------------------------------------------------------------------- */

/* Escapes characters that roff would read as a request or a hyphenation point. */
static void print_roff(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else
            fputc(*text, out);
}

static void roff_line(FILE *out, const char *text) {
    print_roff(out, text);
    fputc('\n', out);
}

/* Prints an entry of a list: a term in bold, words beside it, and a text. */
static void man_entry(FILE *out, const char *term, const char *beside, const char *text) {
    fputs(".TP\n\\fB", out);
    print_roff(out, term);
    fputs(beside[0] ? "\\fR " : "\\fR", out);
    roff_line(out, beside);
    roff_line(out, text);
}

static void man_controls(FILE *out) {
    fputs(".SH CONTROLS\nKeys of the live display, in terminal and window alike, and its words. In "
          "scripts, and on standard input of \\fB\\-\\-plain\\fR, a word stands alone (a step on), "
          "with \\- (a step back) or with an argument. Scripts also know \\fBtick\\fR "
          "[\\fISECONDS\\fR [\\fITIMES\\fR]], \\fBkey\\fR \\fIKEY\\fR, \\fBsize\\fR "
          "\\fICOLUMNS ROWS\\fR, \\fBpixel\\fR \\fICAMERA X Y\\fR for the mouse over a camera "
          "view, \\fBanswer\\fR \\fIANSWER\\fR to the question of a lesson, and # for "
          "comments.\n.PP\nThe palette opens with \\fB:\\fR: type a name, a value or what you "
          "want. The mouse: a right click opens it, too; kernels, camera views and the hints on "
          "the key bar can be clicked; over the grid the wheel zooms and a drag moves. In the "
          "window a click pins the cell; in the terminal it puts the cursor there, and another one "
          "there pins it. Where terminals report the mouse, they select text with Shift held down; "
          "\\fB\\-\\-no\\-mouse\\fR leaves the mouse to the terminal.\n",
          out);
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (i == 0 || keys[i].group != keys[i - 1].group)
            fprintf(out, ".SS \"%s\"\n", key_groups[keys[i].group]);
        fputs(".TP\n\\fB", out);
        print_roff(out, keys_label(&keys[i]).text);
        fputs("\\fR \\(em ", out);
        roff_line(out, keys[i].word);
        roff_line(out, keys[i].help);
    }
}

static void man_files(FILE *out) {
    SceneArrayHelp help;
    const char *group = "";
    fputs(
        ".SH FILES\nA .npz scene, as numpy.savez writes it and \\fBbevscope export\\fR does, holds "
        "the arrays below under these names and no others; samples/export_scene.py writes one. "
        "D depth bins, h x w feature pixels, C channels, H x W image pixels. A folder of "
        "such files, one a moment, in the order of their names, is a clip: they follow each "
        "other evenly, as their timestamps do on average (without: every 0.5 s), and after the "
        "last the first comes again.\n",
        out);
    for (int i = 0; scene_array_help(i, &help); i++) {
        if (help.group != group) {
            group = help.group;
            fprintf(out, ".SS \"%s\"\n", group);
        }
        man_entry(out, help.name, short_text("%s, %s", help.shapes, help.types).text, help.meaning);
    }
    fputs(".SS \"Operators\"\n", out);
    roff_line(out,
              "An operator is a folder of ranks_depth.npy, ranks_feat.npy, ranks_bev.npy (point), "
              "depth.npy (n) and feat.npy (row, C), where n is a multiple of the rows; "
              "weights.npy and bev_shape.npy may be there.");
}

static void man_begin(const char *name, const char *summary, FILE *out) {
    fputs(".TH ", out);
    for (const char *c = name; *c; c++)
        fputc(toupper((unsigned char)*c), out);
    fprintf(out, " 1 \"\" \"" PACKAGE_STRING "\" \"BEV pooling\"\n.SH NAME\n");
    print_roff(out, name);
    fputs(" \\- ", out);
    roff_line(out, summary);
}

static void man_command(CommandId id, FILE *out) {
    const Subcommand *command = &commands[id];
    char help[OPTION_HELP];
    man_begin(short_text("bevscope-%s", command->name).text, command->summary, out);
    fprintf(out, ".SH SYNOPSIS\n.B bevscope %s\n[\\fIOPTION\\fR]...\n", command->name);
    roff_line(out, command->synopsis);
    fputs(".SH DESCRIPTION\n", out);
    roff_line(out, command->details);
    fputs(".SH OPTIONS\n", out);
    for (const OptionRow *option = NULL; (option = options_next(id, option));) {
        fputs(".TP\n", out);
        if (option->letter)
            fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", out);
        print_roff(out, option->name);
        fputs(option->argument ? "\\fR \\fI" : "\\fR\\fI", out);
        fprintf(out, "%s\\fR\n", option->argument ? option->argument : "");
        option_help(option, help);
        roff_line(out, help);
    }
    fputs(".SH EXAMPLES\n.nf\n", out);
    roff_line(out, command->examples);
    fputs(".fi\n.SH SEE ALSO\n.BR bevscope (1):\nscenes and their files, controls, words, exit "
          "status\n",
          out);
}

static void man_program(FILE *out) {
    man_begin("bevscope", "see how camera features become a bird's-eye-view grid", out);
    fputs(".SH SYNOPSIS\n.B bevscope\n.I COMMAND\n"
          "[\\fIOPTION\\fR]... [\\fISCENE\\fR]...\n.SH DESCRIPTION\n"
          "Pools the features of a camera rig into a bird\\(aqs\\-eye\\-view grid with each of "
          "the known kernels, draws the result, times it and judges its accuracy.\n"
          ".PP\nA \\fISCENE\\fR is a .json file (a world and a rig), a .npz file (tensors from "
          "a network, of one moment or several), a folder of such files (one a moment), "
          "the name of a sample, or the name of a configuration; "
          "\\fBbevscope \\-\\-list\\fR shows the names.\n",
          out);
    fputs(".SH COMMANDS\nWithout a command, live. Each has a page: man bevscope\\-bench.\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        man_entry(out, commands[i].name, commands[i].synopsis, commands[i].summary);
    man_files(out);
    man_controls(out);
    fputs(".SH GLOSSARY\n", out);
    for (int i = 0; i < glossary_count; i++)
        man_entry(out, glossary[i].word, "", glossary[i].text);
    fputs(
        ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 a gate failed (accuracy, or bench "
        "\\-\\-fail), 4 device or backend not available.\n.SH ENVIRONMENT\n.TP\n.B "
        "BEVSCOPE_DATA\nfolder that holds "
        "samples/ (default: beside the program, the installed data folder)\n"
        ".TP\n.B BEVSCOPE_CUPTI\nlibcupti.so that hardware counters are read with (default: where "
        "the loader and the CUDA toolkit have it)\n"
        ".TP\n.B OMP_NUM_THREADS\nthreads of the CPU kernels\n.SH SEE ALSO\n",
        out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, ".BR bevscope\\-%s (1),\n", commands[i].name);
    fputs(".BR bevpool (3)\n", out);
}

bool help_man(const char *command, FILE *out, Err *err) {
    const CommandId id = command ? command_find(command) : COMMAND_COUNT;
    if (command && id == COMMAND_COUNT)
        return err_set(err, ERR_USAGE, command, "bevscope --help shows the commands",
                       "no such command");
    if (command)
        man_command(id, out);
    else
        man_program(out);
    return true;
}

/* ---- every name ------------------------------------------------------------------------------ */

/* Lists the scene files of a group with their titles. The user may have added files to the samples.
 * A file that cannot be loaded is listed with the reason, and `err` has the first reason. Returns
 * false if there is such a file. */
static bool list_samples(FILE *out, const SceneName *names, size_t count, SceneGroup group,
                         Err *err) {
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        char name[128], said[1024];
        Scene scene;
        Err why = {0};
        if (names[i].group != group)
            continue;
        bool loads = scene_load_sample(names[i].name, &scene, &why);
        clean_text(names[i].name, name, sizeof name);
        if (loads)
            clean_text(scene.title, said, sizeof said);
        else
            err_line(&why, said, sizeof said);
        fprintf(out, "  %-16s %s\n", name, said);
        if (loads)
            scene_free(&scene);
        else if (ok)
            *err = why;
        ok = ok && loads;
    }
    return ok;
}

static void list_kernels(FILE *out) {
    bool all = bev_default(BEV_CUDA, BEV_FORWARD) != NULL;
    int width = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        int length = (int)strlen(bev_kernels[i]->name);
        width = length > width ? length : width;
    }
    fprintf(out, "\nKernels, in reading order%s:\n",
            all ? "" : " (built without CUDA: those on cuda can be simulated, not run)");
    for (int i = 0; bev_kernels[i]; i++)
        fprintf(out, "  %-*s %-5s %-4s %-9s %s\n", width, bev_kernels[i]->name,
                where_names[bev_kernels[i]->where], bev_stages[bev_kernels[i]->stage].name,
                bev_directions[bev_kernels[i]->direction].name, bev_kernels[i]->idea);
}

static void list_formats(FILE *out) {
    fputs("\nNumber formats:\n", out);
    for (int i = 0; i < BEV_DTYPE_COUNT; i++) {
        const BevDtypeInfo *d = &bev_dtypes[i];
        fprintf(out, "  %-16s %s, %d bits, scale %s", d->name, d->title, d->bits, d->scaling);
        if ((int)d->depth != i)
            fprintf(out, "; depth %s, output %s", bev_dtypes[d->depth].title,
                    bev_dtypes[d->out].title);
        fputc('\n', out);
    }
}

static bool list_scenes(FILE *out, Err *err) {
    enum { NAMES_MAX = 256 };
    SceneName names[NAMES_MAX];
    size_t count;
    Err second; /* only the first error is reported */
    bool ok = scene_names(names, NAMES_MAX, &count, err);
    fputs("Sample scenes:\n", out);
    ok = list_samples(out, names, count, SCENES_CAMERAS, ok ? err : &second) && ok;
    fputs("\nOperators as scenes, without cameras:\n", out);
    ok = list_samples(out, names, count, SCENES_OPERATOR, ok ? err : &second) && ok;
    fprintf(out, "\nConfigurations (the world of %s; the first %d are what bench runs):\n",
            preset_world, preset_count);
    for (int i = 0; i < preset_total; i++) {
        char title[128];
        scene_title(presets[i].name, title);
        fprintf(out, "  %-16s %s\n", presets[i].name, title);
    }
    return ok;
}

bool help_list(FILE *out, Err *err) {
    const bool ok = list_scenes(out, err);
    list_kernels(out);
    for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++) {
        int bugs;
        const InjectedBug *list = injected_bugs_of((BevDirection)direction, &bugs);
        fprintf(out, "\nBugs to inject and find %s (bug, in the live display):\n",
                bev_directions[direction].name);
        for (int i = 0; i < bugs; i++)
            fprintf(out, "  %-2d %-15s %s\n", i + 1, list[i].name, list[i].what);
    }
    SceneArrayHelp array;
    fputs("\nArrays of a .npz scene (man bevscope, FILES):\n", out);
    for (int i = 0; scene_array_help(i, &array); i++)
        fprintf(out, "  %-16s %s, %s\n", array.name, array.shapes, array.types);
    list_formats(out);
    fputs("\nAligns:\n", out);
    for (int i = 0; i < BEV_ALIGN_COUNT; i++)
        fprintf(out, "  %-16s %s\n", bev_aligns[i].name, bev_aligns[i].idea);
    fputs("\nViews:\n", out);
    for (int i = 0; i < VIEW_COUNT; i++)
        fprintf(out, "  %-16s %s\n", views[i].name, views[i].title);
    fputs("\nCharts (bevscope plot):\n", out);
    for (int i = 0; i < plot_kind_count; i++)
        fprintf(out, "  %-16s %s\n", plot_kinds[i].name, plot_kinds[i].summary);
    fputs("\nGPUs to model, and their formats below 16 bits in hardware:\n", out);
    for (int i = 0; i < gpu_count; i++)
        fprintf(out, "  %-16s %s, %d SMs, %g MiB of L2, %g GB/s, %s\n", gpus[i].name, gpus[i].title,
                gpus[i].sms, gpus[i].l2_bytes / 1048576, gpus[i].dram_gb_s,
                gpu_narrow_formats(&gpus[i]));
    fputs("\nColour maps:\n", out);
    for (int i = 0; i < colormap_count; i++)
        fprintf(out, "  %-16s %s\n", colormaps[i].name, colormaps[i].idea);
    return ok;
}

/* ---- bevscope glossary ----------------------------------------------------------------------- */

/* Prints the meaning of a word, or the idea of the kernel with this title. False: neither. */
static bool print_meaning(const char *word) {
    const GlossaryRow *row = glossary_find(word);
    GlossaryRow of_kernel;
    for (int i = 0; !row && bev_kernels[i]; i++)
        if (!strcasecmp(bev_kernels[i]->title, word)) {
            of_kernel = (GlossaryRow){bev_kernels[i]->title, "", bev_kernels[i]->idea};
            row = &of_kernel;
        }
    if (row)
        glossary_print(row, stdout);
    return row;
}

bool cmd_glossary(const Options *options, Err *err) {
    char words[128]; /* all arguments, which may be one term of several words */
    options_arguments(options, " ", words, sizeof words);
    if (options->argument_count > 1 && print_meaning(words))
        return true;
    for (int i = 0; i < options->argument_count; i++) {
        const char *word = options->arguments[i];
        char hint[128];
        if (print_meaning(word))
            continue;
        glossary_hint(word, "see bevscope glossary", hint, sizeof hint);
        return err_set(err, ERR_USAGE, word, hint, "not in the glossary");
    }
    for (int i = 0; !options->argument_count && i < glossary_count; i++)
        glossary_print(&glossary[i], stdout);
    return true;
}

/* ---- bevscope --complete, for the scripts in assets/completion/ ------------------------------ */

/* Prints a word and the beginning of its help. */
static void print_completion(FILE *out, const char *dashes, const char *word, const char *help) {
    fprintf(out, "%s%s\t%.*s\n", dashes, word, (int)strcspn(help, ".;(:"), help);
}

static void print_scenes(FILE *out) {
    enum { MOST = 256 };
    SceneName names[MOST];
    size_t count = 0;
    scene_names(names, MOST, &count, NULL);
    for (size_t i = 0; i < count; i++)
        print_completion(out, "", names[i].name, "");
}

static void print_commands(FILE *out) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_completion(out, "", commands[i].name, commands[i].summary);
}

/* Prints the values of an option, if they are names. False: `word` is no option with a value. */
static bool print_values(CommandId command, const char *word, FILE *out) {
    for (const OptionRow *option = NULL; (option = options_next(command, option));) {
        bool is_long = !strncmp(word, "--", 2) && !strcmp(word + 2, option->name);
        bool is_letter = word[0] == '-' && word[1] == option->letter && word[1] && !word[2];
        if (!option->argument || (!is_long && !is_letter))
            continue;
        for (int k = 0; option->choices && choices_name(option->choices, k); k++)
            print_completion(out, "", choices_name(option->choices, k), "");
        return true;
    }
    return false;
}

void help_complete(int count, char **words, FILE *out) {
    const char *word = count ? words[count - 1] : "", *before = count > 1 ? words[count - 2] : "";
    const bool first = count < 2; /* no other word stands behind "bevscope" */
    const CommandId named = first ? COMMAND_COUNT : command_find(words[0]);
    const CommandId command = named < COMMAND_COUNT ? named : COMMAND_LIVE;
    const bool is_plot_kind = command == COMMAND_PLOT && count == 2;
    if (!strcmp(before, "--man")) {
        print_commands(out);
    } else if (print_values(command, before, out)) {
        return;
    } else if (word[0] == '-') {
        for (const OptionRow *option = NULL; (option = options_next(command, option));)
            print_completion(out, "--", option->name, option->help);
        for (int i = 0; first && help_words[i].word; i++)
            print_completion(out, "--", help_words[i].word, help_words[i].help);
    } else {
        if (first)
            print_commands(out);
        for (int i = 0; is_plot_kind && i < plot_kind_count; i++)
            print_completion(out, "", plot_kinds[i].name, plot_kinds[i].summary);
        if (!is_plot_kind && strstr(commands[command].synopsis, "SCENE"))
            print_scenes(out);
    }
}
