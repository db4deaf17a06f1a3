/* Names of files in a test's own folder. */
#pragma once

#include <stdio.h>

/* "folder/name". The text stays until 32 others were asked for. */
static inline const char *path_in(const char *folder, const char *name) {
    static char paths[32][320];
    static int next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}
