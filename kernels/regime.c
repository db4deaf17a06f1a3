#include "kernels/regime.h"

#include <stdio.h>

const BevRegimeInfo bev_regimes[REGIME_COUNT] = {
    [REGIME_RESIDENT] = {"resident", "it fits half the L2 and stays there"},
    [REGIME_CONTESTED] = {"contested", "it fits the L2 but not half of it, and may be evicted"},
    [REGIME_STREAMING] = {"streaming", "it is larger than the L2 and comes from memory"},
};

BevRegime bev_regime(double footprint_bytes, double l2_bytes) {
    if (footprint_bytes <= l2_bytes / 2 && l2_bytes > 0)
        return REGIME_RESIDENT;
    return footprint_bytes <= l2_bytes ? REGIME_CONTESTED : REGIME_STREAMING;
}

const BevKernel *bev_v3(void) {
    int i = 0;
    while (bev_kernels[i] && !bev_kernels[i]->large_l2)
        i++;
    return bev_kernels[i];
}

BevV3Choice bev_v3_choose(const BevProblem *problem, double l2_bytes) {
    double footprint = bev_footprint_total(bev_footprint(problem));
    BevV3Choice choice = {.regime = bev_regime(footprint, l2_bytes)};
    const BevKernel *v3 = bev_v3();
    choice.kernel = choice.regime == REGIME_STREAMING ? v3->small_l2 : v3->large_l2;
    snprintf(choice.why, sizeof choice.why, "%s: footprint %.1f MB, L2 %.1f MB: %s",
             choice.kernel->name, footprint / 1e6, l2_bytes / 1e6,
             bev_regimes[choice.regime].meaning);
    return choice;
}
