/* Scatter maps for pictures that wait for them: built on the GPU where the kernel runs there, else
 * on the CPU; the same map, bit for bit. */
#ifndef BEV_MAP_BUILDER_H
#define BEV_MAP_BUILDER_H

#include "src/run/cuda/device.h"
#include "src/scene/scatter.h"

/* What is kept for the next maps of the same sizes: a comparison builds two, of different aligns,
 * for every change of calibration. Zeroed: nothing yet. */
typedef struct {
    struct ScatterCuda *gpu[BEV_ALIGN_COUNT];
    BevShape shape;
} MapBuilder;

void map_builder_clear(MapBuilder *builder);

/* Where a map's arrays lie. Zeroed: each is malloc's own. */
typedef struct {
    Staging pinned; /* where the GPU built the map */
    void *block;    /* where the CPU did, of the blocks that go from map to map */
    size_t block_bytes;
} MapMemory;

/* The map of `rig` in host memory; free with map_free. Where the GPU cannot build it, for lack of
 * memory say, the CPU does. */
bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, MapMemory *memory, Err *err);

/* Both as map_build left them. */
void map_free(BevMap *map, MapMemory *memory);

/* The next maps have another size: no memory is kept for more like the last ones. */
void maps_change_size(void);

#endif
