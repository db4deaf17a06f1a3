/* Where a problem's bytes live, and which form of V3 follows from that. No GPU needed. */
#include "kernels/regime.h"
#include "tests/tap.h"

/* The published choiceuration's sizes: 209,019 points, 15,928 intervals. */
static BevProblem canonical(BevDtype dtype) {
    static int32_t index;
    BevShape shape = {6, 59, 16, 44, 80, 200, 200, 1};
    BevProblem p = {.shape = shape, .dtype = dtype};
    p.map = (BevMap){209019, 15928, &index, &index, &index, &index, &index, NULL};
    p.depth = (BevTensor){
        .dtype = bev_dtypes[dtype].depth, .rows = 1, .row_len = 6 * 59 * 16 * 44, .scale = 1};
    p.feat = (BevTensor){.dtype = dtype, .rows = 6 * 16 * 44, .row_len = 80, .scale = 1};
    p.out =
        (BevTensor){.dtype = bev_dtypes[dtype].out, .rows = 200 * 200, .row_len = 80, .scale = 1};
    return p;
}

static void chooses(double l2_mb, BevRegime regime, const char *kernel) {
    BevProblem p = canonical(BEV_FP16);
    BevV3Choice choice = bev_v3_choose(&p, l2_mb * 1e6);
    tap_ok(choice.regime == regime && !strcmp(choice.kernel->name, kernel) &&
               strstr(choice.why, bev_regimes[regime].meaning),
           "canonical FP16 with %g MB of L2 is %s: %s", l2_mb, bev_regimes[regime].name, kernel);
    tap_note("%s", choice.why);
}

int main(void) {
    tap_ok(bev_regime(10, 20) == REGIME_RESIDENT, "half the L2 is resident");
    tap_ok(bev_regime(10.1, 20) == REGIME_CONTESTED, "more than half is contested");
    tap_ok(bev_regime(20, 20) == REGIME_CONTESTED, "the whole L2 is contested");
    tap_ok(bev_regime(20.1, 20) == REGIME_STREAMING, "more than the L2 streams");
    tap_ok(bev_regime(1, 0) == REGIME_STREAMING, "an unknown L2 counts as none");
    chooses(6, REGIME_STREAMING, "v3_small_l2");
    chooses(16, REGIME_CONTESTED, "v3_large_l2");
    chooses(60, REGIME_RESIDENT, "v3_large_l2");
    chooses(128, REGIME_RESIDENT, "v3_large_l2");
    return tap_done();
}
