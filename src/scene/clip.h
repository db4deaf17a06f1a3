/* SPDX-License-Identifier: MIT */
/* A clip is a folder of .npz files of the same drive. Each is one moment, in order of their
 * names. */
#pragma once

#include "src/scene/scene.h"

#include <dirent.h>

extern const double clip_period_s; /* time between two moments without timestamps */

typedef struct Clip {
    char *path; /* path of the folder */
    int count;
    struct dirent **files; /* [count]: of the folder, in the order of their names */
    double period_s;       /* mean time between two moments; each lasts so long */
    const char *untimed;   /* why the timestamps are not used, static text; NULL: they are used */
} Clip;

/* Lists the folder, and reads the times of the first and the last moment. */
bool clip_open(const char *folder, Clip **clip, Err *err);
void clip_free(Clip *clip); /* accepts NULL */

/* Returns the moment at a time. After its last moment the clip begins again. */
int clip_moment_at(const Clip *clip, double time_s);

/* Loads a moment of the clip whose first moment is `first`. The scene gets the name of the clip's
 * folder, and `clip` is NULL. It has features of photographs if the first moment has. A moment with
 * other arrays, shapes or grid than the first is refused. Only the numbers of points, boxes and
 * LiDAR points may differ. */
bool clip_load(const Scene *first, int moment, Scene *scene, Err *err);
