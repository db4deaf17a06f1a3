/* SPDX-License-Identifier: MIT */
/* The terminal's answers, cut anywhere, with pauses and keys in between. */
#include "tests/support/tap.h"

#include "src/state/keys.h"
#include "src/ui/term_internal.h"

/* Codes of ncurses: nothing more waits; a key. */
enum { NOTHING = -1, UP = 0x103, ALL = 31, ESC = KEYCODE_ESCAPE };

static const char answers[] = "\033[?1003;2$y\033_Gi=31;ENOENT:q\033\\\033P>|WezTerm 2024\033\\"
                              "\033[6;20;10t\033[?62;4;22;52c";
static TermKeys typed;
static double now_ms;
static int32_t found[64], found_count;

static void begin(unsigned asked) {
    typed = (TermKeys){.owed = 0};
    found_count = 0;
    term_keys_ask(&typed, asked, now_ms);
}

static void give(int code) {
    term_keys_take(&typed, code, now_ms);
    for (int i = 0; i < typed.count && found_count < 64; i++)
        found[found_count++] = typed.keys[i];
    typed.count = 0;
}

/* Whether all of `answers` has been read. */
static bool all_are_read(void) {
    return !typed.owed && typed.moves && typed.answers.iterm && typed.answers.sixel &&
           typed.answers.cell_w == 10 && typed.answers.cell_h == 20;
}

static void type(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        give((unsigned char)bytes[i]);
    give(NOTHING);
}

/* The display looks for keys every 200 ms. */
static void pause(double ms) {
    for (double end_ms = now_ms + ms; now_ms < end_ms; give(NOTHING))
        now_ms = now_ms + 200 < end_ms ? now_ms + 200 : end_ms;
}

static bool is_found(const int32_t *wanted, int count) {
    return count == found_count && !memcmp(found, wanted, (size_t)count * sizeof *wanted);
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
            unread += !all_are_read();
        }
    for (size_t cut = 1; cut < sizeof answers - 1; cut++) {
        begin(ALL);
        type(answers, cut);
        pause(gap_ms / 2);
        give(UP);
        pause(gap_ms / 2);
        type(answers + cut, sizeof answers - 1 - cut);
        pause(3000);
        bool torn = answers[cut - 1] == '\033' && answers[cut] != '\\';
        lost += found_count != 1 + torn || found[torn] != KEYCODE_UP || (torn && found[0] != ESC);
        unread += !all_are_read();
    }
    tap_ok(!leaked && !lost && !unread,
           "pieces %g ms apart: %d bytes act as keys, %d keys in between are lost, %d unread",
           gap_ms, leaked, lost, unread);
}

static void test_keys(void) {
    const int32_t expected[] = {ESC, 'k', ESC, '[', 'k', ESC};
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
    tap_ok(found_count == 0, "other sequences are none");
    begin(ALL);
    type("\033[?62;", 6);
    pause(100);
    type("k", 1);
    type("4c", 2);
    tap_ok(is_found((const int32_t[]){'k'}, 1) && !strcmp(typed.text, "?62;4"),
           "a letter within an answer is a key");
}

static void test_ends(void) {
    begin(0);
    type("\033[?6c", 5);
    tap_ok(found_count == 0 && !typed.answers.waits, "nothing asked: an answer is no key either");
    begin(ALL);
    pause(ANSWERS_OWED_MS);
    type("\033", 1);
    tap_ok(is_found((const int32_t[]){ESC}, 1),
           "no answer: after a while nothing is owed any more");
    begin(ALL);
    type("\033_Gi=31", 7);
    pause(ANSWERS_OWED_MS);
    type("k", 1);
    tap_ok(is_found((const int32_t[]){'k'}, 1), "an answer without an end is given up");
    begin(ALL);
    type("\033[?6c", 5);
    pause(ANSWERS_PIECE_MS);
    type("\033", 1);
    tap_ok(is_found((const int32_t[]){ESC}, 1), "nothing is owed for long after the last answer");
}

TAP_SUITE(term_answers) {
    test_cuts(30);
    test_cuts(1000);
    test_keys();
    test_ends();
}
