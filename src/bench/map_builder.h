/* Scatter maps for pictures that wait for them: built on the GPU where the kernel runs there, else
 * on the CPU; the same map, bit for bit. */
#ifndef BEV_MAP_BUILDER_H
#define BEV_MAP_BUILDER_H

#include "src/model/scatter.h"

/* What is kept for the next map of the same sizes. Zeroed: nothing yet. */
typedef struct {
    struct ScatterCuda *gpu;
    BevShape shape;
    BevAlign align;
} MapBuilder;

/* The map of `rig` in host memory; free with scatter_free. Where the GPU cannot build it, for lack
 * of memory say, the CPU does. */
bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, Err *err);

void map_builder_clear(MapBuilder *builder);

#endif
