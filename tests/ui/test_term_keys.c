/* SPDX-License-Identifier: MIT */
/* From the bytes of a terminal to keys: all that terminals send for a key, whole and in pieces. */
#define NCURSES_NOMACROS 1 /* its macros are everyday words */
#include "tests/support/tap.h"

#include "src/state/keys.h"
#include "src/ui/term.h"
#include "src/ui/term_internal.h"

#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

/* Somebody types, in a time that passes only while the keys are waited for: poll() below stands in
 * for the system's, also in ncurses. */
enum { TYPED_MAX = 8192 };
static struct {
    bool sits;   /* false: another suite of this program; time is the system's */
    int ends[2]; /* a pipe in place of the terminal */
    double now_ms;
    struct {
        double at_ms;
        const char *bytes;
        size_t length;
    } pieces[TYPED_MAX]; /* still to be typed, from `next` to `count` */
    int next, count;
} typist;
static TermKeys typed;
static int32_t found[16]; /* keys that were read last */

__attribute__((visibility("default"))) int poll(struct pollfd *files, nfds_t count, int ms) {
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    if (!typist.sits)
        return ppoll(files, count, ms < 0 ? NULL : &wait, NULL);
    double until_ms = typist.now_ms + ms;
    int ready;
    while (!(ready = ppoll(files, count, &(struct timespec){.tv_sec = 0}, NULL)) &&
           typist.next < typist.count && typist.pieces[typist.next].at_ms <= until_ms) {
        int i = typist.next++;
        typist.now_ms = typist.pieces[i].at_ms;
        if (write(typist.ends[1], typist.pieces[i].bytes, typist.pieces[i].length) < 0)
            abort();
    }
    if (!ready)
        typist.now_ms = until_ms;
    return ready;
}

/* These bytes will be typed `after_ms` after all before; they must stay. */
static void type(const char *bytes, size_t length, double after_ms) {
    double last_ms = typist.count ? typist.pieces[typist.count - 1].at_ms : typist.now_ms;
    if (typist.next == typist.count)
        typist.next = typist.count = 0;
    if (last_ms < typist.now_ms)
        last_ms = typist.now_ms;
    typist.pieces[typist.count].at_ms = last_ms + after_ms;
    typist.pieces[typist.count].bytes = bytes;
    typist.pieces[typist.count++].length = length;
}

/* Reads all keys of the next `ms`; returns how many. The display looks for keys every 200 ms. */
static int read_keys(double ms) {
    struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
    double until_ms = typist.now_ms + ms;
    int count = 0;
    do {
        for (int32_t key; (key = term_keys_next(&typed, typist.now_ms));)
            if (count < 16)
                found[count++] = key;
        poll(&terminal, 1, until_ms > typist.now_ms + 200 ? 200 : (int)(until_ms - typist.now_ms));
    } while (until_ms > typist.now_ms);
    return count;
}

/* The keys that these bytes give, at once and then after a second; `piece` bytes at a time. */
static bool gives(const char *bytes, size_t piece, const int32_t *wanted, int wanted_count) {
    size_t length = strlen(bytes);
    for (size_t at = 0; at < length; at += piece)
        type(bytes + at, at + piece < length ? piece : length - at, 5);
    int count = read_keys(5 * (double)length + 1000);
    return count == wanted_count && !memcmp(found, wanted, (size_t)count * sizeof *found) &&
           read_keys(1000) == 0;
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
    {": at once after Escape opens the palette", "\033:k", {KEYCODE_ESCAPE, ':', 'k'}},
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
    {"mouse: other buttons", "\033[<1;5;5M\033[<2;5;5m\033[<34;5;5Mk", {'k'}},
    {"mouse: moves without a button, and the answer that there are such",
     "\033[<35;5;5M\033[?1003;2$yk",
     {TERM_MOUSE, 'k'}},
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

static void test_escape(void) {
    enum { MOMENT = 30 };
    double begun_ms = typist.now_ms;
    type("\033", 1, 0);
    type("k", 1, MOMENT);
    int32_t first = term_keys_next(&typed, typist.now_ms);
    while (!first && typist.now_ms < begun_ms + MOMENT)
        first = read_keys(1) ? found[0] : 0;
    double took_ms = typist.now_ms - begun_ms;
    int count = read_keys(MOMENT);
    tap_ok(first == KEYCODE_ESCAPE && took_ms > 1 && took_ms <= MOMENT && count == 1 &&
               found[0] == 'k',
           "Escape, and a key a moment later");
}

/* Whether a report in two pieces, the second `pause_ms` later, is read, and nothing else. */
static bool reports_in_two(const ReportRow *row, size_t cut, double pause_ms) {
    type(row->bytes, cut, 0);
    type(row->bytes + cut, strlen(row->bytes) - cut, pause_ms);
    int count = read_keys(pause_ms + 1);
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
    type("\033", 1, 0);
    type("[<0;3;", 6, 1000);
    type("4M", 2, 1);
    int count = read_keys(1002);
    tap_ok(count == 2 && found[0] == KEYCODE_ESCAPE && found[1] == TERM_MOUSE &&
               typed.mouse.row == 3,
           "a report whose Escape came a second before: no other key");
}

static void test_endless(void) {
    char junk[4000];
    memset(junk, '1', sizeof junk);
    type("\033[", 2, 0);
    type(junk, sizeof junk, 0);
    type("k", 1, 2000);
    int count = read_keys(2001);
    tap_ok(count >= 1 && found[count - 1] == 'k', "a sequence without end is given up");
    type("\033]0;", 4, 0);
    type("k", 1, 2000);
    count = read_keys(2001);
    tap_ok(count == 1 && found[0] == 'k', "a string without end is given up");
    type("\033[200~qq", 8, 0);
    type("qq", 2, 1000);
    type("k", 1, 3001);
    count = read_keys(4002);
    tap_ok(count == 1 && found[0] == 'k', "a paste without end is given up");
}

static void test_random(void) {
    enum { ROUNDS = 20000 };
    static const char alphabet[] =
        "\033\033\033[[O]PX^_<;:0129~MmAHRIu\\\007\r\n\014k \x80\xc3\xff";
    int lost = 0;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        char bytes[24];
        size_t length = 1 + (size_t)rand() % sizeof bytes;
        for (size_t j = 0; j < length; j++)
            bytes[j] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        type(bytes, length, 0);
        read_keys(3000);
        type("\x7f", 1, 0);
        int count = read_keys(1);
        lost += count != 1 || found[0] != 0x7f;
    }
    tap_ok(lost == 0, "random bytes: the next key arrives (%d of %d did not)", lost, ROUNDS);
}

TAP_SUITE(term_keys) {
    setlocale(LC_ALL, "C.UTF-8");
    if (pipe(typist.ends) < 0 || dup2(typist.ends[0], STDIN_FILENO) < 0 ||
        !newterm("xterm-256color", fopen("/dev/null", "w"), stdin))
        tap_skip_suite("the terminal database has no xterm-256color");
    typist.sits = true;
    cbreak();
    term_keys_open(&typed);
    meta(typed.window, TRUE); /* as on a terminal of eight bits */
    test_rows();
    test_escape();
    test_reports();
    test_endless();
    test_random();
}
