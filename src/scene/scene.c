#include "src/scene/scene.h"
#include "src/scene/scene_internal.h"

#include "src/base/data.h"
#include "src/base/nearest.h"
#include "src/scene/clip.h"
#include "src/scene/operator/operator_internal.h"
#include "src/scene/scatter.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool scene_has_embedding(const Scene *scene) {
    return scene->has_world ||
           (scene->has_operator && scene->operator_spec.kind == OPERATOR_VOXELIZE);
}

bool scene_check_size(const BevShape *shape, const char *where, Err *err) {
    double pixels = (double)shape->cameras * (double)shape->feat_h * (double)shape->feat_w;
    double depth = pixels * (double)shape->depth_bins;
    double feat = pixels * (double)shape->channels;
    double out = (double)shape->nx * (double)shape->ny * (double)shape->channels;
    double bytes = (depth + feat + out) * sizeof(float);
    if (bytes <= (double)SCENE_MAX_TENSOR_BYTES)
        return true;
    char out_shape[96];
    int64_t slices = shape->nz ? shape->nz : 1;
    snprintf(out_shape, sizeof out_shape, "%lld x %lld x %lld x %lld", (long long)slices,
             (long long)(shape->ny / slices), (long long)shape->nx, (long long)shape->channels);
    return err_set(err, ERR_FAILED, where, "use fewer cells, channels or depth bins",
                   "depth, features and output (nz, ny, nx, c: %s) take %.4g bytes in FP32, at "
                   "most %.4g",
                   out_shape, bytes, (double)SCENE_MAX_TENSOR_BYTES);
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

bool scene_take_photos(Scene *scene, double time_s, Err *err) {
    return !scene->has_world || scene->photos.srgb ||
           photos_of_world(&scene->rig, &scene->world, time_s, &scene->photos, err);
}

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
        return err_set(err, ERR_FAILED, scene->name, "", "out of memory");
    photos_features(&scene->photos, &scene->rig.frustum, feat);
    free(scene->tensors.feat);
    scene->tensors.feat = feat;
    scene->photo_features = true;
    scene->channels = scene->shape.channels = PHOTO_CHANNELS;
    return true;
}

/* ---- presets --------------------------------------------------------------------------------- */

const char *const preset_world = "intersection";

/* The number of points was published only for canonical; the other sizes are our definitions.
 * Behind the first six come features of stride 8, then three that exceed the L2 cache of an H200:
 * by channels, by cells, by points. The last has the grid of BEVDet-Occ. Columns: name, depth step
 * in metres, feature columns and rows, cells per axis, channels, slices. */
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

/* ---- names ----------------------------------------------------------------------------------- */

void scene_folder_name(char name[64], const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    snprintf(name, 64, "%.*s", (int)(end - start), path + start);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const SceneName *)a)->name, ((const SceneName *)b)->name);
}

/* Adds the samples behind the `first` names that are there. */
static bool add_samples(SceneName *names, size_t max, size_t first, size_t *count, Err *err) {
    char folder[PATH_MAX];
    if (!data_path("samples", folder, sizeof folder, err))
        return false;
    DIR *directory = opendir(folder);
    if (!directory)
        return err_set(err, ERR_FAILED, folder, "", "cannot be listed: %s", strerror(errno));
    errno = 0;
    for (struct dirent *entry; *count < max && (entry = readdir(directory));)
        if (data_has_suffix(entry->d_name, ".json") && entry->d_name[0] != '.') {
            names[*count].is_preset = false;
            data_stem(entry->d_name, names[*count].name, sizeof names->name);
            ++*count;
        }
    int error = errno;
    closedir(directory);
    qsort(names + first, *count - first, sizeof *names, compare_names);
    return !error || err_set(err, ERR_FAILED, folder, "", "cannot be listed: %s", strerror(error));
}

bool scene_names(SceneName *names, size_t max, size_t *count, Err *err) {
    *count = 0;
    for (int i = 0; i < preset_total && *count < max; i++, ++*count) {
        names[*count].is_preset = true;
        snprintf(names[*count].name, sizeof names->name, "%s", presets[i].name);
    }
    return add_samples(names, max, *count, count, err);
}

static bool unknown_name(const char *name, Err *err) {
    SceneName known[128];
    const char *words[128];
    size_t count;
    if (strchr(name, '/') || data_has_suffix(name, ".npz") || data_has_suffix(name, ".json"))
        return err_set(err, ERR_USAGE, name, "bevscope --list shows the scenes that have names",
                       "neither a file nor a known scene");
    if (!scene_names(known, 128, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        words[i] = known[i].name;
    char hint[128];
    nearest_hint(name, words, count, "bevscope --list shows the names", hint, sizeof hint);
    return err_set(err, ERR_USAGE, name, hint, "neither a file nor a known scene");
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Files that are neither an archive nor JSON, by their first bytes. JSON's errors would not help
 * there. */
static bool refuse_other(const char *path, const char start[4], Err *err) {
    static const struct {
        const char *start, *what, *hint;
    } others[] = {
        {"\x93NUM", "one array, but a scene is a .npz of several",
         "save depth, feat and the others with numpy.savez"},
        {"\x1f\x8b", "compressed by gzip", "gunzip it first"},
        {"\x80", "a pickle", "load it in Python and save its arrays with numpy.savez"},
        {"\x89PNG", "a picture, but a scene has tensors",
         "samples/moment.py makes a scene of pictures"},
        {"\xff\xd8\xff", "a picture, but a scene has tensors",
         "samples/moment.py makes a scene of pictures"},
        {"\x89HDF", "HDF5", "save its arrays with numpy.savez"},
    };
    static const char json_starts[] = "{[ \t\r\n",
                      a_scene[] = "a scene is JSON, or a .npz of arrays";
    if (!memcmp(start, "PK", 2))
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!memcmp(start, others[i].start, strlen(others[i].start)))
            return err_set(err, ERR_FAILED, path, others[i].hint, "%s", others[i].what);
    if (!start[0])
        return err_set(err, ERR_FAILED, path, a_scene, "an empty file");
    if (data_has_suffix(path, ".npz") && !strchr(json_starts, start[0]))
        return err_set(err, ERR_FAILED, path, "write it again with numpy.savez",
                       "not a .npz: it does not begin as a zip archive");
    return strchr(json_starts, start[0]) ||
           err_set(err, ERR_FAILED, path, a_scene, "neither JSON nor a zip archive");
}

/* Reads the first four bytes of a file, which tell its kind. Refuses files that cannot be a
 * scene. */
static bool read_start(const char *path, char start[4], Err *err) {
    FILE *file = data_open(path, err);
    if (!file)
        return false;
    size_t got = fread(start, 1, 4, file);
    fclose(file);
    memset(start + got, 0, 4 - got);
    return refuse_other(path, start, err);
}

static bool load_json(const char *path, Scene *scene, Err *err) {
    char *text;
    size_t length;
    if (!data_read(path, SCENE_MAX_JSON_BYTES, &text, &length, err))
        return false;
    bool ok = scene_read_json(text, length, path, scene, err);
    free(text);
    return ok;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether a folder holds the arrays of an operator, not the moments of a clip. */
static bool holds_arrays(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool found = false;
    while (directory && !found && (entry = readdir(directory)))
        found = data_has_suffix(entry->d_name, ".npy");
    if (directory)
        closedir(directory);
    return found;
}

static bool load_folder(const char *path, Scene *scene, Err *err) {
    Clip *clip;
    if (holds_arrays(path)) {
        bool ok = scene_load_folder(path, scene, err);
        if (ok)
            scene_folder_name(scene->name, path);
        return ok;
    }
    if (!clip_open(path, &clip, err))
        return false;
    if (!clip_load(clip, 0, scene, err)) {
        clip_free(clip);
        return false;
    }
    scene->clip = clip;
    return true;
}

static bool load_file(const char *path, Scene *scene, Err *err) {
    char start[4];
    if (is_folder(path))
        return load_folder(path, scene, err);
    if (!read_start(path, start, err))
        return false;
    bool ok = start[0] == 'P' && start[1] == 'K' ? scene_load_npz(path, scene, err)
                                                 : load_json(path, scene, err);
    if (ok)
        data_stem(path, scene->name, sizeof scene->name);
    return ok;
}

static bool sample_path(const char *name, char path[PATH_MAX], Err *err) {
    char relative[128];
    snprintf(relative, sizeof relative, "samples/%.64s.json", name);
    return data_path(relative, path, PATH_MAX, err);
}

bool scene_load(const char *name_or_path, Scene *scene, Err *err) {
    char path[PATH_MAX];
    memset(scene, 0, sizeof *scene);
    const Preset *preset = preset_find(name_or_path);
    if (preset) {
        if (!sample_path(preset_world, path, err) || !load_file(path, scene, err))
            return false;
        preset_apply(preset, scene);
        return true;
    }
    if (!strchr(name_or_path, '/') && sample_path(name_or_path, path, NULL))
        return load_file(path, scene, err);
    if (access(name_or_path, F_OK) != 0)
        return unknown_name(name_or_path, err);
    return load_file(name_or_path, scene, err);
}

bool scene_check_sample(const char *name, char title[128], Err *err) {
    char path[PATH_MAX], *text;
    size_t length;
    if (!sample_path(name, path, err) ||
        !data_read(path, SCENE_MAX_JSON_BYTES, &text, &length, err))
        return false;
    bool ok = scene_check_json(text, length, path, title, err);
    free(text);
    return ok;
}

void scene_title(const char *name, char title[128]) {
    const Preset *preset = preset_find(name);
    char path[PATH_MAX];
    title[0] = '\0';
    if (preset)
        snprintf(title, 128, "%d x %d features, depth step %g m, %d x %d%s%.0d cells, C = %lld",
                 preset->feat_w, preset->feat_h, preset->depth_step_m, preset->cells, preset->cells,
                 preset->slices ? " x " : "", preset->slices, (long long)preset->channels);
    else if (sample_path(name, path, NULL)) {
        json_t *root = json_load_file(path, 0, NULL);
        const char *text = json_string_value(json_object_get(root, "title"));
        snprintf(title, 128, "%s", text ? text : "");
        json_decref(root);
    }
}
