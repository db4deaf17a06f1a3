/* IDEA    One operator, two kernels: ask where the problem's bytes will live, then run the form of
 *         V3 made for that. The published kernel dispatches so by GPU class.
 * WHO     `prepare` asks the GPU for its L2 and calls bev_v3_choose (regime.h), which anybody can
 *         call with any GPU's figures; `launch` passes on to the choice.
 *
 *             footprint <= L2 / 2    resident     v3_large_l2
 *             footprint <= L2        contested    v3_large_l2
 *             else                   streaming    v3_small_l2
 *
 * MEMORY  As the chosen kernel's.
 * COST    As the chosen kernel's; choosing costs nothing in the launch.
 * LIMITS  The footprint counts distinct bytes, not gathered ones: 10 MB, not 49, for the published
 *         configuration. Sums may be halves, as in v3_small_l2, so the gates allow for that.
 *         The rule, as published, does not see how long intervals are. On an H200 that decides:
 *         with a real rig's longest intervals the small form takes 1.2 to 3.2 times as long
 *         whatever the cache, so beyond the L2 (xlarge in FP32) this choice loses; with 5 points
 *         a cell it is 5 to 36 % faster in the formats that it sums in halves, though all fits.
 * TRY     `regime canonical --gpu a6000,rtx4090`: L2 caches of 6 and of 72 MiB. */
#include "kernels/cuda/row.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const BevKernel kernel_v3_small_l2, kernel_v3_large_l2;
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
#include "kernels/cuda/v3.cuh"
#include "kernels/regime.h"

namespace {

struct Plan {
    const BevKernel *chosen;
    BevPlan *inner;
    ~Plan() {
        if (chosen)
            chosen->release(inner);
    }
};

bool choose(const BevProblem *problem, const BevKernel **chosen, Err *err) {
    int device, l2_bytes;
    TRY_CUDA("v3", cudaGetDevice(&device));
    TRY_CUDA("v3", cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    *chosen = bev_v3_choose(problem, l2_bytes).kernel;
    return true;
}

bool v3_choice_build(const BevProblem *problem, Plan *plan, Err *err) {
    return choose(problem, &plan->chosen, err) &&
           plan->chosen->prepare(problem, &plan->inner, err);
}

bool v3_choice_launch(const BevProblem *problem, const BevPlan *opaque, void *stream, Err *err) {
    const Plan *plan = (const Plan *)opaque;
    if (plan)
        return plan->chosen->launch(problem, plan->inner, stream, err);
    const BevKernel *chosen;
    return choose(problem, &chosen, err) && chosen->launch(problem, NULL, stream, err);
}

// The same for both forms.
size_t v3_choice_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return kernel_v3_large_l2.workspace_bytes(problem, plan);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v3) = {
    .name = "v3", .title = "V3",
    .idea = "Picks the V3 form for where the bytes live: does the problem fit the L2?",
    .published = "V3", .where = BEV_CUDA, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .accumulate = {BEV_FP32, BEV_FP16, BEV_FP32, BEV_FP16, BEV_FP16}, .deterministic = true,
    .plan_optional = true,
    .small_l2 = &kernel_v3_small_l2, .large_l2 = &kernel_v3_large_l2,
    .unsupported = channels_unsupported, .prepare = ON_CUDA(make_plan<Plan, v3_choice_build>),
    .release = ON_CUDA(release_plan<Plan>), .workspace_bytes = ON_CUDA(v3_choice_workspace_bytes),
    .launch = ON_CUDA(v3_choice_launch),
};
/* clang-format on */
