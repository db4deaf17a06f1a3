/* Whether a scene's file is still the one that was read. */
#ifndef BEV_SCENE_FILE_H
#define BEV_SCENE_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

typedef struct {
    bool watched, gone;
    double looked_ms;
    struct stat then;
} SceneFile;

typedef enum { SCENE_FILE_SAME, SCENE_FILE_CHANGED, SCENE_FILE_GONE } SceneFileNews;

/* From now on. A name that is no regular file, one of the built-in scenes say, is not watched. */
void scene_file_watch(SceneFile *file, const char *name);

/* Looks at most once a second. Each change is told once; a file that comes back has changed. */
SceneFileNews scene_file_look(SceneFile *file, const char *name);

#endif
