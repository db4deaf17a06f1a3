/* SPDX-License-Identifier: MIT */
/* More even intervals: what must stay, what must change, and that every kernel still pools the map
 * right. */
#include "src/base/units.h"
#include "src/run/session.h"
#include "src/scene/scatter.h"
#include "tests/support/judged.h"
#include "tests/support/maps.h"

#include <math.h>

/* Whether both hold the same values, in any order: the distinct bytes that are read. */
static bool same_values(const int32_t *a, const int32_t *b, int64_t count) {
    int32_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = a[i] > most ? a[i] : most;
    int32_t *more = calloc((size_t)most + 1, sizeof *more); /* in a than in b, of each value */
    bool same = more != NULL;
    for (int64_t i = 0; same && i < count; i++) {
        same = a[i] >= 0 && b[i] >= 0 && b[i] <= most;
        if (same)
            more[a[i]]++, more[b[i]]--;
    }
    for (int32_t value = 0; same && value <= most; value++)
        same = !more[value];
    free(more);
    return same;
}

static bool same_cells(const BevMap *a, const BevMap *b) {
    bool same = a->intervals == b->intervals;
    for (int64_t i = 0; same && i < a->intervals; i++)
        same = a->ranks_bev[a->interval_starts[i]] == b->ranks_bev[b->interval_starts[i]];
    return same;
}

static double weight_sum(const BevMap *map) {
    double sum = 0;
    for (int64_t t = 0; map->weights && t < map->points; t++)
        sum += map->weights[t];
    return sum;
}

/* Sum of the squared differences from the mean length. */
static double unevenness(const BevMap *map) {
    double sum = 0, mean = (double)map->points / (double)map->intervals;
    for (int64_t i = 0; i < map->intervals; i++)
        sum += (map->interval_lengths[i] - mean) * (map->interval_lengths[i] - mean);
    return sum;
}

/* Lengths lie between the own one and the mean, to a point. */
static bool lengths_between(const BevMap *own, const BevMap *even, double balance) {
    double mean = (double)own->points / (double)own->intervals;
    bool between = true;
    for (int64_t i = 0; between && i < own->intervals; i++) {
        double want = (1 - balance) * own->interval_lengths[i] + balance * mean;
        between = fabs(even->interval_lengths[i] - want) <= 1 + 1e-6;
    }
    return between;
}

static void test_map(const CaseData *data, const char *name, BevAlign align) {
    static const double steps[] = {0, 0.25, 0.5, 0.75, 1};
    double last = INFINITY;
    for (int i = 0; i < 5; i++) {
        BevMap even;
        Err err = {0};
        bool ok = scatter_copy(&data->map, &even, &err) && scatter_even(&even, steps[i], &err) &&
                  scatter_check(&even, &data->shape, name, &err);
        tap_ok(ok, "%s %s, balance %.2f: the map is valid %s", name, bev_aligns[align].name,
               steps[i], err.what);
        tap_ok(ok && even.points == data->map.points && same_cells(&even, &data->map) &&
                   same_values(even.ranks_depth, data->map.ranks_depth, even.points) &&
                   same_values(even.ranks_feat, data->map.ranks_feat, even.points) &&
                   fabs(weight_sum(&even) - weight_sum(&data->map)) < 1e-3,
               "points, cells, depths, features and weights stay");
        tap_ok(ok && lengths_between(&data->map, &even, steps[i]) && unevenness(&even) <= last,
               "lengths lie between their own and the mean");
        tap_ok(steps[i] > 0 || same_map(&even, &data->map), "0 changes nothing");
        last = unevenness(&even);
        scatter_free(&even);
    }
}

/* No device, or a format or align that it does not take: nothing to say. */
static void test_kernel(const BevKernel *kernel, Judged *exact) {
    Session *session;
    Err err;
    if (kernel->wrong_on_purpose || bev_unsupported(kernel, &exact->host.view))
        return;
    if (!session_open(&session, kernel, &exact->host.view, &err)) {
        tap_ok(err.kind == ERR_DEVICE, "%s opens, or has no device", kernel->name);
        return;
    }
    bool ok =
        session_poison(session, &err) && session_run(session, &err) &&
        session_read(session, exact->codes, &err) &&
        gate_exact(&exact->host.view, exact->codes, exact->reference, exact->terms, NULL).verdict ==
            GATE_PASS;
    session_close(session);
    tap_ok(ok, "%s pools it right", kernel->name);
}

/* All points of a feature pixel at a depth have one place in a rig's map; in an even one a cell may
 * have several. */
static void test_kernels(const CaseData *data, BevAlign align) {
    BevMap even;
    tap_need(scatter_copy(&data->map, &even, NULL) && scatter_even(&even, 0.6, NULL),
             "an even map");
    Judged exact = judged(exact_problem(data, BEV_FP16, align, &even, 3));
    for (int i = 0; bev_kernels[i]; i++)
        test_kernel(bev_kernels[i], &exact);
    judged_free(&exact);
    scatter_free(&even);
}

static void test_case(const char *name, BevAlign align, int divisor) {
    CaseData data = open_case(name, align, divisor, 5);
    test_map(&data, name, align);
    test_kernels(&data, align);
    case_free(&data);
}

TAP_SUITE(even) {
    test_case("ragged", BEV_NEAREST, 1);
    test_case("long_interval", BEV_BILINEAR, 1);
    test_case("one_per_cell", BEV_NEAREST, 1);
    test_case("small", BEV_NEAREST, 10);
    test_case("small", BEV_BILINEAR, 10);
    test_case("small", BEV_LATTICE, 10);
}
