/* SPDX-License-Identifier: MIT */
/* Turns the codes that ncurses reads into keys. ncurses knows the sequences of the terminal's type.
 * Sequences of other types are added, because tmux, PuTTY and rxvt send some of them although TERM
 * names another type. ncurses hands unknown sequences over byte by byte. Sequences begin with
 * Escape (ECMA-48):
 *
 *     ESC [ parameters letter     mouse, paste, answers     CSI
 *     ESC O letter                keys in application mode  SS3
 *     ESC ] P X ^ _ ... end       answers                   strings
 *
 * No letter of a sequence may act as a key, so a sequence is read to its end. A key with Alt comes
 * as Escape and the key, and is skipped. Alt and ':' are the exception, because a person may type
 * Escape and ':' fast. Over a network an answer may pause anywhere, also after its Escape, and keys
 * may come in between. ncurses 6.4 does not read the mouse: it waits without limit for the end of a
 * report, reports no moves, and knows no columns above 223 in tmux. */
#define NCURSES_NOMACROS 1 /* its macros are everyday words */
#include "src/ui/term_internal.h"

#include <assert.h>
#include <math.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

enum { ESCAPE = 0x1b, BELL = 7, CHARACTERS = 0x100 };     /* above are keys of ncurses */
enum { SEQUENCE_MS = 250, REPORT_MS = 2000 };             /* the longest pause within one */
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

static int32_t key_of_character(int32_t character) {
    return character == '\r' ? KEYCODE_ENTER : character == '\b' ? KEYCODE_BACKSPACE : character;
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

static void put_key(TermKeys *typed, int32_t key) {
    assert(typed->count < KEYS_AT_ONCE);
    if (key)
        typed->keys[typed->count++] = key;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* The form of an answer: its introducer, its first character, and the letter that ends it. */
static const struct {
    AnswerKind kind;
    char introducer, first, last; /* 0: a string */
} answers[] = {{ANSWER_DEVICE, '[', '?', 'c'},
               {ANSWER_MODE, '[', '?', 'y'},
               {ANSWER_SIZE, '[', '6', 't'},
               {ANSWER_NAME, 'P', '>', 0},
               {ANSWER_KITTY, '_', 'G', 0}};

enum { ANY = 0 };

/* Returns the owed answers with that introducer, first character and last letter, or ANY. */
static unsigned owed_answers(const TermKeys *typed, int introducer, int first, int last) {
    unsigned kinds = 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const bool first_fits = first == ANY || answers[i].first == first;
        const bool last_fits = last == ANY || answers[i].last == last;
        if (answers[i].introducer == introducer && first_fits && last_fits)
            kinds |= answers[i].kind;
    }
    return kinds & typed->owed;
}

/* Whether the sequence so far may be an answer that is owed. */
static bool may_be_answer(const TermKeys *typed) {
    return owed_answers(typed, typed->introducer, typed->text[0], ANY);
}

void term_keys_ask(TermKeys *typed, unsigned kinds, double now_ms) {
    typed->owed |= kinds;
    typed->until_ms = now_ms + ANSWERS_OWED_MS;
}

/* Takes an answer, by the letter that ends or introduces it. */
static void take_answer(TermKeys *typed, int letter) {
    const int last = letter == typed->introducer ? ANY : letter;
    const unsigned answered = owed_answers(typed, typed->introducer, typed->text[0], last);
    typed->owed &= ~answered;
    if (answered & ANSWER_DEVICE) /* the last answer: no other answer follows */
        typed->until_ms = 0;
    typed->until_ms = fmax(typed->until_ms, typed->now_ms + ANSWERS_PIECE_MS);
    typed->moves |=
        letter == 'y' && (!strcmp(typed->text, "?1003;1$") || !strcmp(typed->text, "?1003;2$"));
    pixels_answer(&typed->answers, letter, typed->text);
}

/* ---- the mouse ------------------------------------------------------------------------------- */

/* Parses "<0;10;20M": button, column and row (from 1), M for press or m for release. Bits of the
 * button: 4, 8 and 16 are Shift, Alt and Control and are ignored; 32 means a move, 64 the wheel.
 * Returns false for other text, and for reports of other buttons. */
static bool parse_report(const char *text, char letter, MouseReport *report) {
    enum { MENU = 2, NONE = 3, KEYS = 4 | 8 | 16, MOVED = 32, WHEEL_UP = 64, WHEEL_DOWN = 65 };
    int button, column, row, used = 0;
    const bool is_numbers = strspn(text + 1, "0123456789;") == strlen(text + 1); /* no signs */
    if (!is_numbers || sscanf(text, "<%4d;%4d;%4d%n", &button, &column, &row, &used) != 3)
        return false;
    if (text[used] || !column || !row)
        return false;
    button &= ~KEYS;
    const bool pressed = letter == 'M', first_button = (button & ~MOVED) == 0;
    const bool wheel = pressed && (button == WHEEL_UP || button == WHEEL_DOWN);
    const bool menu = pressed && button == MENU, hover = pressed && button == (MOVED | NONE);
    if (!wheel && !menu && !hover && !first_button)
        return false;
    *report = (MouseReport){.column = column - 1, .row = row - 1};
    report->kind = wheel             ? MOUSE_WHEEL
                   : menu            ? MOUSE_MENU
                   : hover           ? MOUSE_HOVER
                   : letter == 'm'   ? MOUSE_RELEASE
                   : button == MOVED ? MOUSE_MOVE
                                     : MOUSE_PRESS;
    if (wheel)
        report->steps = button == WHEEL_UP ? 1 : -1;
    return true;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Waits for another code in the state `at`. Expected answers stay expected meanwhile. */
static void await_code(TermKeys *typed, int at) {
    typed->at = at;
    typed->paused = false;
    typed->since_ms = typed->now_ms;
    if (typed->owed && at != KEYS_ESCAPED)
        typed->until_ms = fmax(typed->until_ms, typed->now_ms + ANSWERS_PIECE_MS);
}

static void begin_escape(TermKeys *typed) {
    typed->alt = typed->esc_paused = typed->no_escape = false;
    await_code(typed, KEYS_ESCAPED);
}

static void begin_sequence(TermKeys *typed, int introducer) {
    typed->introducer = introducer;
    typed->text[0] = '\0';
    typed->length = 0;
    await_code(typed, introducer == '[' || introducer == 'O' ? KEYS_SEQUENCE : KEYS_STRING);
}

static void take_plain(TermKeys *typed, int code);

/* Takes a byte of a character in the encoding of the locale. */
static void take_character(TermKeys *typed, int code) {
    wchar_t character = 0;
    const char byte = (char)code;
    const bool first = typed->at != KEYS_CHARACTER;
    size_t used = code < KEY_MIN ? mbrtowc(&character, &byte, 1, &typed->bytes) : (size_t)-1;
    if (used == (size_t)-2) { /* more bytes of the character follow */
        await_code(typed, KEYS_CHARACTER);
        return;
    }
    typed->at = KEYS_PLAIN;
    memset(&typed->bytes, 0, sizeof typed->bytes);
    if (used == (size_t)-1 && !first) /* the code ends a broken character, and begins anew */
        take_plain(typed, code);
    else if (used == 1 && !typed->alt)
        put_key(typed, key_of_character((int32_t)character));
}

/* Takes a code outside of sequences. A '[' after an Escape that was taken for a key may begin a
 * report of the mouse, or an answer, that came in two pieces. */
static void take_plain(TermKeys *typed, int code) {
    const bool escaped = typed->escaped;
    typed->escaped = escaped && typed->owed;
    typed->alt = typed->esc_paused = false;
    typed->at = KEYS_PLAIN;
    if (code == ESCAPE)
        begin_escape(typed);
    else if (code == PASTE_BEGINS)
        await_code(typed, KEYS_PASTE);
    else if (code >= KEY_MIN)
        put_key(typed, key_of_code(code));
    else if (escaped && (code == '[' || owed_answers(typed, code, ANY, ANY))) {
        typed->no_escape = true;
        begin_sequence(typed, code);
    } else
        take_character(typed, code);
}

/* Ends the wait for a code. Escape and introducer are keys, if a person may have typed them. */
static void give_up_sequence(TermKeys *typed) {
    const bool escape = typed->at == KEYS_ESCAPED;
    if (escape && typed->alt)
        put_key(typed, KEYCODE_ESCAPE);
    if (escape || typed->esc_paused || (typed->at == KEYS_STRING_ENDS && !may_be_answer(typed)))
        put_key(typed, KEYCODE_ESCAPE);
    typed->escaped |= escape || typed->esc_paused;
    if (!escape && (typed->esc_paused || typed->no_escape)) {
        put_key(typed, typed->introducer);
        put_key(typed, typed->text[0]);
    }
    typed->esc_paused = typed->no_escape = false;
    memset(&typed->bytes, 0, sizeof typed->bytes);
    typed->at = KEYS_PLAIN;
}

/* Takes the code behind an Escape, for which ncurses waited ESCAPE_MS. */
static void take_escaped(TermKeys *typed, int code) {
    const bool begins_answer = owed_answers(typed, code, ANY, ANY);
    const bool begins_key = code == '[' || code == 'O';
    if (typed->esc_paused && !begins_answer) {
        give_up_sequence(typed);
        take_plain(typed, code);
        return;
    }
    if (typed->alt && (begins_answer || !begins_key)) {
        put_key(typed, KEYCODE_ESCAPE);
        typed->alt = false;
    }
    if (code == ESCAPE) { /* a sequence with Alt, or two keys */
        begin_escape(typed);
        typed->alt = true;
    } else if (code && code < KEY_MIN && strchr("[O]PX^_", code))
        begin_sequence(typed, code);
    else if (typed->late || code == ':') { /* the word behind ':' must not act as keys */
        put_key(typed, KEYCODE_ESCAPE);
        take_plain(typed, code);
    } else {
        typed->at = KEYS_PLAIN;
        typed->alt = true;
        take_character(typed, code);
    }
}

/* Whether the code is a key that was typed between two pieces of an answer. */
static bool is_between(const TermKeys *typed, int code) {
    const int introducer = typed->introducer, first = typed->text[0];
    if (!may_be_answer(typed) || code == ESCAPE)
        return false;
    if (typed->at == KEYS_STRING_ENDS) /* else the code ends the string, or begins an answer */
        return typed->paused && code != '\\' && !owed_answers(typed, code, ANY, ANY);
    if (!first) /* else the code is the first character of an answer */
        return typed->paused && !owed_answers(typed, introducer, code, ANY);
    if (typed->at == KEYS_STRING)
        return (code < ' ' && code != BELL) || code >= CHARACTERS;
    if (code < ' ' || code > '~') /* no code of a sequence */
        return true;
    const bool is_letter = code >= '@'; /* would end the sequence */
    return is_letter && typed->paused && !owed_answers(typed, introducer, first, code);
}

static void end_sequence(TermKeys *typed, int letter) {
    typed->at = KEYS_PLAIN;
    if (typed->introducer != '[' || typed->alt)
        return;
    if (!typed->text[0] && (letter == '[' || letter == 'M')) {
        typed->skip = letter == '[' ? 1 : 3; /* a key of the Linux console; an old report */
        await_code(typed, KEYS_SKIP);
    }
    take_answer(typed, letter);
    if (typed->text[0] == '<' && (letter == 'M' || letter == 'm') &&
        parse_report(typed->text, (char)letter, &typed->mouse))
        put_key(typed, TERM_MOUSE);
}

static void end_string(TermKeys *typed) {
    typed->at = KEYS_PLAIN;
    take_answer(typed, typed->introducer);
}

/* Decides by the code behind Escape and introducer whether a sequence began or a person typed both.
 * An answer goes on with its first character, a report of the mouse with "<" and a digit. Returns
 * false where Escape and introducer are keys. */
static bool is_sequence(TermKeys *typed, int code) {
    const bool first = !typed->text[0];
    const bool answer = first && owed_answers(typed, typed->introducer, code, ANY);
    const bool fits_report = first ? code == '<' : code >= '0' && code <= '9';
    const bool report = typed->introducer == '[' && fits_report;
    if (!report && !answer)
        return false;
    if (report && !first && typed->esc_paused)
        put_key(typed, KEYCODE_ESCAPE);
    if (answer || !first)
        typed->esc_paused = typed->no_escape = false;
    return true;
}

/* Takes a code within a sequence. A code that the sequence cannot contain, such as a key or the
 * begin of another sequence, ends the sequence. */
static void take_within(TermKeys *typed, int code) {
    const bool string = typed->at == KEYS_STRING;
    if ((typed->esc_paused || typed->no_escape) && !is_sequence(typed, code)) {
        give_up_sequence(typed);
        take_plain(typed, code);
    } else if (is_between(typed, code))
        put_key(typed, code < KEY_MIN ? key_of_character(code) : key_of_code(code));
    else if (typed->at == KEYS_STRING_ENDS) {
        end_string(typed);
        if (code == '\\')
            return;
        begin_escape(typed);
        take_escaped(typed, code);
    } else if (string && code == BELL)
        end_string(typed);
    else if (string && code == ESCAPE)
        await_code(typed, KEYS_STRING_ENDS);
    else if (string ? code < KEY_MIN : code >= ' ' && code < '@') {
        if (typed->length + 1 < sizeof typed->text) {
            typed->text[typed->length++] = (char)code;
            typed->text[typed->length] = '\0';
        }
        await_code(typed, typed->at);
    } else if (!string && code >= '@' && code <= '~')
        end_sequence(typed, code);
    else
        take_plain(typed, code);
}

/* Returns the time until which the code after the last one is waited for. */
static double wait_until_ms(const TermKeys *typed) {
    const bool in_sequence = typed->at >= KEYS_SEQUENCE && typed->at <= KEYS_STRING_ENDS;
    if (typed->at == KEYS_ESCAPED)
        return typed->since_ms + (typed->owed ? ANSWERS_HOLD_MS : 0);
    if (in_sequence && may_be_answer(typed))
        return typed->text[0] ? typed->until_ms : typed->since_ms + ANSWERS_HOLD_MS;
    if (in_sequence && (typed->esc_paused || typed->no_escape))
        return typed->since_ms;
    const bool in_report = typed->at == KEYS_SEQUENCE && typed->text[0] == '<';
    const bool may_pause_long = in_report || typed->at == KEYS_PASTE;
    return typed->since_ms + (may_pause_long ? REPORT_MS : SEQUENCE_MS);
}

void term_keys_take(TermKeys *typed, int code, double now_ms) {
    typed->now_ms = now_ms;
    typed->paused |= code == ERR;
    if (typed->at && typed->paused && now_ms >= wait_until_ms(typed))
        give_up_sequence(typed);
    if (!typed->at && now_ms >= typed->until_ms)
        typed->owed = 0;
    if (code == ERR)
        typed->esc_paused |= typed->at == KEYS_ESCAPED;
    else if (typed->at == KEYS_PLAIN)
        take_plain(typed, code);
    else if (typed->at == KEYS_CHARACTER)
        take_character(typed, code);
    else if (typed->at == KEYS_ESCAPED)
        take_escaped(typed, code);
    else if (typed->at == KEYS_SKIP || typed->at == KEYS_PASTE) {
        typed->skip -= typed->at == KEYS_SKIP;
        const bool ends = typed->at == KEYS_SKIP ? typed->skip == 0 : code == PASTE_ENDS;
        if (ends)
            typed->at = KEYS_PLAIN;
        else
            await_code(typed, typed->at);
    } else
        take_within(typed, code);
}

int32_t term_keys_next(TermKeys *typed, double now_ms) {
    int code = 0;
    while (!typed->count && code != ERR) {
        code = wgetch(typed->window);
        term_keys_take(typed, code, now_ms);
    }
    typed->late = typed->late && code != ERR;
    if (!typed->count)
        return 0;
    int32_t key = typed->keys[0];
    memmove(typed->keys, typed->keys + 1, (size_t)--typed->count * sizeof key);
    return key;
}
