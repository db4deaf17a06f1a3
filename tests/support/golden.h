/* SPDX-License-Identifier: MIT */
/* Texts as they were: files in tests/golden. */
#pragma once

#include "src/base/data.h"
#include "tests/support/tap.h"

static inline void note_difference(const char *got, const char *want) {
    int line = 1;
    while (*got && *got == *want) {
        line += *got == '\n';
        got++;
        want++;
    }
    tap_note("first difference in line %d: got '%.60s'", line, got);
}

/* A check that the text is that of tests/golden/NAME.txt. With BEVSCOPE_UPDATE_GOLDEN=1 in the
 * environment (`make goldens`) it writes the file first. */
static inline void check_golden_text(const char *name, const char *got) {
    char path[4096], *want = NULL;
    const char *folder = getenv("SRCDIR") ? getenv("SRCDIR") : ".";
    snprintf(path, sizeof path, "%s/tests/golden/%s.txt", folder, name);
    FILE *file = getenv("BEVSCOPE_UPDATE_GOLDEN") ? fopen(path, "wb") : NULL;
    if (file) {
        fputs(got, file);
        fclose(file);
    }
    size_t length;
    bool same = data_read(path, 1 << 20, &want, &length, NULL) && !strcmp(got, want);
    tap_ok(same, "%s is as it was", name);
    if (!same && want)
        note_difference(got, want);
    free(want);
}
