/* SPDX-License-Identifier: MIT */
/* A fuzz target. libFuzzer has its own main(), which calls it with generated inputs: fuzz.sh. In
 * the program of tests it is a suite, which replays the saved inputs. */
#pragma once

#include "src/scene/scatter.h"
#include "src/scene/scene.h"
#include "tests/support/tap.h"

#include <math.h>

/* Tries all files of a folder, relative to the source folder. */
void fuzz_replay(const char *folder, int (*target)(const uint8_t *data, size_t size));

/* How many inputs the target took. */
static int fuzz_accepted;

/* `FUZZ_TARGET(npz, 5) { ... return 0; }`: of `data`, `size` bytes. Of the saved inputs it takes 5.
 */
#ifdef FUZZING
#define FUZZ_TARGET(name, taken)                                                                   \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ_TARGET(name, taken)                                                                   \
    static int fuzz_##name(const uint8_t *data, size_t size);                                      \
    TAP_SUITE(fuzz_##name##_corpus) {                                                              \
        fuzz_replay("tests/fuzz/corpus_" #name, fuzz_##name);                                      \
        tap_ok(fuzz_accepted == (taken), "%d of the inputs are accepted", fuzz_accepted);          \
    }                                                                                              \
    static int fuzz_##name(const uint8_t *data, size_t size)
#endif

/* ---- what must hold after reading any bytes -------------------------------------------------- */

static inline void must(bool holds, const char *what, const char *line) {
    if (holds)
        return;
    fprintf(stderr, "broken promise: %s (%s)\n", what, line);
    abort();
}

/* `nothing_kept`: of what was refused. `other`: a part of a file's name that it may name instead.
 */
static inline void check_error(const Err *err, bool nothing_kept, const char *other) {
    char line[800];
    err_line(err, line, sizeof line);
    must(err->kind == ERR_FAILED && err->what[0], "a refusal says what is wrong", line);
    must(strncmp(err->where, "fuzz", 4) == 0 || (other && strstr(err->where, other)),
         "a refusal names the file, or the sample that it asks for", line);
    for (const char *c = line; *c; c++)
        must((unsigned char)*c >= 0x20 && *c != 0x7f, "one line without control codes", line);
    must(nothing_kept, "nothing is kept of what was refused", line);
}

static inline void check_refusal(const Scene *scene, const Err *err) {
    static const Scene nothing;
    check_error(err,
                memcmp(&scene->shape, &nothing.shape, sizeof scene->shape) == 0 &&
                    !scene->world.patches && !scene->tensors.depth && !scene->map.ranks_bev &&
                    !scene->photos.srgb && !scene->photos.boxes && !scene->photos.sweep_m,
                "samples/");
}

/* An accepted scene is safe to compute with: every number used as an index is in range. */
static inline void check_accepted(Scene *scene) {
    const BevShape *s = &scene->shape;
    Err err;
    fuzz_accepted++;
    must(s->cameras >= 1 && s->depth_bins >= 1 && s->feat_h >= 1 && s->feat_w >= 1 &&
             s->channels >= 1 && s->nx >= 1 && s->ny >= 1,
         "no empty axis", "");
    must(s->cameras * s->depth_bins * s->feat_h * s->feat_w <= INT32_MAX &&
             s->nx * s->ny <= INT32_MAX,
         "ranks fit int32", "");
    must(s->nz >= 0 && (!s->nz || s->ny % s->nz == 0), "whole slices", "");
    must(s->channels == scene->channels && scene_check_size(s, "", NULL), "a size", "");
    must(!scene->has_rig || rig_check(&scene->rig, "fuzz", &err), "a sound rig", "");
    must(scene->has_rig || scene->has_map, "a rig or a map", "");
    must(!scene->has_map || scatter_check(&scene->map, s, "fuzz", &err), "a sound map", "");
    const Photos *photos = &scene->photos;
    must(!photos->srgb || (photos->cameras == s->cameras && photos->h >= 1 && photos->w >= 1),
         "photographs of every camera", "");
    for (int64_t i = 0; i < photos->box_count; i++)
        must(isfinite(photos->boxes[i].yaw) && photos->boxes[i].size_m[0] >= 0 &&
                 strlen(photos->boxes[i].label) < sizeof photos->boxes->label,
             "a sound box", "");
    for (int64_t i = 0; i < 3 * photos->sweep_count; i++)
        must(isfinite(photos->sweep_m[i]), "a sound sweep", "");
    must(scene->has_world || (scene->tensors.depth && scene->tensors.feat), "contents", "");
    scene_free(scene);
}
