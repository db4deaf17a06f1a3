/* SPDX-License-Identifier: MIT */
/* The scatter map: published sizes, every point's cells and weights compared with its geometry.
 * Defects of maps from files: test_npz_refused.c. */
#include "src/scene/scene_internal.h"
#include "src/scene/scatter.h"
#include "tests/support/maps.h"
#include "tests/support/refused.h"
#include "tests/support/scenes.h"

#include <math.h>

static BevMap build(const Rig *rig, BevAlign align, uint32_t mask) {
    BevMap map;
    need(scatter_build(rig, align, mask, NULL, &map, &err), &err);
    return map;
}

/* Points of a real nuScenes calibration. The rig of the sample is that of the same car, rounded. */
static const struct {
    const char *name;
    int64_t points;
} published[] = {
    {"small", 105640},   {"canonical", 209009}, {"large", 416015},
    {"xlarge", 1674778}, {"wide_c128", 209009}, {"wide_c256", 209009},
};

static bool within(double got, double want, double share) {
    return fabs(got - want) <= share * want;
}

static void test_sizes(Scene *scene) {
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        preset_apply(preset_find(published[i].name), scene);
        BevMap map = build(&scene->rig, BEV_NEAREST, UINT32_MAX);
        tap_ok(within((double)map.points, (double)published[i].points, 1e-3),
               "%s: %lld points, %lld on the real calibration", published[i].name,
               (long long)map.points, (long long)published[i].points);
        scatter_free(&map);
    }
    preset_apply(preset_find("canonical"), scene);
    BevMap map = build(&scene->rig, BEV_NEAREST, UINT32_MAX);
    ScatterStats stats = scatter_stats(&map, (int64_t)scene->rig.grid.nx * scene->rig.grid.ny);
    tap_ok(within((double)stats.points, 209019, 1e-3) &&
               within((double)stats.intervals, 15928, 1e-3) && within(stats.longest, 352, 3e-3),
           "canonical: %lld points, %lld intervals, longest %d", (long long)stats.points,
           (long long)stats.intervals, stats.longest);
    tap_ok(stats.median == 12 && stats.p90 == 20 && stats.p99 == 64 && stats.cells == 40000,
           "its lengths are skewed: median %d, p90 %d, p99 %d", stats.median, stats.p90, stats.p99);
    scatter_free(&map);
    tap_ok(preset_find("canonica") == NULL && preset_find("") == NULL, "unknown sizes are unknown");
}

/* ---- every point ---------------------------------------------------------------------------- */

typedef struct {
    const Rig *rig;
    BevShape shape;
} Site;

static void point_of_rank(const Site *site, int64_t rank, double ego[3]) {
    const BevShape *s = &site->shape;
    int64_t w = rank % s->feat_w, h = rank / s->feat_w % s->feat_h;
    int64_t d = rank / (s->feat_w * s->feat_h) % s->depth_bins;
    int64_t c = rank / (s->feat_w * s->feat_h * s->depth_bins);
    rig_point(site->rig, (int)c, d, h, w, ego);
}

static int64_t feature_of_rank(const Site *site, int64_t rank) {
    const BevShape *s = &site->shape;
    int64_t pixels = s->feat_w * s->feat_h;
    return rank / (pixels * s->depth_bins) * pixels + rank % pixels;
}

/* Where the point of a rank lies, in cells from the grid's lower corner. */
static void cells_of_rank(const Site *site, int64_t rank, double at[3]) {
    const Grid *g = &site->rig->grid;
    double p[3];
    point_of_rank(site, rank, p);
    at[0] = (p[0] - g->x_min_m) / ((g->x_max_m - g->x_min_m) / g->nx);
    at[1] = (p[1] - g->y_min_m) / ((g->y_max_m - g->y_min_m) / g->ny);
    at[2] = (p[2] - g->z_min_m) / ((g->z_max_m - g->z_min_m) / fmax(1, g->nz));
}

/* The weight of a point in a cell: 1 or 0, or that of bilinear pooling between centres (`offset`
 * 0.5) or lower edges (0). Neighbours lie in the point's own slice of the grid. */
static double weight_of(const Grid *g, BevAlign align, const double at[3], double x, double y,
                        double z) {
    if (x < 0 || x >= g->nx || y < 0 || y >= g->ny || z < 0 || z >= fmax(1, g->nz) ||
        floor(at[2]) != z)
        return 0;
    if (align == BEV_NEAREST)
        return floor(at[0]) == x && floor(at[1]) == y;
    double offset = align == BEV_BILINEAR ? 0.5 : 0;
    double away_x = fabs(at[0] - offset - x), away_y = fabs(at[1] - offset - y);
    return away_x < 1 && away_y < 1 ? (1 - away_x) * (1 - away_y) : 0;
}

/* The weights of all cells around a point. */
static double weights_around(const Grid *g, BevAlign align, const double at[3]) {
    double sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += weight_of(g, align, at, floor(at[0]) + x, floor(at[1]) + y, floor(at[2]));
    return sum;
}

/* Points are sorted by cell, and within a cell by ranks_depth. With the right cells, this defines
 * the whole map. */
static bool is_sorted(const BevMap *map) {
    for (int64_t t = 1; t < map->points; t++) {
        int32_t a = map->ranks_bev[t - 1], b = map->ranks_bev[t];
        if (a > b || (a == b && map->ranks_depth[t - 1] >= map->ranks_depth[t]))
            return false;
    }
    return true;
}

/* Every weight of the map is that of its point in its cell, and each point has all of its own. */
static void test_map(const Scene *scene, BevAlign align) {
    const Site site = {&scene->rig, rig_shape(&scene->rig, 1)};
    const Grid *g = &site.rig->grid;
    const BevShape *s = &site.shape;
    int64_t ranks = s->cameras * s->depth_bins * s->feat_h * s->feat_w, wrong = 0;
    double *left = calloc((size_t)ranks, sizeof *left), worst = 0, at[3];
    BevMap map = build(site.rig, align, UINT32_MAX);
    for (int64_t rank = 0; rank < ranks; rank++) {
        cells_of_rank(&site, rank, at);
        left[rank] = weights_around(g, align, at);
    }
    for (int64_t t = 0; t < map.points; t++) {
        int64_t rank = map.ranks_depth[t], row = map.ranks_bev[t] / g->nx;
        double weight = map.weights ? map.weights[t] : 1;
        cells_of_rank(&site, rank, at);
        double want = weight_of(g, align, at, map.ranks_bev[t] % g->nx, (double)(row % g->ny),
                                (double)(row / g->ny));
        worst = fmax(worst, fabs(weight - want));
        wrong += weight <= 0 || map.ranks_feat[t] != feature_of_rank(&site, rank);
        left[rank] -= weight;
    }
    for (int64_t rank = 0; rank < ranks; rank++)
        worst = fmax(worst, fabs(left[rank]));
    tap_ok(map.points > 0 && worst < 1e-6 && !wrong && !map.weights == (align == BEV_NEAREST),
           "%s, %s: %lld points have their weights and features, to %.1g", scene->name,
           bev_aligns[align].name, (long long)map.points, worst);
    tap_ok(is_sorted(&map) && scatter_check(&map, s, scene->name, &err),
           "%s, %s: stably sorted, and passes the check", scene->name, bev_aligns[align].name);
    free(left);
    scatter_free(&map);
}

/* The toy's two rows of points in slices of 0.5 m, off the cells' centres. */
static void test_slices(Scene *toy) {
    toy->rig.grid.nz = 5;
    toy->rig.cameras[0].position_m[0] -= 0.21;
    toy->rig.cameras[0].position_m[1] += 0.37;
    const BevShape shape = rig_shape(&toy->rig, 16);
    BevMap map = build(&toy->rig, BEV_NEAREST, UINT32_MAX);
    tap_ok(shape.nx == 3 && shape.ny == 25 && shape.nz == 5 && map.ranks_bev[map.points - 1] >= 15,
           "a shape counts the rows of all slices, and points lie above slice 0");
    scatter_free(&map);
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        test_map(toy, (BevAlign)align);
}

static void test_mask(const Scene *scene) {
    BevMap all = build(&scene->rig, BEV_NEAREST, UINT32_MAX), none, one;
    int64_t together = 0;
    bool own = true;
    for (int c = 0; c < scene->rig.camera_count; c++) {
        one = build(&scene->rig, BEV_NEAREST, 1u << c);
        together += one.points;
        int64_t features = (int64_t)scene->rig.frustum.feat_h * scene->rig.frustum.feat_w;
        for (int64_t t = 0; t < one.points; t++)
            own &= one.ranks_feat[t] / features == c;
        scatter_free(&one);
    }
    tap_ok(own && together == all.points, "a mask keeps the points of its cameras, all others go");
    none = build(&scene->rig, BEV_BILINEAR, 0);
    BevShape shape = rig_shape(&scene->rig, 1);
    int32_t depths[] = {0, 0, 0, 3}; /* a bilinear point of three cells, and one of one cell */
    const BevMap two = {.points = 4, .ranks_depth = depths};
    const BevShape frustum = {.cameras = 1, .depth_bins = 4, .feat_h = 1, .feat_w = 2};
    tap_ok(scatter_share_outside(&two, &frustum) == 0.75, "two of eight frustum points are inside");
    ScatterStats stats = scatter_stats(&none, 40000);
    tap_ok(none.points == 0 && none.intervals == 0 && scatter_check(&none, &shape, "none", &err),
           "without cameras the map is empty, which is no error");
    tap_ok(stats.longest == 0 && stats.median == 0 && stats.longest_cell == -1,
           "and so are its statistics");
    scatter_free(&none);
    scatter_free(&none);
    scatter_free(NULL);
    scatter_free(&all);
}

static void test_stats(void) {
    int32_t cells[100], starts[100], lengths[100], next = 0;
    for (int i = 0; i < 100; i++) {
        lengths[i] = (i * 37) % 100 + 1; /* 1 to 100 in some order */
        starts[i] = next;
        next += lengths[i];
    }
    int32_t *bev = malloc((size_t)next * sizeof *bev);
    for (int i = 0; i < 100; i++)
        for (int32_t t = starts[i]; t < starts[i] + lengths[i]; t++)
            bev[t] = cells[i] = 3 * i;
    BevMap map = {.points = next, .intervals = 100, .ranks_bev = bev};
    map.interval_starts = starts;
    map.interval_lengths = lengths;
    ScatterStats stats = scatter_stats(&map, 300);
    tap_ok(stats.median == 50 && stats.p90 == 90 && stats.p99 == 99 && stats.longest == 100,
           "of lengths 1 to 100: median 50, p90 90, p99 99, longest 100");
    tap_ok(stats.longest_cell == cells[27], "the longest is found: 27 * 37 mod 100 = 99");
    map.interval_starts = map.interval_lengths = NULL;
    bool found = scatter_find_intervals(&map, &err);
    tap_ok(found && map.intervals == 100 &&
               memcmp(map.interval_starts, starts, sizeof starts) == 0 &&
               memcmp(map.interval_lengths, lengths, sizeof lengths) == 0,
           "intervals are found again from ranks_bev");
    free(map.interval_starts);
    free(map.interval_lengths);
    free(bev);
}

/* Asks so many times before it says so. */
static bool after_some(void *context) {
    int *left = context;
    return --*left < 0;
}

static void test_give_up(const Scene *scene) {
    BevMap map;
    err = (Err){.what = "as before"};
    bool ends = true;
    int asked = 0;
    for (int planes = 0; planes < 60; planes += 20) {
        int left = planes;
        ends &= !scatter_build(&scene->rig, BEV_NEAREST, ~0u, &(GiveUp){after_some, &left}, &map,
                               &err) &&
                !map.points && !map.ranks_bev && !strcmp(err.what, "as before");
        asked = planes - left;
    }
    tap_ok(ends && asked == 41, "a map that is no longer wanted is given up within a plane");
    int never = 1 << 20;
    bool whole = scatter_build(&scene->rig, BEV_BILINEAR, ~0u, &(GiveUp){after_some, &never},
                               &map, &err);
    tap_ok(whole && map.points > 0, "one that stays wanted is whole");
    scatter_free(&map);
}

TAP_SUITE(scatter) {
    static const char *const names[] = {"intersection", "asymmetric", "parking", "toy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Scene *scene = load_scene(names[i]);
        for (int align = 0; align < BEV_ALIGN_COUNT; align++)
            test_map(scene, (BevAlign)align);
        drop_scene(scene);
    }
    Scene *toy = load_scene("toy"), *flagship = load_scene("intersection");
    test_mask(flagship);
    test_give_up(flagship);
    test_sizes(flagship);
    test_stats();
    test_slices(toy);
    drop_scene(toy);
    drop_scene(flagship);
}

enum { PRUNED_DEPTHS = 4096 };

/* As the library, by magnitudes: signs change neither what stays nor its mass. */
TAP_SUITE(scatter_pruned) {
    static const Prune prunes[] = {{.below = 0.3}, {.top = 1}, {.top = 2}, {.below = 1}};
    static float depth[PRUNED_DEPTHS], magnitudes[PRUNED_DEPTHS];
    Scene *toy = load_scene("toy");
    BevMap whole = build(&toy->rig, BEV_NEAREST, UINT32_MAX);
    for (int i = 0; i < PRUNED_DEPTHS; i++)
        magnitudes[i] = fabsf(depth[i] = (float)(i * 7 % 11 - 5) / 8);
    for (size_t i = 0; i < sizeof prunes / sizeof *prunes; i++) {
        BevMap a, b;
        Pruned kept, same;
        need(scatter_prune(&whole, &toy->shape, depth, &prunes[i], &a, &kept, &err) &&
                 scatter_prune(&whole, &toy->shape, magnitudes, &prunes[i], &b, &same, &err),
             &err);
        bool alike =
            kept.points_kept == same.points_kept && kept.mass == same.mass &&
            kept.mass_kept == same.mass_kept && a.points == b.points &&
            !memcmp(a.ranks_depth, b.ranks_depth, (size_t)a.points * sizeof *a.ranks_depth);
        tap_ok(alike && kept.mass_kept >= 0 && kept.mass_kept <= kept.mass,
               "pruned %s by magnitude: %lld of %lld points stay, mass %g of %g",
               prune_text(&prunes[i]).text, (long long)kept.points_kept, (long long)kept.points,
               kept.mass_kept, kept.mass);
        if (prunes[i].below == 1)
            tap_ok(!a.points && strstr(scatter_empty_reason(&kept), "every point is pruned"),
                   "a map that pruning has emptied says so");
        scatter_free(&a);
        scatter_free(&b);
    }
    tap_ok(strstr(scatter_empty_reason(&(Pruned){0}), "no point falls into the grid") != NULL,
           "a map that never had a point does not");
    scatter_free(&whole);
    drop_scene(toy);
}

/* All points of this rig lie on an edge in x: the rounding of FP32 puts them into either cell. */
TAP_SUITE(scatter_agreement) {
    char remark[200];
    Scene *toy = load_scene("toy");
    Rig rig = toy->rig;
    rig.grid.x_min_m = 2;
    rig.grid.x_max_m = 8;
    BevMap map = build(&rig, BEV_NEAREST, UINT32_MAX);
    MapAgreement exact = agreement_find(&rig, &map, remark, sizeof remark);
    tap_ok(exact.points == map.points && exact.same == exact.points && !exact.edges && !remark[0],
           "a map agrees with its rig");
    rig.cameras[0].position_m[0] -= 6e-7;
    MapAgreement near = agreement_find(&rig, &map, remark, sizeof remark);
    tap_ok(near.same == map.points && near.edges == map.points && !remark[0],
           "6e-7 m from an edge: %lld of %lld points agree, all %lld at an edge",
           (long long)near.same, (long long)near.points, (long long)near.edges);
    rig.cameras[0].position_m[0] -= 1e-3;
    MapAgreement far = agreement_find(&rig, &map, remark, sizeof remark);
    tap_ok(!far.same && !far.edges && remark[0], "a millimetre is no rounding: %s", remark);
    scatter_free(&map);
    drop_scene(toy);
}
