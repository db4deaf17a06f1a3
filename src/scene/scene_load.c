/* SPDX-License-Identifier: MIT */
/* Loads scenes by name, from files and from folders; a folder of files is a clip. */
#include "src/base/nearest.h"
#include "src/scene/scene_internal.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const double clip_period_s = 0.5; /* nuScenes has boxes for two moments a second */

/* ---- a clip ---------------------------------------------------------------------------------- */

static bool refuse_listing(const char *folder, int error, Err *err) {
    return err_set(err, ERR_FAILED, folder, "", "cannot be listed: %s", strerror(error));
}

static int is_moment_file(const struct dirent *entry) {
    return entry->d_name[0] != '.' && data_has_suffix(entry->d_name, ".npz");
}

static void moment_path(const Clip *clip, int moment, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.3800s/%s", clip->path, clip->files[moment]->d_name);
}

/* Reads the time of a moment, which is the time of its first camera. NaN: the file has no time. */
static bool read_moment_time(ArrayReader *reader, void *time_s) {
    bool ok = arrays_read_numbers(reader, ARRAY_TIMESTAMPS);
    const double *times = reader->numbers[ARRAY_TIMESTAMPS];
    *(double *)time_s = times ? times[0] : NAN;
    return ok;
}

/* Sets the time between moments: the mean, by the times of the first and the last moment. */
static bool set_clip_period(Clip *clip, Err *err) {
    double times_s[2];
    int steps = clip->count - 1;
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        moment_path(clip, i * steps, path);
        if (!arrays_read_file(data_open(path, err), path, read_moment_time, &times_s[i], err))
            return false;
    }
    double period_s = steps ? (times_s[1] - times_s[0]) / steps : clip_period_s;
    clip->untimed = isnan(times_s[0]) || isnan(times_s[1]) ? "no timestamps"
                    : period_s <= 1e-3                     ? "timestamps do not ascend"
                    : period_s >= 3600                     ? "an hour between two timestamps"
                                                           : NULL;
    clip->period_s = clip->untimed ? clip_period_s : period_s;
    return true;
}

int clip_moment_at(const Clip *clip, double time_s) {
    const double rounding = 1e-6; /* ten steps of 0.1 s must count as 1 s */
    double moment = floor(time_s / clip->period_s + rounding);
    return moment > 0 ? (int)fmod(moment, clip->count) : 0;
}

/* Whether two moments have the same arrays, shapes and grid. */
static bool moments_are_alike(const Scene *a, const Scene *b) {
    return !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           !memcmp(&a->rig.grid, &b->rig.grid, sizeof a->rig.grid) && a->photos.h == b->photos.h &&
           a->photos.w == b->photos.w && a->has_rig == b->has_rig && a->has_map == b->has_map &&
           !a->map.weights == !b->map.weights && a->photo_features == b->photo_features;
}

static bool list_moments(Clip *clip, Err *err) {
    int count = scandir(clip->path, &clip->files, is_moment_file, alphasort);
    clip->count = count > 0 ? count : 0;
    if (count < 0)
        return refuse_listing(clip->path, errno, err);
    return count ||
           err_set(err, ERR_FAILED, clip->path, "one .npz a moment, or an operator's five .npy",
                   "a folder without .npz files");
}

bool clip_open(const char *folder, Clip **out, Err *err) {
    Clip *clip = *out = calloc(1, sizeof *clip);
    if (!clip)
        return err_no_memory(err, folder, "");
    snprintf(clip->path, sizeof clip->path, "%s", folder);
    if (list_moments(clip, err) && set_clip_period(clip, err))
        return true;
    clip_free(clip);
    *out = NULL;
    return false;
}

void clip_free(Clip *clip) {
    if (!clip)
        return;
    for (int i = 0; i < clip->count; i++)
        free(clip->files[i]);
    free(clip->files);
    free(clip);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Copies the name of a folder. Its path may end in a slash. */
static void folder_name(char name[64], const char *path) {
    char copy[PATH_MAX]; /* basename may change it */
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(name, 64, "%.63s", basename(copy));
}

/* Ranks the streets first, so that a key steps from street to street. */
static int street_rank(const SceneName *scene) {
    static const char *const streets[] = {"intersection", "boulevard", "highway", "parking"};
    int rank = 0, count = sizeof streets / sizeof *streets;
    while (rank < count && strcmp(streets[rank], scene->name))
        rank++;
    return rank;
}

static int compare_scenes(const void *a, const void *b) {
    const SceneName *left = a, *right = b;
    const int by_group = (int)left->group - (int)right->group;
    const int by_rank = street_rank(left) - street_rank(right);
    return by_group ? by_group : by_rank ? by_rank : strcmp(left->name, right->name);
}

static int is_sample_file(const struct dirent *entry) {
    return entry->d_name[0] != '.' && data_has_suffix(entry->d_name, ".json");
}

bool scene_names(SceneName *names, size_t max, size_t *count, Err *err) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct dirent **files;
    *count = 0;
    for (int i = 0; i < preset_total && *count < max; i++, ++*count) {
        names[*count].group = SCENES_PRESET;
        snprintf(names[*count].name, sizeof names->name, "%s", presets[i].name);
    }
    const size_t first_sample = *count;
    if (!data_path("samples", folder, sizeof folder, err))
        return false;
    const int found = scandir(folder, &files, is_sample_file, alphasort);
    if (found < 0)
        return refuse_listing(folder, errno, err);
    for (int i = 0; i < found; free(files[i++])) {
        if (*count == max)
            continue;
        SceneName *added = &names[(*count)++];
        snprintf(path, sizeof path, "%.3000s/%s", folder, files[i]->d_name);
        json_t *root = json_load_file(path, 0, NULL);
        added->group = json_object_get(root, "operator") ? SCENES_OPERATOR : SCENES_CAMERAS;
        json_decref(root);
        data_stem(files[i]->d_name, added->name, sizeof added->name);
    }
    free(files);
    qsort(names + first_sample, *count - first_sample, sizeof *names, compare_scenes);
    return true;
}

static bool refuse_unknown_name(const char *name, Err *err) {
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

/* Refuses files that are neither an archive nor JSON. Looks at their first bytes, because the JSON
 * parser's errors would not help. */
static bool refuse_other_formats(const char *path, const char start[4], Err *err) {
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
    static const char json_starts[] = "{[ \t\r\n\xef", /* \xef begins a byte order mark */
        a_scene[] = "a scene is JSON, or a .npz of arrays";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        BAD_FILE_IF(!memcmp(start, others[i].start, strlen(others[i].start)), path, others[i].hint,
                    "%s", others[i].what);
    BAD_FILE_IF(!start[0], path, a_scene, "an empty file");
    BAD_FILE_IF(data_has_suffix(path, ".npz") && !strchr(json_starts, start[0]), path,
                "write it again with numpy.savez",
                "not a .npz: it does not begin as a zip archive");
    return strchr(json_starts, start[0]) ||
           err_set(err, ERR_FAILED, path, a_scene, "neither JSON nor a zip archive");
}

bool scene_read_json(const char *text, size_t length, const char *where, bool build, Scene *scene,
                     Err *err) {
    enum { MOST = 100 }; /* shows the end of a long path */
    size_t name = strlen(where);
    const Check check = {name > MOST ? where + name - MOST : where, err};
    json_error_t error;
    memset(scene, 0, sizeof *scene);
    BAD_FILE_IF(length > SCENE_MAX_JSON_BYTES, check.where, "",
                "%zu bytes of JSON, must be at most %zu", length, SCENE_MAX_JSON_BYTES);
    json_t *json = fields_parse(text, length, &error);
    BAD_FILE_IF(!json, check.where, "", "line %d, column %d: %s", error.line, error.column,
                error.text);
    bool ok = scene_of_json(&check, json, build, scene);
    json_decref(json);
    if (!ok)
        scene_free(scene);
    return ok;
}

static bool load_json(const char *path, bool build, Scene *scene, Err *err) {
    char *text;
    size_t length;
    if (!data_read(path, SCENE_MAX_JSON_BYTES, &text, &length, err))
        return false;
    bool ok = scene_read_json(text, length, path, build, scene, err);
    free(text);
    return ok;
}

/* Whether a folder holds the arrays of an operator. Otherwise its files are moments of a clip. */
static bool folder_holds_arrays(const char *path) {
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    const struct dirent *entry = readdir(directory);
    while (entry && !data_has_suffix(entry->d_name, ".npy"))
        entry = readdir(directory);
    closedir(directory);
    return entry != NULL;
}

static bool load_moment(const Clip *clip, int moment, Scene *scene, Err *err) {
    char path[PATH_MAX];
    moment_path(clip, moment, path);
    if (!scene_read_npz(data_open(path, err), path, scene, err))
        return false;
    folder_name(scene->name, clip->path);
    return true;
}

bool clip_load(const Scene *first, int moment, Scene *scene, Err *err) {
    char path[PATH_MAX];
    if (!load_moment(first->clip, moment, scene, err))
        return false;
    moment_path(first->clip, moment, path);
    bool ok = true;
    if (first->photo_features && !scene->photo_features)
        ok = scene_use_photo_features(scene, err);
    if (ok && !moments_are_alike(first, scene))
        ok = err_set(err, ERR_FAILED, path, "moments have the same arrays, shapes and grid",
                     "another kind of moment than %s", first->clip->files[0]->d_name);
    if (!ok)
        scene_free(scene);
    return ok;
}

static bool load_folder(const char *path, Scene *scene, Err *err) {
    Clip *clip;
    if (folder_holds_arrays(path)) {
        const bool loaded = scene_load_folder(path, scene, err);
        if (loaded)
            folder_name(scene->name, path);
        return loaded;
    }
    if (!clip_open(path, &clip, err))
        return false;
    if (!load_moment(clip, 0, scene, err)) {
        clip_free(clip);
        return false;
    }
    scene->clip = clip;
    return true;
}

static bool load_path(const char *path, Scene *scene, Err *err) {
    char start[4] = {0};
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return load_folder(path, scene, err);
    FILE *file = data_open(path, err);
    if (!file)
        return false;
    (void)!fread(start, 1, sizeof start, file); /* a shorter file leaves zeros */
    rewind(file);
    bool ok;
    if (!memcmp(start, "PK", 2)) { /* a zip archive */
        ok = scene_read_npz(file, path, scene, err);
    } else {
        const bool build_operator = true;
        fclose(file);
        ok = refuse_other_formats(path, start, err) && load_json(path, build_operator, scene, err);
    }
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
        if (!sample_path(preset_world, path, err) || !load_path(path, scene, err))
            return false;
        preset_apply(preset, scene);
        return true;
    }
    if (!strchr(name_or_path, '/') && sample_path(name_or_path, path, NULL))
        return load_path(path, scene, err);
    if (access(name_or_path, F_OK) != 0)
        return refuse_unknown_name(name_or_path, err);
    return load_path(name_or_path, scene, err);
}

bool scene_load_sample(const char *name, Scene *scene, Err *err) {
    char path[PATH_MAX];
    const bool build_operator = false;
    return sample_path(name, path, err) && load_json(path, build_operator, scene, err);
}

void scene_title(const char *name, char title[128]) {
    const Preset *preset = preset_find(name);
    char path[PATH_MAX];
    title[0] = '\0';
    if (preset)
        snprintf(title, 128,
                 "%d x %d features, depth step %g m, %d x %d%s%.0d cells, C = %lld, on the street "
                 "of %s",
                 preset->feat_w, preset->feat_h, preset->depth_step_m, preset->cells, preset->cells,
                 preset->slices ? " x " : "", preset->slices, (long long)preset->channels,
                 preset_world);
    else if (sample_path(name, path, NULL)) {
        json_t *root = json_load_file(path, 0, NULL);
        const char *text = json_string_value(json_object_get(root, "title"));
        snprintf(title, 128, "%s", text ? text : "");
        json_decref(root);
    }
}
