/* SPDX-License-Identifier: MIT */
/* A clip is a folder of .npz files of the same drive. Each is one moment, in order of their
 * names. */
#pragma once

#include "src/scene/scene.h"

#include <dirent.h>

extern const double clip_period_s; /* time between two moments without timestamps */

/* The properties that all moments of a clip share. */
typedef struct {
    BevShape shape;
    Grid grid;
    int64_t photos_h, photos_w; /* 0: no photographs */
    bool has_rig, has_map, weighted;
} ClipKind;

typedef struct Clip {
    char *path; /* path of the folder */
    int count;
    struct dirent **files; /* [count]: of the folder, in the order of their names */
    double period_s;       /* mean time between two moments; each lasts so long */
    const char *untimed;   /* why the timestamps are not used, static text; NULL: they are used */
    ClipKind kind;         /* the kind of the first moment, once it is loaded */
} Clip;

/* Lists the folder, and reads the times of the first and the last moment. */
bool clip_open(const char *folder, Clip **clip, Err *err);
void clip_free(Clip *clip); /* accepts NULL */

/* Returns the moment at a time. After its last moment the clip begins again. */
int clip_moment_at(const Clip *clip, double time_s);

/* Loads a moment. Moment 0 is loaded first. The scene gets the name of the clip's folder, and
 * `clip` is NULL. A moment whose ClipKind differs from that of moment 0 is refused. Only the
 * numbers of points, boxes and LiDAR points may differ. */
bool clip_load(const Clip *clip, int moment, Scene *scene, Err *err);
