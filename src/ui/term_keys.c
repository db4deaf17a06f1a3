/* SPDX-License-Identifier: MIT */
/* Turns what ncurses reads into keys. ncurses knows the sequences of the terminal's type. Those of
 * other types are added, because tmux, PuTTY and rxvt send some under foreign names. ncurses hands
 * unknown sequences over byte by byte. Sequences begin with Escape (ECMA-48):
 *
 *     ESC [ parameters letter     mouse, paste, answers     CSI
 *     ESC O letter                keys in application mode  SS3
 *     ESC ] P X ^ _ ... end       answers                   strings
 *
 * No letter of a sequence may act as a key, so a sequence is read to its end. A key with Alt comes
 * as Escape and the key, and is skipped. Only Alt and ':' count as Escape and ':', typed fast. The
 * mouse is read here, because ncurses 6.4 waits without limit for the end of a report, reports no
 * moves, and knows no columns above 223 in tmux. */
#define NCURSES_NOMACROS 1 /* its macros are everyday words */
#include "src/ui/term_internal.h"

#include <assert.h>
#include <ncurses.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { ESCAPE = 0x1b, BELL = 7, CHARACTERS = 0x100 }; /* above are keys of ncurses */

void answers_ask(AnswerReader *reader, unsigned kinds, double now_ms) {
    reader->owed |= kinds;
    reader->until_ms = now_ms + ANSWERS_OWED_MS;
}

static void owe_nothing(AnswerReader *reader) {
    reader->owed = 0;
    reader->escape_given = false;
}

static void begin_answer(AnswerReader *reader, bool escape) {
    reader->at = ANSWER_ESCAPE;
    reader->no_escape = !escape;
    reader->lone_escape = false;
}

static void add_to_answer(AnswerReader *reader, int code) {
    reader->at = ANSWER_BODY;
    if (reader->length + 1 == sizeof reader->text)
        return;
    reader->text[reader->length++] = (char)code;
    reader->text[reader->length] = '\0';
}

/* Ends the wait for an answer. Writes the codes that were held back, which a person has typed, and
 * returns their number. The body of an answer is dropped. */
static int give_up_answer(AnswerReader *reader, int codes[ANSWERS_CODES]) {
    int count = 0;
    if (reader->at <= ANSWER_INTRODUCED && !reader->no_escape)
        codes[count++] = reader->lone_escape ? ANSWERS_ESCAPE : ESCAPE;
    if (reader->at == ANSWER_INTRODUCED)
        codes[count++] = reader->introducer;
    reader->escape_given |= reader->lone_escape;
    reader->at = ANSWER_NONE;
    return count;
}

/* Ends an answer, which is then owed no more. Returns its letter. */
static int complete_answer(AnswerReader *reader, int letter) {
    const unsigned answered = letter == 'c'   ? ANSWER_DEVICE
                              : letter == 'y' ? ANSWER_MODE
                              : letter == 't' ? ANSWER_SIZE
                              : letter == 'P' ? ANSWER_NAME
                              : letter == '_' ? ANSWER_KITTY
                                              : 0;
    reader->owed &= ~answered;
    if (letter == 'c') /* what was not answered before will not be */
        reader->until_ms = 0;
    reader->at = ANSWER_NONE;
    return letter;
}

/* Whether the code, behind an Escape, introduces an answer that is owed. */
static bool introduces(const AnswerReader *reader, int code) {
    return (code == '[' && reader->owed & (ANSWER_DEVICE | ANSWER_MODE | ANSWER_SIZE)) ||
           (code == 'P' && reader->owed & ANSWER_NAME) ||
           (code == '_' && reader->owed & ANSWER_KITTY);
}

/* Whether the code is the first sign of an answer that is owed, behind its introducer. */
static bool continues_answer(const AnswerReader *reader, int code) {
    return reader->introducer == '['
               ? (code == '?' && reader->owed & (ANSWER_DEVICE | ANSWER_MODE)) ||
                     (code == '6' && reader->owed & ANSWER_SIZE)
               : code == (reader->introducer == 'P' ? '>' : 'G');
}

/* Whether the letter ends the sequence. After a pause, a letter that ends no answer is a key. */
static bool ends_sequence(const AnswerReader *reader, int code) {
    bool last = reader->text[0] == '?' ? code == 'c' || code == 'y' : code == 't';
    return last || (code >= '@' && code <= '~' && !reader->alone);
}

/* Adds the code to the body of an answer. Returns the number of codes that are keys. */
static int take_body(AnswerReader *reader, int code, int codes[ANSWERS_CODES], int *letter) {
    bool string = reader->introducer != '[';
    if (code == ESCAPE && !string)
        begin_answer(reader, true);
    else if (code == ESCAPE)
        reader->at = ANSWER_STRING_ENDS;
    else if (string && code == BELL)
        *letter = complete_answer(reader, reader->introducer);
    else if (!string && ends_sequence(reader, code))
        *letter = complete_answer(reader, code);
    else if (code >= ' ' && code < (string ? CHARACTERS : '@'))
        add_to_answer(reader, code);
    else { /* a key in between */
        codes[0] = code;
        return 1;
    }
    return 0;
}

/* Whether the code is a key that was typed between two pieces of an answer. */
static bool is_between(const AnswerReader *reader, int code) {
    return reader->alone && (reader->at == ANSWER_STRING_ENDS
                                 ? code != '\\' && !introduces(reader, code)
                                 : reader->at == ANSWER_INTRODUCED && !reader->lone_escape &&
                                       !reader->no_escape && !continues_answer(reader, code));
}

/* Adds the code to an answer, or begins one. Returns the number of codes that are keys. */
static int take_code(AnswerReader *reader, int code, int codes[ANSWERS_CODES], int *letter) {
    int count = 0;
    if (is_between(reader, code)) {
        codes[0] = code;
        return 1;
    }
    if (reader->at == ANSWER_BODY)
        return take_body(reader, code, codes, letter);
    if (reader->at == ANSWER_STRING_ENDS) {
        *letter = complete_answer(reader, reader->introducer);
        if (code == '\\')
            return 0;
        begin_answer(reader, true); /* another sequence cuts the string */
    }
    if (reader->at == ANSWER_NONE && reader->escape_given && introduces(reader, code))
        begin_answer(reader, false);
    if (reader->at == ANSWER_ESCAPE && introduces(reader, code)) {
        reader->at = ANSWER_INTRODUCED;
        reader->introducer = code;
        return 0;
    }
    if (reader->at == ANSWER_INTRODUCED && continues_answer(reader, code)) {
        reader->length = 0;
        add_to_answer(reader, code);
        return 0;
    }
    if (reader->at)
        count = give_up_answer(reader, codes);
    if (code == ESCAPE)
        begin_answer(reader, true);
    else
        codes[count++] = code;
    return count;
}

int answers_take(AnswerReader *reader, int code, double now_ms, int codes[ANSWERS_CODES],
                 int *letter) {
    bool held = reader->at == ANSWER_ESCAPE || reader->at == ANSWER_INTRODUCED;
    bool nothing = code == ANSWERS_NOTHING;
    int count = 0;
    *letter = 0;
    reader->alone |= nothing;
    reader->lone_escape |= nothing && reader->at == ANSWER_ESCAPE;
    if (reader->at && now_ms >= (held ? reader->since_ms + ANSWERS_HOLD_MS : reader->until_ms))
        count = give_up_answer(reader, codes);
    if (!reader->at && (!reader->owed || now_ms >= reader->until_ms))
        owe_nothing(reader);
    if (nothing)
        return count;
    bool answers = reader->owed || reader->at;
    int typed = answers ? take_code(reader, code, codes + count, letter) : 1;
    if (!answers)
        codes[count] = code;
    if (!typed) {
        reader->alone = false;
        reader->since_ms = now_ms;
        if (reader->at != ANSWER_ESCAPE && reader->until_ms < now_ms + ANSWERS_PIECE_MS)
            reader->until_ms = now_ms + ANSWERS_PIECE_MS;
    }
    return count + typed;
}

/* ---- keys ------------------------------------------------------------------------------------ */

enum { SEQUENCE_MS = 250, REPORT_MS = 2000 };
_Static_assert(ANSWERS_NOTHING == ERR, "a code that ncurses returns");
enum { PASTE_BEGINS = KEY_OPEN, PASTE_ENDS = KEY_CLOSE }; /* keys of no keyboard */

/* A key: its code in ncurses, its code here, and its sequences in all terminals, without Escape. */
static const struct {
    int code;
    int32_t key;
    const char *sequences;
} rows[] = {
    {KEY_UP, KEYCODE_UP, "[A OA"},
    {KEY_DOWN, KEYCODE_DOWN, "[B OB"},
    {KEY_RIGHT, KEYCODE_RIGHT, "[C OC"},
    {KEY_LEFT, KEYCODE_LEFT, "[D OD"},
    {KEY_SR, KEYCODE_SHIFT_UP, "[1;2A [a Oa"},
    {KEY_SF, KEYCODE_SHIFT_DOWN, "[1;2B [b Ob"},
    {KEY_SRIGHT, KEYCODE_SHIFT_RIGHT, "[1;2C [c Oc"},
    {KEY_SLEFT, KEYCODE_SHIFT_LEFT, "[1;2D [d Od"},
    {KEY_HOME, KEYCODE_HOME, "[H OH [1~ [7~"},
    {KEY_FIND, KEYCODE_HOME, ""},
    {KEY_END, KEYCODE_END, "[F OF [4~ [8~"},
    {KEY_SELECT, KEYCODE_END, ""},
    {KEY_SHOME, KEYCODE_SHIFT_HOME, "[1;2H"},
    {KEY_SEND, KEYCODE_SHIFT_END, "[1;2F"},
    {KEY_PPAGE, KEYCODE_PAGE_UP, "[5~"},
    {KEY_NPAGE, KEYCODE_PAGE_DOWN, "[6~"},
    {KEY_IC, KEYCODE_INSERT, "[2~"},
    {KEY_DC, KEYCODE_DELETE, "[3~"},
    {KEY_BTAB, KEYCODE_SHIFT_TAB, "[Z"},
    {KEY_ENTER, KEYCODE_ENTER, "OM"},
    {KEY_BACKSPACE, KEYCODE_BACKSPACE, ""},
    {KEY_F(1), KEYCODE_F1, "OP [11~ [[A"},
    {KEY_F(2), KEYCODE_F1 + 1, "OQ [12~ [[B"},
    {KEY_F(3), KEYCODE_F1 + 2, "OR [13~ [[C"},
    {KEY_F(4), KEYCODE_F1 + 3, "OS [14~ [[D"},
    {KEY_F(5), KEYCODE_F1 + 4, "[15~ [[E"},
    {KEY_F(6), KEYCODE_F1 + 5, "[17~"},
    {KEY_F(7), KEYCODE_F1 + 6, "[18~"},
    {KEY_F(8), KEYCODE_F1 + 7, "[19~"},
    {KEY_F(9), KEYCODE_F1 + 8, "[20~"},
    {KEY_F(10), KEYCODE_F1 + 9, "[21~"},
    {KEY_F(11), KEYCODE_F1 + 10, "[23~"},
    {KEY_F(12), KEYCODE_F12, "[24~"},
    {PASTE_BEGINS, 0, "[200~"},
    {PASTE_ENDS, 0, "[201~"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int32_t key_of_code(int code) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].code == code)
            return rows[i].key;
    return 0;
}

void term_keys_open(TermKeys *typed) {
    *typed = (TermKeys){.window = newpad(1, 1)}; /* reading from a pad draws nothing */
    keypad(typed->window, TRUE);
    nodelay(typed->window, TRUE);
    set_escdelay(ESCAPE_MS);
    keyok(KEY_MOUSE, FALSE);
    for (int i = 0; i < ROWS; i++) {
        char sequence[16] = "\033";
        for (const char *at = rows[i].sequences; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            snprintf(sequence + 1, sizeof sequence - 1, "%.*s", (int)length, at);
            define_key(sequence, rows[i].code); /* what the terminal's type has stays */
            at += length;
        }
    }
}

/* Takes an answer, by the letter that ends or introduces it. */
static void take_answer(TermKeys *typed, int letter, const char *text) {
    typed->moves |= letter == 'y' && (!strcmp(text, "?1003;1$") || !strcmp(text, "?1003;2$"));
    pixels_answer(&typed->answers, letter, text);
}

/* Returns the next code that belongs to no answer, or ANSWERS_ESCAPE; ERR: none within `ms`. */
static int next_code(TermKeys *typed, int ms) {
    struct pollfd waiting = {.fd = STDIN_FILENO, .events = POLLIN};
    int code = 0, letter;
    while (!typed->count && code != ERR) {
        code = wgetch(typed->window);
        if (code == ERR && ms && poll(&waiting, 1, ms) > 0)
            code = wgetch(typed->window);
        typed->count = answers_take(&typed->reader, code, typed->now_ms, typed->codes, &letter);
        if (letter)
            take_answer(typed, letter, typed->reader.text);
    }
    if (!typed->count)
        return ERR;
    code = typed->codes[0];
    memmove(typed->codes, typed->codes + 1, (size_t)--typed->count * sizeof code);
    return code;
}

/* Puts a code back, to be read next. */
static void give_back_code(TermKeys *typed, int code) {
    if (code == ERR)
        return;
    assert(typed->count < (int)(sizeof typed->codes / sizeof code));
    memmove(typed->codes + 1, typed->codes, (size_t)typed->count++ * sizeof code);
    typed->codes[0] = code;
}

/* ---- the mouse ------------------------------------------------------------------------------- */

/* Parses "<0;10;20M": button, column and row (from 1), M for press or m for release. Bits of the
 * button: 4, 8 and 16 are Shift, Alt and Control and are ignored; 32 means a move, 64 the wheel.
 * Returns false for other text, and for reports of other buttons. */
static bool parse_report(const char *text, char letter, MouseReport *report) {
    enum { MENU = 2, NONE = 3, KEYS = 4 | 8 | 16, MOVED = 32, WHEEL_UP = 64, WHEEL_DOWN = 65 };
    int button, column, row, used = 0;
    bool digits = strspn(text + 1, "0123456789;") == strlen(text + 1);
    if (!digits || sscanf(text, "<%4d;%4d;%4d%n", &button, &column, &row, &used) != 3 ||
        text[used] || !column || !row)
        return false;
    button &= ~KEYS;
    bool wheel = letter == 'M' && (button == WHEEL_UP || button == WHEEL_DOWN);
    bool menu = letter == 'M' && button == MENU;
    bool hover = letter == 'M' && button == (MOVED | NONE);
    if (!wheel && !menu && !hover && (button & ~MOVED) != 0)
        return false;
    *report = (MouseReport){.kind = wheel             ? MOUSE_WHEEL
                                    : menu            ? MOUSE_MENU
                                    : hover           ? MOUSE_HOVER
                                    : letter == 'm'   ? MOUSE_RELEASE
                                    : button == MOVED ? MOUSE_MOVE
                                                      : MOUSE_PRESS,
                            .column = column - 1,
                            .row = row - 1,
                            .steps = wheel ? (button == WHEEL_UP ? 1 : -1) : 0};
    return true;
}

/* ---- sequences that ncurses does not know ---------------------------------------------------- */

/* Reads parameters into `text`, up to the letter that ends them, and returns that letter; ERR: none
 * came. Parameters beyond `size` are lost. A key or a control character among them stays to be
 * read. */
static int read_parameters(TermKeys *typed, char *text, size_t size) {
    size_t length = 0;
    int code;
    text[0] = '\0';
    while ((code = next_code(typed, text[0] == '<' ? REPORT_MS : SEQUENCE_MS)) >= ' ' && code < '@')
        if (length + 1 < size) {
            text[length++] = (char)code;
            text[length] = '\0';
        }
    if (code >= '@' && code <= '~')
        return code;
    give_back_code(typed, code);
    return ERR;
}

/* Reads the rest of a sequence after ESC [. Returns its key; NO_KEY: it means none. */
static int32_t read_csi(TermKeys *typed) {
    enum { OLD_REPORT_BYTES = 3 };
    char text[128]; /* the answer to DA1 may be long */
    int letter = read_parameters(typed, text, sizeof text);
    if (letter == '[' && !text[0]) /* a function key of the Linux console that is none here */
        next_code(typed, SEQUENCE_MS);
    for (int i = 0; letter == 'M' && !text[0] && i < OLD_REPORT_BYTES; i++)
        next_code(typed, SEQUENCE_MS);
    take_answer(typed, letter, text);
    bool report = text[0] == '<' && (letter == 'M' || letter == 'm');
    return report && parse_report(text, (char)letter, &typed->mouse) ? TERM_MOUSE : 0;
}

/* Reads a string, up to BEL, ESC \, or the begin of a sequence or key. It may be an answer. */
static void read_string(TermKeys *typed, int introducer) {
    char text[32] = "";
    size_t length = 0;
    int code;
    while ((code = next_code(typed, SEQUENCE_MS)) >= 0 && code != BELL && code != ESCAPE &&
           code < KEY_MIN)
        if (length + 1 < sizeof text)
            text[length++] = (char)code;
    pixels_answer(&typed->answers, introducer, text);
    if (code == ESCAPE && (code = next_code(typed, SEQUENCE_MS)) != '\\') {
        give_back_code(typed, code);
        code = ESCAPE;
    }
    if (code == ESCAPE || code == ANSWERS_ESCAPE || code >= KEY_MIN)
        give_back_code(typed, code);
}

static void skip_paste(TermKeys *typed) {
    int code;
    do
        code = next_code(typed, REPORT_MS);
    while (code != ERR && code != PASTE_ENDS);
}

/* Reads one character in the encoding of the locale; 0: the bytes are no character. */
static int32_t read_character(TermKeys *typed, int code) {
    wchar_t character = 0;
    mbstate_t state = {0};
    size_t used;
    for (bool first = true;; first = false) {
        char byte = (char)code;
        used = code < KEY_MIN ? mbrtowc(&character, &byte, 1, &state) : (size_t)-1;
        if (used == (size_t)-1 && !first)
            give_back_code(typed, code);
        if (used != (size_t)-2 || (code = next_code(typed, SEQUENCE_MS)) == ERR)
            break;
    }
    return used != 1           ? 0
           : character == '\r' ? KEYCODE_ENTER
           : character == '\b' ? KEYCODE_BACKSPACE
                               : (int32_t)character;
}

/* Reads what follows an Escape. ncurses waited ESCAPE_MS: an Escape without successor is a key. */
static int32_t read_escape(TermKeys *typed) {
    char text[32];
    int code = next_code(typed, 0), after;
    switch (code) {
    case ERR:
        typed->escaped = true;
        return KEYCODE_ESCAPE;
    case '[':
        return read_csi(typed);
    case 'O':
        read_parameters(typed, text, sizeof text);
        return 0;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        read_string(typed, code);
        return 0;
    case ESCAPE: /* a key of several bytes with Alt; else the first Escape is a key */
        after = next_code(typed, 0);
        give_back_code(typed, after);
        if (after != '[' && after != 'O') {
            give_back_code(typed, ESCAPE);
            return KEYCODE_ESCAPE;
        }
        read_escape(typed);
        return 0;
    default: /* a key with Alt; but ':' is typed: the word behind it must not act as keys */
        if (typed->late || code == ':')
            give_back_code(typed, code);
        else
            read_character(typed, code);
        return typed->late || code == ':' ? KEYCODE_ESCAPE : 0;
    }
}

/* Reads what follows a '[' after an Escape that was taken for a key. A report of the mouse that
 * came in two pieces is put together. */
static int32_t read_late(TermKeys *typed) {
    int less = next_code(typed, 0), digit = less == '<' ? next_code(typed, 0) : ERR;
    give_back_code(typed, digit);
    give_back_code(typed, less);
    return digit >= '0' && digit <= '9' ? read_csi(typed) : '[';
}

int32_t term_keys_next(TermKeys *typed, double now_ms) {
    typed->now_ms = now_ms;
    for (int code; (code = next_code(typed, 0)) != ERR;) {
        bool escaped = typed->escaped;
        typed->escaped = code == ANSWERS_ESCAPE;
        if (code == PASTE_BEGINS)
            skip_paste(typed);
        int32_t key = code == ESCAPE           ? read_escape(typed)
                      : code == ANSWERS_ESCAPE ? KEYCODE_ESCAPE
                      : code >= KEY_MIN        ? key_of_code(code)
                      : escaped && code == '[' ? read_late(typed)
                                               : read_character(typed, code);
        if (key)
            return key;
    }
    typed->late = false;
    return 0;
}
