/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/stand_in.hpp"

#include <algorithm>

namespace bevpool {

BevpoolArrays StandIn::arrays() const {
    BevpoolArrays arrays{};
    arrays.points = static_cast<std::int64_t>(ranks_bev.size());
    arrays.intervals = static_cast<std::int64_t>(starts.size());
    arrays.ranks_depth = ranks_depth.data();
    arrays.ranks_feat = ranks_feat.data();
    arrays.ranks_bev = ranks_bev.data();
    arrays.interval_starts = starts.data();
    arrays.interval_lengths = lengths.data();
    arrays.weights = weights.empty() ? nullptr : weights.data();
    return arrays;
}

StandIn make_stand_in(const BevpoolShape &shape, std::int64_t points, std::int64_t intervals,
                      bool weighted) {
    StandIn map;
    std::int64_t cells = shape.batch * shape.nz * shape.ny * shape.nx;
    std::int64_t pixels = shape.feat_h * shape.feat_w;
    std::int64_t depths = shape.batch * shape.cameras * shape.depth_bins * pixels;
    intervals = std::min({intervals, points, cells});
    for (std::int64_t i = 0; i < intervals; i++) {
        std::int64_t start = i * points / intervals, end = (i + 1) * points / intervals;
        map.starts.push_back(static_cast<std::int32_t>(start));
        map.lengths.push_back(static_cast<std::int32_t>(end - start));
        for (std::int64_t t = start; t < end; t++) {
            // q numbers the depths in the order (camera, depth, w, h): columns stay together.
            std::int64_t q = points > depths ? t % depths : t * depths / points;
            std::int64_t h = q % shape.feat_h, w = q / shape.feat_h % shape.feat_w;
            std::int64_t plane = q / pixels, camera = plane / shape.depth_bins;
            std::int64_t pixel = h * shape.feat_w + w;
            map.ranks_depth.push_back(static_cast<std::int32_t>(plane * pixels + pixel));
            map.ranks_feat.push_back(static_cast<std::int32_t>(camera * pixels + pixel));
            map.ranks_bev.push_back(static_cast<std::int32_t>(i * cells / intervals));
        }
    }
    if (weighted)
        map.weights.assign(map.ranks_bev.size(), 0.25f);
    return map;
}

} // namespace bevpool
