/* SPDX-License-Identifier: MIT */
/* Loads the scene of a job and finds its facts. */
#include "src/base/ref.h"
#include "src/inputs/inputs.h"
#include "src/scene/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void loaded_destroy(void *contents) {
    LoadedScene *loaded = contents;
    moments_close(loaded->moments);
    calibration_free(loaded->calibration);
    scene_free(&loaded->scene);
    free(loaded->path);
}

static void fill_scene_facts(LoadedScene *loaded) {
    const Scene *scene = &loaded->scene;
    SceneFacts *facts = &loaded->facts;
    snprintf(facts->name, sizeof facts->name, "%s", scene->name);
    snprintf(facts->title, sizeof facts->title, "%s", scene->title);
    Slice whole = slice_of(&scene->shape, SLICE_MAX);
    facts->nx = facts->cells_x = whole.cells_x;
    facts->ny = facts->rows = whole.rows;
    facts->slices = whole.slices;
    facts->channels = scene->channels;
    facts->depth_bins = scene->shape.depth_bins;
    facts->has_rig = scene->has_rig;
    facts->has_world = scene->has_world;
    facts->moment_s = scene->clip ? scene->clip->period_s : 0;
    facts->moments = scene->clip ? scene->clip->count : 0;
    facts->photo_features = scene->photo_features;
    facts->has_lidar = scene->has_rig && (scene->has_world || scene->photos.sweep_count);
    facts->has_truth = scene->photos.box_count || scene->photos.sweep_count;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (scene->has_rig || scene_has_map(scene, (BevAlign)align))
            facts->aligns |= 1u << align;
    facts->has_operator = scene->has_operator;
    facts->operator_spec = scene->operator_spec;
    facts->camera_count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < facts->camera_count; i++)
        memcpy(facts->cameras[i], scene->rig.cameras[i].name, sizeof facts->cameras[i]);
    if (scene->has_rig)
        facts->grid = facts->whole = scene->rig.grid;
}

LoadedScene *inputs_scene(LoadedScene *have, const char *path, const Job *job, bool ahead,
                          Err *err) {
    if (have && !strcmp(have->path, path) && operator_same_change(&have->sizes, &job->sizes) &&
        have->photo_features == job->photo_features)
        return ref_keep(have);
    LoadedScene *loaded = ref_new(sizeof *loaded, loaded_destroy);
    if (!loaded || !(loaded->path = strdup(path))) {
        ref_drop(loaded);
        err_no_memory(err, "scene", "choose a smaller scene");
        return NULL;
    }
    loaded->sizes = job->sizes;
    loaded->photo_features = job->photo_features;
    Scene *scene = &loaded->scene;
    /* a world makes photo features later, moment by moment */
    if (!scene_load(path, scene, err) || !operator_change(scene, &loaded->sizes, err) ||
        (job->photo_features && !scene->has_world && !scene_use_photo_features(scene, err)) ||
        (scene->clip && !moments_open(scene, ahead, &loaded->moments, err))) {
        ref_drop(loaded);
        return NULL;
    }
    fill_scene_facts(loaded);
    return loaded;
}
