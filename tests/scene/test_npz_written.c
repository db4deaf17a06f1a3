/* Tensor scenes in files: written, read back and written again; files that are no scene. */
#include "src/scene/scatter.h"
#include "tests/scene/npz_arrays.h"
#include "tests/support/path_in.h"

#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/bevscope-npz-XXXXXX";

static const char *in_folder(const char *name) {
    return path_in(folder, name);
}

static bool same_bytes(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] && files[1];
    for (int c = 0; same && c != EOF;)
        same = (c = fgetc(files[0])) == fgetc(files[1]);
    fclose(files[0]);
    fclose(files[1]);
    return same;
}

/* Writes the scene, reads it back and compares everything. */
static void round_trip(const char *without, bool half, bool weights, const char *title) {
    Scene scene, again = {0};
    Err err = {0};
    const char *path = in_folder("a.npz");
    start(without);
    if (weights)
        add_weights();
    bool ok = read_arrays(&scene);
    BevMap map = scene.map;
    if (!scene.has_map)
        ok = ok && scatter_build(&scene.rig, BEV_BILINEAR, UINT32_MAX, &map, &err);
    ok = ok && scene_write_npz(path, &scene, &scene.tensors, &map, half, &err) &&
         scene_load(path, &again, &err);
    if (!ok)
        err_line(&err, line, sizeof line);
    ok = ok && memcmp(&scene.shape, &again.shape, sizeof scene.shape) == 0 &&
         memcmp(scene.tensors.depth, again.tensors.depth, 36 * sizeof(float)) == 0 &&
         memcmp(scene.tensors.feat, again.tensors.feat, 48 * sizeof(float)) == 0 &&
         memcmp(&scene.rig, &again.rig, sizeof scene.rig) == 0 && again.has_rig == scene.has_rig &&
         again.has_map == scene.has_map && strcmp(again.name, "a") == 0;
    if (ok && again.has_map)
        ok = again.map.points == map.points && again.map.intervals == map.intervals &&
             memcmp(again.map.ranks_depth, map.ranks_depth, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.ranks_feat, map.ranks_feat, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.ranks_bev, map.ranks_bev, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.interval_starts, map.interval_starts, (size_t)map.intervals * 4) ==
                 0 &&
             memcmp(again.map.interval_lengths, map.interval_lengths, (size_t)map.intervals * 4) ==
                 0 &&
             !again.map.weights == !map.weights &&
             (!map.weights || memcmp(again.map.weights, map.weights, (size_t)map.points * 4) == 0);
    if (!tap_ok(ok, "%s", title))
        tap_note("got: %s", line);
    setenv("TZ", "NPT-5:45", 1); /* needs no time zone files */
    tzset();
    tap_ok(scene_write_npz(in_folder("b.npz"), &scene, &scene.tensors, &map, half, &err) &&
               same_bytes(path, in_folder("b.npz")),
           "the same bytes again, in another time zone");
    unsetenv("TZ");
    tzset();
    if (!scene.has_map)
        scatter_free(&map);
    scene_free(&scene);
    scene_free(&again);
    unlink(path);
    unlink(in_folder("b.npz"));
}

static bool refuses_file(const char *path, const char *words) {
    Scene scene;
    Err err = {0};
    bool ok = !scene_load_npz(path, &scene, &err);
    err_line(&err, line, sizeof line);
    scene_free(&scene);
    return ok && strstr(line, words) && !strchr(line, '\n');
}

static void test_files(void) {
    const char *path = in_folder("file.npz");
    Scene scene;
    Err err;
    start("");
    Buffer archive = make_archive();
    FILE *file = fopen(path, "wb");
    fwrite(archive.bytes, 1, archive.length, file);
    fclose(file);
    tap_ok(scene_load_npz(path, &scene, &err) && scene.tensors.depth[5] == 0.25f, "from a file");
    BevMap map = scene.map;
    tap_ok(!scene_write_npz("/dev/full", &scene, &scene.tensors, &map, false, &err) &&
               strstr(err.what, "No space left"),
           "to a full disk");
    scene_free(&scene);
    tap_need(truncate(path, (off_t)archive.length - 1) == 0, "truncate");
    tap_ok(refuses_file(path, "truncated zip"), "a file cut by a byte");
    tap_need(truncate(path, ((off_t)4 << 30) + 1) == 0, "truncate");
    tap_ok(refuses_file(path, "4294967297 bytes, must be at most 4294967296"),
           "a file beyond 4 GiB");
    tap_need(truncate(path, 0) == 0, "truncate");
    tap_ok(refuses_file(path, "truncated zip"), "an empty file");
    unlink(path);
    tap_ok(refuses_file(path, "No such file"), "no file");
    tap_ok(refuses_file("/dev/zero", "not a regular file"), "a device");
    tap_ok(refuses_file(folder, "not a regular file") || strstr(line, "directory"), "a folder");
    free(archive.bytes);
}

/* Writes the current arrays as a scene, and reads that again. */
static bool write_and_read(Scene *scene, Scene *again) {
    Err err = {0};
    const char *path = in_folder("c.npz");
    *again = (Scene){.channels = 0};
    bool ok = read_arrays(scene) &&
              scene_write_npz(path, scene, &scene->tensors, &scene->map, false, &err) &&
              scene_load(path, again, &err);
    if (!ok && err.what[0])
        err_line(&err, line, sizeof line);
    if (!ok)
        tap_note("got: %s", line);
    unlink(path);
    return ok;
}

static void test_height(void) {
    Scene scene, again;
    start("");
    get("grid")->values[8] = 5; /* two slices */
    get("bev_shape")->values[1] = 2;
    tap_ok(write_and_read(&scene, &again) && again.shape.nz == 2 && again.shape.ny == 6 &&
               again.shape.nx == 4 && again.rig.grid.nz == 2 && again.map.points == 5,
           "two slices");
    scene_free(&scene);
    scene_free(&again);
}

static void test_no_points(void) {
    Scene scene, again;
    start("cal");
    for (int i = CALIBRATION; i < array_count - 1; i++) {
        arrays[i].count = 0;
        arrays[i].shape = "(0,)";
    }
    tap_ok(write_and_read(&scene, &again) && again.has_map && again.map.points == 0,
           "a map without points");
    scene_free(&scene);
    scene_free(&again);
}

/* Names of 1, 2, 3 and 4 bytes a letter; half a pair of UTF-16 and numbers beyond Unicode are no
 * letters. */
static void test_names(void) {
    static const struct {
        uint32_t code;
        const char *utf8;
    } letters[] = {{'a', "a"},
                   {0x7ff, "\xdf\xbf"},
                   {0x20ac, "\xe2\x82\xac"},
                   {0xe000, "\xee\x80\x80"},
                   {0x1f697, "\xf0\x9f\x9a\x97"},
                   {0xd800, "?"},
                   {0xdfff, "?"},
                   {0x110000, "?"}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        Scene scene, again;
        char want[16];
        start("");
        arrays[array_count++] = (Array){
            "camera_names", "<U3", "(2,)", 6, {letters[i].code, 'b', 0, 'c', 0, 0}, NULL, 0};
        snprintf(want, sizeof want, "%sb", letters[i].utf8);
        bool ok = write_and_read(&scene, &again);
        tap_ok(ok && !strcmp(scene.rig.cameras[0].name, again.rig.cameras[0].name) &&
                   !strcmp(again.rig.cameras[0].name, want) &&
                   !strcmp(again.rig.cameras[1].name, "c"),
               "a name with U+%04X: %s", (unsigned)letters[i].code, again.rig.cameras[0].name);
        scene_free(&scene);
        scene_free(&again);
    }
}

/* Everything that a car saw, and that it did not see everything. */
static void test_car(void) {
    static const char *const left_out[] = {NULL,         "images", "camera_names",
                                           "box_labels", "lidar",  "timestamps"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        Scene scene, again;
        start("");
        add_car();
        if (left_out[i])
            drop(left_out[i]);
        bool ok = write_and_read(&scene, &again);
        const Photos *a = &scene.photos, *b = &again.photos;
        ok = ok && a->cameras == b->cameras && a->box_count == 2 && b->box_count == 2 &&
             !memcmp(a->boxes, b->boxes, 2 * sizeof *a->boxes) && a->has_time == b->has_time &&
             a->time_s == b->time_s && a->sweep_count == b->sweep_count &&
             !strcmp(scene.rig.cameras[1].name, again.rig.cameras[1].name) &&
             !a->srgb == !b->srgb &&
             (!a->srgb || !memcmp(a->srgb, b->srgb, (size_t)(a->cameras * a->h * a->w * 3)));
        tap_ok(ok, "what a car saw, without %s", left_out[i] ? left_out[i] : "nothing");
        scene_free(&scene);
        scene_free(&again);
    }
}

/* Errors name the end of a long path, which tells more than its begin. */
static void test_long_path(void) {
    char path[400] = "/";
    Scene scene;
    Err err = {0};
    for (int i = 0; i < 30; i++)
        strcat(path, "nowhere/");
    strcat(path, "net.npz");
    tap_ok(!scene_load_npz(path, &scene, &err) && strlen(err.where) < 128 &&
               strstr(err.where, "nowhere/net.npz") && strstr(err.what, "No such file"),
           "a long path: %s: %s", err.where, err.what);
}

TAP_SUITE(npz_written) {
    if (!mkdtemp(folder))
        tap_skip_suite("no temporary folder");
    round_trip("", false, false, "calibration and map, written and read");
    round_trip("", true, false, "the same in float16");
    round_trip("idx", false, false, "calibration and a bilinear map");
    round_trip("cal", false, true, "a weighted map without calibration");
    test_height();
    test_no_points();
    test_names();
    test_car();
    test_long_path();
    test_files();
    tap_ok(rmdir(folder) == 0, "the folder is empty at the end");
}
