/* SPDX-License-Identifier: MIT */
/* Cleans texts from outside (titles, file names, keys, names of machines) for every output. A clean
 * text is one line of valid UTF-8 in which every character is visible. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the bytes of the character at `text`, at least 1. A broken byte counts as one character.
 * `*shown` tells whether the character may be printed. These characters may not: control characters
 * (of one byte or two), line separators, marks that turn the direction of writing, characters
 * without width, and code points that are no characters. */
size_t clean_character(const char *text, bool *shown);

/* Copies `text` into `clean`, which may be the same memory. Characters that may not be printed
 * become '?', and NULL becomes "n/a". The copy is always terminated and never cut inside a
 * character. */
void clean_text(const char *text, char *clean, size_t size);

/* Writes `word` so that a shell reads it as one word, for commands in advice. The word stands bare,
 * in single quotes, or in bash's form $'\374' if a byte may not be printed. The text is never cut:
 * without room the function returns false. */
bool clean_for_shell(const char *word, char *text, size_t size);

/* Prints the cleaned text, however long it is. */
void clean_print(FILE *out, const char *text);
