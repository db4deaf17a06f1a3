/* SPDX-License-Identifier: MIT */
/* The live display where there is no terminal: words on standard input are answered by lines of the
 * log. loop_internal.h has the functions. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"
#include "src/ui/script.h"
#include "src/view/term/dashboard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN_PATIENCE_MS = 20000 }; /* the longest wait for figures */
enum { PLAIN_SILENCE_MS = 2000 };   /* the longest wait without a line that explains it */

static void put_line(const char *text) {
    text_put(text, stdout);
    putchar('\n');
}

/* Prints the lines that the log got since the last call, the newest last. */
static void print_new_lines(Loop *loop) {
    const Log *log = &loop->app.state.log;
    const LogLine *line = &log->lines[0];
    const uint64_t missed = log->said - loop->printed_said, kept = (uint64_t)log->count;
    if (!log->count || (!missed && !strcmp(loop->printed, line->text)))
        return;
    const uint64_t new_lines = missed < kept ? missed : kept;
    for (uint64_t i = new_lines; i > 1; i--)
        put_line(log->lines[i - 1].text);
    loop->printed_said = log->said;
    memcpy(loop->printed, line->text, sizeof loop->printed);
    put_line(loop->printed);
    fflush(stdout);
}

/* Prints the newest line of the log when its figures are known. A line whose figures take long is
 * printed twice: after PLAIN_SILENCE_MS without the figures, and later with the figures. */
static void print_log(Loop *loop) {
    uint64_t open = loop->app.state.log.lines[0].open;
    bool late = open != loop->told && clock_ms() - loop->said_ms > PLAIN_SILENCE_MS;
    if (open && !late)
        return;
    loop->told = open;
    print_new_lines(loop);
}

void plain_greet(void) {
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    const char *reason = terminal ? term_impossible() : NULL;
    if (reason)
        fprintf(stderr, "bevscope: %s\n", reason);
    fputs("bevscope: the live display as lines. Its words work on standard input, one a line; "
          "help lists them, quit ends.\n",
          stderr);
}

void plain_put_figures(const Loop *loop, FILE *out) {
    char *text = dashboard_plain(&loop->app.state, app_live(&loop->app));
    text_put(text ? text : "", out);
    free(text);
    fflush(out);
}

/* Prints the figures so far on standard error, once, if the first line of the log takes long. */
static void say_what_waits(Loop *loop) {
    if (loop->waits || clock_ms() - loop->start_ms < PLAIN_SILENCE_MS)
        return;
    loop->waits = true;
    if (isatty(STDERR_FILENO) && !loop->printed[0]) {
        fputs("bevscope: ", stderr);
        plain_put_figures(loop, stderr);
    }
}

static void print_controls(void) {
    puts("A word alone is a step on, with - a step back, or it takes an argument.");
    for (int i = 0; i < ACTION_COUNT; i++) {
        char word[64];
        if (i == 0 || keys[i].group != keys[i - 1].group)
            printf("%s\n", key_groups[keys[i].group]);
        snprintf(word, sizeof word, "%s%s", keys[i].word, argument_words[keys[i].argument]);
        printf("  %-20s %s\n", word, keys[i].help);
    }
    puts("bits: the number that bits-value and bits-flip change, with its scale");
    puts("glossary [WORD]: what the words on the lines mean");
    puts("show PANEL: kernels, accuracy, memory ... as a table");
}

static void print_glossary(const char *word) {
    const GlossaryRow *row = glossary_find(word);
    if (row)
        glossary_print(row, stdout);
    else if (word[0])
        printf("%s: not in the glossary; glossary alone shows all of it\n", word);
    for (int i = 0; !word[0] && i < glossary_count; i++)
        glossary_print(&glossary[i], stdout);
}

/* Prints a panel as text. For an unknown name, prints the names of all panels that have a text. */
static void print_panel(const Loop *loop, const char *name) {
    char names[256] = "";
    for (int i = 1; i < PANEL_COUNT; i++) {
        char *text = dashboard_panel_text((LessonPanel)i, &loop->app.state, app_live(&loop->app),
                                          app_picture(&loop->app));
        bool found = text && !strcmp(lesson_panels[i], name);
        if (text)
            text_add(names, sizeof names, " %s", lesson_panels[i]);
        if (found)
            text_put(text, stdout);
        free(text);
        if (found)
            return;
    }
    printf("show: no panel is called \"%s\"; there are:%s\n", name, names);
}

/* Prints as text the screen that a word would open in the terminal. Returns false for other words.
 * Also returns false for "help on" or "bits off", which open and close the window's screen. */
static bool print_screen_of_word(const Loop *loop, const char *line) {
    char word[16] = "", argument[64] = "";
    sscanf(line, "%15s %63[^\n]", word, argument);
    if (!strcmp(argument, "on") || !strcmp(argument, "off"))
        return false;
    if (!strcmp(word, keys[ACTION_HELP].word))
        print_controls();
    else if (!strcmp(word, keys[ACTION_GLOSSARY].word))
        print_glossary(argument);
    else if (!strcmp(word, keys[ACTION_BITS].word))
        print_panel(loop, word);
    else if (!strcmp(word, "show"))
        print_panel(loop, argument);
    else
        return false;
    fflush(stdout);
    return true;
}

/* Prints an open page of text when its figures are known, and closes the page. */
static void print_page(Loop *loop) {
    App *app = &loop->app;
    Err unused;
    if (!app->desk.open || !app->desk.page)
        return;
    if (!app_page_is_known(app) && clock_ms() - loop->said_ms < PLAIN_PATIENCE_MS)
        return;
    lesson_text_print(&app->state.lesson);
    fflush(stdout);
    app_close_lesson(app, &unused);
}

static void carry_out_line(Loop *loop) {
    Err err;
    loop->line[loop->line_length] = '\0';
    loop->line_length = 0;
    loop->line[strcspn(loop->line, "#\r")] = '\0';
    print_new_lines(loop); /* the answer to the word before, even without its figures */
    loop->told = 0;
    loop->said_ms = clock_ms();
    if (loop->line[strspn(loop->line, " \t")] && !print_screen_of_word(loop, loop->line) &&
        !app_words(&loop->app, loop->line, &err))
        app_note(&loop->app, err.what);
    loop_serve(loop);
}

void plain_read(Loop *loop) {
    char block[256];
    ssize_t n = read(STDIN_FILENO, block, sizeof block);
    loop->input_ended = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    for (ssize_t i = 0; i < n; i++)
        if (block[i] == '\n')
            carry_out_line(loop);
        else if (loop->line_length + 1 < sizeof loop->line)
            loop->line[loop->line_length++] = block[i];
    if (loop->input_ended && loop->line_length)
        carry_out_line(loop);
}

/* Whether all figures of the selection are known, or waiting for them has become pointless. */
static bool figures_settled(const Loop *loop) {
    const LiveData *live = app_live(&loop->app);
    const LiveKernel *row = live_kernel(live, loop->app.state.job.config.kernel);
    const LiveAccuracy *accuracy = &live->accuracy[loop->app.state.job.config.dtype];
    if (clock_ms() - loop->start_ms > PLAIN_PATIENCE_MS || live->error_text[0])
        return true;
    if (loop->app.desk.open && loop->app.desk.page)
        return false;
    const bool timed =
        row && row->median_us.source == SOURCE_MEASURED && !row->median_us.stale;
    const bool judged = accuracy->source != SOURCE_UNKNOWN && !accuracy->stale &&
                        accuracy->gate_a != LIVE_UNKNOWN && accuracy->gate_c != LIVE_UNKNOWN;
    return live->serial == loop->app.state.job.serial && timed && judged;
}

void plain_step(Loop *loop) {
    say_what_waits(loop);
    print_log(loop);
    print_page(loop);
    if (loop->input_ended && !loop->window && figures_settled(loop)) {
        print_new_lines(loop);
        loop->quit = true;
    }
}
