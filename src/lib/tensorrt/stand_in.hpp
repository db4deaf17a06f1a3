/* SPDX-License-Identifier: MIT */
// A substitute map with the sizes of the real one: TensorRT's builder times plugins on memory that
// holds no map.
#pragma once

#include "src/lib/bevpool.h"

#include <cstdint>
#include <vector>

namespace bevpool {

struct StandIn {
    std::vector<std::int32_t> ranks_depth, ranks_feat, ranks_bev, starts, lengths;
    std::vector<float> weights;

    BevpoolArrays arrays() const;
};

// Makes a map with this number of points and, if the grid has room, of intervals. They are spread
// evenly over image columns, depths and cells. `weighted`: with weights.
StandIn make_stand_in(const BevpoolShape &shape, std::int64_t points, std::int64_t intervals,
                      bool weighted);

} // namespace bevpool
