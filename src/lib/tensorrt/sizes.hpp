// The inputs and the output as the plugin sees them, and their sizes for libbevpool.
#pragma once

#include "src/lib/bevpool.h"
#include "src/lib/tensorrt/fields.hpp"

namespace bevpool {

// Inputs in the order of BEVDet's plugins. Weights are there unless align is nearest.
enum Input {
    DEPTH,            // (N, D, H, W), or (B, N, D, H, W); logits with softmax
    FEAT,             // (N, H, W, C), or (N, C, H, W) with layout nchw; or with B before it
    RANKS_DEPTH,      // [points], INT32
    RANKS_FEAT,       // [points], INT32
    RANKS_BEV,        // [points], INT32
    INTERVAL_STARTS,  // [intervals], INT32
    INTERVAL_LENGTHS, // [intervals], INT32
    WEIGHTS,          // [points], FP32
    MOST_INPUTS
};

inline std::int32_t input_count(const Fields &fields) {
    return fields.weighted() ? MOST_INPUTS : WEIGHTS;
}

// Where the channels of feat stand among its `rank` dimensions.
inline std::int32_t channel_axis(const Fields &fields, std::int32_t rank) {
    return fields.channels_first() ? rank - 3 : rank - 1;
}

// Where the channels of the output stand: (B, bev_h, bev_w, C), or (B, C, bev_h, bev_w).
enum { OUT_RANK = 4 };
inline std::int32_t out_channel_axis(const Fields &fields) {
    return channel_axis(fields, OUT_RANK);
}

struct Sizes {
    BevpoolShape shape{};
    std::int64_t channels = 0, points = 0, intervals = 0;
};

// Reads sizes off the dimensions of all inputs. False: *problem names the one that does not fit.
bool read_sizes(const Fields &fields, const nvinfer1::Dims *inputs, std::int32_t count,
                Sizes *sizes, std::string *problem);

// The format of a type, or -1: libbevpool has none.
std::int32_t dtype_of(nvinfer1::DataType type);
std::int64_t element_bytes(nvinfer1::DataType type);

// Feat and output as they lie in memory, for a plan. With softmax the options point at *view, which
// is filled in.
BevpoolOptions options_of(const Fields &fields, const Sizes &sizes,
                          const nvinfer1::PluginTensorDesc &feat,
                          const nvinfer1::PluginTensorDesc &out, BevpoolView *view);

} // namespace bevpool
