/* From the bytes of a terminal to keys: all that terminals send for a key, whole and in pieces, and
 * nothing that is no key. */
#include "tests/tap.h"

#include "src/state/keys.h"
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
    {"Escape and a key", "\033k", {KEYCODE_ESCAPE, 'k'}},
    {"Escape and [", "\033[", {KEYCODE_ESCAPE, '['}},
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
    {"pasted text is typed text", "\033[200~d\033[201~", {'d'}},
    {"mouse, old", "\033[M !!\033[M#qqk", {'k'}},
    {"mouse, new", "\033[<0;10;20M\033[<0;10;20mk", {'k'}},
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

int main(void) {
    setlocale(LC_ALL, "C.UTF-8");
    if (pipe(ends) < 0)
        return 1;
    test_rows();
    test_endless();
    test_random();
    return tap_done();
}
