/* The latency model: laws that it must obey, and its distance from what was recorded on an H200. */
#include "src/bench/predict.h"
#include "src/bench/published.h"
#include "src/model/workload.h"
#include "tests/tap.h"

#include <math.h>
#include <time.h>

static void need(bool ok, const Err *err) {
    if (ok)
        return;
    printf("Bail out! %s: %s\n", err->where, err->what);
    exit(EXIT_FAILURE);
}

static Profile profile_of(const char *rung, const HostProblem *problem) {
    Err err = {0};
    Profile profile;
    need(profile_make(stream_find(rung), &problem->view, &profile, &err), &err);
    return profile;
}

static double longest_part(const Prediction *p) {
    double longest = 0;
    for (int part = 0; part < PART_COUNT; part++)
        longest = fmax(longest, p->part_us[part]);
    return longest;
}

static void test_laws(const HostProblem *problem) {
    Profile profile = profile_of("v3_large_l2", problem);
    double touched = (double)profile.cold.distinct * SECTOR;
    double before = INFINITY;
    bool falls = true, adds_up = true, cold_costs = true;
    for (double mb = 0.25; mb < 300; mb *= 1.3) {
        Gpu gpu = *gpu_find("h200");
        gpu.l2_bytes = mb * 1048576;
        Prediction warm = predict(&profile, &gpu, true), cold = predict(&profile, &gpu, false);
        double dram = warm.dram_read_bytes + warm.dram_write_bytes;
        falls &= dram <= before;
        before = dram;
        adds_up &= warm.latency_us == longest_part(&warm) + warm.launch_us &&
                   warm.part_us[warm.binding] == longest_part(&warm);
        cold_costs &= cold.latency_us >= warm.latency_us;
    }
    tap_ok(falls, "a larger L2 never means more DRAM traffic");
    tap_ok(before == 0, "and one that holds everything means none when warm");
    tap_ok(adds_up, "the latency is the binding part and the launch");
    tap_ok(cold_costs, "cold is never faster than warm");
    Prediction cold = predict(&profile, gpu_find("pro6000"), false);
    tap_ok(cold.dram_read_bytes <= touched && cold.dram_read_bytes > 0.2 * touched,
           "cold in a large L2: each sector that is read comes once");
    profile_free(&profile);
}

/* Run 4 of samples/recorded/NOTES-ladder.md, H200, canonical, FP16, warm. */
static void test_recorded(const HostProblem *problem) {
    static const struct {
        const char *rung;
        double us;
    } recorded[] = {{"atomic", 253}, {"block_atomic", 46},  {"v2_chw", 126.7},    {"v2", 39.0},
                    {"v2_do", 79.9}, {"v3_small_l2", 80.5}, {"v3_large_l2", 44.9}};
    enum { COUNT = sizeof recorded / sizeof *recorded };
    double predicted[COUNT];
    int right = 0, pairs = 0;
    for (int i = 0; i < COUNT; i++) {
        Profile profile = profile_of(recorded[i].rung, problem);
        predicted[i] = predict(&profile, gpu_find("h200"), true).latency_us;
        double ratio = predicted[i] / recorded[i].us;
        tap_ok(ratio > 1 / 1.5 && ratio < 1.5, "%s: %.1f us predicted, %.1f recorded, %+.0f %%",
               recorded[i].rung, predicted[i], recorded[i].us, 100 * (ratio - 1));
        profile_free(&profile);
        for (int j = 0; j < i; j++, pairs++)
            right += (predicted[i] < predicted[j]) == (recorded[i].us < recorded[j].us);
    }
    tap_ok(10 * right >= 8 * pairs, "the order is right in %d of %d pairs", right, pairs);
}

static void test_published(void) {
    int found = 0;
    for (int i = 0; i < published_count; i++)
        found += gpu_find(published[i].gpu) != NULL && published[i].latency_us > 0;
    tap_ok(found == 26 && found == published_count, "every published row names a known GPU");
    tap_ok(published_find("pro6000", "canonical", published_column("v2_do", NULL), BEV_FP16)
                   ->latency_us == 37.8,
           "V2+DO at canonical is 37.8 us");
    tap_ok(!published_column("v3_small_l2", "v3_large_l2") &&
               !strcmp(published_column("v3_large_l2", "v3_large_l2"), "V3"),
           "V3 is the form that is chosen");
    const double ratios[] = {2, 8};
    tap_ok(fabs(predict_calibration(ratios, 2) - 4) < 1e-12 &&
               isnan(predict_calibration(ratios, 0)),
           "the calibration is a geometric mean, of something");
}

static void test_speed(const HostProblem *problem) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    Profile profile = profile_of("v3_large_l2", problem);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    profile_free(&profile);
    tap_ok(s < 8, "the curve of canonical takes %.2f s", s); /* 0.2 s; 40 times that when busy */
}

int main(void) {
    Err err = {0};
    Workload workload;
    HostProblem problem;
    need(workload_open(&workload, "canonical", NULL, &err), &err);
    need(workload_problem(&workload, BEV_FP16, BEV_NEAREST, &problem, &err), &err);
    test_laws(&problem);
    test_recorded(&problem);
    test_published();
    test_speed(&problem);
    problem_free(&problem);
    workload_close(&workload);
    return tap_done();
}
