/* SPDX-License-Identifier: MIT */
#include "src/scene/scene.h"

#include "src/scene/scatter.h"
#include "src/scene/scene_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void scene_free(Scene *scene) {
    if (!scene)
        return;
    world_free(&scene->world);
    features_free(&scene->tensors);
    scatter_free(&scene->map);
    photos_free(&scene->photos);
    clip_free(scene->clip);
    memset(scene, 0, sizeof *scene);
}

bool scene_check_size(const BevShape *shape, const char *where, Err *err) {
    double pixels = (double)shape->cameras * (double)shape->feat_h * (double)shape->feat_w;
    double depth = pixels * (double)shape->depth_bins, feat = pixels * (double)shape->channels;
    double out = (double)shape->nx * (double)shape->ny * (double)shape->channels;
    double bytes = (depth + feat + out) * sizeof(float);
    int64_t slices = shape_slices(shape);
    return bytes <= (double)SCENE_MAX_TENSOR_BYTES ||
           err_set(err, ERR_FAILED, where, "use fewer cells, channels or depth bins",
                   "depth, features and output (nz, ny, nx, c: %lld x %lld x %lld x %lld) take "
                   "%.4g bytes in FP32, at most %.4g",
                   (long long)slices, (long long)(shape->ny / slices), (long long)shape->nx,
                   (long long)shape->channels, bytes, (double)SCENE_MAX_TENSOR_BYTES);
}

bool scene_check_same_grid(const BevShape *a, const char *name, const BevShape *b,
                           const char *other_name, Err *err) {
    return (a->nx == b->nx && a->ny == b->ny && a->channels == b->channels) ||
           err_set(err, ERR_FAILED, other_name, "compare two of the same grid",
                   "(ny, nx, c) is (%lld, %lld, %lld), but %s has (%lld, %lld, %lld)",
                   (long long)b->ny, (long long)b->nx, (long long)b->channels, name,
                   (long long)a->ny, (long long)a->nx, (long long)a->channels);
}

/* ---- photographs ----------------------------------------------------------------------------- */

void scene_copy_camera(const Scene *from, int camera, const Features *to, uint8_t *srgb) {
    const BevShape *shape = &from->shape;
    const Photos *photos = &from->photos;
    size_t pixels = (size_t)(shape->feat_h * shape->feat_w), first = (size_t)camera * pixels;
    size_t bins = (size_t)shape->depth_bins, channels = (size_t)shape->channels;
    size_t bytes = (size_t)(photos->h * photos->w * 3);
    memcpy(to->depth + first * bins, from->tensors.depth + first * bins,
           pixels * bins * sizeof *to->depth);
    memcpy(to->feat + first * channels, from->tensors.feat + first * channels,
           pixels * channels * sizeof *to->feat);
    if (srgb && photos->srgb)
        memcpy(srgb + (size_t)camera * bytes, photos->srgb + (size_t)camera * bytes, bytes);
}

bool scene_use_photo_features(Scene *scene, Err *err) {
    const BevShape *shape = &scene->shape;
    if (!scene->has_rig || !scene->photos.srgb)
        return err_set(err, ERR_USAGE, scene->name, "save images and the calibration",
                       "there are no photographs to make features from");
    size_t pixels = (size_t)(shape->cameras * shape->feat_h * shape->feat_w);
    float *feat = malloc(pixels * PHOTO_CHANNELS * sizeof *feat);
    if (!feat)
        return err_no_memory(err, scene->name, "");
    photos_features(&scene->photos, &scene->rig.frustum, feat);
    free(scene->tensors.feat);
    scene->tensors.feat = feat;
    scene->photo_features = true;
    scene->channels = scene->shape.channels = PHOTO_CHANNELS;
    return true;
}

/* ---- presets --------------------------------------------------------------------------------- */

const char *const preset_world = "intersection";

/* The article states the points of canonical alone; the other sizes are this project's. hires and
 * coarse have features of stride 8; coarse has fewer cells and 64 channels. The L2 of an H200 is
 * too small for xlarge_c256 (channels), fine (cells) and dense (points). occ is BEVDet-Occ's grid.
 * Columns: name, depth step in m, feature columns and rows, cells per axis, channels, slices. */
const Preset presets[] = {
    {"small", 2, 44, 16, 200, 80, 0},          {"canonical", 1, 44, 16, 200, 80, 0},
    {"large", 0.5, 44, 16, 200, 80, 0},        {"xlarge", 0.5, 88, 32, 360, 80, 0},
    {"wide_c128", 1, 44, 16, 200, 128, 0},     {"wide_c256", 1, 44, 16, 200, 256, 0},
    {"hires", 1, 88, 32, 200, 80, 0},          {"coarse", 1, 88, 32, 135, 64, 0},
    {"xlarge_c256", 0.5, 88, 32, 360, 256, 0}, {"fine", 0.5, 88, 32, 720, 80, 0},
    {"dense", 0.5, 176, 64, 360, 80, 0},       {"occ", 0.5, 44, 16, 200, 80, 16},
};
const int preset_count = 6;
const int preset_total = sizeof presets / sizeof *presets;

const Preset *preset_find(const char *name) {
    for (int i = 0; i < preset_total; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

void preset_apply(const Preset *preset, Scene *scene) {
    Rig *rig = &scene->rig;
    snprintf(scene->name, sizeof scene->name, "%s", preset->name);
    rig->frustum.depth_step_m = preset->depth_step_m;
    rig->frustum.feat_w = preset->feat_w;
    rig->frustum.feat_h = preset->feat_h;
    rig->grid.nx = rig->grid.ny = preset->cells;
    if (preset->slices)
        rig->grid =
            (Grid){-40, 40, -40, 40, -1, 5.4, preset->cells, preset->cells, preset->slices, 0};
    scene->channels = preset->channels;
    scene->shape = rig_shape(rig, preset->channels);
}
