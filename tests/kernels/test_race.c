/* SPDX-License-Identifier: MIT */
/* The kernel that loses updates: it does where threads share a cell, it does not where each point
 * has its own, and it loses the same ones in every run and with any number of real threads. The
 * kernel with atomic additions loses none. */
#include "tests/support/judged.h"

#include <omp.h>

enum { SEED = 11 };

/* Pools with so many real threads; the number of outputs that are not the reference. */
static int64_t wrong_outputs(Judged *exact, const char *kernel, int threads) {
    omp_set_num_threads(threads);
    judged_run(bev_kernel_find(kernel), &exact->host.view);
    return judged_c(exact).bad;
}

static void test_case(const char *name, BevAlign align, bool crowded) {
    CaseData data = open_case(name, align, 1, SEED);
    Judged exact = judged(exact_problem(&data, BEV_FP32, align, &data.map, SEED));
    size_t bytes = bev_tensor_bytes(&exact.host.view.out);
    void *first = malloc(bytes);
    int64_t lost = wrong_outputs(&exact, "cpu_race", 1);
    memcpy(first, exact.codes, bytes);
    int64_t again = wrong_outputs(&exact, "cpu_race", 3);
    tap_ok(crowded ? lost > 0 : lost == 0, "%s %s: cpu_race has %lld outputs wrong", name,
           bev_aligns[align].name, (long long)lost);
    tap_ok(lost == again && !memcmp(first, exact.codes, bytes),
           "and the same bits with three threads");
    tap_ok(wrong_outputs(&exact, "cpu_atomic", 1) == 0 &&
               wrong_outputs(&exact, "cpu_atomic", 3) == 0,
           "cpu_atomic has none wrong, with one thread or three");
    free(first);
    judged_free(&exact);
    case_free(&data);
}

/* A cell of 1,800,000 points: threads work long enough to meet on a busy machine, too. */
static void test_atomic(void) {
    Case c = case_at(0);
    for (int i = 0; i < case_count() && strcmp(c.name, "one_cell"); i++)
        c = case_at(i);
    c.shape = (BevShape){2, 250, 60, 60, 8, 13, 11, 1};
    CaseData data;
    tap_need(case_build(&c, BEV_NEAREST, 1, SEED, &data, NULL), "a crowded cell");
    Judged exact = judged(exact_problem(&data, BEV_FP32, BEV_NEAREST, &data.map, SEED));
    int64_t wrong = 0;
    for (int run = 0; run < 4 && !wrong; run++)
        wrong = wrong_outputs(&exact, "cpu_atomic", 3);
    tap_ok(!wrong, "cpu_atomic loses nothing where three threads meet in a cell of %lld points",
           (long long)data.map.points);
    judged_free(&exact);
    case_free(&data);
}

TAP_SUITE(race) {
    test_case("one_cell", BEV_NEAREST, true);
    test_case("long_interval_c19", BEV_NEAREST, true);
    test_case("ragged", BEV_BILINEAR, true);
    test_case("one_per_cell", BEV_NEAREST, false);
    test_case("no_points", BEV_NEAREST, false);
    test_atomic();
}
