/* SPDX-License-Identifier: MIT */
/* A map small enough to pool by hand: 1 camera, 2 bins, 1 x 2 pixels, 2 x 1 cells; 3 points in 2 of
 * them. */
#pragma once

#include "tests/lib/lib_case.h"

static const BevpoolShape shape = {1, 1, 2, 1, 2, 1, 1, 2};
static int32_t ranks_depth[] = {0, 3, 1}, ranks_feat[] = {0, 1, 1}, ranks_bev[] = {0, 0, 1};
static int32_t starts[] = {0, 2}, lengths[] = {2, 1};

static inline BevpoolArrays arrays_of(void) {
    return (BevpoolArrays){3, 2, ranks_depth, ranks_feat, ranks_bev, starts, lengths, NULL};
}
