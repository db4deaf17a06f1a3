/* SPDX-License-Identifier: MIT */
/* Where scenes come from: presets, samples, files recognised by their content; and unknown names.
 */
#include "src/scene/scene.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
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

static void refuses(const char *name, const char *words) {
    tap_said(!load(name) && refused_with("", words), "%s: %s", name, words);
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

static void test_sources(void) {
    tap_ok(load("corner") && strcmp(scene.name, "corner") == 0 && scene.channels == 80,
           "a sample by its name");
    tap_ok(load(in_folder("samples/corner.json")) && strcmp(scene.name, "corner") == 0,
           "a file by its path");
    put(in_folder("world.npz"), text);
    tap_ok(load(in_folder("world.npz")) && scene.has_world, "JSON under another suffix");
    tap_need(chdir(folder) == 0, "chdir");
    put(in_folder("plain"), text);
    tap_ok(load("plain") && strcmp(scene.name, "plain") == 0,
           "a file in this folder, without suffix");
    put(in_folder("canonical"), "not this one");
    tap_ok(load("canonical") && scene.shape.nx == 200, "a configuration comes first");
    put(in_folder("archive.json"), "PK\3\4 and no more");
    refuses("archive.json", "truncated zip");
    put(in_folder("empty"), "");
    refuses("empty", "an empty file (a scene is JSON, or a .npz of arrays)");
    refuses("./canonical", "neither JSON nor a zip archive");
    put(in_folder("text.npz"), "hello");
    refuses("text.npz", "not a .npz: it does not begin as a zip archive (write it again");
    put(in_folder("empty.npz"), "");
    refuses("empty.npz", "an empty file (a scene is");
    put(in_folder("depth.npy"), "\x93NUMPY and no more");
    refuses("depth.npy", "one array, but a scene is a .npz of several (save depth");
    tap_need(chdir("/") == 0, "chdir");
}

static void test_unknown(void) {
    refuses("canonicla", "did you mean canonical?");
    refuses("cornre", "did you mean corner?");
    refuses("/nowhere/scene.npz", "neither a file nor a known scene (bevscope --list");
    refuses("", "neither a file nor a known scene");
    refuses("../samples/corner", "neither a file nor a known scene");
    refuses("/dev/zero", "not a regular file");
    refuses(in_folder("samples"), "a folder without .npz files");
    chmod(in_folder("plain"), 0);
    if (geteuid() != 0)
        refuses(in_folder("plain"), "Permission denied");
    mkfifo(in_folder("pipe"), 0666);
    refuses(in_folder("pipe"), "not a regular file");
}

/* A socket can be named, but not opened. */
static void make_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    tap_need(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address), "a socket");
    close(fd);
}

static void test_files(void) {
    tap_need(chdir(folder) == 0, "chdir");
    put(in_folder(".world"), text);
    tap_ok(load("./.world") && strcmp(scene.name, ".world") == 0,
           "a hidden file has its whole name");
    put(in_folder("Parking"), "Parking on the left");
    refuses("Parking", "neither JSON nor a zip archive");
    put(in_folder("long.json"), "{");
    tap_need(truncate("long.json", 1 + (1 << 20)) == 0, "truncate");
    refuses("long.json", "long.json: longer than the limit of 1048576 bytes");
    make_socket("socket");
    refuses("socket", "socket: cannot open: No such device or address");
    refuses("missing.npz", "neither a file nor a known scene (bevscope --list");
    refuses("missing.json", "neither a file nor a known scene (bevscope --list");
    put(in_folder("samples/intersection.json"), "{\"bevscope\": 2}");
    refuses("canonical", "samples/intersection.json: ");
    put(in_folder("samples/intersection.json"), text);
    tap_need(chdir("/") == 0, "chdir");
}

/* Files that the process may have open are used up. */
static void test_no_files(void) {
    rlim_t before = limit_to(RLIMIT_NOFILE, 3); /* 0 to 2 are open */
    refuses("canonicla", "samples: cannot be listed: Too many open files");
    refuses("corner", "samples/corner.json: cannot open: Too many open files");
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

TAP_SUITE(scene) {
    folder_open();
    setenv("BEVSCOPE_DATA", folder, 1);
    mkdir(in_folder("samples"), 0777);
    put(in_folder("samples/adding.json"), "{\"operator\": \"histogram\"}");
    put(in_folder("samples/corner.json"), text);
    put(in_folder("samples/intersection.json"), text);
    put(in_folder("samples/.hidden.json"), text);
    put(in_folder("samples/export.py"), "");
    test_configs();
    test_names();
    test_sources();
    test_unknown();
    test_files();
    test_no_files();
    test_photographs();
    folder_remove();
}
