/* SPDX-License-Identifier: MIT */
#include "kernels/regime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, SCHEDULERS = 4 }; /* SCHEDULERS: instructions a cycle of a multiprocessor */

const BevRegimeInfo bev_regimes[REGIME_COUNT] = {
    [REGIME_FITS] = {"fits", "it fits half the L2 and stays there"},
    [REGIME_CONTESTED] = {"contested", "it fits the L2 but not half of it, and may be evicted"},
    [REGIME_STREAMING] = {"streaming",
                          "it is larger than the L2, though most lookups may still hit"},
};

BevRegime bev_regime(double footprint_bytes, double l2_bytes) {
    if (footprint_bytes <= l2_bytes / 2 && l2_bytes > 0)
        return REGIME_FITS;
    return footprint_bytes <= l2_bytes ? REGIME_CONTESTED : REGIME_STREAMING;
}

const BevKernel *bev_v3(void) {
    return bev_kernel_find("v3");
}

/* ---- an estimate ----------------------------------------------------------------------------- */

BevWorkload bev_workload(const BevProblem *problem, int64_t longest) {
    return (BevWorkload){problem->dtype, problem->shape.channels, problem->map.points, longest,
                         bev_footprint_total(bev_footprint(problem)),
                         bev_traffic_total(bev_gather_traffic(problem, 32))};
}

int64_t bev_longest_interval(const BevMap *map) {
    int32_t longest = 0;
    for (int64_t i = 0; i < map->intervals; i++)
        if (map->interval_lengths[i] > longest)
            longest = map->interval_lengths[i];
    return longest;
}

int32_t *bev_intervals_of_cells(const BevMap *map, int64_t cells) {
    int32_t *interval_of = malloc((size_t)(cells + 1) * sizeof *interval_of);
    if (interval_of)
        memset(interval_of, 0xff, (size_t)cells * sizeof *interval_of);
    for (int64_t i = 0; interval_of && i < map->intervals; i++)
        interval_of[map->ranks_bev[map->interval_starts[i]]] = (int32_t)i;
    return interval_of;
}

/* The figures below are instructions of a warp per channel. An E2M1 block of 16 with its scale
 * takes 47 instructions to decode, 20 with hardware support. Without hardware for E4M3, sums in
 * FP32 test four codes for NaN together, sums in halves two. */
double bev_channel_instructions(const BevAccess *access, BevDtype dtype, const BevGpuFacts *gpu) {
    const bool halves = access->halves || dtype == BEV_NVFP4;
    const double sum = halves ? 0.5 : 1, fp8_in_software = halves ? 4 : 2.5;
    switch (dtype) {
    case BEV_FP32:
        return 1;
    case BEV_FP16:
        return halves ? sum : sum + 0.75;
    case BEV_BF16:
        return 2;
    case BEV_FP8:
        return sum + (gpu->converts_fp8 ? 0.75 : fp8_in_software);
    case BEV_NVFP4:
        return sum + (gpu->decodes_fp4 ? 20.0 : 47.0) / BEV_BLOCK;
    case BEV_INT8:
    case BEV_INT8_FP16: /* V3: eight prmt transpose four codes of four points, for four dp4a */
        return access->owner == BEV_OWNS_CELL ? 0.75 : 2;
    case BEV_E5M2: /* no kernel computes with E5M2 */
    case BEV_DTYPE_COUNT:
    case BEV_ELEMENT_COUNT:
        break;
    }
    return 1;
}

double bev_step_instructions(const BevAccess *access, int tile, BevDtype dtype,
                             const BevGpuFacts *gpu) {
    int own = access->point_instructions_of[dtype];
    return (own ? own : access->point_instructions) + ceil((double)tile / access->load) +
           tile * bev_channel_instructions(access, dtype, gpu);
}

double bev_estimated_cycles(const BevAccess *access, const BevWorkload *workload,
                            const BevGpuFacts *gpu) {
    BevProblem problem = {.dtype = workload->dtype, .shape.channels = workload->channels};
    int tile = bev_access_tile(access, &problem);
    double instructions = bev_step_instructions(access, tile, workload->dtype, gpu);
    double cycles_a_point = BEV_L1_CYCLES / bev_indices_ahead(access, workload->dtype) +
                            BEV_L2_CYCLES / bev_points_in_flight(access, workload->dtype) +
                            BEV_CHAIN_CYCLES * instructions;
    double lanes = (double)workload->points * ceil((double)workload->channels / tile);
    double issued_a_cycle = SCHEDULERS * BEV_ISSUE_SHARE * gpu->multiprocessors;
    return hypot((double)workload->longest * cycles_a_point,
                 lanes / WARP * instructions / issued_a_cycle);
}

/* Returns the form of V3 by the article's rule: small_l2 if the bytes exceed the L2. */
static const BevKernel *form_by_size(double bytes, const BevGpuFacts *gpu) {
    const BevKernel *v3 = bev_v3();
    return bev_regime(bytes, gpu->l2_bytes) == REGIME_STREAMING ? v3->small_l2 : v3->large_l2;
}

BevV3Choice bev_v3_choose(const BevWorkload *workload, const BevGpuFacts *gpu) {
    const BevKernel *v3 = bev_v3();
    double small = bev_estimated_cycles(&v3->small_l2->access, workload, gpu);
    double large = bev_estimated_cycles(&v3->large_l2->access, workload, gpu);
    BevV3Choice choice = {.regime = bev_regime(workload->footprint_bytes, gpu->l2_bytes),
                          .kernel = small < large ? v3->small_l2 : v3->large_l2,
                          .published = form_by_size(workload->footprint_bytes, gpu),
                          .by_gather = form_by_size(workload->gathered_bytes, gpu)};
    snprintf(
        choice.why, sizeof choice.why,
        "%s: estimated %.0f thousand cycles, the other form %.0f thousand, with a longest interval "
        "of %lld points. The article's rule, size against L2, takes %s by the footprint, %.1f MB "
        "(L2 %.3g MiB, %s), and %s by the article's own size, %.2f MB gathered: features and depth "
        "a point, indices once, an FP32 output",
        choice.kernel->name, fmin(small, large) * 1e-3, fmax(small, large) * 1e-3,
        (long long)workload->longest, choice.published->name, workload->footprint_bytes * 1e-6,
        gpu->l2_bytes / 1048576, bev_regimes[choice.regime].meaning,
        choice.by_gather == choice.published ? "the same" : choice.by_gather->name,
        workload->gathered_bytes * 1e-6);
    return choice;
}
