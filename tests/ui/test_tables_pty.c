/* SPDX-License-Identifier: MIT */
/* Tables and prose on a terminal: no line is wider than it, rows can be told apart in every part of
 * a table that is split. Elsewhere nothing is broken. */
#include "tests/support/pty_check.h"

static Pty pty;

/* Runs the program with these words until it ends by itself; true: with 0. */
static bool run(int columns, const char *words) {
    char *const environment[] = {"LC_ALL=C.UTF-8", NULL};
    return pty_bevscope(&pty, columns, 30, environment, "%s 2>/dev/null", words) &&
           exits_with(&pty, 0);
}

/* A check of what these words print in 80 columns. */
#define printed(words_, passed_, title_)                                                           \
    (tap_ok(run(80, words_) && (passed_), title_), pty_end(&pty))

/* The characters of the widest line. Commands to paste, which follow eight blanks, do not count. */
static int widest(const char *text) {
    int width = 0, most = 0;
    bool pasted = false;
    for (; *text; text++) {
        bool ends = *text == '\n' || *text == '\r';
        pasted = width ? pasted : !strncmp(text, "        ", 8);
        width = ends ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
        most = width > most && !pasted ? width : most;
    }
    return most;
}

TAP_WAITING_SUITE(tables_pty_widths) {
    static const char *const commands[] = {"--list",
                                           "info",
                                           "info toy",
                                           "info --probe --device cpu",
                                           "bench --recorded",
                                           "bench --recorded canonical --dtype fp16",
                                           "regime toy",
                                           "regime small --kernel v2 --gpu h200 --counters"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int widths[2] = {80, 100}, found[2];
        bool ok = true;
        for (int k = 0; k < 2; k++) {
            ok = run(widths[k], commands[i]) && ok;
            found[k] = widest(pty.output);
            ok = ok && found[k] > 0 && found[k] <= widths[k];
            pty_end(&pty);
        }
        if (!tap_ok(ok, "%s: in 80 and in 100 columns", commands[i]))
            tap_note("widest lines: %d, %d", found[0], found[1]);
    }
}

TAP_WAITING_SUITE(tables_pty_parts) {
    bool ok = run(80, "bench toy --quick --device cpu --kernel cpu_v2,cpu_v3 --dtype fp16,nvfp4");
    int parts = occurrences(pty.output, "kernel  ");
    tap_ok(ok && parts > 1 && occurrences(pty.output, "  warm  ") == 2 * 2 * parts &&
               occurrences(pty.output, "  cold  ") == 2 * 2 * parts &&
               occurrences(pty.output, "  nvfp4  ") == 4 * parts && widest(pty.output) <= 80,
           "bench: every part of its table has all that tells rows apart");
    tap_note("%d parts, %d columns", parts, widest(pty.output));
    tap_ok(ok && strstr(pty.output, "In every row: scene toy; where cpu; align nearest"),
           "what all rows say alike stands above");
    pty_end(&pty);
    printed("bench --recorded canonical --dtype fp16 --align nearest",
            occurrences(pty.output, "recorded on NVIDIA H200") >= 2,
            "bench --recorded: the machine stands above its rows");
}

TAP_WAITING_SUITE(tables_pty_words) {
    printed("bench --recorded canonical --dtype fp16 --format csv", widest(pty.output) > 80,
            "CSV keeps its lines");
    printed("bench --recorded canonical --dtype fp16 | cat",
            widest(pty.output) > 80 && !strstr(pty.output, "In every row"),
            "and so does a table in a pipe");
}
