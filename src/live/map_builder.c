#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/live/map_builder.h"

#include "src/base/mem_pool.h"

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

/* ---- on the CPU ------------------------------------------------------------------------------ */

static MemPool blocks = MEM_POOL; /* of weighted maps, which are four times as large */

void maps_change_size(void) {
    mem_pool_empty(&blocks);
}

static bool build_on_cpu(const Rig *rig, BevAlign align, uint32_t camera_mask, BevMap *map,
                         MapMemory *memory, Err *err) {
    if (align == BEV_NEAREST)
        return scatter_build(rig, align, camera_mask, map, err);
    memory->block_bytes = scatter_bytes(rig, align);
    memory->block = mem_pool_take(&blocks, memory->block_bytes);
    if (!memory->block)
        return err_set(err, ERR_FAILED, "scatter map", "use fewer cells, bins or pixels",
                       "no memory for %zu bytes", memory->block_bytes);
    if (scatter_build_into(rig, align, camera_mask, memory->block, map, err))
        return true;
    map_free(map, memory);
    return false;
}

/* ---- either ---------------------------------------------------------------------------------- */

bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, MapMemory *memory, Err *err) {
    *map = (BevMap){.points = 0};
    *memory = (MapMemory){.block = NULL};
    return (where == BEV_CUDA &&
            build_on_gpu(builder, rig, align, camera_mask, map, &memory->pinned)) ||
           build_on_cpu(rig, align, camera_mask, map, memory, err);
}

void map_free(BevMap *map, MapMemory *memory) {
    if (!memory->pinned.memory && !memory->block)
        scatter_free(map);
    give_back(&memory->pinned);
    mem_pool_give(&blocks, memory->block, memory->block_bytes);
    *map = (BevMap){.points = 0};
    *memory = (MapMemory){.block = NULL};
}
