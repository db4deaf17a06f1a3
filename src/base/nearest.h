/* Finds the known name that is most similar to a mistyped one, for error messages. */
#pragma once

#include <stddef.h>

/* Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
 * (optimal string alignment distance). Compares only the first 63 bytes of each. */
int edit_distance(const char *a, const char *b);

/* The first name with the smallest edit distance from `word`; NULL if count is 0. */
const char *nearest_name(const char *word, const char *const *names, size_t count);
