/* SPDX-License-Identifier: MIT */
/* The glossary explains the words on the screens. The help of the live display, `bevscope glossary`
 * and the manual page show this table. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { GLOSSARY_WORD_MAX = 18, GLOSSARY_TEXT_MAX = 200 };

/* A row of the glossary. All text is ASCII, so that one byte takes one column. */
typedef struct {
    const char *word; /* at most GLOSSARY_WORD_MAX bytes */
    const char *also; /* other words that the text explains: "a, b"; or "" */
    const char *text; /* one or two sentences, at most GLOSSARY_TEXT_MAX bytes */
} GlossaryRow;

/* The rows in alphabetical order. Capitals sort like small letters. */
extern const GlossaryRow glossary[];
extern const int glossary_count;

/* Returns the row with this word, or with this word in `also`, in any case. NULL: none. */
const GlossaryRow *glossary_find(const char *word);

/* Returns the row with the longest word that stands in `text` as a whole word. Words in `also`
 * count, and case does not matter. NULL: there is none. */
const GlossaryRow *glossary_mentioned(const char *text);

/* Writes "did you mean WORD?" for the known word that is spelled most like `word`. Writes
 * `otherwise` where every word differs by more than two letters. */
void glossary_hint(const char *word, const char *otherwise, char *hint, size_t size);

enum { GLOSSARY_INDENT = GLOSSARY_WORD_MAX + 1 }; /* columns from a word to its text */

/* Prints a row on lines of 80 columns. */
void glossary_print(const GlossaryRow *row, FILE *out);

/* Returns the number of lines that `text` takes at this width. */
int glossary_lines(const char *text, int width);
