/* Maps from files: every defect is found, and a sound map of 2 M points is checked in milliseconds. */
#include "src/base/clock.h"
#include "src/scene/scatter.h"
#include "tests/support/load.h"
#include "tests/support/tap.h"

#include <math.h>

/* 9 points of cells 2, 5, 5, 5, 0, 0, 7, 7, 7. The order of cells is free; a cell with two
 * intervals is an error. */
typedef struct {
    int32_t depth[9], feat[9], bev[9], starts[4], lengths[4];
    float weights[9];
    BevMap map;
} Foreign;

static const BevShape foreign_shape = {1, 3, 2, 2, 8, 4, 2, 1};

static void foreign(Foreign *f) {
    *f = (Foreign){.depth = {0, 11, 3, 4, 5, 6, 7, 8, 9},
                   .feat = {0, 3, 3, 0, 1, 2, 3, 0, 1},
                   .bev = {2, 5, 5, 5, 0, 0, 7, 7, 7},
                   .starts = {0, 1, 4, 6},
                   .lengths = {1, 3, 2, 3},
                   .weights = {1, 0.5F, 0, 1, 1, 1, -1, 1, 1e30F}};
    f->map = (BevMap){9, 4, f->depth, f->feat, f->bev, f->starts, f->lengths, f->weights};
}

#define SPOIL(name_, change_)                                                                      \
    static void name_(Foreign *f) {                                                                \
        change_;                                                                                   \
    }
SPOIL(depth_high, f->depth[8] = 12)
SPOIL(depth_negative, f->depth[0] = -1)
SPOIL(depth_lowest, f->depth[4] = INT32_MIN)
SPOIL(depth_largest, f->depth[4] = INT32_MAX)
SPOIL(feat_high, f->feat[3] = 4)
SPOIL(feat_negative, f->feat[3] = -7)
SPOIL(feat_neighbour, f->feat[0] ^= 1)
SPOIL(feat_other, f->feat[8] = 2)
SPOIL(bev_high, f->bev[6] = f->bev[7] = f->bev[8] = 8)
SPOIL(bev_negative, f->bev[0] = -1)
SPOIL(weight_nan, f->weights[5] = NAN)
SPOIL(weight_inf, f->weights[8] = -INFINITY)
SPOIL(overlap, f->starts[2] = 3)
SPOIL(hole, f->starts[2] = 5; f->lengths[2] = 1)
SPOIL(late_start, f->starts[0] = 1)
SPOIL(negative_start, f->starts[0] = -1)
SPOIL(empty, f->lengths[0] = 0; f->starts[1] = 0; f->lengths[1] = 4)
SPOIL(negative_length, f->lengths[1] = -3)
SPOIL(too_long, f->lengths[3] = 4)
SPOIL(far_too_long, f->lengths[3] = INT32_MAX)
SPOIL(tail_hole, f->lengths[3] = 2)
SPOIL(missing_interval, f->map.intervals = 3)
SPOIL(no_intervals, f->map.intervals = 0)
SPOIL(mixed, f->bev[2] = 4)
SPOIL(mixed_at_end, f->bev[8] = 6)
SPOIL(shared, f->bev[4] = f->bev[5] = 2)
SPOIL(split, f->bev[4] = f->bev[5] = 5)

static const struct {
    const char *name, *where, *value;
    void (*spoil)(Foreign *f);
} defects[] = {
    {"ranks_depth too high", "ranks_depth[8]", "12", depth_high},
    {"ranks_depth negative", "ranks_depth[0]", "-1", depth_negative},
    {"ranks_depth INT32_MIN", "ranks_depth[4]", "-2147483648", depth_lowest},
    {"ranks_depth INT32_MAX", "ranks_depth[4]", "2147483647", depth_largest},
    {"ranks_feat too high", "ranks_feat[3]", "4", feat_high},
    {"ranks_feat negative", "ranks_feat[3]", "-7", feat_negative},
    {"ranks_feat of the pixel beside", "ranks_feat[0]", "feature 0", feat_neighbour},
    {"ranks_feat of another pixel", "ranks_feat[8]", "ranks_depth[8] = 9", feat_other},
    {"ranks_bev too high", "ranks_bev[6]", "8", bev_high},
    {"ranks_bev negative", "ranks_bev[0]", "-1", bev_negative},
    {"a weight NaN", "weights[5]", "nan", weight_nan},
    {"a weight infinite", "weights[8]", "-inf", weight_inf},
    {"overlapping intervals", "interval_starts[2]", "overlap", overlap},
    {"a hole between intervals", "interval_starts[2]", "gap", hole},
    {"a hole before the first", "interval_starts[0]", "gap", late_start},
    {"a negative start", "interval_starts[0]", "-1", negative_start},
    {"an empty interval", "interval_lengths[0]", "at least 1", empty},
    {"a negative length", "interval_lengths[1]", "-3", negative_length},
    {"an interval past the end", "interval_lengths[3]", "only 3", too_long},
    {"an interval far past the end", "interval_lengths[3]", "2147483647", far_too_long},
    {"a hole at the end", "ranks_bev[8]", "gap", tail_hole},
    {"points of a missing interval", "ranks_bev[6]", "6 to 8", missing_interval},
    {"points without intervals", "ranks_bev[0]", "0 to 8", no_intervals},
    {"two cells in an interval", "ranks_bev[2]", "interval 1 belongs to cell 5", mixed},
    {"two cells, at the very end", "ranks_bev[8]", "interval 3 belongs to cell 7", mixed_at_end},
    {"a cell in two intervals", "ranks_bev[4]", "cell 2", shared},
    {"a cell in neighbouring intervals", "ranks_bev[4]", "cell 5", split},
};

TAP_SUITE(scatter_foreign_defects) {
    Foreign f;
    Err err = {0};
    foreign(&f);
    tap_ok(scatter_check(&f.map, &foreign_shape, "f.npz", &err), "a sound foreign map is accepted");
    f.map.weights = NULL;
    tap_ok(scatter_check(&f.map, &foreign_shape, "f.npz", &err), "without weights too");
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        char line[800] = "", want[64];
        foreign(&f);
        defects[i].spoil(&f);
        bool accepted = scatter_check(&f.map, &foreign_shape, "f.npz", &err);
        if (!accepted)
            err_line(&err, line, sizeof line);
        snprintf(want, sizeof want, "f.npz: %s: ", defects[i].where);
        if (!tap_ok(!accepted && strncmp(line, want, strlen(want)) == 0 &&
                        strstr(line, defects[i].value),
                    "refused: %s", defects[i].name))
            tap_note("said: %s", accepted ? "nothing" : line);
    }
}

/* ---- how long the check takes ---------------------------------------------------------------- */

enum { BIG_POINTS = 2000000, BIG_INTERVALS = 200000, CHECKS = 25 };
static const double MOST_MS = 10;

/* 2 M points of 6 cameras, 10 in each of 200,000 cells, from everywhere in the frustum. */
static bool big_map(BevMap *map, const BevShape *shape) {
    int64_t plane = shape->feat_h * shape->feat_w, camera = plane * shape->depth_bins;
    size_t ranks = BIG_POINTS * sizeof(int32_t), lengths = BIG_INTERVALS * sizeof(int32_t);
    *map = (BevMap){BIG_POINTS,    BIG_INTERVALS,   malloc(ranks),   malloc(ranks),
                    malloc(ranks), malloc(lengths), malloc(lengths), NULL};
    if (!map->ranks_depth || !map->ranks_feat || !map->ranks_bev || !map->interval_starts ||
        !map->interval_lengths)
        return false;
    for (int64_t t = 0; t < BIG_POINTS; t++) {
        int64_t depth = t * 7919 % (shape->cameras * camera);
        map->ranks_depth[t] = (int32_t)depth;
        map->ranks_feat[t] = (int32_t)(depth / camera * plane + depth % plane);
        map->ranks_bev[t] = (int32_t)(t / 10);
    }
    for (int64_t i = 0; i < BIG_INTERVALS; i++) {
        map->interval_starts[i] = (int32_t)(10 * i);
        map->interval_lengths[i] = 10;
    }
    return true;
}

TAP_SUITE(scatter_foreign_time) {
    static const BevShape shape = {6, 118, 32, 88, 80, 500, 500, 1};
    const Load before = load_now();
    double best_ms = INFINITY;
    BevMap map;
    Err err;
    bool sound = big_map(&map, &shape);
    for (int i = 0; sound && i < CHECKS; i++) {
        double start = clock_ms();
        sound = scatter_check(&map, &shape, "big.npz", &err);
        best_ms = fmin(best_ms, clock_ms() - start);
    }
    tap_ok(sound, "a sound map of 2 M points is accepted");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    tap_skip("and takes little time", "sanitizers slow it down");
    (void)before;
#else
    tap_ok_unless_loaded(best_ms <= MOST_MS, &before, "in %.2f ms, at most %g", best_ms, MOST_MS);
#endif
    scatter_free(&map);
}
