/* SPDX-License-Identifier: MIT */
#include "src/cachesim/memory_model.h"

#include "kernels/threads.h"
#include "src/base/progress.h"

#include <assert.h>
#include <math.h>

#define CHART(id, word, title, idea, replays, topic) {word, title, idea, REPLAYS_##replays},
const ChartRow charts[CHART_COUNT] = {{"none", "panels again", "the panels again", REPLAYS_NOTHING},
                                      CHARTS(CHART)};
#undef CHART

static const double MIB = 1048576;

double model_l2_mib(int i) {
    enum { ONE_MIB = 31, EIGHT_MIB = 59 }; /* the numbers of these sizes */
    if (i <= ONE_MIB)
        return (i + 1) / 32.0;
    return i <= EIGHT_MIB ? 1 + (i - ONE_MIB) / 4.0 : 8 + (i - EIGHT_MIB);
}

int model_l2_next_to(double mib) {
    int nearest = 0;
    for (int i = 1; i < MODEL_L2S; i++)
        if (fabs(model_l2_mib(i) - mib) <= fabs(model_l2_mib(nearest) - mib))
            nearest = i;
    return nearest;
}

Gpu model_gpu(const MemoryModel *model, int gpu, const GpuEdit *edit) {
    return edit ? gpu_edited(&model->gpus[gpu], edit) : model->gpus[gpu];
}

Prediction model_predict(const MemoryModel *model, const PredictedKernel *kernel, int gpu,
                         const GpuEdit *edit) {
    if (!edit || !gpu_edit_any(edit))
        return kernel->predicted[gpu];
    const Gpu changed = model_gpu(model, gpu, edit);
    const bool same_l2 = changed.l2_bytes == model->gpus[gpu].l2_bytes;
    const L2Answer *by_size = kernel->what_if_l2[changed.l2_partitions == 2];
    const L2Answer *l2 = same_l2 ? &kernel->own_l2[gpu] : &by_size[model_l2_next_to(edit->l2_mib)];
    return predict_at(&kernel->profile, &changed, l2);
}

static ModelCeilings ceilings_of_data_sheet(const Gpu *gpu) {
    return (ModelCeilings){.dram_gb_s = predict_dram_gb_s(gpu),
                           .l2_gb_s = predict_l2_gb_s(gpu),
                           .fp32_gflops = predict_fp32_gflops(gpu),
                           .source = SOURCE_MODEL};
}

ModelCeilings model_ceilings(const MemoryModel *model, int gpu, const GpuEdit *edit) {
    if (!edit || !(edit->dram_gb_s > 0 || edit->sms > 0 || edit->clock_ghz > 0))
        return model->ceilings[gpu];
    Gpu changed = model_gpu(model, gpu, edit);
    return ceilings_of_data_sheet(&changed);
}

const BevKernel *model_row(const BevKernel *kernel) {
    return kernel->where == BEV_CPU ? bev_counterpart(kernel, BEV_CUDA) : kernel;
}

const PredictedKernel *model_kernel(const MemoryModel *model, const BevKernel *kernel) {
    for (int i = 0; i < model->kernel_count; i++)
        if (model->kernels[i].kernel == kernel)
            return &model->kernels[i];
    return NULL;
}

const PredictedKernel *model_next(const MemoryModel *model, const PredictedKernel *kernel) {
    const PredictedKernel *next = kernel ? kernel + 1 : model->kernels;
    while (next < model->kernels + model->kernel_count && !next->kernel)
        next++;
    return next < model->kernels + model->kernel_count ? next : NULL;
}

BevV3Choice model_v3_choice(const ModelFormat *format, const Gpu *gpu) {
    BevGpuFacts facts = gpu_facts(gpu);
    return bev_v3_choose(&format->workload, &facts);
}

const PredictedKernel *model_v3(const ModelFormat *format, const Gpu *gpu) {
    bool large = model_v3_choice(format, gpu).kernel == bev_v3()->large_l2;
    const PredictedKernel *form = large ? &format->large_l2 : &format->small_l2;
    return form->kernel ? form : NULL;
}

const PredictedKernel *model_of_kernel(const MemoryModel *model, const BevKernel *kernel,
                                       const Gpu *gpu) {
    const BevKernel *row = model_row(kernel);
    if (row && row->large_l2)
        return model_v3(&model->formats[model->dtype], gpu);
    return row ? model_kernel(model, row) : NULL;
}

const PredictedKernel *model_in_format(const MemoryModel *model, BevDtype dtype,
                                       const BevKernel *kernel, const Gpu *gpu) {
    const ModelFormat *format = &model->formats[dtype];
    const BevKernel *row = model_row(kernel);
    if (dtype == model->dtype)
        return model_of_kernel(model, kernel, gpu);
    if (row && row->large_l2)
        return format->small_l2.kernel && format->large_l2.kernel ? model_v3(format, gpu) : NULL;
    return row && format->other.kernel == row ? &format->other : NULL;
}

/* ---- filling a model ------------------------------------------------------------------------- */

static BevWorkload workload_of(const BevProblem *problem) {
    return bev_workload(problem, bev_longest_interval(&problem->map));
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
    for (int gpu = 0; gpu < count; gpu++) {
        model->gpus[gpu] = on[gpu];
        model->ceilings[gpu] = ceilings_of_data_sheet(&on[gpu]);
    }
    model->formats[problem->dtype].workload = workload_of(problem);
}

void model_set_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source) {
    const double *value = limits->value;
    const ModelCeilings found = {.dram_gb_s = fmax(value[LIMIT_DRAM_COPY], value[LIMIT_DRAM_READ]),
                                 .l2_gb_s = fmax(value[LIMIT_L2_COPY], value[LIMIT_L2_READ]),
                                 .fp32_gflops = value[LIMIT_FP32] * 1e3,
                                 .tensor_gflops =
                                     isfinite(value[LIMIT_TENSOR]) ? value[LIMIT_TENSOR] * 1e3 : 0,
                                 .source = source};
    if (isfinite(found.dram_gb_s) && isfinite(found.l2_gb_s) && isfinite(found.fp32_gflops))
        model->ceilings[gpu] = found;
}

/* Sums up the bytes that threads request of each array. An atomic reads and writes a float. */
static BevTraffic requested_of(const TraceCounts *counts) {
    const TraceCount *read = counts->read, *write = counts->write;
    double added = sizeof(float) * counts->atomics;
    return (BevTraffic){
        .feat = read[TRACE_FEAT].bytes,
        .depth = read[TRACE_DEPTH].bytes + write[TRACE_DEPTH].bytes,
        .index = read[TRACE_RANKS].bytes + read[TRACE_OWNERS].bytes,
        .weight = read[TRACE_WEIGHT].bytes,
        .out_read = read[TRACE_OUT].bytes + read[TRACE_SUMS].bytes + added,
        .out_write = write[TRACE_OUT].bytes + write[TRACE_SUMS].bytes,
        .atomics = counts->atomics,
    };
}

/* Predicts a replayed kernel on every GPU of the model and for every L2 size. */
static PredictedKernel predict_kernel(const MemoryModel *model, const Profile *profile) {
    const TraceCounts *counts = &profile->counts;
    const TraceCount *features = &counts->read[TRACE_FEAT];
    PredictedKernel kernel = {
        .kernel = profile->kernel,
        .name = profile->kernel->name,
        .title = profile->kernel->title,
        .requested = requested_of(counts),
        .rank_bytes = counts->read[TRACE_RANKS].bytes,
        .sectors_per_request = features->sectors / features->requests,
        .sector_use = features->sectors > 0 ? features->bytes / (SECTOR * features->sectors) : 0,
        .l2_sectors = counts->l2_sectors,
        .estimate = profile->estimate,
        .sampled = profile->whole.warm.one_in > 1,
    };
    for (int gpu = 0; gpu < model->gpu_count; gpu++) {
        const Gpu *on = &model->gpus[gpu];
        kernel.own_l2[gpu] = profile_l2(profile, on->l2_partitions, on->l2_bytes, L2_WARM);
        kernel.predicted[gpu] = predict_at(profile, on, &kernel.own_l2[gpu]);
        kernel.cold[gpu] = predict(profile, on, L2_COLD);
        kernel.recorded_us[gpu] = kernel.recorded_cold_us[gpu] = NAN;
    }
    /* A cold L2 without a limit moves each sector once. */
    const L2Answer unlimited = profile_l2(profile, 1, INFINITY, L2_COLD);
    kernel.own_bytes = SECTOR * (unlimited.misses + unlimited.writebacks);
    for (int divided = 0; divided < 2; divided++)
        for (int i = 0; i < MODEL_L2S; i++)
            kernel.what_if_l2[divided][i] =
                profile_l2(profile, 1 + divided, model_l2_mib(i) * MIB, L2_WARM);
    /* The curves stay with the caller: the answers above replace them. */
    kernel.profile = *profile;
    kernel.profile.whole = kernel.profile.divided = (ReuseCurves){0};
    return kernel;
}

void model_add(MemoryModel *model, const BevProblem *problem, const Profile *profile) {
    PredictedKernel kernel = predict_kernel(model, profile);
    ModelFormat *format = &model->formats[problem->dtype];
    const BevKernel *row = profile->kernel, *v3 = bev_v3();
    if (problem->dtype == model->dtype)
        model->kernels[traced_place(row)] = kernel;
    format->workload = workload_of(problem);
    if (row == v3->small_l2)
        format->small_l2 = kernel;
    else if (row == v3->large_l2)
        format->large_l2 = kernel;
    else
        format->other = kernel;
}

void model_set_recorded(MemoryModel *model, const BevKernel *row, BevDtype dtype, int gpu,
                        double warm_us, double cold_us) {
    ModelFormat *format = &model->formats[dtype];
    PredictedKernel *rows[] = {&model->kernels[traced_place(row)], &format->small_l2,
                               &format->large_l2, &format->other};
    const int first = dtype == model->dtype ? 0 : 1; /* model->kernels has one format only */
    for (int i = first; i < 4; i++)
        if (rows[i]->kernel == row) {
            rows[i]->recorded_us[gpu] = warm_us;
            rows[i]->recorded_cold_us[gpu] = cold_us;
        }
}

unsigned model_bits(const BevKernel *kernel) {
    if (kernel && kernel->large_l2)
        return model_bits(kernel->small_l2) | model_bits(kernel->large_l2);
    return kernel && kernel->access.owner ? 1u << traced_place(kernel) : 0;
}

double model_work(const BevShape *shape) {
    return 1e-9 * (double)(shape->cameras * shape->depth_bins * shape->feat_h * shape->feat_w) *
           (double)shape->channels;
}

/* Whether row `place` is one of the set, and takes the problem. */
static bool can_replay(const BevProblem *problem, unsigned kernels, int place) {
    return (kernels >> place & 1) && !bev_refuses(traced_kernel(place), problem);
}

const char *const stores_names[] = {"compiled", "plain", "streaming", NULL};

/* Replays row `place`, whose stores the model may change. The replay takes a changed copy of the
 * row, which ends with this function. So the profile is made to name the row itself. */
static bool make_profile(const MemoryModel *model, const BevProblem *problem, int place,
                         Profile *profile, Err *err) {
    const BevKernel *kernel = traced_kernel(place);
    BevKernel row = *kernel;
    if (model->stores)
        row.access.evict_first = row.fallback.evict_first = model->stores == STORES_STREAMING;
    const TraceWatch *no_watch = NULL;
    if (!profile_make(&row, problem, no_watch, profile, err))
        return false;
    profile->kernel = kernel;
    profile->counts.form =
        profile->counts.form == &row.access ? &kernel->access : &kernel->fallback;
    return true;
}

bool model_replay(MemoryModel *model, const BevProblem *problem, unsigned kernels, Err *err) {
    int count = 0;
    bool ok = true;
    for (int i = 0; i < model->kernel_count; i++)
        count += can_replay(problem, kernels, i);
    progress_expect(count * model_work(&problem->shape));
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < model->kernel_count; i++) {
        Profile profile;
        Err own;
        if (!can_replay(problem, kernels, i))
            continue;
        bool made = make_profile(model, problem, i, &profile, &own);
#pragma omp critical(model_replay)
        if (made)
            model_add(model, problem, &profile);
        else
            *err = own;
        if (made)
            profile_free(&profile);
        progress_done(model_work(&problem->shape));
        ok = made && ok;
    }
    return ok;
}
