/* IDEA    V2 as the article has it, which "iterates over channel tiles outside the scatter loop":
 *         `atomic` with the tiles of 8 channels outside the loop over points. A model only: there
 *         is no code for it here. Our `v2` is another loop, with an owner for each interval.
 * WHO     A thread owns a point and 8 channels; a row of the grid is a tile, which goes through all
 *         points again:
 *
 *             for each tile of 8 channels        tile 0   tile 1   ...   tile 9   (C = 80)
 *                 for each point                    t        t              t     same t, again
 *
 * MEMORY  Sums are the output itself, in FP32 (12.8 MB of the published 49 MB), added to by
 *         atomics: V3's writes "avoid atomics relative to the V2-style path".
 * COST    Tiles n = ceil(channels / 8). Per point 12 x n bytes of indices and n depths, per channel
 *         a feature and an atomic. C = 80: 25.1 MB of indices where 2.51 MB would do.
 * LIMITS  Read from the article's text and byte counts, not from its code, so what is shown for it
 *         is the model's and the published figures, never a measurement.
 * TRY     Compare its index bytes with those of `atomic`, where the tiles of a point are
 *         neighbours: `bevscope regime canonical`. */
#include "kernels/cuda/row.h"

/* clang-format off */
CUDA_ROW(v2_tiles) = {
    .name = "v2_tiles", .title = "V2 as published",
    .idea = "Each tile of 8 channels is a pass over all points, by atomics, and reads the indices "
            "again.",
    .published = "V2", .where = BEV_CUDA, .model_only = true, .dtypes = BEV_DENSE_DTYPES,
    .aligns = BEV_ALL_ALIGNS,
    .access = {.owner = BEV_OWNS_POINT, .sums = BEV_SUMS_ATOMIC, .tile = 8, .tiles_outside = true,
               .block = 256, .resident = 64, .load = 8, .store = 1, .ranks = 3, .stays = true,
               .indices_ahead = 1, .in_flight = 1, .point_instructions = 24},
    .unsupported = channels_unsupported,
};
/* clang-format on */
