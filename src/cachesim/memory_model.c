#include "src/cachesim/memory_model.h"

#include "kernels/regime.h"

#include <assert.h>
#include <math.h>

const char *const chart_names[] = {"none", "mrc", "roofline", "working-set", "dtype"};
_Static_assert(sizeof chart_names / sizeof *chart_names == CHART_COUNT, "a chart has no name");

static const double LEAST_MIB = 1.0 / 32, MOST_MIB = 256;

double model_size_mib(int i) {
    return LEAST_MIB * pow(MOST_MIB / LEAST_MIB, (double)i / (MODEL_SIZES - 1));
}

double model_l2_bytes(const Gpu *gpu, int l2) {
    return l2 ? (double)(1 << l2) * 1048576 : gpu->l2_bytes;
}

const BevKernel *model_row(const BevKernel *kernel) {
    return kernel->where == BEV_CPU ? bev_twin(kernel, BEV_CUDA) : kernel;
}

const PredictedKernel *model_kernel(const MemoryModel *model, const BevKernel *kernel) {
    for (int i = 0; i < model->kernel_count; i++)
        if (model->kernels[i].kernel == kernel)
            return &model->kernels[i];
    return NULL;
}

const PredictedKernel *model_v3(const ModelFormat *format, int gpu, int l2) {
    const PredictedKernel *form =
        format->takes_large[gpu][l2] ? &format->large_l2 : &format->small_l2;
    return form->kernel ? form : NULL;
}

const PredictedKernel *model_of_kernel(const MemoryModel *model, const BevKernel *kernel, int gpu,
                                       int l2) {
    const BevKernel *row = model_row(kernel);
    if (row && row->large_l2)
        return model_v3(&model->formats[model->dtype], gpu, l2);
    return row ? model_kernel(model, row) : NULL;
}

/* ---- filling it ------------------------------------------------------------------------------ */

static void choose_v3(MemoryModel *model, const BevProblem *problem) {
    ModelFormat *format = &model->formats[problem->dtype];
    format->footprint_bytes = bev_footprint_total(bev_footprint(problem));
    for (int gpu = 0; gpu < model->gpu_count; gpu++)
        for (int l2 = 0; l2 < MODEL_L2S; l2++) {
            double bytes = model_l2_bytes(&model->gpus[gpu], l2);
            format->takes_large[gpu][l2] =
                bev_v3_choose(problem, bytes).kernel == bev_v3()->large_l2;
        }
}

void model_begin(MemoryModel *model, const BevProblem *problem, const Gpu *on, int count) {
    int kernels = 0;
    while (traced_kernel(kernels))
        kernels++;
    assert(count <= MODEL_GPUS && kernels <= MODEL_KERNELS);
    *model = (MemoryModel){
        .dtype = problem->dtype,
        .align = problem->align,
        .channels = problem->shape.channels,
        .points = problem->map.points,
        .footprint = bev_footprint(problem),
        .gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits),
        .gpu_count = count,
        .kernel_count = kernels,
    };
    for (int i = 0; i < kernels; i++)
        model->rank_bytes[i] = bev_rank_bytes(traced_kernel(i), problem);
    for (int gpu = 0; gpu < count; gpu++) {
        model->gpus[gpu] = on[gpu];
        model->ceilings[gpu] =
            (ModelCeilings){predict_dram_gbps(&on[gpu]), predict_l2_gbps(&on[gpu]),
                            predict_fp32_gflops(&on[gpu]), 0, SOURCE_MODEL};
    }
    choose_v3(model, problem);
}

void model_set_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source) {
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
        .kernel = profile->kernel,
        .name = profile->kernel->name,
        .title = profile->kernel->title,
        .requested = requested_of(counts),
        .rank_bytes = counts->read[TRACE_RANKS].bytes,
        .sectors_per_request = features->sectors / features->requests,
        .sector_use = features->sectors > 0 ? features->bytes / (MODEL_SECTOR * features->sectors)
                                            : 0,
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

void model_add(MemoryModel *model, const BevProblem *problem, const Profile *profile) {
    PredictedKernel kernel = kernel_of(model, profile);
    ModelFormat *format = &model->formats[problem->dtype];
    const BevKernel *row = profile->kernel, *v3 = bev_v3();
    if (problem->dtype == model->dtype)
        model->kernels[traced_place(row)] = kernel;
    if (row == v3->small_l2 || row == v3->large_l2) {
        choose_v3(model, problem);
        *(row == v3->small_l2 ? &format->small_l2 : &format->large_l2) = kernel;
        format->known = format->small_l2.kernel && format->large_l2.kernel;
    }
}
