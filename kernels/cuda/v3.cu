/* SPDX-License-Identifier: MIT */
/* IDEA    One operator, two kernels: estimate both on this GPU, then run the form of V3 that should
 *         take less time. The published kernel dispatches by GPU class, from where the bytes live.
 * WHO     `prepare` finds the longest interval, asks the GPU for its figures and calls
 *         bev_v3_choose (regime.h), which anybody can call with any GPU's figures; `launch` passes
 *         on to the choice.
 *
 *             cycles = root( (longest interval * cycles a point)^2 + (all instructions / rate)^2 )
 *
 *         in which, in FP16, v3_small_l2 waits for the L2 at three of four points and v3_large_l2
 *         at one of eight, while v3_small_l2 needs fewer instructions in FP16 and FP8.
 * MEMORY  As the chosen kernel's.
 * COST    As the chosen kernel's; choosing costs nothing in the launch, and `prepare` one pass over
 *         the interval lengths.
 * LIMITS  The article asks whether the working set fits the L2, and takes its 49 MB of gathered
 *         bytes (FP32 output) for that: an A100 (40 MB) and a Thor (32) get the small form.
 *         bevscope tells its version of that rule, but does not choose by it: the footprint, 10 MB,
 *         which both hold:
 *
 *             footprint <= L2 / 2    resident     v3_large_l2
 *             footprint <= L2        contested    v3_large_l2
 *             else                   streaming    v3_small_l2
 *
 *         Neither count sees how long intervals are: with a real rig's, the small form takes 1.2 to
 *         4 times as long on an H200, whatever the cache. With 5 points a cell it is a quarter to
 *         two fifths faster, FP32 and INT8 apart; the estimate, which does not see that the large
 *         form's steps of eight points are never full there, says so for FP16 only. Sums may be
 *         halves, as in v3_small_l2, so the gates allow for that.
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

__global__ void longest_kernel(const int32_t *lengths, int64_t intervals, int32_t *longest) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < intervals)
        atomicMax(longest, lengths[i]);
}

bool longest_interval(const BevMap &map, int32_t *longest, Err *err) {
    Pooled room;
    if (!cuda_allocate_pooled(&room.memory, sizeof *longest, "v3", err))
        return false;
    int32_t *found = (int32_t *)room.memory;
    TRY_CUDA("v3", cudaMemsetAsync(found, 0, sizeof *found, 0));
    if (map.intervals)
        longest_kernel<<<blocks_for(map.intervals, 256), 256>>>(map.interval_lengths, map.intervals,
                                                                found);
    TRY_CUDA("v3", cudaGetLastError());
    return read_back(longest, found, "v3", err);
}

bool find_gpu_facts(BevGpuFacts *gpu, Err *err) {
    int l2_bytes, major, minor;
    if (!device_fact(cudaDevAttrL2CacheSize, &l2_bytes, "v3", err) ||
        !device_fact(cudaDevAttrMultiProcessorCount, &gpu->multiprocessors, "v3", err) ||
        !device_fact(cudaDevAttrComputeCapabilityMajor, &major, "v3", err) ||
        !device_fact(cudaDevAttrComputeCapabilityMinor, &minor, "v3", err))
        return false;
    gpu->l2_bytes = l2_bytes;
    gpu->converts_fp8 = 10 * major + minor >= 89;
    gpu->decodes_fp4 = major >= 10;
    return true;
}

bool v3_choice_build(const BevProblem *problem, Plan *plan, Err *err) {
    int32_t longest;
    BevGpuFacts gpu;
    if (!find_gpu_facts(&gpu, err) || !longest_interval(problem->map, &longest, err))
        return false;
    BevWorkload workload = bev_workload(problem, longest);
    plan->chosen = bev_v3_choose(&workload, &gpu).kernel;
    return plan->chosen->prepare(problem, &plan->inner, err);
}

bool v3_choice_launch(const BevProblem *problem, const BevPlan *opaque, void *stream, Err *err) {
    const Plan *plan = (const Plan *)opaque;
    return plan->chosen->launch(problem, plan->inner, stream, err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v3) = {
    .name = "v3", .title = "V3",
    .idea = "Picks the V3 form that should take less time: long intervals or many instructions?",
    .published = "V3", .where = BEV_CUDA, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .accumulate = {BEV_FP32, BEV_FP16, BEV_FP32, BEV_FP16, BEV_FP16}, .deterministic = true,
    .small_l2 = &kernel_v3_small_l2, .large_l2 = &kernel_v3_large_l2,
    .prepare = ON_CUDA(make_plan<Plan, v3_choice_build>),
    .release = ON_CUDA(release_plan<Plan>), .launch = ON_CUDA(v3_choice_launch),
};
/* clang-format on */
