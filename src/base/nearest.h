/* SPDX-License-Identifier: MIT */
/* Finds the known name that is most similar to a mistyped one, for error messages. */
#pragma once

#include <stddef.h>

/* Returns the optimal string alignment distance between two texts: the number of insertions,
 * deletions, substitutions and swaps of neighbours. Compares only the first 63 bytes of each. */
int edit_distance(const char *a, const char *b);

/* Returns the first name with the smallest edit distance from `word`. Two conditions must hold. The
 * distance is at most a third of the longer length. Both texts begin or end with the same letter.
 * NULL: no name is that near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* Writes "did you mean NAME?" with the nearest name. Where no name is near, writes `otherwise`.
 * Where `otherwise` is NULL too, writes "known: A, B, C", with as many names as fit. */
void nearest_hint(const char *word, const char *const *names, size_t count, const char *otherwise,
                  char *hint, size_t size);
