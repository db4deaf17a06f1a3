/* SPDX-License-Identifier: MIT */
/* Folders of moments: which files are moments, what must be the same in all, the time between two,
 * and each kind of folder that is none. */
#include "tests/scene/npz_arrays.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"


static void save(const char *name) {
    Buffer archive = make_archive();
    put_bytes(in_folder(name), archive.bytes, archive.length);
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

static bool load(void) {
    scene_free(&scene);
    return keep_line(scene_load(folder, &scene, &err));
}

static void refuses_clip(const char *title, const char *words) {
    Scene second;
    bool ok = load() && keep_line(clip_load(&scene, 1, &second, &err));
    tap_said(!ok && refused_with("", words), "%s", title);
}

/* The folder, whose second moment has the current arrays, is refused. */
static void refuses_second(const char *title, const char *words) {
    save("1.npz");
    refuses_clip(title, words);
}

static void test_moments(void) {
    start_second(10.4);
    save("1.npz");
    put_bytes(in_folder(".hidden.npz"), "", 0);
    put_bytes(in_folder("npz"), "", 0);
    put_bytes(in_folder("notes.txt"), "", 0);
    tap_need(load(), "a folder of two moments");
    tap_ok(scene.clip->count == 2 && !strcmp(scene.clip->files[1]->d_name, "1.npz") &&
               fabs(scene.clip->period_s - 0.4) < 1e-9,
           "two moments, 0.4 s from one to the next");
    tap_ok(clip_moment_at(scene.clip, -1) == 0 && clip_moment_at(scene.clip, 0.3) == 0 &&
               clip_moment_at(scene.clip, 0.4) == 1 && clip_moment_at(scene.clip, 0.8) == 0,
           "a moment lasts until the next, and the last one until the first");
    Scene second;
    tap_ok(clip_load(&scene, 1, &second, &err) && second.tensors.depth[5] == 0.75f,
           "the second one is loaded");
    scene_free(&second);
    put_bytes(in_folder("1.npz"), "PK", 2);
    tap_ok(!clip_load(&scene, 1, &second, &err) && strstr(err.what, "truncated zip"),
           "a moment that is lost meanwhile: %s", err.what);
    unlink(in_folder(".hidden.npz"));
    unlink(in_folder("npz"));
    unlink(in_folder("notes.txt"));
}

static void test_period(void) {
    static const struct {
        const char *title;
        double time_s, period_s;
        const char *untimed;
    } times[] = {{"two hours later", 7210, 0.5, "an hour between two timestamps"},
                 {"at the same time", 10, 0.5, "timestamps do not ascend"},
                 {"before the first one", 9, 0.5, "timestamps do not ascend"},
                 {"59 minutes later", 3550, 3540, NULL}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        start_second(times[i].time_s);
        save("1.npz");
        const char *untimed = times[i].untimed;
        tap_ok(load() && scene.clip->period_s == times[i].period_s &&
                   (untimed ? scene.clip->untimed && !strcmp(scene.clip->untimed, untimed)
                            : !scene.clip->untimed),
               "%s: %g s a moment%s%s", times[i].title, times[i].period_s, untimed ? ", " : "",
               untimed ? untimed : "");
    }
    start_second(10.5);
    save("1.npz");
    start_second(19);
    save("2.npz");
    tap_ok(load() && scene.clip->count == 3 && !scene.clip->untimed &&
               scene.clip->period_s == 4.5 && clip_moment_at(scene.clip, 4.4) == 0 &&
               clip_moment_at(scene.clip, 4.5) == 1 && clip_moment_at(scene.clip, 9) == 2 &&
               clip_moment_at(scene.clip, 13.6) == 0,
           "a gap: all moments last equally long");
    unlink(in_folder("2.npz"));
    unlink(in_folder("1.npz"));
    tap_ok(load() && scene.clip->count == 1 && scene.clip->period_s == 0.5 &&
               clip_moment_at(scene.clip, 7) == 0,
           "one moment is a clip that stands still");
    start("cal");
    save("0.npz");
    save("1.npz");
    tap_ok(load() && scene.clip->period_s == 0.5 && !scene.has_rig,
           "moments without calibration and times");
    start("idx");
    save("0.npz");
    save("1.npz");
    tap_ok(load() && scene.has_rig, "moments without index arrays");
}

static void test_differs(void) {
    start_second(11);
    drop("boxes");
    drop("box_labels");
    reshape("lidar", "(2, 4)", 8);
    reshape("weights ranks_bev ranks_feat ranks_depth", "(2,)", 2);
    reshape("interval_starts interval_lengths", "(1,)", 1);
    save("1.npz");
    tap_said(load(), "points, boxes and LiDAR points may differ");
}

static void test_same(void) {
    start_second(11);
    drop("images");
    refuses_second("photographs in the first only", "1.npz: another kind of moment than 0.npz");
    start_second(11);
    get("grid")->values[2] = INFINITY;
    refuses_second("an infinite grid", "1.npz: grid[0, 2]:...inf, must be finite");
}

static void refuses_folder(const char *path, const char *title, const char *words) {
    Clip *clip = NULL;
    tap_refuses(clip_open(path, &clip, &err) || clip, "", words, "%s", title);
}

static void test_folder(void) {
    unlink(in_folder("0.npz"));
    unlink(in_folder("1.npz"));
    refuses_folder(folder, "no moment", "a folder without .npz files (one .npz a moment");
    refuses_folder(in_folder("nowhere"), "no folder", "cannot be listed: No such file");
    put_bytes(in_folder("0.npz"), "", 0);
    refuses_folder(in_folder("0.npz"), "a file", "cannot be listed: Not a directory");
    refuses_folder(folder, "an empty moment", "0.npz: truncated zip");
    rlim_t before = limit_to(RLIMIT_NOFILE, 3); /* 0 to 2 are open */
    bool ok = !load();
    limit_to(RLIMIT_NOFILE, before);
    tap_ok(ok && strstr(line, "cannot be listed: Too many open files"), "no file may be opened: %s",
           line);
    unlink(in_folder("0.npz"));
}

TAP_SUITE(clip) {
    folder_open();
    test_moments();
    test_period();
    test_differs();
    test_same();
    test_folder();
    clip_free(NULL);
    folder_close();
}
