#include "src/cli/model.h"
#include "src/cli/selection.h"

#include "config.h"
#include "kernels/cuda/v4/choices.h"
#include "kernels/threads.h"
#include "src/base/progress.h"
#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <math.h>
#include <string.h>

/* ---- profiles ------------------------------------------------------------------------------- */

double shape_work(const BevShape *shape) {
    return 1e-9 * (double)(shape->cameras * shape->depth_bins * shape->feat_h * shape->feat_w) *
           (double)shape->channels;
}

bool scene_model_profiles(const BevProblem *problem, unsigned kernels, Profile *profiles,
                          int *count, Err *err) {
    const BevKernel *chosen[SCENE_KERNELS], *kernel;
    Err errs[SCENE_KERNELS] = {0};
    bool ok = true;
    *count = 0;
    for (int i = 0; i < SCENE_KERNELS && (kernel = traced_kernel(i)); i++)
        if (kernels >> i & 1 && !bev_refuses(kernel, problem))
            chosen[(*count)++] = kernel;
    progress_expect(*count * shape_work(&problem->shape));
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < *count; i++) {
        ok = profile_make(chosen[i], problem, NULL, &profiles[i], &errs[i]) && ok;
        progress_done(shape_work(&problem->shape));
    }
    for (int i = 0; i < *count; i++)
        if (errs[i].kind)
            *err = errs[i];
    return ok;
}

bool scene_model_open(SceneModel *model, const char *scene, const Job *job, BevDtype dtype,
                      BevAlign align, unsigned kernels, Err *err) {
    *model = (SceneModel){.scene = scene};
    if (!select_open(&model->workload, scene, job, err))
        return false;
    workload_label(&model->workload.job, scene, model->label, sizeof model->label);
    if (!workload_problem(&model->workload, dtype, align, &model->problem, err))
        return false;
    return scene_model_profiles(&model->problem.view, kernels, model->profiles,
                                &model->profile_count, err);
}

void scene_model_close(SceneModel *model) {
    for (int i = 0; i < model->profile_count; i++)
        profile_free(&model->profiles[i]);
    problem_free(&model->problem);
    workload_close(&model->workload);
    *model = (SceneModel){0};
}

const char *scene_model_sampling(const SceneModel *model) {
    static char text[160];
    int sampled = 0;
    for (int i = 0; i < model->profile_count; i++)
        sampled += profile_is_sampled(&model->profiles[i]);
    snprintf(text, sizeof text,
             " Sampled: of the arrays of %d of %d kernels, larger than %d MB, one line in %d was "
             "followed through L2.",
             sampled, model->profile_count, TRACE_EXACT_MB, TRACE_ONE_IN);
    return sampled ? text : "";
}

BevV3Choice scene_model_v3_choice(const SceneModel *model, const Gpu *gpu) {
    const BevProblem *problem = &model->problem.view;
    BevWorkload workload = bev_workload(problem, bev_longest_interval(&problem->map));
    BevGpuFacts facts = gpu_facts(gpu);
    return bev_v3_choose(&workload, &facts);
}

void scene_model_bytes(const SceneModel *model, char footprint[32], char gathered[32]) {
    const BevProblem *problem = &model->problem.view;
    BevTraffic gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    unit_text(UNIT_BYTES, bev_footprint_total(bev_footprint(problem)), footprint, 32);
    unit_text(UNIT_BYTES, bev_traffic_total(gather), gathered, 32);
}

void scene_model_v4_choice(const SceneModel *model, const Gpu *gpu, char *text, size_t size) {
    const BevProblem *problem = &model->problem.view;
    const Profile *profile = NULL;
    for (int i = 0; i < model->profile_count; i++)
        if (model->profiles[i].kernel->access.owner == BEV_OWNS_TILE)
            profile = &model->profiles[i];
    if (!profile)
        snprintf(text, size, "%s", "");
    else if (!v4_channels_fit(problem))
        snprintf(text, size, "pieces: the number of channels is none for tensor cores");
    else if (profile->counts.form->owner == BEV_OWNS_PIECE)
        snprintf(text, size, "pieces: too few points a step of tensor cores");
    else if (problem->map.weights)
        snprintf(text, size, "tiles on tensor cores, depth transposed first: the map has weights");
    else
        snprintf(text, size,
                 "tiles on tensor cores; depth is %s (a launch that transposes it first pays "
                 "beyond %d points a multiprocessor; here %.0f)",
                 v4_transposes(problem, gpu->sms) ? "transposed first" : "read as it lies",
                 GATHERED_POINTS, (double)problem->map.points / gpu->sms);
}

unsigned kernel_bits(const BevKernel *kernel) {
    if (kernel && kernel->large_l2)
        return kernel_bits(kernel->small_l2) | kernel_bits(kernel->large_l2);
    return kernel && kernel->access.owner ? 1u << traced_place(kernel) : 0;
}

const Profile *scene_model_profile(const SceneModel *model, const char *kernel) {
    for (int i = 0; i < model->profile_count; i++)
        if (!strcmp(model->profiles[i].kernel->name, kernel))
            return &model->profiles[i];
    return NULL;
}

bool scene_model_is(const SceneModel *model, const RecordedRow *row) {
    const BevProblem *problem = &model->problem.view;
    return workload_as_calibrated(&model->workload) && !strcmp(row->scene, model->label) &&
           (!row->channels || row->channels == problem->shape.channels) &&
           !strcmp(row->dtype, bev_dtypes[problem->dtype].name) &&
           !strcmp(row->align, bev_aligns[problem->align].name);
}

bool scene_model_formats(const Options *options, BevDtype *dtype, BevAlign *align, Err *err) {
    KernelConfig formats[MAX_FORMATS];
    int count = select_formats(options, formats);
    *dtype = formats[0].dtype;
    *align = formats[0].align;
    if (formats[count - 1].dtype != *dtype)
        return err_set(err, ERR_USAGE, "--dtype", "draw one chart for each",
                       "'%s' is more than one format", options->dtype);
    if (formats[count - 1].align != *align)
        return err_set(err, ERR_USAGE, "--align", "draw one chart for each",
                       "'%s' is more than one align", options->align);
    return true;
}

/* ---- GPUs ----------------------------------------------------------------------------------- */

/* Tables have a column for the L2; other changes stand in the GPU's title. */
static void edit_gpu(const Options *options, Gpu *gpu, char *title, size_t size) {
    const GpuEdit all = {options->l2_mb, options->dram_gbps, (double)options->sms,
                         options->clock_ghz};
    GpuEdit named = all;
    char text[96];
    named.l2_mib = 0;
    gpu_edit_text(&named, text, sizeof text);
    *gpu = gpu_edited(gpu, &all);
    if (!gpu_edit_any(&named))
        return;
    snprintf(title, size, "%s%s", gpu->title, text);
    gpu->title = title;
}

bool chosen_open(const Options *options, unsigned fallback, ChosenGpus *chosen, Err *err) {
    unsigned none = options->gpu_file ? 0 : fallback;
    unsigned mask = choices_mask(CHOICE_GPU, options->gpu, none);
    *chosen = (ChosenGpus){0};
    for (int i = 0; i < gpu_count; i++)
        if (mask >> i & 1)
            chosen->gpus[chosen->count++] = gpus[i];
    if (options->gpu_file) {
        if (!gpu_file_read(options->gpu_file, &chosen->file, err))
            return false;
        chosen->gpus[chosen->count++] = gpu_file_row(&chosen->file);
    }
    for (int i = 0; i < chosen->count; i++)
        edit_gpu(options, &chosen->gpus[i], chosen->titles[i], sizeof chosen->titles[i]);
    recorded_load_samples(&chosen->recorded, NULL);
    return true;
}

void chosen_close(ChosenGpus *chosen) {
    recorded_free(&chosen->recorded);
}

bool chosen_is_changed(const Gpu *gpu) {
    const Gpu *row = gpu_find(gpu->name);
    const GpuEdit l2 = {.l2_mib = gpu->l2_bytes / 1048576};
    Gpu own = row ? gpu_edited(row, &l2) : *gpu;
    return !gpu_same(&own, gpu);
}

bool chosen_recorded_on(const Recording *recording, const Gpu *gpu) {
    const Gpu *on = gpu_of_device(recording->label);
    return on && gpu_same(on, gpu);
}

unsigned chosen_usual(void) {
    return 1u << (gpu_find("a6000") - gpus) | 1u << (gpu_find("pro6000") - gpus) |
           1u << (gpu_find("h200") - gpus);
}

static const RecordedRow *find_row(const Recording *recording, const SceneModel *model,
                                   const char *kernel, CacheState cache) {
    for (int j = 0; j < recording->row_count; j++) {
        const RecordedRow *row = &recording->rows[j];
        if (!strcmp(row->kernel, kernel) && !strcmp(row->cache, cache_names[cache]) &&
            scene_model_is(model, row))
            return row;
    }
    return NULL;
}

double chosen_recorded_us(const ChosenGpus *chosen, const Gpu *gpu, const SceneModel *model,
                          const char *kernel, CacheState cache, const Recording **from) {
    for (int i = 0; i < chosen->recorded.count; i++) {
        const Recording *recording = &chosen->recorded.recordings[i];
        const RecordedRow *row = chosen_recorded_on(recording, gpu)
                                     ? find_row(recording, model, kernel, cache)
                                     : NULL;
        if (row && from)
            *from = recording;
        if (row)
            return row->median_us;
    }
    return NAN;
}

double chosen_published_us(const Gpu *gpu, const SceneModel *model, const BevKernel *kernel) {
    const BevProblem *problem = &model->problem.view;
    const Gpu *known = gpu_find(gpu->name);
    if (!known || !gpu_same(known, gpu) || problem->align != BEV_NEAREST ||
        !workload_as_recorded(&model->workload))
        return NAN;
    const BevKernel *choice = scene_model_v3_choice(model, gpu).published;
    const Published *row =
        published_find(gpu->name, model->scene, problem->shape.channels,
                       published_column(kernel, choice), problem->dtype);
    return row ? row->latency_us : NAN;
}

/* Measures at the first call, once for all charts of a page. NULL: this machine has no such GPU. A
 * device that does not work is no error here: charts need none. */
static const Limits *measured(const Options *options, const Gpu *gpu) {
#ifdef HAVE_CUDA
    static DeviceInfo info;
    static Limits limits;
    static enum { UNKNOWN, NO, YES } here;
    if (here == UNKNOWN) {
        bool allowed = strcmp(options->device, "cpu") != 0;
        here = allowed && device_open(0, NULL) && device_info(&info, NULL) &&
                       probe_limits(PROBE_ALL, &limits, NULL)
                   ? YES
                   : NO;
    }
    return here == YES && gpu_of_device(info.name) == gpu_find(gpu->name) ? &limits : NULL;
#else
    (void)options, (void)gpu;
    return NULL;
#endif
}

Limits chosen_limits(const Options *options, const ChosenGpus *chosen, const Gpu *gpu,
                     FigureSource *source) {
    if (chosen_is_changed(gpu)) { /* no probe has seen such a GPU */
        *source = SOURCE_UNKNOWN;
        return limits_unknown();
    }
    const Limits *here = gpu_find(gpu->name) ? measured(options, gpu) : NULL;
    Limits limits = here ? *here : recorded_limits(&chosen->recorded, gpu);
    *source = here ? SOURCE_MEASURED : limits_any(&limits) ? SOURCE_RECORDED : SOURCE_UNKNOWN;
    return limits;
}
