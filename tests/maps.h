/* Scatter maps for tests: comparing two of them, and computing the intervals of one. */
#pragma once

#include "kernels/bevpool.h"

#include <stdlib.h>
#include <string.h>

/* Elements of four bytes, as all arrays of a map have; both NULL: the same. */
static inline bool same_array(const void *a, const void *b, int64_t count) {
    return (!a && !b) || (a && b && !memcmp(a, b, (size_t)count * 4));
}

static inline bool same_map(const BevMap *a, const BevMap *b) {
    return a->points == b->points && a->intervals == b->intervals &&
           same_array(a->ranks_depth, b->ranks_depth, a->points) &&
           same_array(a->ranks_feat, b->ranks_feat, a->points) &&
           same_array(a->ranks_bev, b->ranks_bev, a->points) &&
           same_array(a->weights, b->weights, a->points) &&
           same_array(a->interval_starts, b->interval_starts, a->intervals) &&
           same_array(a->interval_lengths, b->interval_lengths, a->intervals);
}

/* Computes interval_starts and interval_lengths of a map whose ranks_bev is sorted. */
static inline bool map_find_intervals(BevMap *map, Err *err) {
    size_t bytes = (size_t)(map->points ? map->points : 1) * sizeof(int32_t);
    free(map->interval_starts);
    free(map->interval_lengths);
    map->interval_starts = malloc(bytes);
    map->interval_lengths = malloc(bytes);
    map->intervals = 0;
    if (!map->interval_starts || !map->interval_lengths)
        return err_set(err, ERR_FAILED, "intervals", "", "out of memory");
    for (int64_t t = 0; t < map->points; t++) {
        if (t == 0 || map->ranks_bev[t] != map->ranks_bev[t - 1]) {
            map->interval_starts[map->intervals] = (int32_t)t;
            map->interval_lengths[map->intervals++] = 0;
        }
        map->interval_lengths[map->intervals - 1]++;
    }
    return true;
}
