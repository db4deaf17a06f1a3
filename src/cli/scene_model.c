/* SPDX-License-Identifier: MIT */
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a scene and its memory model ------------------------------------------------------------ */

bool scene_model_open(SceneModel *model, const char *scene, const Options *options, BevDtype dtype,
                      BevAlign align, const ChosenGpus *chosen, unsigned kernels, Err *err) {
    Gpu list[MODEL_GPUS]; /* the chosen GPUs, then all other GPUs of the table */
    int count = chosen->count;
    *model = (SceneModel){.scene = scene};
    if (!select_open(&model->workload, scene, options, err) ||
        (options && !select_use_fault(options, &model->workload, err)))
        return false;
    workload_label(&model->workload.job, scene, model->label, sizeof model->label);
    if (!workload_problem(&model->workload, dtype, align, &model->problem, err))
        return false;
    model->memory = malloc(sizeof *model->memory);
    if (!model->memory)
        return err_no_memory(err, "memory model", "");
    memcpy(list, chosen->gpus, (size_t)count * sizeof *list);
    for (int i = 0; i < gpu_count && count < MODEL_GPUS; i++) {
        bool known = false;
        for (int j = 0; j < chosen->count; j++)
            known = known || !strcmp(chosen->gpus[j].title, gpus[i].title);
        if (!known)
            list[count++] = gpus[i];
    }
    model_begin(model->memory, &model->problem.view, list, count);
    model->memory->stores = chosen->stores;
    return scene_model_replay(model, chosen, &model->problem.view, kernels, err);
}

void scene_model_close(SceneModel *model) {
    free(model->memory);
    problem_free(&model->problem);
    workload_close(&model->workload);
    *model = (SceneModel){0};
}

/* Returns the recorded latency of a kernel on this GPU. NaN: it was not recorded. */
static double recorded_us(const SceneModel *model, const ChosenGpus *chosen, const Gpu *gpu,
                          const BevKernel *kernel, BevDtype dtype, CacheState cache) {
    const BevProblem *problem = &model->problem.view;
    if (!inputs_as_calibrated(model->workload.scene, &model->workload.job))
        return NAN; /* recordings are of rigs without a fault */
    for (int i = 0; i < chosen->recorded.count; i++) {
        const RecordedSet one = {&chosen->recorded.recordings[i], 1};
        if (!is_recorded_on(one.recordings, gpu))
            continue;
        const RecordedRow *row =
            recorded_row(&one, model->label, problem->shape.channels, kernel->name, dtype,
                         problem->align, cache_names[cache], NULL);
        if (row)
            return row->median_us;
    }
    return NAN;
}

bool scene_model_replay(SceneModel *model, const ChosenGpus *chosen, const BevProblem *problem,
                        unsigned kernels, Err *err) {
    const BevKernel *kernel;
    BevDtype dtype = problem->dtype;
    if (!model_replay(model->memory, problem, kernels, err))
        return false;
    for (int i = 0; (kernel = traced_kernel(i)); i++)
        for (int g = 0; kernels >> i & 1 && g < chosen->count; g++) {
            const Gpu *gpu = &chosen->gpus[g];
            model_set_recorded(model->memory, kernel, dtype, g,
                               recorded_us(model, chosen, gpu, kernel, dtype, CACHE_WARM),
                               recorded_us(model, chosen, gpu, kernel, dtype, CACHE_COLD));
        }
    return true;
}

BevV3Choice scene_model_v3_choice(const SceneModel *model, const Gpu *gpu) {
    return model_v3_choice(&model->memory->formats[model->memory->dtype], gpu);
}

/* ---- GPUs ----------------------------------------------------------------------------------- */

bool chosen_open(const Options *options, unsigned fallback, ChosenGpus *chosen, Err *err) {
    unsigned none = options->gpu_file ? 0 : fallback;
    unsigned mask = choices_mask(CHOICE_GPU, options->gpu, none);
    *chosen = (ChosenGpus){
        .stores = (Stores)choices_or(CHOICE_STORES, options->stores, STORES_AS_COMPILED)};
    for (int i = 0; i < gpu_count; i++)
        if (mask >> i & 1)
            chosen->gpus[chosen->count++] = gpus[i];
    if (options->gpu_file) {
        if (!gpu_file_read(options->gpu_file, &chosen->file, err))
            return false;
        chosen->gpus[chosen->count++] = chosen->file.gpu;
    }
    /* The title names all changes but the L2's, whose size tables and charts show. */
    const GpuEdit all = {options->l2_mb, options->dram_gb_s, (double)options->sms,
                         options->clock_ghz};
    GpuEdit named = all;
    named.l2_mib = 0;
    for (int i = 0; i < chosen->count; i++) {
        Gpu *gpu = &chosen->gpus[i];
        *gpu = gpu_edited(gpu, &all);
        if (!gpu_edit_any(&named))
            continue;
        snprintf(chosen->titles[i], sizeof chosen->titles[i], "%s%s", gpu->title,
                 gpu_edit_text(&named).text);
        gpu->title = chosen->titles[i];
    }
    recorded_load_samples(&chosen->recorded, NULL);
    return true;
}

bool is_recorded_on(const Recording *recording, const Gpu *gpu) {
    const Gpu *on = gpu_of_device(recording->label);
    return on && gpu_same(on, gpu);
}

double published_us(const Gpu *gpu, const SceneModel *model, const BevKernel *kernel) {
    const BevProblem *problem = &model->problem.view;
    const Gpu *known = gpu_find(gpu->name);
    if (!known || !gpu_same(known, gpu) || problem->align != BEV_NEAREST ||
        !workload_as_recorded(&model->workload))
        return NAN;
    const BevKernel *choice = scene_model_v3_choice(model, gpu).published;
    const Published *row = published_find(gpu->name, model->scene, problem->shape.channels,
                                          published_column(kernel, choice), problem->dtype);
    return row ? row->latency_us : NAN;
}
