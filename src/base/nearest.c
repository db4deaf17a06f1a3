/* SPDX-License-Identifier: MIT */
#include "src/base/nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

enum { MAX_BYTES = 63 };

/* Element [i][j] of the table is the distance between the first i bytes of `a` and the first j of
 * `b`. */
int edit_distance(const char *a, const char *b) {
    int table[MAX_BYTES + 1][MAX_BYTES + 1];
    int a_length = (int)strnlen(a, MAX_BYTES), b_length = (int)strnlen(b, MAX_BYTES);
    for (int i = 0; i <= a_length; i++)
        for (int j = 0; j <= b_length; j++) {
            int *least = &table[i][j];
            *least = MAX(i, j); /* right where one text is empty, else an upper bound */
            if (i > 0 && j > 0) {
                *least = MIN(*least, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
                *least = MIN(*least, MIN(table[i - 1][j], table[i][j - 1]) + 1);
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                *least = MIN(*least, table[i - 2][j - 2] + 1);
        }
    return table[a_length][b_length];
}

/* Whether a mistyped `name` may have become `word`. */
static bool is_near(const char *word, const char *name, int distance) {
    const size_t length = strnlen(word, MAX_BYTES), name_length = strnlen(name, MAX_BYTES);
    if (!length || !name_length)
        return false;
    const bool same_end = word[0] == name[0] || word[length - 1] == name[name_length - 1];
    return same_end && 3 * (size_t)distance <= MAX(length, name_length);
}

const char *nearest_name(const char *word, const char *const *names, size_t count) {
    const char *nearest = NULL;
    int nearest_distance = INT_MAX;
    /* An exact match needs no distances. Files have thousands of names that match exactly. */
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return names[i];
    for (size_t i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance < nearest_distance && is_near(word, names[i], distance)) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

void nearest_hint(const char *word, const char *const *names, size_t count, const char *otherwise,
                  char *hint, size_t size) {
    const char *nearest = nearest_name(word, names, count);
    if (nearest || otherwise) {
        snprintf(hint, size, nearest ? "did you mean %s?" : "%s", nearest ? nearest : otherwise);
        return;
    }
    static const char more[] = ", ...";
    size_t used = (size_t)snprintf(hint, size, "known:");
    for (size_t i = 0; i < count && used < size; i++) {
        if (used + strlen(names[i]) + 2 + sizeof more > size) {
            snprintf(hint + used, size - used, "%s", more);
            return;
        }
        used += (size_t)snprintf(hint + used, size - used, "%s %s", i ? "," : "", names[i]);
    }
}
