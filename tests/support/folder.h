/* SPDX-License-Identifier: MIT */
/* A folder of the suite's own, in which it must leave nothing. */
#pragma once

#include "tests/support/tap.h"

#include <unistd.h>

static char folder[] = "/tmp/bevscope-test-XXXXXX";

static inline void folder_open(void) {
    if (!mkdtemp(folder))
        tap_skip_suite("no temporary folder");
}

static inline void folder_close(void) {
    tap_ok(rmdir(folder) == 0, "the folder is empty at the end");
}

static inline void folder_remove(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    tap_ok(chdir("/") == 0 && system(command) == 0, "the folder goes");
}

/* "folder/name". The text stays until 32 others were asked for. */
static inline const char *in_folder(const char *name) {
    static char paths[32][320];
    static int next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static inline void put_bytes(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    tap_need(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, path);
}

static inline void put(const char *path, const char *text) {
    put_bytes(path, text, strlen(text));
}
