/* SPDX-License-Identifier: MIT */
/* Tensor scenes in files: written, read back and written again; files that are no scene. */
#include "src/base/data.h"
#include "src/scene/scatter.h"
#include "tests/scene/npz_arrays.h"
#include "tests/support/maps.h"
#include "tests/support/folder.h"
#include "tests/support/ok_or_note.h"

#include <time.h>

static Scene again; /* the scene, written and read */

static bool same_bytes(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] && files[1];
    for (int c = 0; same && c != EOF;)
        same = (c = fgetc(files[0])) == fgetc(files[1]);
    fclose(files[0]);
    fclose(files[1]);
    return same;
}

static void round_trip(const char *without, bool half, bool weights, const char *title) {
    const char *path = in_folder("a.npz");
    start(without);
    if (weights)
        add_weights();
    bool ok = read_arrays();
    scene_free(&again);
    BevMap map = scene.map;
    if (!scene.has_map)
        ok = ok && scatter_build(&scene.rig, BEV_BILINEAR, UINT32_MAX, NULL, &map, &err);
    ok = ok && scene_write_npz(path, &scene, &scene.tensors, &map, half, &err) &&
         scene_load(path, &again, &err);
    ok = keep_line(ok) && memcmp(&scene.shape, &again.shape, sizeof scene.shape) == 0 &&
         memcmp(scene.tensors.depth, again.tensors.depth, 36 * sizeof(float)) == 0 &&
         memcmp(scene.tensors.feat, again.tensors.feat, 48 * sizeof(float)) == 0 &&
         memcmp(&scene.rig, &again.rig, sizeof scene.rig) == 0 && again.has_rig == scene.has_rig &&
         again.has_map == scene.has_map && strcmp(again.name, "a") == 0;
    if (ok && again.has_map)
        ok = same_map(&again.map, &map);
    tap_said(ok, "%s", title);
    setenv("TZ", "NPT-5:45", 1); /* needs no time zone files */
    tzset();
    tap_ok(scene_write_npz(in_folder("b.npz"), &scene, &scene.tensors, &map, half, &err) &&
               same_bytes(path, in_folder("b.npz")),
           "the same bytes again, in another time zone");
    unsetenv("TZ");
    tzset();
    if (!scene.has_map)
        scatter_free(&map);
    unlink(path);
    unlink(in_folder("b.npz"));
}

static void refuses_file(const char *path, const char *words, const char *title) {
    scene_free(&scene);
    tap_refuses(scene_read_npz(data_open(path, &err), path, &scene, &err), "", words, "%s", title);
}

static void test_files(void) {
    const char *path = in_folder("file.npz");
    start("");
    Buffer archive = make_archive();
    put_bytes(path, archive.bytes, archive.length);
    scene_free(&scene);
    bool read = scene_read_npz(data_open(path, &err), path, &scene, &err);
    tap_ok(read && scene.tensors.depth[5] == 0.25f, "from a file");
    tap_ok(!scene_write_npz("/dev/full", &scene, &scene.tensors, &scene.map, false, &err) &&
               strstr(err.what, "No space left"),
           "to a full disk");
    tap_need(truncate(path, (off_t)archive.length - 1) == 0, "truncate");
    refuses_file(path, "truncated zip", "a file cut by a byte");
    tap_need(truncate(path, ((off_t)4 << 30) + 1) == 0, "truncate");
    refuses_file(path, "4294967297 bytes, must be at most 4294967296...one moment a file",
                 "a file beyond 4 GiB");
    tap_need(truncate(path, 0) == 0, "truncate");
    refuses_file(path, "truncated zip", "an empty file");
    unlink(path);
    refuses_file(path, "No such file", "no file");
    refuses_file("/dev/zero", "not a regular file", "a device");
    refuses_file(folder, "not a regular file", "a folder");
    free(archive.bytes);
}

/* Writes the current arrays as a scene, and reads that again. */
static bool write_and_read(void) {
    const char *path = in_folder("c.npz");
    scene_free(&again);
    bool ok = ok_or_note(
        read_arrays() && scene_write_npz(path, &scene, &scene.tensors, &scene.map, false, &err) &&
            scene_load(path, &again, &err),
        &err);
    unlink(path);
    return ok;
}

static void test_height(void) {
    start("");
    get("grid")->values[8] = 5; /* two slices */
    get("bev_shape")->values[1] = 2;
    tap_ok(write_and_read() && again.shape.nz == 2 && again.shape.ny == 6 &&
               again.shape.nx == 4 && again.rig.grid.nz == 2 && again.map.points == 5,
           "two slices");
}

static void test_no_points(void) {
    start("cal");
    reshape(INDEX_ARRAYS, "(0,)", 0);
    tap_ok(write_and_read() && again.has_map && again.map.points == 0 && !again.map.intervals,
           "a map without points");
}

/* Letters of 1, 2, 3 and 4 bytes. Half a pair of UTF-16 and numbers beyond Unicode are none. */
static void test_names(void) {
    start("");
    add((Array){"camera_names", "<U9", "(2,)", 18,
                {'a', 0x7ff, 0x20ac, 0xe000, 0x1f697, 0xd800, 0xdfff, 0x110000, 'b', 'c'},
                NULL, 0});
    const Camera *cameras = again.rig.cameras;
    tap_ok(write_and_read() && !strcmp(scene.rig.cameras[0].name, cameras[0].name) &&
               !strcmp(cameras[0].name,
                       "a\xdf\xbf\xe2\x82\xac\xee\x80\x80\xf0\x9f\x9a\x97???b") &&
               !strcmp(cameras[1].name, "c"),
           "letters of other languages: %s", cameras[0].name);
}

/* Everything that a car saw, and that it did not see everything. */
static void test_car(void) {
    static const char *const left_out[] = {NULL,         "images", "camera_names",
                                           "box_labels", "lidar",  "timestamps"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        start("");
        add_car();
        if (left_out[i])
            drop(left_out[i]);
        bool ok = write_and_read();
        const Photos *a = &scene.photos, *b = &again.photos;
        ok = ok && a->cameras == b->cameras && a->box_count == 2 && b->box_count == 2 &&
             !memcmp(a->boxes, b->boxes, 2 * sizeof *a->boxes) && a->has_time == b->has_time &&
             a->time_s == b->time_s && a->sweep_count == b->sweep_count &&
             !strcmp(scene.rig.cameras[1].name, again.rig.cameras[1].name) &&
             !a->srgb == !b->srgb &&
             (!a->srgb || !memcmp(a->srgb, b->srgb, (size_t)(a->cameras * a->h * a->w * 3)));
        tap_ok(ok, "what a car saw, without %s", left_out[i] ? left_out[i] : "nothing");
    }
}

TAP_SUITE(npz_written) {
    folder_open();
    round_trip("", false, false, "calibration and map, written and read");
    round_trip("", true, false, "the same in float16");
    round_trip("idx", false, false, "calibration and a bilinear map");
    round_trip("cal", false, true, "a weighted map without calibration");
    test_height();
    test_no_points();
    test_names();
    test_car();
    test_files();
    folder_close();
}
