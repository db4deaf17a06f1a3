/* SPDX-License-Identifier: MIT */
/* Operator scenes: each map against a loop that follows the documented rule point by point, what a
 * seed decides, changes, and bad sizes. */
#include "src/base/random.h"
#include "src/scene/operator/operator.h"
#include "src/scene/scatter.h"
#include "src/scene/scene.h"
#include "tests/support/tap.h"

#include <math.h>

static Err err; /* why a step failed */

enum { POINTS = 600, CELLS = 49, ROWS = 70 };

static OperatorSpec spec_of(OperatorKind kind, double skew) {
    OperatorSpec spec = {.kind = kind,
                         .points = POINTS,
                         .cells = CELLS,
                         .rows = ROWS,
                         .channels = kind == OPERATOR_HISTOGRAM ? 1 : 20,
                         .skew = skew,
                         .seed = 5,
                         .world = "toy"};
    return spec;
}

static bool build(const OperatorSpec *spec, Scene *scene) {
    *scene = (Scene){.channels = 0};
    bool ok = operator_build(spec, "test", scene, &err) &&
              scatter_check(&scene->map, &scene->shape, "test", &err);
    if (!ok)
        tap_note("%s: %s", err.where, err.what);
    return ok;
}

/* ---- the rules, point by point --------------------------------------------------------------- */

/* The rank that a uniform number draws, by adding up. */
static int64_t rank_of(double uniform, int64_t count, double skew) {
    double all = 0, sum = 0;
    for (int64_t r = 0; r < count; r++)
        all += pow((double)(r + 1), -skew);
    for (int64_t r = 0; r < count; r++)
        if ((sum += pow((double)(r + 1), -skew)) > uniform * all)
            return r;
    return count - 1;
}

/* How many points of row and cell there are: [cell][row]. */
typedef struct {
    int count[CELLS][POINTS];
} Pairs;

static void pairs_of_map(const BevMap *map, Pairs *pairs) {
    *pairs = (Pairs){0};
    for (int64_t t = 0; t < map->points; t++)
        pairs->count[map->ranks_bev[t]][map->ranks_feat[t]]++;
}

static void pairs_of_histogram(const OperatorSpec *spec, Pairs *pairs) {
    uint64_t random = spec->seed;
    for (int t = 0; t < POINTS; t++) {
        int64_t rank = rank_of(random_unit(&random), CELLS, spec->skew), bin = (CELLS - 1) / 2;
        for (int64_t r = 1; r <= rank; r++) /* up, down, up, further each time */
            bin += r % 2 ? r : -r;
        pairs->count[bin][t]++;
    }
}

static void pairs_of_bags(const OperatorSpec *spec, Pairs *pairs) {
    uint64_t random = spec->seed;
    int order[ROWS];
    for (int i = 0; i < ROWS; i++) {
        int j = (int)random_below(&random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int t = 0; t < POINTS; t++)
        pairs->count[t * CELLS / POINTS][order[rank_of(random_unit(&random), ROWS, spec->skew)]]++;
}

static void pairs_of_segments(const OperatorSpec *spec, Pairs *pairs) {
    uint64_t random = spec->seed;
    double length[CELLS], all = 0, before = 0;
    for (int i = 0; i < CELLS; i++)
        all += length[i] = pow(-log(1 - random_unit(&random)), spec->skew);
    for (int i = 0; i < CELLS; before += length[i++])
        for (int64_t row = llround(before / all * POINTS);
             row < llround((before + length[i]) / all * POINTS); row++)
            pairs->count[i][row]++;
}

static void test_map(OperatorKind kind, void (*rule)(const OperatorSpec *, Pairs *)) {
    static const double skews[] = {0, 0.7, 1, 2.5};
    for (int i = 0; i < 4; i++) {
        OperatorSpec spec = spec_of(kind, skews[i]);
        Scene scene;
        Pairs *want = calloc(1, sizeof *want), *got = calloc(1, sizeof *got);
        bool ok = build(&spec, &scene) && scene.map.points == POINTS;
        rule(&spec, want);
        pairs_of_map(&scene.map, got);
        tap_ok(ok && !memcmp(want, got, sizeof *want), "%s, skew %g: the map is that of the rule",
               operator_kinds[kind].name, skews[i]);
        free(want);
        free(got);
        scene_free(&scene);
    }
}

/* Rays of the rule, on flat ground in an empty world: where the ring is, the return is. */
static bool on_its_ring(const OperatorSpec *spec, const Scene *world, int64_t ray, int32_t cell) {
    const Grid *grid = &world->rig.grid;
    int64_t side = llround(sqrt((double)spec->cells)), turns = (spec->points + 63) / 64;
    double ring_m = 2.5 + 70 * pow((double)(ray % 64) / 64, 1 + spec->skew);
    double angle = 2 * M_PI * (double)(ray / 64) / (double)turns;
    double x = (ring_m * cos(angle) - grid->x_min_m) / (grid->x_max_m - grid->x_min_m);
    double y = (ring_m * sin(angle) - grid->y_min_m) / (grid->y_max_m - grid->y_min_m);
    return cell == (int32_t)(floor(y * (double)side) * (double)side + floor(x * (double)side));
}

static void test_sweep(void) {
    OperatorSpec spec = spec_of(OPERATOR_VOXELIZE, 1);
    Scene scene, world;
    spec.points = 20000;
    spec.cells = 40000;
    snprintf(spec.world, sizeof spec.world, "parking");
    tap_need(build(&spec, &scene) && scene_load("parking", &world, &err), "a sweep of parking");
    const BevMap *map = &scene.map;
    int64_t on_ring = 0, twice = 0;
    bool means = true;
    uint8_t *seen = calloc((size_t)spec.points, 1);
    for (int64_t i = 0; i < map->intervals; i++)
        for (int32_t k = 0; k < map->interval_lengths[i]; k++) {
            int32_t t = map->interval_starts[i] + k, ray = map->ranks_feat[t];
            on_ring += on_its_ring(&spec, &world, ray, map->ranks_bev[t]);
            twice += seen[ray]++;
            means = means && scene.tensors.depth[ray] == 1 / (float)map->interval_lengths[i];
        }
    tap_ok(twice == 0, "no ray returns twice");
    tap_ok(on_ring > map->points / 3 && on_ring < map->points,
           "%lld of %lld returns are of the ground, on their ring; the others hit something nearer",
           (long long)on_ring, (long long)map->points);
    tap_ok(means, "depths are 1 over the returns of the pillar");
    free(seen);
    scene_free(&scene);
    scene_free(&world);
}

static bool same_scene(const Scene *a, const Scene *b) {
    size_t points = (size_t)a->map.points * sizeof(int32_t);
    return a->map.points == b->map.points && !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           !memcmp(a->map.ranks_bev, b->map.ranks_bev, points) &&
           !memcmp(a->map.ranks_feat, b->map.ranks_feat, points) &&
           !memcmp(a->tensors.feat, b->tensors.feat,
                   features_feat_count(&a->shape) * sizeof(float)) &&
           !memcmp(a->tensors.depth, b->tensors.depth,
                   features_depth_count(&a->shape) * sizeof(float));
}

static void test_seed(OperatorKind kind) {
    OperatorSpec spec = spec_of(kind, 1);
    Scene first, again, other;
    bool ok = build(&spec, &first) && build(&spec, &again);
    spec.seed = 6;
    ok = build(&spec, &other) && ok;
    tap_ok(scene_has_embedding(&first) == (kind == OPERATOR_VOXELIZE), "%s: what features mean",
           operator_kinds[kind].name);
    tap_ok(ok && same_scene(&first, &again), "%s: the same seed, the same bits",
           operator_kinds[kind].name);
    tap_ok(ok && !same_scene(&first, &other), "%s: another seed, another scene",
           operator_kinds[kind].name);
    scene_free(&first);
    scene_free(&again);
    scene_free(&other);
}

static void test_change(void) {
    Scene scene, fresh;
    OperatorSpec spec = spec_of(OPERATOR_SEGMENTS, 2);
    tap_need(scene_load("segments", &scene, &err), "segments loads");
    OperatorChange change = {.skewed = true, .skew = 2, .points = 1000};
    spec = scene.operator_spec;
    spec.skew = 2;
    spec.points = 1000;
    bool ok = operator_change(&scene, &change, &err);
    tap_ok(ok && build(&spec, &fresh) && same_scene(&scene, &fresh) &&
               !strcmp(scene.name, "segments"),
           "skew and points changed: as if its file had them");
    scene_free(&scene);
    scene_free(&fresh);
    tap_need(scene_load("embedding_bag", &scene, &err), "embedding_bag loads");
    spec = scene.operator_spec;
    change = (OperatorChange){.points = 1};
    tap_ok(!operator_change(&scene, &change, &err) && scene.operator_spec.points == spec.points,
           "fewer look-ups than bags: %s, and the scene stays", err.what);
    scene_free(&scene);
    tap_need(scene_load("toy", &scene, &err), "toy loads");
    tap_ok(!operator_change(&scene, &change, &err) && err.kind == ERR_USAGE, "toy: %s", err.what);
    scene_free(&scene);
    scene.has_map = true;
    tap_ok(!operator_change(&scene, &change, &err) && strstr(err.what, "has a map from a file"),
           "arrays without cameras: %s", err.what);
    change = (OperatorChange){.points = 0};
    tap_ok(operator_change(&scene, &change, &err), "no change is right for every scene");
}

/* A spec of the kind with one change. */
#define BAD(kind_, what_, words_, ...)                                                             \
    do {                                                                                           \
        OperatorSpec bad = spec_of(kind_, 1);                                                      \
        Scene scene = {.channels = 0};                                                             \
        __VA_ARGS__;                                                                               \
        bool refused = !operator_build(&bad, "file", &scene, &err);                                \
        tap_ok(refused && strstr(err.where, words_), "%s: %s: %s", what_, err.where, err.what);    \
        scene_free(&scene);                                                                        \
    } while (0)

static void test_bad(void) {
    const OperatorKind bag = OPERATOR_EMBEDDING_BAG, sweep = OPERATOR_VOXELIZE;
    BAD(bag, "more bags than look-ups", "points", bad.cells = POINTS + 1);
    BAD(bag, "tensors of 4 GB", "file", bad.points = bad.rows = OPERATOR_MAX_ROWS,
        bad.channels = SCENE_MAX_CHANNELS);
    BAD(OPERATOR_HISTOGRAM, "two channels", "channels", bad.channels = 2);
    BAD(sweep, "no square", "cells", bad.cells = 50);
    BAD(sweep, "a sweep of a sweep", "world", strcpy(bad.world, "voxelize"));
    BAD(sweep, "too few channels for class, colour and height", "channels",
        bad.channels = EMBED_DIMS - 1);
}

static void test_bars(OperatorKind kind) {
    OperatorSpec spec = spec_of(kind, 1);
    Scene scene;
    OperatorBars bars;
    double sum = 0, highest = 0;
    bool ok = build(&spec, &scene) && operator_bars(&spec, &scene.map, &bars, &err);
    for (int i = 0; ok && i < bars.count; i++) {
        sum += bars.points[i];
        highest = fmax(highest, operator_bar_height(&bars, i));
    }
    tap_ok(ok && bars.count == (kind == OPERATOR_EMBEDDING_BAG ? ROWS : CELLS) &&
               sum == (double)scene.map.points && highest == 1,
           "%s: a bar each, %g points in all", operator_kinds[kind].name, sum);
    scene_free(&scene);
}

TAP_SUITE(operators) {
    test_map(OPERATOR_HISTOGRAM, pairs_of_histogram);
    test_map(OPERATOR_EMBEDDING_BAG, pairs_of_bags);
    test_map(OPERATOR_SEGMENTS, pairs_of_segments);
    test_sweep();
    for (int kind = 0; kind < OPERATOR_COUNT; kind++) {
        test_seed((OperatorKind)kind);
        if (kind != OPERATOR_VOXELIZE)
            test_bars((OperatorKind)kind);
    }
    test_change();
    test_bad();
}
