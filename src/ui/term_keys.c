/* From the bytes that a terminal sends to keys. Escape begins sequences of several kinds (ECMA-48):
 *
 *     ESC [ parameters letter     keys, mouse, focus, paste, answers     CSI
 *     ESC O letter                keys in application mode               SS3
 *     ESC ] P X ^ _ ... end       answers, ended by BEL or ESC \         strings
 *
 * What is known becomes a key or a report of the mouse. What is not is passed over as a whole, as is
 * a key with Alt, which comes as Escape and the key, and all that is pasted: none of their letters
 * may act as a key. Escape alone is a key when nothing follows it for a moment. */
#include "src/ui/term_internal.h"

#include "src/state/keys.h"
#include "src/ui/term.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { ESCAPE_MS = 25, SEQUENCE_MS = 250, REPORT_MS = 2000, MOUSE_BYTES = 3 };

static const char paste_begins[] = "\033[200~", paste_ends[] = "\033[201~";
enum { PASTE_MARK = sizeof paste_ends - 1 };

/* ---- keys that have names -------------------------------------------------------------------- */

/* Keys by the last letter of ESC [ and ESC O; the second with Shift. */
static const struct {
    char letter;
    int32_t key, shifted;
} letters[] = {
    {'A', KEYCODE_UP, KEYCODE_SHIFT_UP},
    {'B', KEYCODE_DOWN, KEYCODE_SHIFT_DOWN},
    {'C', KEYCODE_RIGHT, KEYCODE_SHIFT_RIGHT},
    {'D', KEYCODE_LEFT, KEYCODE_SHIFT_LEFT},
    {'a', KEYCODE_SHIFT_UP, KEYCODE_SHIFT_UP}, /* rxvt */
    {'b', KEYCODE_SHIFT_DOWN, KEYCODE_SHIFT_DOWN},
    {'c', KEYCODE_SHIFT_RIGHT, KEYCODE_SHIFT_RIGHT},
    {'d', KEYCODE_SHIFT_LEFT, KEYCODE_SHIFT_LEFT},
    {'H', KEYCODE_HOME, KEYCODE_SHIFT_HOME},
    {'F', KEYCODE_END, KEYCODE_SHIFT_END},
    {'Z', KEYCODE_SHIFT_TAB, KEYCODE_SHIFT_TAB},
    {'P', KEYCODE_F1, 0}, /* these after ESC O only */
    {'Q', KEYCODE_F1 + 1, 0},
    {'R', KEYCODE_F1 + 2, 0},
    {'S', KEYCODE_F1 + 3, 0},
    {'M', KEYCODE_ENTER, 0}, /* on the number pad */
};

/* Keys by the number in ESC [ number ~. */
static const struct {
    int number;
    int32_t key;
} numbers[] = {
    {4, KEYCODE_END},      {5, KEYCODE_PAGE_UP},  {6, KEYCODE_PAGE_DOWN}, {8, KEYCODE_END},
    {3, KEYCODE_DELETE},
    {1, KEYCODE_HOME},     {7, KEYCODE_HOME},     {11, KEYCODE_F1},     {12, KEYCODE_F1 + 1},
    {13, KEYCODE_F1 + 2},  {14, KEYCODE_F1 + 3},  {15, KEYCODE_F1 + 4}, {17, KEYCODE_F1 + 5},
    {18, KEYCODE_F1 + 6},  {19, KEYCODE_F1 + 7},  {20, KEYCODE_F1 + 8}, {21, KEYCODE_F1 + 9},
    {23, KEYCODE_F1 + 10}, {24, KEYCODE_F1 + 11}, {2, KEYCODE_INSERT},    {3, KEYCODE_DELETE},
};

/* Keys of terminals that follow no such rule, by their entry in the terminal database. */
static const struct {
    const char *capability;
    int32_t key;
} named[] = {
    {"kcuu1", KEYCODE_UP},   {"kcud1", KEYCODE_DOWN},       {"kcuf1", KEYCODE_RIGHT},
    {"kcub1", KEYCODE_LEFT}, {"kri", KEYCODE_SHIFT_UP},     {"kind", KEYCODE_SHIFT_DOWN},
    {"khome", KEYCODE_HOME}, {"kRIT", KEYCODE_SHIFT_RIGHT}, {"kLFT", KEYCODE_SHIFT_LEFT},
    {"kent", KEYCODE_ENTER}, {"kpp", KEYCODE_PAGE_UP},      {"knp", KEYCODE_PAGE_DOWN},
    {"kend", KEYCODE_END},   {"kich1", KEYCODE_INSERT},     {"kdch1", KEYCODE_DELETE},
    {"kcbt", KEYCODE_SHIFT_TAB},
};

static int32_t key_of_letter(char letter, bool shift) {
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return shift ? letters[i].shifted : letters[i].key;
    return 0;
}

static int32_t key_of_number(int number) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number == number)
            return numbers[i].key;
    return 0;
}

/* ---- one key or sequence --------------------------------------------------------------------- */

/* The beginning of the bytes: `used` of them are `key`, or nothing (key 0). used 0: incomplete. */
typedef struct {
    int32_t key;
    size_t used;
} Found;

/* A number of a report: its digits, at most four. */
static bool read_number(const char **text, char end, int *number) {
    const char *at = *text;
    int value = 0;
    for (; *at >= '0' && *at <= '9' && at - *text < 4; at++)
        value = 10 * value + (*at - '0');
    bool found = at > *text && *at == end;
    *text = at + 1;
    *number = value;
    return found;
}

/* "0;10;20M": button, column and row from 1, M or m for release. Bits of the button: 4, 8 and 16
 * are Shift, Alt and Control, which do not matter, 32 says that the mouse moved, 64 that it is the
 * wheel. False: it is none, or of another button. */
static bool read_mouse(const char *text, char letter, MouseReport *report) {
    enum { KEYS = 4 | 8 | 16, MOVED = 32, WHEEL_UP = 64, WHEEL_DOWN = 65 };
    int button, column, row;
    if (!read_number(&text, ';', &button) || !read_number(&text, ';', &column) ||
        !read_number(&text, letter, &row) || !column || !row)
        return false;
    button &= ~KEYS;
    bool wheel = letter == 'M' && (button == WHEEL_UP || button == WHEEL_DOWN);
    if (!wheel && (button & ~MOVED) != 0)
        return false;
    *report = (MouseReport){.kind = wheel             ? MOUSE_WHEEL
                                    : letter == 'm'   ? MOUSE_RELEASE
                                    : button == MOVED ? MOUSE_MOVE
                                                      : MOUSE_PRESS,
                            .column = column - 1,
                            .row = row - 1,
                            .steps = wheel ? (button == WHEEL_UP ? 1 : -1) : 0};
    return true;
}

/* Behind ESC [: parameters up to a letter. A control character ends a sequence that was cut. */
static Found find_csi(TermKeys *typed, const char *bytes, size_t length) {
    enum { HEAD = 2, SHIFT = 2 };
    size_t end = HEAD;
    if (length > HEAD && bytes[HEAD] == '[') /* the function keys of the Linux console */
        return length > HEAD + 1 ? (Found){.key = bytes[HEAD + 1] >= 'A' && bytes[HEAD + 1] <= 'E'
                                                      ? KEYCODE_F1 + (bytes[HEAD + 1] - 'A')
                                                      : 0,
                                           .used = HEAD + 2}
                                 : (Found){.used = 0};
    while (end < length && bytes[end] >= ' ' && bytes[end] < '@')
        end++;
    if (end == length)
        return (Found){.used = 0};
    char letter = bytes[end];
    if (letter < '@' || letter > '~')
        return (Found){.used = end};
    Found found = {.used = end + 1};
    if (found.used == PASTE_MARK && !memcmp(bytes, paste_begins, PASTE_MARK)) {
        typed->skipping = 'P';
        return found;
    }
    if (letter == 'M' && end == HEAD) { /* a mouse report: three bytes follow */
        typed->skipping = 'M';
        typed->skip = MOUSE_BYTES;
        return found;
    }
    if (bytes[HEAD] == '<' && (letter == 'M' || letter == 'm')) {
        found.key = read_mouse(bytes + HEAD + 1, letter, &typed->mouse) ? TERM_MOUSE : 0;
        return found;
    }
    char *rest;
    long number = strtol(bytes + HEAD, &rest, 10), modifier = 0;
    if (rest < bytes + end && *rest == ';')
        modifier = strtol(rest + 1, &rest, 10);
    if (rest != bytes + end || modifier > SHIFT)
        return found; /* with Alt or Control, or no key at all */
    if (letter == '~')
        found.key = modifier ? 0 : key_of_number((int)number);
    else if (number <= 1 && (letter < 'M' || letter >= 'a' || letter == 'Z')) /* ESC [ 1 ; 1 R is an answer */
        found.key = key_of_letter(letter, modifier == SHIFT);
    return found;
}

/* Behind ESC O: a letter, perhaps with numbers before it. */
static Found find_ss3(const char *bytes, size_t length) {
    size_t end = 2;
    while (end < length && bytes[end] >= '0' && bytes[end] <= ';')
        end++;
    if (end == length)
        return (Found){.used = 0};
    return (Found){end == 2 ? key_of_letter(bytes[end], false) : 0, end + 1};
}

static Found find_sequence(TermKeys *typed, const char *bytes, size_t length);

/* A key that the terminal database knows. */
static Found find_named(const char *bytes, size_t length) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const char *text = terminfo_key(named[i].capability);
        size_t used = text ? strlen(text) : 0;
        if (used > 1 && used <= length && !memcmp(bytes, text, used))
            return (Found){named[i].key, used};
    }
    return (Found){.used = 0};
}

/* One character in the encoding of the locale. */
static Found find_character(const char *bytes, size_t length) {
    wchar_t character;
    mbstate_t begin = {0};
    size_t used = mbrtowc(&character, bytes, length, &begin);
    if (used == (size_t)-2)
        return (Found){.used = 0};
    if (used == (size_t)-1 || used == 0)
        return (Found){.used = 1};
    int32_t key = character == '\r'   ? KEYCODE_ENTER
                  : character == '\b' ? KEYCODE_BACKSPACE
                                      : (int32_t)character;
    return (Found){key, used};
}

/* Escape and one more key, which the terminal sends for that key with Alt: nothing here. Behind two
 * Escapes an arrow or another key of several bytes is one with Alt; else the first one is a key. */
static Found find_alt(TermKeys *typed, const char *bytes, size_t length) {
    Found found = {.used = 0};
    if (bytes[1] != '\033')
        found = find_character(bytes + 1, length - 1);
    else if (length > 2 && (bytes[2] == '[' || bytes[2] == 'O'))
        found = find_sequence(typed, bytes + 1, length - 1);
    else if (length > 2)
        return (Found){KEYCODE_ESCAPE, 1};
    return (Found){.used = found.used ? found.used + 1 : 0};
}

static Found find_sequence(TermKeys *typed, const char *bytes, size_t length) {
    Found found = find_named(bytes, length);
    if (found.used || length < 2)
        return found;
    switch (bytes[1]) {
    case '[':
        return find_csi(typed, bytes, length);
    case 'O':
        return find_ss3(bytes, length);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        typed->skipping = 'S';
        return (Found){.used = 2};
    default:
        return find_alt(typed, bytes, length);
    }
}

/* The bytes up to the end of what is pasted; what may be the beginning of its mark stays. */
static size_t skip_paste(TermKeys *typed) {
    size_t used = 0;
    while (used < typed->length && strncmp(typed->bytes + used, paste_ends,
                                           typed->length - used < PASTE_MARK ? typed->length - used
                                                                             : PASTE_MARK) != 0)
        used++;
    bool ends = used + PASTE_MARK <= typed->length;
    typed->skipping = ends ? 0 : 'P';
    return used + (ends ? PASTE_MARK : 0);
}

/* How many bytes belong to a string, mouse report or paste that is passed over; sets typed->skipping
 * to 0 where it ends. A string ends with BEL, with ESC \, or where another sequence begins. */
static size_t skip(TermKeys *typed) {
    size_t used = 0;
    if (typed->skipping == 'P')
        return skip_paste(typed);
    if (typed->skipping == 'M') {
        used = typed->length < (size_t)typed->skip ? typed->length : (size_t)typed->skip;
        typed->skip -= (int)used;
        typed->skipping = typed->skip ? 'M' : 0;
        return used;
    }
    while (used < typed->length && typed->bytes[used] != '\007' && typed->bytes[used] != '\033')
        used++;
    if (used == typed->length || (typed->bytes[used] == '\033' && used + 1 == typed->length))
        return used; /* more is to come */
    typed->skipping = 0;
    bool ends = typed->bytes[used] == '\007';
    bool terminated = !ends && typed->bytes[used + 1] == '\\';
    return used + (ends ? 1 : terminated ? 2 : 0);
}

static void drop(TermKeys *typed, size_t used) {
    typed->length -= used;
    memmove(typed->bytes, typed->bytes + used, typed->length);
    typed->bytes[typed->length] = '\0';
}

/* ---- for the terminal ------------------------------------------------------------------------ */

bool term_keys_read(TermKeys *typed, int fd, double now_ms) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    size_t room = sizeof typed->bytes - 1 - typed->length;
    if (!room || poll(&waiting, 1, 0) <= 0)
        return false;
    ssize_t got = read(fd, typed->bytes + typed->length, room);
    if (got <= 0)
        return false;
    typed->length += (size_t)got;
    typed->bytes[typed->length] = '\0';
    typed->since_ms = now_ms;
    return true;
}

static bool only_escapes(const TermKeys *typed) {
    return typed->length > 0 && !typed->skipping && strspn(typed->bytes, "\033") == typed->length;
}

/* How long the bytes that are here wait for more. Nobody types the beginning of a report. */
static double patience_ms(const TermKeys *typed) {
    if (typed->skipping == 'P' || !strncmp(typed->bytes, "\033[<", 3))
        return REPORT_MS;
    return only_escapes(typed) ? ESCAPE_MS : SEQUENCE_MS;
}

double term_keys_in_ms(const TermKeys *typed, double now_ms) {
    return typed->length || typed->skipping ? typed->since_ms + patience_ms(typed) - now_ms
                                            : INFINITY;
}

/* Nothing more came: Escape alone is a key; what was cut or never ended is dropped. */
static Found give_up_waiting(TermKeys *typed) {
    bool escape = only_escapes(typed);
    typed->skipping = 0;
    typed->escaped = escape && typed->length == 1;
    return escape ? (Found){KEYCODE_ESCAPE, 1} : (Found){.used = typed->length};
}

/* Puts a report together again whose Escape came so long before the rest that it was a key. */
static void join_report(TermKeys *typed) {
    const char *bytes = typed->bytes;
    bool rest = typed->escaped && !strncmp(bytes, "[<", 2) && bytes[2] >= '0' && bytes[2] <= '9';
    typed->escaped = typed->escaped && !typed->length;
    if (!rest || typed->length + 2 > sizeof typed->bytes)
        return;
    memmove(typed->bytes + 1, typed->bytes, ++typed->length);
    typed->bytes[0] = '\033';
}

int32_t term_keys_next(TermKeys *typed, double now_ms) {
    while (typed->length || typed->skipping) {
        join_report(typed);
        if (typed->skipping)
            drop(typed, skip(typed));
        Found found = {.used = 0};
        if (typed->length && !typed->skipping)
            found = typed->bytes[0] == '\033' ? find_sequence(typed, typed->bytes, typed->length)
                                              : find_character(typed->bytes, typed->length);
        bool full = typed->length + 1 >= sizeof typed->bytes;
        if (!found.used && (full || term_keys_in_ms(typed, now_ms) <= 0))
            found = give_up_waiting(typed);
        else if (!found.used)
            return 0;
        drop(typed, found.used);
        if (found.key)
            return found.key;
    }
    return 0;
}
