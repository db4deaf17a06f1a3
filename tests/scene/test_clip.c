/* Folders of moments: which files are moments, what must be the same in all, the time between two,
 * and each kind of folder that is none. */
#include "src/scene/clip.h"
#include "tests/scene/npz_arrays.h"
#include "tests/support/path_in.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/bevscope-clip-XXXXXX";

static const char *in_folder(const char *name) {
    return path_in(folder, name);
}

static void write_bytes(const char *name, const void *bytes, size_t length) {
    FILE *file = fopen(in_folder(name), "wb");
    tap_need(file && fwrite(bytes, 1, length, file) == length, "a file");
    fclose(file);
}

/* The current arrays as a file of the folder. */
static void save(const char *name) {
    Buffer archive = make_archive();
    write_bytes(name, archive.bytes, archive.length);
    free(archive.bytes);
}

/* A first moment at 10 s; the arrays of the second one are ready to be changed. */
static void start_second(double time_s) {
    start("");
    add_weights();
    add_car();
    get("timestamps")->values[0] = 10;
    save("0.npz");
    get("timestamps")->values[0] = time_s;
    get("depth")->values[5] = 0.75;
}

static bool load(Scene *scene) {
    Err err = {0};
    line[0] = '\0';
    bool ok = scene_load(folder, scene, &err);
    if (!ok)
        err_line(&err, line, sizeof line);
    return ok;
}

/* The folder, whose second moment has the current arrays, is refused. */
static void refuses_second(const char *title, const char *first, const char *second) {
    Scene scene;
    save("1.npz");
    bool ok = !load(&scene) && strstr(line, first) && strstr(line, second) && !strchr(line, '\n');
    if (!tap_ok(ok, "%s", title))
        tap_note("got: %s", line[0] ? line : "accepted");
    scene_free(&scene);
}

/* ---- what is a clip -------------------------------------------------------------------------- */

static void test_moments(void) {
    Scene scene;
    Err err = {0};
    start_second(10.4);
    save("1.npz");
    write_bytes(".hidden.npz", "", 0);
    write_bytes("npz", "", 0);
    write_bytes("notes.txt", "", 0);
    tap_need(load(&scene), "a folder of two moments");
    tap_ok(scene.clip->count == 2 && !strcmp(scene.clip->names[1], "1.npz") &&
               fabs(scene.clip->period_s - 0.4) < 1e-9,
           "two moments, 0.4 s from one to the next");
    tap_ok(clip_at(scene.clip, -1) == 0 && clip_at(scene.clip, 0.3) == 0 &&
               clip_at(scene.clip, 0.4) == 1 && clip_at(scene.clip, 0.8) == 0,
           "a moment lasts until the next, and the last one until the first");
    tap_ok(clip_move(&scene, 0.1, &err) && scene.tensors.depth[5] == 0.25f,
           "within the first moment nothing changes");
    tap_ok(clip_move(&scene, 0.5, &err) && scene.tensors.depth[5] == 0.75f && scene.clip,
           "then it is the second one");
    write_bytes("1.npz", "PK", 2);
    tap_ok(!clip_move(&scene, 0.5, &err) && scene.tensors.depth[5] == 0.75f &&
               strstr(err.what, "truncated zip"),
           "a moment that is lost meanwhile: %s; the last picture stays", err.what);
    scene_free(&scene);
    unlink(in_folder(".hidden.npz"));
    unlink(in_folder("npz"));
    unlink(in_folder("notes.txt"));
}

static void test_period(void) {
    static const struct {
        const char *title;
        double time_s, period_s;
    } times[] = {{"two hours later", 7210, 0.5},
                 {"at the same time", 10, 0.5},
                 {"before the first one", 9, 0.5},
                 {"59 minutes later", 3550, 3540}};
    Scene scene;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        start_second(times[i].time_s);
        save("1.npz");
        tap_ok(load(&scene) && scene.clip->period_s == times[i].period_s, "%s: %g s a moment",
               times[i].title, times[i].period_s);
        scene_free(&scene);
    }
    unlink(in_folder("1.npz"));
    tap_ok(load(&scene) && scene.clip->count == 1 && scene.clip->period_s == 0.5 &&
               clip_at(scene.clip, 7) == 0,
           "one moment is a clip that stands still");
    scene_free(&scene);
    start("cal");
    save("0.npz");
    save("1.npz");
    tap_ok(load(&scene) && scene.clip->period_s == 0.5 && !scene.has_rig,
           "moments without calibration and times");
    scene_free(&scene);
    start("idx");
    save("0.npz");
    save("1.npz");
    tap_ok(load(&scene) && scene.has_rig, "moments without index arrays");
    scene_free(&scene);
}

/* Named after its last part, with slashes behind it or without. */
static void test_names(void) {
    static const char *const paths[] = {"drive", "drive/", "./drive//"};
    Scene scene;
    Err err = {0};
    start("");
    tap_need(mkdir(in_folder("drive"), 0777) == 0 && chdir(folder) == 0, "a folder");
    save("drive/0.npz");
    for (int i = 0; i < 3; i++) {
        tap_ok(scene_load(paths[i], &scene, &err) && !strcmp(scene.name, "drive"), "\"%s\"",
               paths[i]);
        scene_free(&scene);
    }
    unlink("drive/0.npz");
    tap_need(chdir("/") == 0 && rmdir(in_folder("drive")) == 0, "the folder goes");
}

/* ---- what may differ ------------------------------------------------------------------------- */

static void test_differs(void) {
    Scene scene;
    start_second(11);
    drop("boxes");
    drop("box_labels");
    get("lidar")->shape = "(2, 4)";
    get("lidar")->count = 8;
    get("weights")->shape = get("ranks_bev")->shape = get("ranks_feat")->shape =
        get("ranks_depth")->shape = "(2,)";
    get("weights")->count = get("ranks_bev")->count = get("ranks_feat")->count =
        get("ranks_depth")->count = 2;
    get("interval_starts")->shape = get("interval_lengths")->shape = "(1,)";
    get("interval_starts")->count = get("interval_lengths")->count = 1;
    save("1.npz");
    if (!tap_ok(load(&scene), "points, boxes and LiDAR points may differ"))
        tap_note("got: %s", line);
    scene_free(&scene);
}

static void test_same(void) {
    start_second(11);
    drop("images");
    refuses_second("photographs in the first only",
                   "1.npz: images:", "is missing, but 0.npz has it (moments have the same arrays)");
    start_second(11);
    save("1.npz");
    drop("lidar");
    save("0.npz");
    arrays[array_count++] = car[4];
    refuses_second("LiDAR in the second only", "1.npz: lidar:", "is there, but 0.npz has none");
    start_second(11);
    get("images")->shape = "(2, 4, 6, 3)";
    get("images")->count = 144;
    refuses_second("photographs of another size", "1.npz: images: shape (2, 4, 6, 3)",
                   "but 0.npz has (2, 2, 3, 3)");
    start_second(11);
    get("crop")->shape = "(2,)";
    get("crop")->count = 2;
    refuses_second("a crop without its end", "1.npz: crop: shape (2,)", "but 0.npz has (4,)");
    start_second(11);
    get("resize")->shape = "(1,)";
    refuses_second("a scale in a list", "1.npz: resize: shape (1,)", "but 0.npz has ()");
    start_second(11);
    get("grid")->values[1] = 6;
    refuses_second("another grid", "1.npz: grid[0, 1]:", "6, but 0.npz has 4");
    start_second(11);
    get("bev_shape")->values[3] = 5;
    refuses_second("another number of cells", "1.npz: bev_shape[3]:", "5, but 0.npz has 4");
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* Flips a bit in the elements of a stored array: its header is right, its checksum is not. */
static void damage(Buffer archive, const char *name) {
    unsigned char *at = memmem(archive.bytes, archive.length, name, strlen(name));
    at = memmem(at, (size_t)(archive.bytes + archive.length - at), ")", 1);
    unsigned char *end = memmem(at, (size_t)(archive.bytes + archive.length - at), "}\n", 2);
    end[3] ^= 1;
}

static void test_damaged(const char *name) {
    char first[64];
    Scene scene;
    start_second(11);
    Buffer archive = make_archive();
    snprintf(first, sizeof first, "%s.npy", name);
    damage(archive, first);
    write_bytes("1.npz", archive.bytes, archive.length);
    free(archive.bytes);
    snprintf(first, sizeof first, "1.npz: %s:", name);
    bool ok = !load(&scene) && strstr(line, first) && strstr(line, "CRC");
    if (!tap_ok(ok, "a damaged %s in the second moment", name))
        tap_note("got: %s", line[0] ? line : "accepted");
    scene_free(&scene);
}

static void test_wrong(void) {
    start_second(11);
    get("timestamps")->values[0] = NAN;
    refuses_second("a time that is none", "1.npz: timestamps[0]:", "nan, must be finite");
    start_second(11);
    get("grid")->values[2] = INFINITY;
    refuses_second("an infinite grid", "1.npz: grid[0, 2]:", "inf, must be finite");
    start_second(11);
    get("lidar")->name = "radar";
    refuses_second("an array that nobody knows", "1.npz: radar:", "unknown array");
    start_second(11);
    start("");
    get("depth")->shape = "(2, 2, 3, 2, 3)";
    get("feat")->shape = "(2, 2, 2, 3, 4)";
    get("depth")->count *= 2;
    get("feat")->count *= 2;
    refuses_second("a file of two moments", "1.npz: depth: shape (2, 2, 3, 2, 3): 2 moments",
                   "a clip is a folder of files (mkdir clip; python3 -c");
    start("");
    save("1.npz");
    get("intrinsics")->values[4] = NAN;
    save("0.npz");
    Scene scene;
    tap_ok(!load(&scene) && strstr(line, "0.npz: intrinsics[0, 1, 1]: nan"),
           "a first moment with headers that are right: %s", line);
    scene_free(&scene);
    test_damaged("grid");
    test_damaged("bev_shape");
    test_damaged("timestamps");
}

/* ---- the folder ------------------------------------------------------------------------------ */

static void refuses_folder(const char *path, const char *title, const char *words) {
    Clip *clip = NULL;
    Err err = {0};
    bool ok = !clip_open(path, &clip, &err) && !clip;
    err_line(&err, line, sizeof line);
    if (!tap_ok(ok && strstr(line, words) && !strchr(line, '\n'), "%s", title))
        tap_note("got: %s", line);
}

static void test_folder(void) {
    unlink(in_folder("0.npz"));
    unlink(in_folder("1.npz"));
    refuses_folder(folder, "no moment", "a folder without .npz files (one .npz a moment");
    refuses_folder(in_folder("nowhere"), "no folder", "cannot be listed: No such file");
    write_bytes("0.npz", "", 0);
    refuses_folder(in_folder("0.npz"), "a file", "cannot be listed: Not a directory");
    refuses_folder(folder, "an empty moment", "0.npz: truncated zip");
    struct rlimit before, none;
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3; /* 0 to 2 are open */
    setrlimit(RLIMIT_NOFILE, &none);
    Scene scene;
    bool ok = !load(&scene);
    setrlimit(RLIMIT_NOFILE, &before);
    tap_ok(ok && strstr(line, "cannot be listed: Too many open files"), "no file may be opened: %s",
           line);
    scene_free(&scene);
}

static void test_most(void) {
    char name[32];
    Err err = {0};
    Clip *clip = NULL;
    for (int i = 0; i <= CLIP_MAX_MOMENTS; i++) {
        snprintf(name, sizeof name, "%d.npz", i);
        write_bytes(name, "", 0);
    }
    tap_ok(!clip_open(folder, &clip, &err) && strstr(err.what, "more than 10000 moments"),
           "10,001 moments: %s (%s)", err.what, err.hint);
    for (int i = 0; i <= CLIP_MAX_MOMENTS; i++) {
        snprintf(name, sizeof name, "%d.npz", i);
        unlink(in_folder(name));
    }
}

TAP_SUITE(clip) {
    if (!mkdtemp(folder))
        tap_skip_suite("no temporary folder");
    test_moments();
    test_period();
    test_names();
    test_differs();
    test_same();
    test_wrong();
    test_folder();
    test_most();
    clip_free(NULL);
    tap_ok(rmdir(folder) == 0, "the folder is empty at the end");
}
