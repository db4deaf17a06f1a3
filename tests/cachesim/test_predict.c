/* SPDX-License-Identifier: MIT */
/* The latency model: laws that it must obey, and its distance from what was recorded on an H200. */
#include "src/base/clock.h"
#include "src/cachesim/predict.h"
#include "src/run/recorded.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

static Profile profile_of(const char *kernel, const BevProblem *problem) {
    Profile profile;
    need(profile_make(bev_kernel_find(kernel), problem, NULL, &profile, &err), &err);
    return profile;
}

static double longest_part(const Prediction *p) {
    double longest = 0;
    for (int part = 0; part < TERM_COUNT; part++)
        longest = fmax(longest, p->term_us[part]);
    return longest;
}

static void test_laws(const BevProblem *problem) {
    Profile profile = profile_of("v3_large_l2", problem);
    double touched = (double)profile.whole.cold.touched * SECTOR;
    double before = INFINITY;
    bool falls = true, adds_up = true, cold_costs = true;
    for (double mb = 0.25; mb < 300; mb *= 1.3) {
        Gpu gpu = *gpu_find("h200");
        gpu.l2_bytes = mb * 1048576;
        Prediction warm = predict(&profile, &gpu, true), cold = predict(&profile, &gpu, false);
        double dram = warm.dram_read_bytes + warm.dram_write_bytes;
        falls &= dram <= before;
        before = dram;
        double parts = warm.latency_us - warm.launch_us;
        adds_up &= parts >= longest_part(&warm) && parts <= TERM_COUNT * longest_part(&warm) &&
                   warm.term_us[warm.limiter] == longest_part(&warm);
        cold_costs &= cold.dram_read_bytes >= warm.dram_read_bytes;
        cold_costs &= cold.dram_write_bytes >= warm.dram_write_bytes;
    }
    Gpu faster = *gpu_find("h200");
    double us = predict(&profile, &faster, true).term_us[TERM_L2];
    faster.l2_gb_s *= 2;
    tap_ok(fabs(predict(&profile, &faster, true).term_us[TERM_L2] / us - 0.5) < 1e-9,
           "an L2 twice as fast takes half as long");
    tap_ok(falls, "a larger L2 never means more DRAM traffic");
    tap_ok(before == 0, "and one that holds everything means none when warm");
    tap_ok(adds_up, "the latency is at least the longest term and the launch");
    tap_ok(cold_costs, "a cold L2 never means fewer bytes from or to DRAM");
    Prediction cold = predict(&profile, gpu_find("pro6000"), false);
    tap_ok(cold.dram_read_bytes <= touched && cold.dram_read_bytes > 0.2 * touched,
           "cold in a large L2: each sector that is read comes once");
    profile_free(&profile);
}

/* Run 4 of samples/experiments/ladder.md: H200, FP16, warm, the clear counted unless the table
 * there leaves it out. */
typedef struct {
    const char *config, *kernel;
    double us;
    bool without_launch;
} Recorded;

static const Recorded recorded[] = {
    {"canonical", "atomic", 253, false},
    {"canonical", "block_atomic", 46, false},
    {"canonical", "v2_chw", 126.7, false},
    {"canonical", "v2_bevdet", 39.0, false},
    {"canonical", "v2_do", 80.6, false},
    {"canonical", "v3_small_l2", 80.5, false},
    {"canonical", "v3_large_l2", 27.5, false},
    {"small", "v2_chw", 84.1, true},
    {"small", "v2_bevdet", 31.2, true},
    {"small", "v2_do", 77.7, true},
    {"large", "v2_bevdet", 47.7, true},
    {"large", "v2_do", 76.5, true},
    {"xlarge", "v2_bevdet", 137.6, true},
    {"xlarge", "v2_do", 210.3, true},
    {"xlarge", "v3_large_l2", 91.7, false},
    {"wide_c128", "v2_bevdet", 41.0, true},
    {"wide_c128", "v2_do", 72.9, true},
    {"wide_c256", "v2_bevdet", 58.0, true},
    {"wide_c256", "v2_do", 82.8, true},
};
enum { RECORDED = sizeof recorded / sizeof *recorded };

static void predict_config(const char *config, double predicted[RECORDED]) {
    OpenProblem *opened = open_problem(config, BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    for (int i = 0; i < RECORDED; i++) {
        if (strcmp(recorded[i].config, config))
            continue;
        Profile profile = profile_of(recorded[i].kernel, opened->view);
        Prediction p = predict(&profile, gpu_find("h200"), true);
        predicted[i] = p.latency_us - (recorded[i].without_launch ? p.launch_us : 0);
        profile_free(&profile);
    }
    close_problem(opened);
}

/* Of one configuration, or of all (NULL). */
static bool asked(int i, const char *config) {
    return !config || !strcmp(recorded[i].config, config);
}

static void test_recorded(const char *config) {
    double predicted[RECORDED];
    int rows = 0, close = 0, right = 0, pairs = 0;
    for (int i = 0; i < RECORDED; i++)
        if (asked(i, config) && (i == 0 || strcmp(recorded[i].config, recorded[i - 1].config)))
            predict_config(recorded[i].config, predicted);
    for (int i = 0; i < RECORDED; i++) {
        if (!asked(i, config))
            continue;
        rows++;
        double error = predicted[i] / recorded[i].us - 1;
        close += fabs(error) <= 0.3;
        tap_ok(error > -0.3 && error < 0.3, "%s, %s: %.1f us predicted, %.1f recorded, %+.0f %%",
               recorded[i].config, recorded[i].kernel, predicted[i], recorded[i].us, 100 * error);
        for (int j = 0; j < i; j++)
            if (!strcmp(recorded[i].config, recorded[j].config)) {
                pairs++;
                right += (predicted[i] < predicted[j]) == (recorded[i].us < recorded[j].us);
            }
    }
    tap_ok(10 * close >= 9 * rows, "within 30 %%: %d of %d", close, rows);
    tap_ok(10 * right >= (config ? 6 : 9) * pairs, "the order is right in %d of %d pairs", right,
           pairs);
}

/* The one hardware counter that was written down there: v2_do, canonical, caches cleared. */
static void test_counted(const BevProblem *problem) {
    Profile profile = profile_of("v2_do", problem);
    Prediction p = predict(&profile, gpu_find("h200"), false);
    tap_ok(fabs(p.hit_rate - 0.95) < 0.05, "L2 hits %.3f, counted 0.95", p.hit_rate);
    tap_ok(fabs(p.dram_read_bytes / 2e6 - 1) < 0.15, "from memory %.2f MB, counted 2",
           p.dram_read_bytes * 1e-6);
    profile_free(&profile);
}

/* Indices are read once by whoever needs them: the longest chain is the first to read all of its
 * own, one sector of 8 indices after the other. */
static void test_cold_chain(const BevProblem *problem) {
    const char *const kernels[] = {"v2_bevdet", "v2_do", "v3_small_l2", "v3_large_l2", "v4"};
    const Gpu *h200 = gpu_find("h200");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Profile profile = profile_of(kernels[i], problem);
        const TraceCounts *counts = &profile.counts;
        Prediction warm = predict(&profile, h200, true), cold = predict(&profile, h200, false);
        bool tiles = !strcmp(kernels[i], "v4"); /* a turn reads indices and values together */
        double share = (double)counts->indices.first / (double)counts->longest;
        tap_ok(tiles || (share > 0.1 && share < 1.0 / 3 &&
                         counts->indices.first > 0.9 * counts->indices.beyond),
               "%s: its longest chain is the first to read %.2f sectors of indices a point",
               kernels[i], share);
        tap_ok(counts->values.first > 0 && counts->values.first <= counts->values.beyond &&
                   counts->values.beyond <= counts->longest,
               "%s: first accesses are some of the loads beyond L1", kernels[i]);
        tap_ok(cold.term_us[TERM_DEPENDENT_LOADS] > warm.term_us[TERM_DEPENDENT_LOADS] &&
                   fabs(cold.launch_us - warm.launch_us - 2.3) < 1e-9,
               "%s: cold, the chain is longer and the launch is alone", kernels[i]);
        profile_free(&profile);
    }
}

static void test_published(void) {
    const BevKernel *v3 = bev_kernel_find("v3");
    int found = 0;
    for (int i = 0; i < published_count; i++)
        found += gpu_find(published[i].gpu) != NULL && published[i].latency_us > 0;
    tap_ok(found == 26 && found == published_count, "every published row names a known GPU");
    const char *column = published_column(bev_kernel_find("v2_do"), NULL);
    tap_ok(published_find("pro6000", "canonical", 80, column, BEV_FP16)->latency_us == 37.8 &&
               !published_find("pro6000", "canonical", 40, column, BEV_FP16),
           "V2+DO at canonical is 37.8 us, with its 80 channels");
    tap_ok(!published_column(v3->small_l2, v3->large_l2) &&
               !strcmp(published_column(v3->large_l2, v3->large_l2), "V3"),
           "V3 is the form that is chosen");
    const Prediction terms = {
        .term_us = {[TERM_DEPENDENT_LOADS] = 40, [TERM_L2] = 30}, .launch_us = 1};
    tap_ok(predict_latency_us(&terms) == 51, "terms overlap, the launch does not");
}

/* DRAM bytes and hits where one line in eight is followed, beside all. */
static void test_sampled(const BevProblem *problem) {
    const char *const kernels[] = {"block_atomic", "v2_bevdet", "v2_chw", "v3_large_l2", "v4"};
    const TraceWatch sampled = {.one_in = TRACE_ONE_IN};
    double worst = 0, worst_hits = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Profile all = profile_of(kernels[i], problem), some;
        need(profile_make(bev_kernel_find(kernels[i]), problem, &sampled, &some, &err), &err);
        for (double mb = 1; mb < 64; mb *= 1.5) {
            Gpu gpu = *gpu_find("h200");
            gpu.l2_bytes = mb * 1048576;
            Prediction a = predict(&all, &gpu, true), b = predict(&some, &gpu, true);
            double exact = a.dram_read_bytes + a.dram_write_bytes;
            double off = b.dram_read_bytes + b.dram_write_bytes - exact;
            worst = fmax(worst, fabs(off) / fmax(exact, 1e6));
            worst_hits = fmax(worst_hits, fabs(b.hit_rate - a.hit_rate));
        }
        profile_free(&all);
        profile_free(&some);
    }
    tap_ok(worst < 0.05, "sampled, DRAM bytes are within 5 %% at any L2 (%.1f)", 100 * worst);
    tap_ok(worst_hits < 0.01, "and hits within a point (%.2f)", 100 * worst_hits);
}

/* Estimates of FP8 and INT8, refined by the complete replay of FP16, beside complete replays. */
static void test_refined(const OpenProblem *opened) {
    static const char *const kernels[] = {"v2_bevdet", "v2_do", "v3_large_l2"};
    const BevShape *shape = &opened->view->shape;
    const Gpu *gpu = gpu_find("a6000");
    const TraceWatch watch = {.sample = 33};
    for (size_t i = 0; i < 6; i++) {
        const char *kernel = kernels[i / 2];
        const BevProblem problem = bev_bare_problem(shape, &opened->view->map, BEV_FORWARD,
                                                    i % 2 ? BEV_FP8 : BEV_INT8, BEV_NEAREST);
        Profile fp16 = profile_of(kernel, opened->view), own = profile_of(kernel, &problem), some;
        need(profile_make(bev_kernel_find(kernel), &problem, &watch, &some, &err), &err);
        profile_refine(&some, &fp16);
        double off = predict(&some, gpu, true).latency_us / predict(&own, gpu, true).latency_us;
        tap_ok(fabs(off - 1) < 0.08, "%s in %s, estimated: %+.1f %%", kernel,
               bev_dtypes[problem.dtype].name, 100 * (off - 1));
        profile_free(&fp16), profile_free(&own), profile_free(&some);
    }
}

/* Estimates on one rig's map, in proportion to the complete replay on another's. */
static void test_resembling(const OpenProblem *opened) {
    OpenProblem *other = open_problem("highway", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    const char *const kernels[] = {"v3_small_l2", "v2_do", "v3_large_l2"};
    const TraceWatch watch = {.sample = 33};
    for (size_t i = 0; i < 3; i++) {
        Profile whole = profile_of(kernels[i], other->view),
                own = profile_of(kernels[i], opened->view);
        Profile some;
        need(profile_make(bev_kernel_find(kernels[i]), opened->view, &watch, &some, &err), &err);
        profile_resemble(&some, &whole);
        const Gpu *gpu = gpu_find("a6000");
        double off = predict(&some, gpu, true).latency_us / predict(&own, gpu, true).latency_us;
        tap_ok(fabs(off - 1) < 0.08, "%s, by another map: %+.1f %%", kernels[i], 100 * (off - 1));
        profile_free(&whole), profile_free(&own), profile_free(&some);
    }
    close_problem(other);
}

static OpenProblem *canonical(void) {
    return open_problem("canonical", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
}

TAP_SUITE(predict) {
    OpenProblem *opened = canonical();
    test_laws(opened->view);
    test_recorded("small");
    test_counted(opened->view);
    test_cold_chain(opened->view);
    test_published();
    close_problem(opened);
}

TAP_HARD_SUITE(predict_recorded) {
    OpenProblem *opened = canonical();
    test_recorded(NULL);
    test_sampled(opened->view);
    test_refined(opened);
    test_resembling(opened);
    close_problem(opened);
}
