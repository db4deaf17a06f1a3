/* SPDX-License-Identifier: MIT */
/* The terminal's answers, cut anywhere, with pauses and keys in between. */
#include "tests/support/tap.h"

#include "src/ui/term_internal.h"

enum { KEY = 0x103, ALL = 31 };

static const char answers[] = "\033[?1003;2$y\033_Gi=31;ENOENT:q\033\\\033P>|WezTerm 2024\033\\"
                              "\033[6;20;10t\033[?62;4;22;52c";

static AnswerReader reader;
static double now_ms;
static int found[64], found_count;
static char letters[8];

static void begin(unsigned asked) {
    reader = (AnswerReader){.owed = 0};
    found_count = 0;
    letters[0] = '\0';
    if (asked)
        answers_ask(&reader, asked, now_ms);
}

static void give(int code) {
    int codes[ANSWERS_CODES], letter;
    int count = answers_take(&reader, code, now_ms, codes, &letter);
    for (int i = 0; i < count && found_count < 64; i++)
        found[found_count++] = codes[i];
    if (letter)
        strncat(letters, (char[]){(char)letter, '\0'}, sizeof letters - strlen(letters) - 1);
}

static void type(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        give((unsigned char)bytes[i]);
    give(ANSWERS_NOTHING);
}

/* The display looks for keys every 200 ms. */
static void pause(double ms) {
    for (double end_ms = now_ms + ms; now_ms < end_ms; give(ANSWERS_NOTHING))
        now_ms = now_ms + 200 < end_ms ? now_ms + 200 : end_ms;
}

static bool is_found(const int *codes, int count) {
    bool same = count == found_count && !memcmp(found, codes, (size_t)count * sizeof *codes);
    for (int i = 0; !same && i < found_count; i++)
        tap_note("%d", found[i]);
    return same;
}

static void test_cuts(double gap_ms) {
    int leaked = 0, lost = 0, unread = 0;
    for (size_t piece = 1; piece < sizeof answers; piece++)
        for (size_t first = 0; first < (piece > 1 ? piece : 1); first++) {
            begin(ALL);
            for (size_t at = 0, end = first; at < sizeof answers - 1; at = end, end += piece) {
                end = end < sizeof answers - 1 ? end : sizeof answers - 1;
                type(answers + at, end - at);
                pause(gap_ms);
            }
            leaked += found_count;
            unread += strcmp(letters, "y_Ptc") != 0;
        }
    for (size_t cut = 1; cut < sizeof answers - 1; cut++) {
        begin(ALL);
        type(answers, cut);
        pause(gap_ms / 2);
        give(KEY);
        pause(gap_ms / 2);
        type(answers + cut, sizeof answers - 1 - cut);
        pause(3000);
        bool torn = answers[cut - 1] == '\033' && answers[cut] != '\\';
        lost +=
            found_count != 1 + torn || found[torn] != KEY || (torn && found[0] != ANSWERS_ESCAPE);
        unread += strcmp(letters, "y_Ptc") != 0;
    }
    tap_ok(!leaked && !lost && !unread,
           "pieces %g ms apart: %d bytes act as keys, %d keys in between are lost, %d unread",
           gap_ms, leaked, lost, unread);
}

static void test_keys(void) {
    const int expected[] = {ANSWERS_ESCAPE, 'k', ANSWERS_ESCAPE, '[', 'k', ANSWERS_ESCAPE};
    begin(ALL);
    type("\033", 1);
    pause(300);
    type("k", 1);
    type("\033", 1);
    type("[", 1);
    type("k", 1);
    type("\033", 1);
    tap_ok(is_found(expected, 5), "Escape and keys come in their order");
    pause(ANSWERS_HOLD_MS);
    tap_ok(is_found(expected, 6), "Escape alone comes after a moment");
    begin(ALL);
    type("\033[A\033q", 5);
    tap_ok(is_found((const int[]){'\033', '[', 'A', '\033', 'q'}, 5), "other sequences pass");
    begin(ALL);
    type("\033[?62;", 6);
    pause(100);
    type("k", 1);
    type("4c", 2);
    tap_ok(is_found((const int[]){'k'}, 1) && !strcmp(reader.text, "?62;4"),
           "a letter within an answer is a key");
}

static void test_ends(void) {
    begin(0);
    type("\033[?6c", 5);
    tap_ok(is_found((const int[]){'\033', '[', '?', '6', 'c'}, 5),
           "nothing asked: all of it passes");
    begin(ALL);
    pause(ANSWERS_OWED_MS);
    type("\033", 1);
    tap_ok(is_found((const int[]){'\033'}, 1), "no answer: after a while nothing is owed any more");
    begin(ALL);
    type("\033_Gi=31", 7);
    pause(ANSWERS_OWED_MS);
    type("k", 1);
    tap_ok(is_found((const int[]){'k'}, 1), "an answer without an end is given up");
    begin(ALL);
    type("\033[?6c", 5);
    pause(ANSWERS_PIECE_MS);
    type("\033", 1);
    tap_ok(is_found((const int[]){'\033'}, 1), "nothing is owed for long after the last answer");
}

TAP_SUITE(term_answers) {
    test_cuts(30);
    test_cuts(1000);
    test_keys();
    test_ends();
}
