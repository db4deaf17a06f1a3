#include "src/cli/list.h"

#include "src/run/bench.h"
#include "src/cli/plots.h"
#include "src/scene/presets.h"
#include "src/scene/scene.h"
#include "src/view/draw/colormap.h"
#include "src/view/bev/decode.h"

/* Samples are whatever lies in the folder, so that a user's own file there is listed too. */
static void list_samples(FILE *out) {
    enum { NAMES_MAX = 256 };
    SceneName names[NAMES_MAX];
    size_t count = scene_names(names, NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        Scene scene;
        if (!names[i].is_config && scene_load(names[i].name, &scene, NULL)) {
            fprintf(out, "  %-16s %s\n", names[i].name, scene.title);
            scene_free(&scene);
        }
    }
}

static void list_configs(FILE *out) {
    for (int i = 0; i < preset_total; i++)
        fprintf(out, "  %-16s %d x %d features, depth step %g m, %d x %d cells, C = %lld\n",
                configs[i].name, configs[i].feat_w, configs[i].feat_h, configs[i].depth_step_m,
                configs[i].cells, configs[i].cells, (long long)configs[i].channels);
}

void list_everything(FILE *out) {
    fputs("Sample scenes:\n", out);
    list_samples(out);
    fprintf(out, "\nConfigurations (the world of %s; the first %d are what bench runs):\n",
            preset_world, preset_count);
    list_configs(out);
    bool all = bev_default(BEV_CUDA) != NULL;
    fprintf(out, "\nKernels, in lesson order%s:\n",
            all ? "" : " (built without CUDA: those on cuda can be simulated, not run)");
    for (int i = 0; bev_kernels[i]; i++)
        fprintf(out, "  %-16s %-5s %s%s\n", bev_kernels[i]->name,
                where_names[bev_kernels[i]->where], bev_kernels[i]->idea,
                bev_kernels[i]->model_only ? " (model only: no kernel here)" : "");
    fputs("\nNumber formats:\n", out);
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        fprintf(out, "  %-16s %2d bits, scale %s\n", bev_dtypes[i].name, bev_dtypes[i].bits,
                bev_dtypes[i].scaling);
    fputs("\nAligns:\n", out);
    for (int i = 0; i < BEV_ALIGN_COUNT; i++)
        fprintf(out, "  %-16s %s\n", bev_aligns[i].name, bev_aligns[i].idea);
    fputs("\nViews:\n", out);
    for (int i = 0; i < VIEW_COUNT; i++)
        fprintf(out, "  %-16s %s\n", views[i].name, views[i].title);
    fputs("\nCharts (bevscope plot):\n", out);
    for (int i = 0; i < plot_kind_count; i++)
        fprintf(out, "  %-16s %s\n", plot_kinds[i].name, plot_kinds[i].summary);
    fputs("\nGPUs to model:\n", out);
    for (int i = 0; i < gpu_count; i++)
        fprintf(out, "  %-16s %s, %d multiprocessors, %g MiB of L2, %g GB/s\n", gpus[i].name,
                gpus[i].title, gpus[i].sms, gpus[i].l2_bytes / 1048576, gpus[i].dram_gbps);
    fputs("\nColour maps:\n", out);
    for (int i = 0; i < colormap_count; i++)
        fprintf(out, "  %-16s %s\n", colormaps[i].name, colormaps[i].idea);
}
