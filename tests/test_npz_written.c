/* Tensor scenes in files: written, read back and written again; files that are no scene. */
#include "src/scene/scatter.h"
#include "tests/npz_arrays.h"

#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/bevscope-npz-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
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
    bool ok = !scene_load_npz(path, 0, &scene, &err);
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
    tap_ok(scene_load_npz(path, 0, &scene, &err) && scene.tensors.depth[5] == 0.25f, "from a file");
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

int main(void) {
    if (!mkdtemp(folder))
        return tap_skip_all("no temporary folder");
    round_trip("", false, false, "calibration and map, written and read");
    round_trip("", true, false, "the same in float16");
    round_trip("idx", false, false, "calibration and a bilinear map");
    round_trip("cal", false, true, "a weighted map without calibration");
    test_files();
    tap_ok(rmdir(folder) == 0, "the folder is empty at the end");
    return tap_done();
}
