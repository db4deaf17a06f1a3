#include "src/cachesim/trace_splats.h"

#include <stdlib.h>

/* Points in the order of their depths: next[d] is where the next one with depth rank d goes. */
static void order_points(const BevMap *map, int64_t depths, int32_t *next, int32_t *order) {
    for (int64_t t = 0; t < map->points; t++)
        next[map->ranks_depth[t] + 1]++;
    for (int64_t d = 1; d <= depths; d++)
        next[d] += next[d - 1];
    for (int64_t t = 0; t < map->points; t++)
        order[next[map->ranks_depth[t]]++] = (int32_t)t;
}

/* Neighbours of equal ranks, four at most, are one splat. */
static void join_points(const BevMap *map, const int32_t *order, Splats *splats) {
    Splat *last = NULL;
    for (int64_t i = 0; i < map->points; i++) {
        int32_t t = order[i], depth = map->ranks_depth[t], feat = map->ranks_feat[t];
        if (!last || last->cells == SPLAT_CELLS || last->depth != depth || last->feat != feat) {
            last = &splats->splats[splats->count++];
            *last = (Splat){.depth = depth, .feat = feat};
        }
        last->cell[last->cells++] = map->ranks_bev[t];
    }
}

bool splats_gather(const BevProblem *problem, Splats *splats, Err *err) {
    const BevMap *map = &problem->map;
    size_t points = (size_t)map->points, depths = (size_t)problem->depth.row_len;
    int32_t *next = calloc(depths + 1, sizeof *next);
    int32_t *order = malloc((points + 1) * sizeof *order);
    *splats = (Splats){.splats = malloc((points + 1) * sizeof *splats->splats)};
    bool ok = next && order && splats->splats;
    if (ok) {
        order_points(map, (int64_t)depths, next, order);
        join_points(map, order, splats);
    }
    free(next);
    free(order);
    if (ok)
        return true;
    splats_free(splats);
    return err_set(err, ERR_FAILED, "splats", "", "no memory for %zu points", points);
}

void splats_free(Splats *splats) {
    free(splats->splats);
    *splats = (Splats){0};
}
