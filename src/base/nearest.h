/* Finds the known name that is most similar to a mistyped one, for error messages. */
#pragma once

#include <stddef.h>

/* Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
 * (optimal string alignment distance). Compares only the first 63 bytes of each. */
int edit_distance(const char *a, const char *b);

/* The first name with the smallest edit distance from `word`, where it may be what was meant: the
 * distance is at most a third of the longer one's length, and both begin or end with the same
 * letter. NULL: none is that near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* "did you mean NAME?" for the nearest name; where none is near, `otherwise`, or, if that is NULL,
 * "known: A, B, C", as many as fit. */
void nearest_hint(const char *word, const char *const *names, size_t count, const char *otherwise,
                  char *hint, size_t size);
