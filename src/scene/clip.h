/* A clip: moments of the same drive. A folder of .npz files, one a moment, in the order of their
 * names. */
#pragma once

#include "src/scene/scene.h"

#include <limits.h>

enum { CLIP_MAX_MOMENTS = 10000 };

extern const double clip_period_s; /* between two moments that have no timestamps */

typedef struct Clip {
    char *path; /* of the folder */
    int count;
    char (*names)[256]; /* of the files in the folder */
    double *starts_s;   /* (moment) since the first: by timestamps, else clip_period_s apart */
    double period_s;    /* the mean from one moment to the next; the last one lasts so long */
    const char *untimed; /* why timestamps do not count, static text; NULL: they do */
} Clip;

/* Lists the folder and checks the headers of all files against those of the first: the same arrays,
 * the same shapes, the same grid; only the numbers of points, boxes and LiDAR points may differ. */
bool clip_open(const char *folder, Clip **clip, Err *err);
void clip_free(Clip *clip); /* accepts NULL */

/* The moment at a time; each lasts until the next one starts. After the last one the clip begins
 * again. */
int clip_at(const Clip *clip, double time_s);

/* The same for a player that shows all moments equally long, period_s each: the live display. */
int clip_played_at(const Clip *clip, double time_s);

/* The path of a moment's file. */
void clip_path(const Clip *clip, int moment, char path[PATH_MAX]);

/* Loads a moment (scene_load.c). The scene has the name of the clip's folder, and no clip of its own. */
bool clip_load(const Clip *clip, int moment, Scene *scene, Err *err);
