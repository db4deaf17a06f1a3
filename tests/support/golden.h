/* SPDX-License-Identifier: MIT */
/* Texts as they were: files in tests/golden. */
#pragma once

#include "src/base/data.h"
#include "tests/support/tap.h"

#include <glob.h>

static inline void note_difference(const char *got, const char *want) {
    int number = 1;
    while (*got && *got == *want) {
        number += *got == '\n';
        got++;
        want++;
    }
    tap_note("first difference in line %d: got '%.60s'", number, got);
}

/* A check that the text is that of tests/golden/NAME.txt. With BEVSCOPE_UPDATE_GOLDEN=1 in the
 * environment (`make goldens`) it writes the file first. */
static inline void check_golden_text(const char *name, const char *got) {
    char path[4096], *want = NULL;
    const char *source = getenv("SRCDIR") ? getenv("SRCDIR") : ".";
    snprintf(path, sizeof path, "%s/tests/golden/%s.txt", source, name);
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

/* Plays each script tests/SUBJECT/scripts/STEM.KIND from its first line, and compares what `play`
 * writes of the lines with tests/golden/SUBJECT-STEM.txt. Empty lines and those that begin with "#"
 * stay as they are. */
static inline void check_scripts(const char *subject, const char *kind, void (*begin)(void),
                                 void (*play)(const char *line, FILE *text)) {
    char pattern[4096], each[200], name[128];
    glob_t scripts;
    snprintf(pattern, sizeof pattern, "%s/tests/%s/scripts/*.%s",
             getenv("SRCDIR") ? getenv("SRCDIR") : ".", subject, kind);
    tap_need(glob(pattern, 0, NULL, &scripts) == 0, "scripts");
    for (size_t i = 0; i < scripts.gl_pathc; i++) {
        char *text = NULL;
        size_t length;
        FILE *script = fopen(scripts.gl_pathv[i], "r"), *out = open_memstream(&text, &length);
        tap_need(script && out, scripts.gl_pathv[i]);
        begin();
        while (fgets(each, sizeof each, script)) {
            each[strcspn(each, "\n")] = '\0';
            fprintf(out, "%s\n", each);
            if (each[0] && each[0] != '#')
                play(each, out);
        }
        fclose(script);
        fclose(out);
        data_stem(scripts.gl_pathv[i], each, sizeof each);
        snprintf(name, sizeof name, "%s-%s", subject, each);
        check_golden_text(name, text);
        free(text);
    }
    globfree(&scripts);
}
