#include "src/live/scene_file.h"

#include "src/base/clock.h"

static const double LOOK_MS = 1000;

void scene_file_watch(SceneFile *file, const char *name) {
    file->watched = stat(name, &file->then) == 0 && S_ISREG(file->then.st_mode);
    file->gone = false;
    file->looked_ms = clock_ms();
}

static bool same(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ino == b->st_ino && a->st_size == b->st_size;
}

SceneFileNews scene_file_look(SceneFile *file, const char *name) {
    struct stat now;
    if (!file->watched || clock_ms() - file->looked_ms < LOOK_MS)
        return SCENE_FILE_SAME;
    file->looked_ms = clock_ms();
    bool was_gone = file->gone;
    file->gone = stat(name, &now) != 0;
    if (file->gone)
        return was_gone ? SCENE_FILE_SAME : SCENE_FILE_GONE;
    if (!was_gone && same(&now, &file->then))
        return SCENE_FILE_SAME;
    file->then = now;
    return SCENE_FILE_CHANGED;
}
