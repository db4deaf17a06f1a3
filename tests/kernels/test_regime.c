/* SPDX-License-Identifier: MIT */
/* Where a problem's bytes live, and which form of V3 follows from that. No GPU needed. */
#include "kernels/regime.h"
#include "tests/kernels/canonical.h"
#include "tests/support/tap.h"

#include <math.h>

/* Another calibration's counts: 209,019 points, 15,928 intervals. */
static BevProblem published(BevDtype dtype) {
    static int32_t index;
    BevProblem problem = canonical(dtype);
    problem.map = (BevMap){209019, 15928, &index, &index, &index, &index, &index, NULL, NULL, NULL};
    return problem;
}

/* An RTX A6000 and an H200. */
static const BevGpuFacts a6000 = {6 << 20, 84, false, false}, h200 = {60 << 20, 132, true, false};

static void chooses(const BevGpuFacts *gpu, BevDtype dtype, int64_t longest, const char *kernel,
                    const char *in_paper) {
    BevProblem p = published(dtype);
    BevWorkload workload = bev_workload(&p, longest);
    BevV3Choice choice = bev_v3_choose(&workload, gpu);
    tap_ok(!strcmp(choice.kernel->name, kernel) && !strcmp(choice.published->name, in_paper) &&
               strstr(choice.why, bev_regimes[choice.regime].meaning),
           "canonical %s, longest interval %d, L2 %g MB: %s, published %s", bev_dtypes[dtype].title,
           (int)longest, gpu->l2_bytes * 1e-6, kernel, in_paper);
    tap_note("%s", choice.why);
}

TAP_SUITE(regime) {
    tap_ok(bev_regime(10, 20) == REGIME_FITS, "half the L2 fits");
    tap_ok(bev_regime(10.1, 20) == REGIME_CONTESTED, "more than half is contested");
    tap_ok(bev_regime(20, 20) == REGIME_CONTESTED, "the whole L2 is contested");
    tap_ok(bev_regime(20.1, 20) == REGIME_STREAMING, "more than the L2 streams");
    tap_ok(bev_regime(1, 0) == REGIME_STREAMING, "an unknown L2 counts as none");
    chooses(&a6000, BEV_FP16, 352, "v3_large_l2", "v3_small_l2");
    chooses(&h200, BEV_FP16, 352, "v3_large_l2", "v3_large_l2");
    chooses(&h200, BEV_FP16, 5, "v3_small_l2", "v3_large_l2"); /* fewer instructions: halves */
    chooses(&h200, BEV_FP32, 5, "v3_large_l2", "v3_large_l2"); /* no halves */
    BevProblem p = published(BEV_FP16);
    BevGpuFacts a100 = {40 << 20, 108, false, false};
    BevWorkload workload = bev_workload(&p, 352);
    BevV3Choice choice = bev_v3_choose(&workload, &a100);
    tap_ok(fabs(workload.gathered_bytes - 49.2e6) < 0.1e6 &&
               !strcmp(choice.published->name, "v3_large_l2") &&
               !strcmp(choice.by_gather->name, "v3_small_l2") &&
               strstr(choice.why, "own size, 49.17 MB gathered: features and depth a point, "
                                  "indices once, an FP32 output"),
           "on an A100 the two ways to count bytes disagree, and the line says so");
    BevMap map = {.intervals = 3, .interval_lengths = (int32_t[]){2, 7, 5}};
    tap_ok(bev_longest_interval(&map) == 7 && bev_longest_interval(&(BevMap){0}) == 0,
           "the longest interval is found");
}
