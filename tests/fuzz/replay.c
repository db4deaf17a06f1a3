/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on the saved inputs, so that old findings are tested without clang. */
#include "src/base/data.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

static int replay(const char *path, const char *name,
                  int (*target)(const uint8_t *data, size_t size)) {
    char *bytes;
    size_t length;
    Err err;
    if (!data_read(path, 1 << 20, &bytes, &length, &err)) {
        tap_ok(false, "%s: %s", name, err.what);
        return 0;
    }
    /* A copy of exactly this size, so that the address sanitizer sees a read beyond the end. */
    uint8_t *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    free(bytes);
    tap_ok(target(copy, length) == 0, "%s (%zu bytes)", name, length);
    free(copy);
    return 1;
}

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

void fuzz_replay(const char *corpus, int (*target)(const uint8_t *data, size_t size)) {
    char folder[1024], path[2048];
    struct dirent **entries;
    const char *source = getenv("SRCDIR");
    snprintf(folder, sizeof folder, "%s/%s", source ? source : ".", corpus);
    int count = scandir(folder, &entries, is_input, alphasort), replayed = 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        replayed += replay(path, entries[i]->d_name, target);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    tap_ok(replayed >= 10, "%s: %d inputs", corpus, replayed);
}
