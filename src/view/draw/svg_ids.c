#include "src/view/draw/svg_ids.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const prefixes[] = {"image", "surface"};

typedef struct {
    unsigned long *old; /* index = new number */
    size_t count, capacity;
    bool failed;
} Numbers;

static size_t new_number(Numbers *numbers, unsigned long old) {
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->old[i] == old)
            return i;
    if (numbers->count == numbers->capacity) {
        size_t capacity = numbers->capacity ? 2 * numbers->capacity : 16;
        unsigned long *grown = realloc(numbers->old, capacity * sizeof *grown);
        if (!grown) {
            numbers->failed = true;
            return 0;
        }
        numbers->old = grown;
        numbers->capacity = capacity;
    }
    numbers->old[numbers->count] = old;
    return numbers->count++;
}

/* Length of an id like image17 at `p`, with its prefix length and number; 0: none. */
static size_t id_at(const char *p, const char *end, size_t *prefix, unsigned long *number) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]), at = length;
        if ((size_t)(end - p) <= length || memcmp(p, prefixes[i], length) != 0)
            continue;
        *number = 0;
        for (; p + at < end && isdigit((unsigned char)p[at]); at++)
            *number = 10 * *number + (unsigned long)(p[at] - '0');
        *prefix = length;
        return at > length ? at : 0;
    }
    return 0;
}

bool svg_renumber(const Bytes *svg, Bytes *out) {
    Numbers numbers = {0};
    const char *p = (const char *)svg->data, *end = p + svg->length, *copied = p;
    for (; p < end; p++) {
        size_t prefix, length;
        unsigned long old;
        /* An id follows a quote or a reference's '#'; embedded base64 data holds neither. */
        if ((*p != '"' && *p != '#') || !(length = id_at(p + 1, end, &prefix, &old)))
            continue;
        char number[32];
        snprintf(number, sizeof number, "%zu", new_number(&numbers, old));
        bytes_append(out, copied, (size_t)(p + 1 - copied) + prefix);
        bytes_append(out, number, strlen(number));
        copied = p + 1 + length;
        p += length;
    }
    bytes_append(out, copied, (size_t)(end - copied));
    free(numbers.old);
    return !numbers.failed && !out->failed;
}
