/* The known name nearest to a mistyped one, for "did you mean". */
#ifndef BEV_NEAREST_H
#define BEV_NEAREST_H

#include <stddef.h>

/* Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; looks at the
 * first 63 bytes of each. */
int edit_distance(const char *a, const char *b);

/* The first of the `count` names at the least distance from `word`; NULL when count is 0. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
