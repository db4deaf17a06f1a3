/* Scatter maps for pictures that wait for them: built on the GPU where the kernel runs there, else
 * on the CPU; the same map, bit for bit. */
#ifndef BEV_MAP_BUILDER_H
#define BEV_MAP_BUILDER_H

#include "src/run/cuda/staging.h"
#include "src/scene/scatter.h"

/* What is kept for the next maps of the same sizes: a comparison builds two, of different aligns,
 * for every change of calibration. Zeroed: nothing yet. */
typedef struct {
    struct ScatterCuda *gpu[BEV_ALIGN_COUNT];
    BevShape shape;
} MapBuilder;

void map_builder_clear(MapBuilder *builder);

/* The map of `rig` in host memory: in `pinned` where the GPU builds it, else in malloc's. Where the
 * GPU cannot build it, for lack of memory say, the CPU does. Free with map_free. */
bool map_build(MapBuilder *builder, BevWhere where, const Rig *rig, BevAlign align,
               uint32_t camera_mask, BevMap *map, Staging *pinned, Err *err);

/* Both as map_build left them. */
void map_free(BevMap *map, Staging *pinned);

#endif
