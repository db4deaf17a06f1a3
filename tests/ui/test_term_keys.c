/* From the bytes of a terminal to keys: all that terminals send for a key, whole and in pieces, and
 * nothing that is no key. */
#include "tests/support/tap.h"

#include "src/state/keys.h"
#include "src/ui/term.h"
#include "src/ui/term_internal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2]; /* a pipe in place of the terminal */

static void type(const char *bytes, size_t length) {
    if (write(ends[1], bytes, length) != (ssize_t)length)
        abort();
}

/* Reads all keys at `now_ms` into `found`; returns how many. */
static int read_keys(TermKeys *typed, double now_ms, int32_t found[16]) {
    int count = 0;
    for (;;) {
        int32_t key = term_keys_next(typed, now_ms);
        if (key && count < 16)
            found[count++] = key;
        else if (!term_keys_read(typed, ends[0], now_ms))
            return count;
    }
}

/* The keys that these bytes give, at once and then after a second; `piece` bytes at a time. */
static bool gives(const char *bytes, size_t piece, const int32_t *wanted, int wanted_count) {
    static TermKeys typed;
    int32_t found[16];
    int count = 0;
    size_t length = strlen(bytes);
    double now_ms = 1;
    memset(&typed, 0, sizeof typed);
    for (size_t at = 0; at < length; at += piece) {
        type(bytes + at, at + piece < length ? piece : length - at);
        count += read_keys(&typed, now_ms += 5, found + count);
    }
    count += read_keys(&typed, now_ms + 1000, found + count);
    return count == wanted_count && !memcmp(found, wanted, (size_t)count * sizeof *found) &&
           !typed.length && isinf(term_keys_in_ms(&typed, now_ms));
}

typedef struct {
    const char *name, *bytes;
    int32_t keys[3];
} Row;

static const Row rows[] = {
    {"a letter", "k", {'k'}},
    {"UTF-8", "\xc3\xa4k", {0xe4, 'k'}},
    {"bytes that are no character", "\xff\xfek", {'k'}},
    {"Enter", "\r", {KEYCODE_ENTER}},
    {"Escape", "\033", {KEYCODE_ESCAPE}},
    {"Escape twice", "\033\033", {KEYCODE_ESCAPE, KEYCODE_ESCAPE}},
    {"a key with Alt means nothing", "\033q\033\xc3\xa4\033\r\033Ok", {0}},
    {"[ with Alt", "\033[", {0}},
    {"O with Alt", "\033O", {0}},
    {"arrows with Alt, as rxvt sends them", "\033\033[A\033\033OBk", {'k'}},
    {"arrows", "\033[A\033OB\033[C", {KEYCODE_UP, KEYCODE_DOWN, KEYCODE_RIGHT}},
    {"arrows with Shift", "\033[1;2D\033[a", {KEYCODE_SHIFT_LEFT, KEYCODE_SHIFT_UP}},
    {"arrows with Control mean nothing", "\033[1;5D\033[1;3A", {0}},
    {"Home of xterm", "\033[H\033OH", {KEYCODE_HOME, KEYCODE_HOME}},
    {"Page Up and Page Down", "\033[5~\033[6~", {KEYCODE_PAGE_UP, KEYCODE_PAGE_DOWN}},
    {"Home of tmux and of rxvt", "\033[1~\033[7~", {KEYCODE_HOME, KEYCODE_HOME}},
    {"End of xterm", "\033[F\033OF", {KEYCODE_END, KEYCODE_END}},
    {"End of tmux and of rxvt", "\033[4~\033[8~", {KEYCODE_END, KEYCODE_END}},
    {"Delete, Insert", "\033[3~\033[2~", {KEYCODE_DELETE, KEYCODE_INSERT}},
    {"Home and End with Shift", "\033[1;2H\033[1;2F", {KEYCODE_SHIFT_HOME, KEYCODE_SHIFT_END}},
    {"F1 of xterm, of rxvt, of Linux",
     "\033OP\033[11~\033[[A",
     {KEYCODE_F1, KEYCODE_F1, KEYCODE_F1}},
    {"F5, F12", "\033[15~\033[24~", {KEYCODE_F1 + 4, KEYCODE_F12}},
    {"Shift and Tab", "\033[Z", {KEYCODE_SHIFT_TAB}},
    {"focus in and out", "\033[I\033[Ok", {'k'}},
    {"what is pasted is no key", "\033[200~xyz\r\033[A\033[201~k", {'k'}},
    {"another key's end within a paste", "\033[200~q\033[20q\033[21~q\033[201~k", {'k'}},
    {"mouse, old", "\033[M !!\033[M#qqk", {'k'}},
    {"mouse, new", "\033[<0;10;20M\033[<0;10;20mk", {TERM_MOUSE, TERM_MOUSE, 'k'}},
    {"mouse: other buttons, moves without one", "\033[<1;5;5M\033[<2;5;5m\033[<35;5;5Mk", {'k'}},
    {"mouse: to the left and right, further buttons", "\033[<66;5;5M\033[<128;5;5Mk", {'k'}},
    {"mouse: column or row 0", "\033[<0;0;5M\033[<0;5;0M\033[<0;0;0mk", {'k'}},
    {"mouse: numbers beyond all sense", "\033[<0;99999999999999999999;5M\033[<99999;5;5Mk", {'k'}},
    {"mouse: too few numbers, too many, none, signs",
     "\033[<0;5M\033[<0;5;5;5M\033[<M\033[<;;M\033[<-1;5;5M\033[<0;+5;5Mk",
     {'k'}},
    {"mouse: a report within a report", "\033[<0;1\033[<0;2;3Mk", {TERM_MOUSE, 'k'}},
    {"answers: device, position, mode", "\033[?62;22c\033[24;80R\033[1;1R\033[?2026;2$yk", {'k'}},
    {"answers: colour, name", "\033]11;rgb:ffff/ffff/ffff\033\\\033P>|qxterm(1)\033\\k", {'k'}},
    {"a colour, ended by BEL", "\033]11;rgb:dq/q\007k", {'k'}},
    {"a string that another sequence cuts", "\033]0;qqq\033[Ak", {KEYCODE_UP, 'k'}},
    {"keys of the Kitty protocol", "\033[113;1u\033[57441uk", {'k'}},
    {"a sequence cut by a control character", "\033[12\rk", {KEYCODE_ENTER, 'k'}},
    {"ESC O with a number", "\033O5Ak", {'k'}},
};

static void test_rows(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Row *row = &rows[i];
        int count = 0;
        while (count < 3 && row->keys[count])
            count++;
        bool whole = gives(row->bytes, 100, row->keys, count);
        bool pieces = gives(row->bytes, 1, row->keys, count);
        if (!tap_ok(whole && pieces, "%s", row->name))
            tap_note("whole: %d, byte by byte: %d", whole, pieces);
    }
}

typedef struct {
    const char *bytes;
    MouseReport report;
} ReportRow;

static const ReportRow reports[] = {
    {"\033[<0;1;1M", {MOUSE_PRESS, 0, 0, 0}},
    {"\033[<0;10;20m", {MOUSE_RELEASE, 9, 19, 0}},
    {"\033[<32;200;3M", {MOUSE_MOVE, 199, 2, 0}},
    {"\033[<64;7;8M", {MOUSE_WHEEL, 6, 7, 1}},
    {"\033[<65;7;8M", {MOUSE_WHEEL, 6, 7, -1}},
    {"\033[<16;7;8M", {MOUSE_PRESS, 6, 7, 0}}, /* with Control */
    {"\033[<0;9999;1M", {MOUSE_PRESS, 9998, 0, 0}},
};

/* Escape is a key once nothing followed it for a moment; what comes after that is typed. */
static void test_escape(void) {
    enum { MOMENT = 30 };
    static TermKeys typed;
    int32_t found[16];
    memset(&typed, 0, sizeof typed);
    type("\033", 1);
    int early = read_keys(&typed, 1, found);
    int count = read_keys(&typed, 1 + MOMENT, found);
    type("k", 1);
    count += read_keys(&typed, 2 + MOMENT, found + count);
    tap_ok(early == 0 && count == 2 && found[0] == KEYCODE_ESCAPE && found[1] == 'k',
           "Escape, and a key a moment later");
}

/* Sends a report in two pieces, the second one `pause_ms` later; true: it is the one that is wanted,
 * and nothing else came. */
static bool reports_in_two(const ReportRow *row, size_t cut, double pause_ms) {
    static TermKeys typed;
    int32_t found[16];
    memset(&typed, 0, sizeof typed);
    type(row->bytes, cut);
    int count = read_keys(&typed, 1, found);
    count += read_keys(&typed, 1 + pause_ms, found + count);
    type(row->bytes + cut, strlen(row->bytes) - cut);
    count += read_keys(&typed, 1 + pause_ms, found + count);
    const MouseReport *got = &typed.mouse, *want = &row->report;
    return count == 1 && found[0] == TERM_MOUSE && got->kind == want->kind &&
           got->column == want->column && got->row == want->row && got->steps == want->steps;
}

static void test_reports(void) {
    enum { ESCAPE_WAITS = 20, MOUSE_WAITS = 1500 };
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        bool right = true;
        for (size_t cut = 1; cut < strlen(reports[i].bytes); cut++)
            right &= reports_in_two(&reports[i], cut, cut < 3 ? ESCAPE_WAITS : MOUSE_WAITS);
        tap_ok(right, "report %s, cut anywhere", reports[i].bytes + 1);
    }
    static TermKeys typed;
    int32_t found[16];
    memset(&typed, 0, sizeof typed);
    type("\033", 1);
    int count = read_keys(&typed, 1, found);
    count += read_keys(&typed, 1000, found + count);
    type("[<0;3;", 6);
    count += read_keys(&typed, 1000, found + count);
    type("4M", 2);
    count += read_keys(&typed, 1001, found + count);
    tap_ok(count == 2 && found[0] == KEYCODE_ESCAPE && found[1] == TERM_MOUSE &&
               typed.mouse.row == 3,
           "a report whose Escape came a second before: no other key");
}

/* Reports as terminals send them, and such that are wrong: none of them is a key. */
static void test_random_reports(void) {
    enum { REPORTS = 10000 };
    static TermKeys typed;
    static const char *const forms[] = {"\033[<%d;%d;%dM", "\033[<%d;%d;%dm", "\033[<%d;%d;%d;7M",
                                        "\033[<%d;%d;-%dM", "\033[<%d;0%d;%d99999m"};
    int keys_found = 0, mouse_found = 0, outside = 0;
    double now_ms = 1;
    srand(2);
    memset(&typed, 0, sizeof typed);
    for (int i = 0; i < REPORTS; i++) {
        char bytes[64];
        int32_t key;
        int form = rand() % 8;
        snprintf(bytes, sizeof bytes, forms[form < 5 ? form : 0], rand() % 70, rand() % 300,
                 rand() % (i % 10 ? 100 : 100000));
        size_t length = strlen(bytes), cut = 1 + (size_t)rand() % (length - 1);
        for (size_t at = 0; at < length; at = at ? length : cut) {
            type(bytes + at, at ? length - cut : cut);
            term_keys_read(&typed, ends[0], now_ms += 1);
            while ((key = term_keys_next(&typed, now_ms))) {
                mouse_found += key == TERM_MOUSE;
                keys_found += key != TERM_MOUSE;
                outside += typed.mouse.column < 0 || typed.mouse.row < 0;
            }
        }
    }
    tap_ok(!keys_found && !outside && mouse_found > REPORTS / 100 && !typed.length,
           "%d random reports, each in two pieces: %d of them of the first button or the wheel, no key",
           REPORTS, mouse_found);
}

/* What never ends must not hold back keys for ever, nor be kept without end. */
static void test_endless(void) {
    static TermKeys typed;
    int32_t found[16];
    char junk[1000];
    memset(junk, '1', sizeof junk);
    type("\033[", 2);
    for (int i = 0; i < 4; i++) {
        type(junk, sizeof junk);
        read_keys(&typed, 10, found);
    }
    read_keys(&typed, 1000, found);
    type("k", 1);
    int count = read_keys(&typed, 2000, found);
    tap_ok(count >= 1 && found[count - 1] == 'k', "a sequence without end is given up");
    type("\033]0;", 4);
    read_keys(&typed, 3000, found);
    read_keys(&typed, 4000, found);
    type("k", 1);
    count = read_keys(&typed, 5000, found);
    tap_ok(count == 1 && found[0] == 'k', "a string without end is given up");
    type("\033[200~qq", 8);
    count = read_keys(&typed, 6000, found);
    type("qq", 2);
    count += read_keys(&typed, 7000, found);
    count += read_keys(&typed, 10000, found);
    type("k", 1);
    count += read_keys(&typed, 10001, found);
    tap_ok(count == 1 && found[0] == 'k', "a paste without end is given up");
}

/* Random bytes: no crash, and a key that is typed a second later arrives. */
static void test_random(void) {
    enum { ROUNDS = 20000 };
    static TermKeys typed;
    static const char alphabet[] =
        "\033\033\033[[O]PX^_<;:0129~MmAHRIu\\\007\r\n\014k \x80\xc3\xff";
    int32_t found[16];
    double now_ms = 1;
    int lost = 0;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        char bytes[24];
        size_t length = 1 + (size_t)rand() % sizeof bytes;
        for (size_t j = 0; j < length; j++)
            bytes[j] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        type(bytes, length);
        read_keys(&typed, now_ms += 1, found);
        read_keys(&typed, now_ms += 1000, found);
        read_keys(&typed, now_ms += 1000, found);
        type("\x7f", 1);
        int count = read_keys(&typed, now_ms += 1000, found);
        lost += count != 1 || found[0] != 0x7f;
    }
    /* An old mouse report that was cut takes the next bytes: nothing else may. */
    tap_ok(lost < ROUNDS / 100, "random bytes: the next key arrives");
    tap_note("%d of %d were part of a report that had been cut", lost, ROUNDS);
}

TAP_SUITE(term_keys) {
    setlocale(LC_ALL, "C.UTF-8");
    tap_need(pipe(ends) == 0, "a pipe");
    test_rows();
    test_escape();
    test_reports();
    test_random_reports();
    test_endless();
    test_random();
}
