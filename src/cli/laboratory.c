#include "src/cli/laboratory.h"

#include "src/cli/choices.h"
#include "kernels/cuda/v4/choices.h"
#include "src/cli/selection.h"

#include <math.h>
#include <string.h>

/* ---- profiles ------------------------------------------------------------------------------- */

bool lab_profiles(const BevProblem *problem, unsigned kernels, Profile *profiles, int *count,
                  Err *err) {
    const BevKernel *chosen[LAB_KERNELS], *kernel;
    Err errs[LAB_KERNELS] = {0};
    bool ok = true;
    *count = 0;
    for (int i = 0; i < LAB_KERNELS && (kernel = traced_kernel(i)); i++)
        if (kernels >> i & 1 && !bev_refuses(kernel, problem))
            chosen[(*count)++] = kernel;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < *count; i++)
        ok = profile_make(chosen[i], problem, NULL, &profiles[i], &errs[i]) && ok;
    for (int i = 0; i < *count; i++)
        if (errs[i].kind)
            *err = errs[i];
    return ok;
}

bool lab_open(Lab *lab, const char *scene, const WorkloadOptions *options, BevDtype dtype,
              BevAlign align, unsigned kernels, Err *err) {
    *lab = (Lab){0};
    return workload_open(&lab->workload, scene, options, err) &&
           workload_problem(&lab->workload, dtype, align, &lab->problem, err) &&
           lab_profiles(&lab->problem.view, kernels, lab->profiles, &lab->profile_count, err);
}

void lab_close(Lab *lab) {
    for (int i = 0; i < lab->profile_count; i++)
        profile_free(&lab->profiles[i]);
    problem_free(&lab->problem);
    workload_close(&lab->workload);
    *lab = (Lab){0};
}

const char *lab_sampling(const Lab *lab) {
    static char text[160];
    int sampled = 0;
    for (int i = 0; i < lab->profile_count; i++)
        sampled += profile_is_sampled(&lab->profiles[i]);
    snprintf(text, sizeof text,
             " Sampled: of the arrays of %d of %d kernels, larger than %d MB, one line in %d was "
             "followed through L2.",
             sampled, lab->profile_count, TRACE_EXACT_MB, TRACE_ONE_IN);
    return sampled ? text : "";
}

void lab_v4_choice(const Lab *lab, const Gpu *gpu, char *text, size_t size) {
    const BevProblem *problem = &lab->problem.view;
    const Profile *profile = NULL;
    for (int i = 0; i < lab->profile_count; i++)
        if (lab->profiles[i].kernel->access.owner == BEV_OWNS_TILE)
            profile = &lab->profiles[i];
    if (!profile)
        snprintf(text, size, "%s", "");
    else if (!v4_tile_channels(problem))
        snprintf(text, size, "pieces: the format or number of channels is none for tensor cores");
    else if (profile->counts.form->owner == BEV_OWNS_PIECE)
        snprintf(text, size, "pieces: too few points a step of tensor cores");
    else if (problem->map.weights)
        snprintf(text, size, "tiles on tensor cores, depth turned first: the map has weights");
    else
        snprintf(text, size,
                 "tiles on tensor cores, depth %s: %.0f points a multiprocessor; turned beyond %d",
                 v4_transposes(&problem->map, gpu->sms) ? "turned first" : "gathered",
                 (double)problem->map.points / gpu->sms, GATHERED_POINTS);
}

unsigned lab_kernel(const BevKernel *kernel) {
    if (kernel && kernel->large_l2)
        return lab_kernel(kernel->small_l2) | lab_kernel(kernel->large_l2);
    return kernel && kernel->access.owner ? 1u << traced_place(kernel) : 0;
}

const Profile *lab_profile(const Lab *lab, const char *kernel) {
    for (int i = 0; i < lab->profile_count; i++)
        if (!strcmp(lab->profiles[i].kernel->name, kernel))
            return &lab->profiles[i];
    return NULL;
}

/* ---- GPUs ----------------------------------------------------------------------------------- */

bool lab_gpus(const Options *options, unsigned fallback, LabGpus *lab, Err *err) {
    unsigned none = options->gpu_file ? 0 : fallback;
    unsigned mask = choices_mask(CHOICE_GPU, options->gpu, none);
    *lab = (LabGpus){0};
    for (int i = 0; i < gpu_count; i++)
        if (mask >> i & 1)
            lab->gpus[lab->count++] = gpus[i];
    if (options->gpu_file) {
        if (!gpu_file_read(options->gpu_file, &lab->file, err))
            return false;
        lab->gpus[lab->count++] = gpu_file_row(&lab->file);
    }
    for (int i = 0; options->l2_mb > 0 && i < lab->count; i++)
        lab->gpus[i].l2_bytes = options->l2_mb * 1048576;
    recorded_load_samples(&lab->recorded);
    return true;
}

void lab_gpus_free(LabGpus *lab) {
    recorded_free(&lab->recorded);
}

bool lab_taken_on(const Recording *recording, const Gpu *gpu) {
    const Gpu *on = gpu_of_device(recording->label);
    return on && !strcmp(on->name, gpu->name) && on->l2_bytes == gpu->l2_bytes;
}

double lab_recorded(const LabGpus *lab, const Gpu *gpu, const char *scene, const char *kernel,
                    BevDtype dtype, BevAlign align, CacheState cache) {
    for (int i = 0; i < lab->recorded.count; i++) {
        const Recording *recording = &lab->recorded.recordings[i];
        for (int j = 0; lab_taken_on(recording, gpu) && j < recording->row_count; j++) {
            const RecordedRow *row = &recording->rows[j];
            if (!recorded_is_experiment(row) && !strcmp(row->scene, scene) &&
                !strcmp(row->kernel, kernel) && !strcmp(row->dtype, bev_dtypes[dtype].name) &&
                !strcmp(row->align, bev_aligns[align].name) &&
                !strcmp(row->cache, cache_names[cache]))
                return row->median_us;
        }
    }
    return NAN;
}

double lab_published(const Lab *lab, const Gpu *gpu, const char *scene, const BevKernel *kernel) {
    const BevProblem *problem = &lab->problem.view;
    const Gpu *known = gpu_find(gpu->name);
    if (!known || known->l2_bytes != gpu->l2_bytes || problem->align != BEV_NEAREST)
        return NAN;
    const BevKernel *choice = bev_v3_choose(problem, gpu->l2_bytes).kernel;
    const Published *row =
        published_find(gpu->name, scene, published_column(kernel, choice), problem->dtype);
    return row ? row->latency_us : NAN;
}

bool lab_selection(const Options *options, BevDtype *dtype, BevAlign *align, Err *err) {
    unsigned dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP16);
    unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    *dtype = (BevDtype)__builtin_ctz(dtypes);
    *align = (BevAlign)__builtin_ctz(aligns);
    if (dtypes & (dtypes - 1))
        return err_set(err, ERR_USAGE, "--dtype", "draw one chart for each",
                       "'%s' is more than one format", options->dtype);
    if (aligns & (aligns - 1))
        return err_set(err, ERR_USAGE, "--align", "draw one chart for each",
                       "'%s' is more than one align", options->align);
    return true;
}
