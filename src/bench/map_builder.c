#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/bench/map_builder.h"

#include <string.h>

#ifdef HAVE_CUDA

#include "src/bench/device.h"
#include "src/bench/scatter_cuda.h"

void map_builder_clear(MapBuilder *builder) {
    scatter_cuda_close(builder->gpu);
    *builder = (MapBuilder){.gpu = NULL};
}

static bool fit(MapBuilder *builder, const Rig *rig, BevAlign align) {
    BevShape shape = rig_shape(rig, 1);
    if (builder->gpu && builder->align == align && !memcmp(&builder->shape, &shape, sizeof shape))
        return true;
    map_builder_clear(builder);
    builder->shape = shape;
    builder->align = align;
    Err err;
    return scatter_cuda_open(&builder->gpu, rig, align, &err);
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map) {
    BevMap on_device;
    Err err;
    if (!device_opened() || !fit(builder, rig, align))
        return false;
    if (scatter_cuda_build(builder->gpu, rig, camera_mask, &on_device, NULL, &err) &&
        scatter_cuda_download(&on_device, map, &err))
        return true;
    scatter_free(map);
    return false;
}

#else

void map_builder_clear(MapBuilder *builder) {
    *builder = (MapBuilder){.gpu = NULL};
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map) {
    (void)builder, (void)rig, (void)align, (void)camera_mask, (void)map;
    return false;
}

#endif

bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, Err *err) {
    *map = (BevMap){.points = 0};
    return (where == BEV_CUDA && build_on_gpu(builder, rig, align, camera_mask, map)) ||
           scatter_build(rig, align, camera_mask, map, err);
}
