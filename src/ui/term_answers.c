/* SPDX-License-Identifier: MIT */
#include "src/ui/term_answers.h"

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

/* Ends the wait for an answer. Returns the held codes, which were typed, but not an answer's
 * body. */
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
