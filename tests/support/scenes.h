/* Shipped scenes for tests: a test that cannot load one has nothing to say and stops. */
#pragma once

#include "src/scene/scene.h"
#include "tests/support/tap.h"

static inline void need(bool ok, const Err *err) {
    char line[800];
    if (ok)
        return;
    err_line(err, line, sizeof line);
    tap_need(false, line);
}

static inline Scene *load_scene(const char *name) {
    Err err = {0};
    Scene *scene = calloc(1, sizeof *scene);
    need(scene_load(name, scene, &err), &err);
    return scene;
}

static inline void drop_scene(Scene *scene) {
    scene_free(scene);
    free(scene);
}
