/* SPDX-License-Identifier: MIT */
/* A clip is a folder of .npz files of the same drive. Each is one moment, in order of their
 * names. */
#pragma once

#include "src/scene/scene.h"

#include <limits.h>

enum { CLIP_MAX_MOMENTS = 10000 };

extern const double clip_period_s; /* time between two moments without timestamps */

typedef struct Clip {
    char *path; /* path of the folder */
    int count;
    char (*names)[256]; /* names of the files in the folder */
    double period_s;    /* mean time between two moments by timestamps; each moment lasts so long */
    const char *untimed; /* why the timestamps are not used, static text; NULL: they are used */
} Clip;

/* Lists the folder and checks the headers of all files against the header of the first. All files
 * must have the same arrays, shapes and grid. Only the numbers of points, boxes and LiDAR points
 * may differ. */
bool clip_open(const char *folder, Clip **clip, Err *err);
void clip_free(Clip *clip); /* accepts NULL */

/* Returns the moment at a time. After its last moment the clip begins again. */
int clip_at(const Clip *clip, double time_s);

/* Writes the path of a moment's file. */
void clip_path(const Clip *clip, int moment, char path[PATH_MAX]);

/* Loads a moment (scene_load.c). Its name is that of the clip's folder, its `clip` NULL. */
bool clip_load(const Clip *clip, int moment, Scene *scene, Err *err);
