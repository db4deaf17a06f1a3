/* SPDX-License-Identifier: MIT */
/* Scatter maps that the GPU builds, in pinned memory of the host. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/live/inputs.h"

#ifdef HAVE_CUDA

#include "src/run/cuda/device.h"
#include "src/run/cuda/scatter_cuda.h"

#include <stdlib.h>
#include <string.h>

/* Opens the device memory for maps of this rig, unless it is open. */
static bool open_builder(MapBuilder *builder, const Rig *rig, BevAlign align) {
    BevShape shape = rig_shape(rig, 1);
    if (memcmp(&builder->shape, &shape, sizeof shape) != 0)
        map_builder_clear(builder);
    builder->shape = shape;
    Err err;
    return builder->gpu[align] || scatter_cuda_open(&builder->gpu[align], rig, align, &err);
}

/* Gives the pinned memory of a map back. */
static void release_map(void *held) {
    staging_give(held);
    free(held);
}

/* Builds the map on the GPU and copies it to the host. False: the CPU has to build it. */
static bool build_on_gpu(void *gpu, BuiltMap *built) {
    MapBuilder *builder = gpu;
    BevMap on_device;
    Err err;
    Staging *pinned = calloc(1, sizeof *pinned);
    if (pinned && device_opened() && open_builder(builder, &built->rig, built->align) &&
        scatter_cuda_build(builder->gpu[built->align], &built->rig, built->camera_mask, &on_device,
                           NULL, &err) &&
        scatter_cuda_download(&on_device, &built->map, pinned, &err)) {
        built->held = pinned;
        built->release = release_map;
        return true;
    }
    if (pinned)
        release_map(pinned);
    built->map = (BevMap){.points = 0};
    return false;
}

#endif

void map_builder_clear(MapBuilder *builder) {
#ifdef HAVE_CUDA
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        scatter_cuda_close(builder->gpu[align]);
#endif
    *builder = (MapBuilder){.gpu = {NULL}};
}

MapMaker map_builder_maker(MapBuilder *builder, BevWhere where) {
    MapMaker maker = {.gpu = builder};
#ifdef HAVE_CUDA
    maker.build = where == BEV_CUDA ? build_on_gpu : NULL;
#else
    (void)where;
#endif
    return maker;
}
