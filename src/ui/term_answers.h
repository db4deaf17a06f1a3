/* SPDX-License-Identifier: MIT */
/* Puts the terminal's answers to the program's questions together from pieces. Over a network an
 * answer may pause anywhere, also behind its Escape. No piece may act as a key. The reader has no
 * terminal and no clock: the caller hands over each code and the time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The questions, as a mask. Every terminal answers DEVICE, which is asked last. */
typedef enum {
    ANSWER_DEVICE = 1, /* DA1: "?62;4c" */
    ANSWER_MODE = 2,   /* DECRQM: "?1003;2$y" */
    ANSWER_SIZE = 4,   /* of a cell: "6;20;10t" */
    ANSWER_NAME = 8,   /* XTVERSION: a string, "P>|name" */
    ANSWER_KITTY = 16  /* a string, "_Gi=31;OK" */
} AnswerKind;

enum {
    ANSWERS_OWED_MS = 5000,  /* after this time without an answer nothing is owed any more, */
    ANSWERS_PIECE_MS = 2000, /* nor this time after the last piece of one; */
    ANSWERS_HOLD_MS = 1200,  /* an Escape waits this long for what follows it */
    ANSWERS_NOTHING = -1,    /* the code that says: nothing more waits to be read */
    ANSWERS_ESCAPE = -2,     /* a code that is returned: the key Escape, whatever follows */
    ANSWERS_CODES = 5        /* the most codes that come back at once */
};

/* The reader of answers. All zero: nothing was asked. */
typedef struct {
    unsigned owed;
    double until_ms; /* nothing is owed from then on */
    enum { ANSWER_NONE, ANSWER_ESCAPE, ANSWER_INTRODUCED, ANSWER_BODY, ANSWER_STRING_ENDS } at;
    double since_ms;   /* when its last byte came */
    bool alone;        /* nothing followed its last byte at once */
    bool lone_escape;  /* nothing followed its Escape at once: a key may follow a key */
    bool no_escape;    /* it began without Escape, */
    bool escape_given; /* because that was taken for a key */
    int introducer;    /* '[' of a CSI sequence, 'P' or '_' of a string; 0: none yet */
    char text[128];    /* the text behind it; more is lost */
    size_t length;
} AnswerReader;

void answers_ask(AnswerReader *reader, unsigned kinds, double now_ms);

/* Takes a code of ncurses, or ANSWERS_NOTHING. Returns the number of codes that belong to no
 * answer, in their order. *letter receives the letter that ends a complete CSI answer or
 * introduces a complete string; 0: no answer is complete. reader->text holds the answer until
 * the next call. */
int answers_take(AnswerReader *reader, int code, double now_ms, int codes[ANSWERS_CODES],
                 int *letter);
