/* Texts from outside (titles, file names, keys, names of machines), made fit for every output: one
 * line of valid UTF-8 in which every character is seen as what it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at `text`, at least 1; a broken byte counts as one. `*shown`: the
 * character may be printed. Not printed are control characters (of one byte or two), line
 * separators, marks that turn the direction of writing, characters without width, and code points
 * that are no characters. */
size_t clean_character(const char *text, bool *shown);

/* Copies `text` into `clean`, which may be the same memory; characters that may not be printed
 * become '?'. NULL becomes "n/a". Always terminated, never cut inside a character. */
void clean_text(const char *text, char *clean, size_t size);

/* The word as a POSIX shell reads it, for advice that contains a name: bare, in single quotes, or,
 * if a byte may not be printed, as bash's $'\374'. Never cut: false if there is no room. */
bool clean_for_shell(const char *word, char *text, size_t size);

/* Prints it cleaned, however long. */
void clean_print(FILE *out, const char *text);
