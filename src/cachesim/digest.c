#include "src/cachesim/digest.h"

#include "kernels/regime.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char SMALL[] = "v3_small_l2", LARGE[] = "v3_large_l2";

static void choose_v3(MemoryModel *model, const BevProblem *problem) {
    ModelFormat *format = &model->formats[problem->dtype];
    format->footprint_bytes = bev_footprint_total(bev_footprint(problem));
    for (int gpu = 0; gpu < model->gpu_count; gpu++)
        for (int l2 = 0; l2 < MODEL_L2S; l2++) {
            double bytes = model_l2_bytes(&model->gpus[gpu], l2);
            format->takes_large[gpu][l2] = !strcmp(bev_v3_choose(problem, bytes).kernel, LARGE);
        }
}

void digest_begin(MemoryModel *model, const BevProblem *problem, const Gpu *on, int count) {
    assert(count <= MODEL_GPUS && access_pattern_count <= MODEL_KERNELS);
    *model = (MemoryModel){
        .dtype = problem->dtype,
        .align = problem->align,
        .channels = problem->shape.channels,
        .points = problem->map.points,
        .footprint = bev_footprint(problem),
        .gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits),
        .gpu_count = count,
        .kernel_count = access_pattern_count,
    };
    for (int gpu = 0; gpu < count; gpu++) {
        model->gpus[gpu] = on[gpu];
        model->ceilings[gpu] =
            (ModelCeilings){predict_dram_gbps(&on[gpu]), predict_l2_gbps(&on[gpu]),
                            predict_fp32_gflops(&on[gpu]), 0, SOURCE_MODEL};
    }
    choose_v3(model, problem);
}

void digest_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source) {
    const double *value = limits->value;
    ModelCeilings found = {fmax(value[LIMIT_DRAM_COPY], value[LIMIT_DRAM_READ]),
                           fmax(value[LIMIT_L2_COPY], value[LIMIT_L2_READ]),
                           value[LIMIT_FP32] * 1e3,
                           isfinite(value[LIMIT_TENSOR]) ? value[LIMIT_TENSOR] * 1e3 : 0, source};
    if (isfinite(found.dram_gbps) && isfinite(found.l2_gbps) && isfinite(found.fp32_gflops))
        model->ceilings[gpu] = found;
}

static BevTraffic requested_of(const TraceCounts *counts) {
    const TraceCount *read = counts->read, *write = counts->write;
    double added = sizeof(float) * counts->atomics;
    return (BevTraffic){
        .feat = read[TRACE_FEAT].bytes,
        .depth = read[TRACE_DEPTH].bytes,
        .index = read[TRACE_RANKS].bytes + read[TRACE_OWNERS].bytes,
        .weight = read[TRACE_WEIGHT].bytes,
        .out_read = read[TRACE_OUT].bytes + read[TRACE_SUMS].bytes + added,
        .out_write = write[TRACE_OUT].bytes + write[TRACE_SUMS].bytes,
        .atomics = counts->atomics,
    };
}

static PredictedKernel kernel_of(const MemoryModel *model, const Profile *profile) {
    const TraceCounts *counts = &profile->counts;
    const TraceCount *features = &counts->read[TRACE_FEAT];
    PredictedKernel kernel = {
        .name = profile->pattern->name,
        .title = profile->pattern->title,
        .requested = requested_of(counts),
        .rank_bytes = counts->read[TRACE_RANKS].bytes,
        .sectors_per_request = features->sectors / features->requests,
        .l2_sectors = counts->l2_sectors,
        .sampled = profile_is_sampled(profile),
    };
    for (int i = 0; i < MODEL_SIZES; i++)
        kernel.miss_ratio[i] = reuse_miss_ratio(&profile->whole.warm, model_size_mib(i) * 1048576);
    for (int gpu = 0; gpu < model->gpu_count; gpu++)
        for (int l2 = 0; l2 < MODEL_L2S; l2++) {
            Gpu what_if = model->gpus[gpu];
            what_if.l2_bytes = model_l2_bytes(&model->gpus[gpu], l2);
            kernel.predicted[gpu][l2] = predict(profile, &what_if, true);
        }
    return kernel;
}

void digest_add(MemoryModel *model, const BevProblem *problem, const Profile *profile) {
    PredictedKernel kernel = kernel_of(model, profile);
    ModelFormat *format = &model->formats[problem->dtype];
    if (problem->dtype == model->dtype)
        model->kernels[profile->pattern - access_patterns] = kernel;
    if (!strcmp(kernel.name, SMALL) || !strcmp(kernel.name, LARGE)) {
        choose_v3(model, problem);
        *(strcmp(kernel.name, SMALL) ? &format->large_l2 : &format->small_l2) = kernel;
        format->known = format->small_l2.name && format->large_l2.name;
    }
}
