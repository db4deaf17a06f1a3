/* SPDX-License-Identifier: MIT */
/* Inputs that are used again for the next job are those that are made anew for it, bit by bit: on
 * walks over random jobs of a world, a world with height, a clip of it, and an operator. */
#include "src/base/random.h"
#include "src/base/ref.h"
#include "src/inputs/inputs.h"
#include "src/scene/slice.h"
#include "tests/support/maps.h"
#include "tests/support/tap.h"

#include <unistd.h>

/* The intersection and the street with height, with a part of their pixels, cells and depths; and a
 * clip of three moments of the first. */
static const char make_scenes[] =
    "cd %s && sed 's/\"resize\": 0.44/\"resize\": 0.11/; s/\\[704, 256\\]/[176, 64]/; "
    "s/\"crop_px\": \\[0, 140\\]/\"crop_px\": [0, 35]/; s/\\[1, 60, 1\\]/[1, 60, 4]/; "
    "s/\"features\": \\[44, 16\\]/\"features\": [11, 4]/; s/\\[200, 200\\]/[50, 50]/; "
    "s/ls\": 80/ls\": 16/' \"$BEVSCOPE_DATA/samples/intersection.json\" >world.json && "
    "sed 's/\"resize\": 0.88/\"resize\": 0.11/; s/\\[1408, 512\\]/[176, 64]/; "
    "s/\"crop_px\": \\[0, 280\\]/\"crop_px\": [0, 35]/; s/\\[1, 45, 0.5\\]/[1, 45, 4]/; "
    "s/\"features\": \\[88, 32\\]/\"features\": [11, 4]/; s/\\[200, 200\\]/[40, 40]/; "
    "s/ls\": 32/ls\": 16/' \"$BEVSCOPE_DATA/samples/occupancy.json\" >height.json && mkdir clip && "
    "for t in 0 1 2; do \"$BEVSCOPE\" export world.json clip/$t.npz --time $t --device cpu "
    ">said || exit 1; done";

typedef struct {
    LoadedScene *scene;
    SeenFeatures *features;
    BuiltMap *map;
    bool made;
    Err err;
} Made;

static void drop(Made *made) {
    ref_drop(made->map);
    ref_drop(made->features);
    ref_drop(made->scene);
}

/* The inputs of a job; those of the last job, which this takes over, are used where they serve. */
static Made make(Made last, const char *path, const Job *job) {
    const SeenNeeds needs = {.pictures = false};
    Made next = {.scene = inputs_scene(last.scene, path, job, false, &next.err)};
    next.features =
        next.scene ? inputs_features(last.features, next.scene, job, &needs, &next.err) : NULL;
    next.map = next.features
                   ? inputs_map(&last.map, &(MapMaker){0}, job, next.features, NULL, &next.err)
                   : NULL;
    next.made = next.map;
    drop(&last);
    return next;
}

/* Of the tensors that are encoded: the output is FP32 while it is pooled. */
static bool same_ranges(const ScaleRanges *a, const ScaleRanges *b) {
    return a->depth == b->depth && a->feat == b->feat &&
           a->ideal_by_channel == b->ideal_by_channel &&
           !memcmp(&a->feat_channels, &b->feat_channels, sizeof a->feat_channels);
}

/* What differs, or NULL. */
static const char *difference(const Made *a, const Made *b) {
    if (a->made != b->made || (!a->made && strcmp(a->err.what, b->err.what)))
        return "the refusal";
    if (!a->made)
        return NULL;
    const SeenFeatures *x = a->features, *y = b->features;
    const ScaleRanges *p = x->ranges, *q = y->ranges;
    const Rig was = inputs_rig_at(x), is = inputs_rig_at(y);
    return memcmp(&x->shape, &y->shape, sizeof x->shape)           ? "the shape"
           : memcmp(&was.cameras, &is.cameras, sizeof was.cameras) ? "the cameras"
           : !same_array(x->values.depth, y->values.depth, (int64_t)features_depth_count(&x->shape))
               ? "a depth"
           : !same_array(x->values.feat, y->values.feat, (int64_t)features_feat_count(&x->shape))
               ? "a feature"
           : !p != !q || (p && !same_ranges(p, q)) ? "a range"
           : !same_map(&a->map->map, &b->map->map) ? "the map"
           : a->map->changed != b->map->changed    ? "whether the map is the scene's"
           : memcmp(&a->map->intervals, &b->map->intervals, sizeof a->map->intervals)
               ? "the intervals"
               : NULL;
}

/* Another value of one thing in the job, of few, so that jobs come back to what they were. */
static const char *change(Job *job, uint64_t *random, bool has_time) {
    static const char *const words[] = {"align",  "time",    "temperature", "outlier",
                                        "scales", "balance", "prune",       "rounding",
                                        "mask",   "fault",   "dtype"};
    const int what = (int)random_below(random, sizeof words / sizeof *words);
    const int value = (int)random_below(random, 3), fault = (int)random_below(random, FAULTS);
    static const BevDtype dtypes[] = {BEV_FP32, BEV_FP8, BEV_INT8};
    switch (what) {
    case 0:
        job->config.align = (BevAlign)(value % BEV_ALIGN_COUNT);
        break;
    case 1:
        job->time_s = value;
        break;
    case 2:
        job->temperature = 1 + 3 * value;
        break;
    case 3:
        job->outlier = 1 + 20 * value;
        break;
    case 4:
        job->scales = value == 0   ? SCALES_IDEAL
                      : value == 1 ? SCALES_METHODS + SCALE_ENTROPY
                                   : (int)random_below(random, SCALES_FILE);
        break;
    case 5:
        job->balance = value * 0.5;
        break;
    case 6:
        job->prune = (Prune){.below = value == 1 ? 0.02 : 0, .top = value == 2 ? 3 : 0};
        break;
    case 7:
        job->rounding = value ? ROUNDING_TRUNCATE : ROUNDING_SCENE;
        break;
    case 8:
        job->camera_mask = value ? UINT32_MAX : UINT32_MAX - 2;
        break;
    case 9:
        if (strcmp(fault_infos[fault].name, "delay"))
            job->camera_errors[value].each[fault] = value * 0.5;
        break;
    case 10:
        job->camera_errors[0].delay_ms = has_time ? 1000 * value : 0;
        break;
    default:
        job->config.dtype = dtypes[value];
        break;
    }
    return words[what];
}

static void walk(const char *path, bool has_time, uint64_t seed) {
    enum { JOBS = 16 };
    Job job = job_plain();
    Made kept = {.scene = NULL};
    char changes[256] = "";
    const char *wrong = NULL;
    int made = 0, used = 0;
    for (int i = 0; i < JOBS && !wrong; i++) {
        changes[0] = '\0';
        for (int k = 0; k < 2; k++)
            snprintf(changes + strlen(changes), sizeof changes - strlen(changes), "%s ",
                     change(&job, &seed, has_time));
        const void *features = kept.features, *map = kept.map;
        kept = make(kept, path, &job);
        Made fresh = make((Made){.scene = NULL}, path, &job);
        wrong = difference(&kept, &fresh);
        made += kept.made;
        used += kept.made && (kept.features == features || kept.map == map);
        drop(&fresh);
    }
    drop(&kept);
    tap_ok(!wrong && made > JOBS / 5 && used > JOBS / 6,
           "%s: %d jobs, %d made, %d of them with inputs of the last one%s%s%s%s", path, JOBS, made,
           used, wrong ? "; another is " : "", wrong ? wrong : "", wrong ? " after " : "",
           wrong ? changes : "");
}

TAP_SUITE(inputs_again) {
    static const char *const paths[] = {"world.json", "height.json", "clip", "histogram"};
    char folder[] = "/tmp/inputs-XXXXXX", command[2048];
    tap_need(mkdtemp(folder) != NULL, "a folder");
    snprintf(command, sizeof command, make_scenes, folder);
    tap_need(system(command) == 0 && chdir(folder) == 0, "scenes");
    for (int i = 0; i < 4; i++)
        walk(paths[i], i < 3, (uint64_t)i);
    snprintf(command, sizeof command, "rm -r %s", folder);
    tap_ok(system(command) == 0, "the folder goes");
}
