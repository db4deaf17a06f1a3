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

void map_builder_clear(MapBuilder *builder) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        scatter_cuda_close(builder->gpu[align]);
    *builder = (MapBuilder){.gpu = {NULL}};
}

static bool builder_fits(MapBuilder *builder, const Rig *rig, BevAlign align) {
    BevShape shape = rig_shape(rig, 1);
    if (memcmp(&builder->shape, &shape, sizeof shape) != 0)
        map_builder_clear(builder);
    builder->shape = shape;
    Err err;
    return builder->gpu[align] || scatter_cuda_open(&builder->gpu[align], rig, align, &err);
}

static void release(void *held) {
    staging_give(held);
    free(held);
}

/* Builds the map on the GPU and copies it to the host. False: the CPU has to build it. */
static bool build(void *gpu, BuiltMap *built) {
    MapBuilder *builder = gpu;
    BevMap on_device;
    Err err;
    Staging *pinned = calloc(1, sizeof *pinned);
    if (pinned && device_opened() && builder_fits(builder, &built->rig, built->align) &&
        scatter_cuda_build(builder->gpu[built->align], &built->rig, built->camera_mask, &on_device,
                           NULL, &err) &&
        scatter_cuda_download(&on_device, &built->map, pinned, &err)) {
        built->held = pinned;
        built->release = release;
        return true;
    }
    if (pinned)
        release(pinned);
    built->map = (BevMap){.points = 0};
    return false;
}

MapMaker map_builder_maker(MapBuilder *builder, BevWhere where) {
    return (MapMaker){where == BEV_CUDA ? build : NULL, builder};
}

#else

void map_builder_clear(MapBuilder *builder) {
    *builder = (MapBuilder){.gpu = {NULL}};
}

MapMaker map_builder_maker(MapBuilder *builder, BevWhere where) {
    (void)builder, (void)where;
    return (MapMaker){.build = NULL};
}

#endif
