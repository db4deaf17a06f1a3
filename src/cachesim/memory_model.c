#include "src/cachesim/memory_model.h"

#include <math.h>
#include <string.h>

const char *const chart_names[CHART_COUNT] = {"none", "mrc", "roofline", "working-set", "dtype"};

static const double LEAST_MIB = 1.0 / 32, MOST_MIB = 256;

double model_size_mib(int i) {
    return LEAST_MIB * pow(MOST_MIB / LEAST_MIB, (double)i / (MODEL_SIZES - 1));
}

double model_l2_bytes(const Gpu *gpu, int l2) {
    return l2 ? (double)(1 << l2) * 1048576 : gpu->l2_bytes;
}

/* cpu_v2 walks the map once for each tile of eight channels, as the published V2 does. */
const char *model_stream_name(const BevKernel *kernel) {
    if (!strcmp(kernel->name, "cpu_v2"))
        return "v2_tiles";
    return strncmp(kernel->name, "cpu_", 4) ? kernel->name : kernel->name + 4;
}

const PredictedKernel *model_kernel(const MemoryModel *model, const char *name) {
    for (int i = 0; i < model->kernel_count; i++)
        if (model->kernels[i].name && !strcmp(model->kernels[i].name, name))
            return &model->kernels[i];
    return NULL;
}

const PredictedKernel *model_v3(const ModelFormat *format, int gpu, int l2) {
    const PredictedKernel *form =
        format->takes_large[gpu][l2] ? &format->large_l2 : &format->small_l2;
    return form->name ? form : NULL;
}

const PredictedKernel *model_of_kernel(const MemoryModel *model, const BevKernel *kernel, int gpu,
                                       int l2) {
    const char *name = model_stream_name(kernel);
    if (!strcmp(name, "v3"))
        return model_v3(&model->formats[model->dtype], gpu, l2);
    return model_kernel(model, name);
}

double model_requested(const PredictedKernel *predicted) {
    return bev_traffic_total(predicted->requested);
}
