/* SPDX-License-Identifier: MIT */
/* Scatter maps for tests: comparing two of them. */
#pragma once

#include "kernels/bevpool.h"

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
