#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/live/map_builder.h"

#include <string.h>

/* ---- on the GPU ------------------------------------------------------------------------------ */

#ifdef HAVE_CUDA

#include "src/run/cuda/device.h"
#include "src/run/cuda/scatter_cuda.h"

void map_builder_clear(MapBuilder *builder) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        scatter_cuda_close(builder->gpu[align]);
    *builder = (MapBuilder){.gpu = {NULL}};
}

static bool fit(MapBuilder *builder, const Rig *rig, BevAlign align) {
    BevShape shape = rig_shape(rig, 1);
    if (memcmp(&builder->shape, &shape, sizeof shape) != 0)
        map_builder_clear(builder);
    builder->shape = shape;
    Err err;
    return builder->gpu[align] || scatter_cuda_open(&builder->gpu[align], rig, align, &err);
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map, Staging *memory) {
    BevMap on_device;
    Err err;
    if (!device_opened() || !fit(builder, rig, align))
        return false;
    if (scatter_cuda_build(builder->gpu[align], rig, camera_mask, &on_device, NULL, &err) &&
        scatter_cuda_download(&on_device, map, memory, &err))
        return true;
    staging_give(memory);
    *memory = (Staging){.memory = NULL};
    return false;
}

static void give_back(const Staging *memory) {
    staging_give(memory);
}

#else

void map_builder_clear(MapBuilder *builder) {
    *builder = (MapBuilder){.gpu = {NULL}};
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map, Staging *memory) {
    (void)builder, (void)rig, (void)align, (void)camera_mask, (void)map, (void)memory;
    return false;
}

static void give_back(const Staging *memory) {
    (void)memory;
}

#endif

/* ---- either ---------------------------------------------------------------------------------- */

bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, Staging *pinned, Err *err) {
    *map = (BevMap){.points = 0};
    *pinned = (Staging){.memory = NULL};
    return (where == BEV_CUDA && build_on_gpu(builder, rig, align, camera_mask, map, pinned)) ||
           scatter_build(rig, align, camera_mask, map, err);
}

void map_free(BevMap *map, Staging *pinned) {
    if (!pinned->memory)
        scatter_free(map);
    give_back(pinned);
    *map = (BevMap){.points = 0};
    *pinned = (Staging){.memory = NULL};
}
