/* The glossary: what the words on the screens mean. The help of the live display, `bevscope
 * glossary` and the manual page show this table. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { GLOSSARY_WORD_MAX = 18, GLOSSARY_TEXT_MAX = 200 };

/* All text is ASCII, so that one byte is one column. */
typedef struct {
    const char *word; /* at most GLOSSARY_WORD_MAX bytes */
    const char *also; /* other words that the text explains: "a, b"; or "" */
    const char *text; /* one or two sentences, at most GLOSSARY_TEXT_MAX bytes */
} GlossaryRow;

/* In alphabetical order, capitals and small letters alike. */
extern const GlossaryRow glossary[];
extern const int glossary_count;

/* The row whose word, or one of whose other words, is `word`, in any case. NULL: none. */
const GlossaryRow *glossary_find(const char *word);

/* The row with the longest word, other words included, that stands in `text` as a whole word, in
 * any case. NULL: none. */
const GlossaryRow *glossary_mentioned(const char *text);

/* "did you mean WORD?" for the known word that is spelled most like `word`; `otherwise` where all
 * differ by more than two letters. */
void glossary_hint(const char *word, const char *otherwise, char *hint, size_t size);

enum { GLOSSARY_INDENT = GLOSSARY_WORD_MAX + 1 }; /* columns from a word to its text */

/* The length of the longest beginning of `text` that fits `width` columns and ends with a word. */
size_t glossary_line(const char *text, int width);

/* Prints a row on lines of 80 columns. */
void glossary_print(const GlossaryRow *row, FILE *out);

/* The lines into which that breaks `text`. */
int glossary_lines(const char *text, int width);
