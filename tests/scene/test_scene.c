/* SPDX-License-Identifier: MIT */
/* Where scenes come from: presets, samples, files recognised by their content; and unknown names.
 */
#include "src/scene/scene.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/refused.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static const char text[] =
    "{\"bevscope\": 1, \"frustum\": {\"image_px\": [1600, 900], \"resize\": 0.44,\n"
    "  \"crop_px\": [0, 140], \"input_px\": [704, 256], \"features\": [8, 4], \"depth_m\": [1, 60, "
    "4]},\n"
    " \"grid\": {\"x_m\": [-54, 54], \"y_m\": [-54, 54], \"z_m\": [-10, 10], \"cells\": [20, "
    "20]},\n"
    " \"cameras\": [{\"name\": \"front\", \"focal_px\": 1266, \"center_px\": [816, 492],\n"
    "   \"position_m\": [1.7, 0.02, 1.51]}],\n"
    " \"world\": {\"ground\": {\"class\": \"terrain\", \"color\": [0, 0, 0]}, \"patches\": [],\n"
    "   \"solids\": []}}\n";

static Scene scene; /* what was loaded last; the next load frees it */

static bool load(const char *name) {
    scene_free(&scene);
    return keep_line(scene_load(name, &scene, &err));
}

static void test_configs(void) {
    for (int i = 0; i < preset_total; i++) {
        const Preset *config = &presets[i];
        bool ok = load(config->name);
        tap_ok(ok && strcmp(scene.name, config->name) == 0 && scene.channels == config->channels &&
                   scene.shape.channels == config->channels &&
                   scene.shape.feat_w == config->feat_w && scene.shape.nx == config->cells &&
                   scene.rig.frustum.depth_step_m == config->depth_step_m && scene.has_world,
               "%s: the flagship's world at that size", config->name);
    }
}

static void test_names(void) {
    SceneName names[64];
    size_t count;
    scene_names(names, 64, &count, NULL);
    bool configs_first = count == (size_t)preset_total + 3;
    for (int i = 0; configs_first && i < preset_total; i++)
        configs_first =
            names[i].group == SCENES_PRESET && strcmp(names[i].name, presets[i].name) == 0;
    tap_ok(configs_first, "the configurations, in their order");
    tap_ok(count == (size_t)preset_total + 3 && names[preset_total].group == SCENES_CAMERAS &&
               strcmp(names[preset_total].name, "intersection") == 0 &&
               strcmp(names[preset_total + 1].name, "corner") == 0,
           "then the streets and the other samples, by name; no hidden file, no other suffix");
    tap_ok(names[preset_total + 2].group == SCENES_OPERATOR &&
               strcmp(names[preset_total + 2].name, "adding") == 0,
           "then the operators");
    tap_ok(scene_names(names, 3, &count, NULL) && count == 3,
           "at most as many as there is room for");
}

/* A socket can be named, but not opened. */
static void make_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    tap_need(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address), "a socket");
    close(fd);
}

/* A line of tests/scene/scripts/scene.names: "world NAME" writes a scene, "file NAME TEXT" another
 * file; all others are loaded. */
static void play(const char *what, FILE *out) {
    char name[64];
    int used = 0;
    if (sscanf(what, "world %63s", name) == 1)
        put(name, text);
    else if (sscanf(what, "file %63s %n", name, &used) == 1)
        put(name, what + used);
    else if (load(what))
        fprintf(out, "    read: %s, %lld channels, %lld x %lld cells\n", scene.name,
                (long long)scene.channels, (long long)scene.shape.nx, (long long)scene.shape.ny);
    else
        fprintf(out, "    %s\n", line);
}

static void begin(void) {
    mkfifo("pipe", 0666);
    make_socket("socket");
    put("archive.json", "PK\3\4 and no more");
    put("depth.npy", "\x93NUMPY and no more");
    put("long.json", "{");
    tap_need(truncate("long.json", 1 + (1 << 20)) == 0, "truncate");
}

/* Files that may not be read, or not be opened: as many are open as the process may have. */
static void test_closed(void) {
    put("locked", text);
    chmod("locked", 0);
    tap_ok(geteuid() == 0 || (!load("locked") && strstr(line, "Permission denied")), "%s", line);
    rlim_t before = limit_to(RLIMIT_NOFILE, 3); /* 0 to 2 are open */
    tap_refuses(load("canonicla"), "./samples: ", "listed: Too many open files", "a list");
    tap_refuses(load("corner"), "./samples/corner.json: ", "Too many open files", "a scene");
    limit_to(RLIMIT_NOFILE, before);
}

static void test_photographs(void) {
    tap_need(load("corner"), "corner");
    tap_ok(!scene_use_photo_features(&scene, &err) && scene.channels == 80 && err.kind == ERR_USAGE,
           "features of no photographs: %s (%s)", err.what, err.hint);
    tap_ok(photos_of_world(&scene.rig, &scene.world, 0, &scene.photos, &err) &&
               scene.photos.cameras == 1,
           "a world's photographs");
    tap_ok(scene_use_photo_features(&scene, &err) && scene.shape.channels == PHOTO_CHANNELS,
           "and are features");
    scene_free(&scene);
    scene_free(NULL);
}

TAP_SUITE(scene_scripts) {
    char *sources = realpath(getenv("SRCDIR") ? getenv("SRCDIR") : ".", NULL);
    setenv("SRCDIR", sources, 1);
    free(sources);
    folder_open();
    tap_need(chdir(folder) == 0 && mkdir("samples", 0777) == 0, "a folder of samples");
    setenv("BEVSCOPE_DATA", ".", 1);
    put("samples/adding.json", "{\"operator\": \"histogram\"}");
    put("samples/corner.json", text);
    put("samples/intersection.json", text);
    put("samples/.hidden.json", text);
    put("samples/export.py", "");
    test_configs();
    test_names();
    test_photographs();
    test_closed();
    check_scripts("scene", "names", begin, play);
    folder_remove();
}
