/* SPDX-License-Identifier: MIT */
/* bevscope --complete WORD...: what may stand in the place of the last word, from the tables of
 * commands and options. The scripts for bash, zsh and fish in assets/completion/ ask it. */
#include "src/cli/model.h"
#include "src/cli/options.h"
#include "src/scene/scene.h"

#include <string.h>

/* Prints a word, and the first sentence of its help. */
static void print_word(FILE *out, const char *dashes, const char *word, const char *help) {
    fprintf(out, "%s%s\t%.*s\n", dashes, word, (int)strcspn(help, ".;(:"), help);
}

static void print_scenes(FILE *out) {
    enum { MOST = 256 };
    SceneName names[MOST];
    size_t count = 0;
    scene_names(names, MOST, &count, NULL);
    for (size_t i = 0; i < count; i++)
        print_word(out, "", names[i].name, "");
}

static void print_commands(FILE *out) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_word(out, "", commands[i].name, commands[i].summary);
}

static void print_options(CommandId command, FILE *out) {
    OptionHelp option;
    for (int i = 0; options_describe(command, i, &option); i++)
        print_word(out, "--", option.name, option.help);
}

/* Prints the values of an option, where they are names. False: `word` is no option with a value. */
static bool print_values(CommandId command, const char *word, FILE *out) {
    OptionHelp option;
    for (int i = 0; options_describe(command, i, &option); i++) {
        bool is_long = !strncmp(word, "--", 2) && !strcmp(word + 2, option.name);
        bool is_letter = word[0] == '-' && word[1] == option.letter && word[1] && !word[2];
        if (!option.argument || (!is_long && !is_letter))
            continue;
        for (int k = 0; option.choices && choices_name(option.choices, k); k++)
            print_word(out, "", choices_name(option.choices, k), "");
        return true;
    }
    return false;
}

/* Returns the command among the words before the last. Without one it is live. */
static CommandId command_of(int count, char **words) {
    for (int i = 0; count > 1 && i < COMMAND_COUNT; i++)
        if (!strcmp(words[0], commands[i].name))
            return (CommandId)i;
    return COMMAND_LIVE;
}

void help_complete(int count, char **words, FILE *out) {
    const char *word = count ? words[count - 1] : "", *before = count > 1 ? words[count - 2] : "";
    const CommandId command = command_of(count, words);
    if (!strcmp(before, "--man")) {
        print_commands(out);
    } else if (print_values(command, before, out)) {
        return;
    } else if (word[0] == '-') {
        print_options(command, out);
        for (int i = 0; count < 2 && help_words[i].word; i++)
            print_word(out, "--", help_words[i].word, help_words[i].help);
    } else {
        if (count < 2)
            print_commands(out);
        for (int i = 0; command == COMMAND_PLOT && count == 2 && i < plot_kind_count; i++)
            print_word(out, "", plot_kinds[i].name, plot_kinds[i].summary);
        if (strstr(commands[command].synopsis, "SCENE") && (command != COMMAND_PLOT || count > 2))
            print_scenes(out);
    }
}
