/* SPDX-License-Identifier: MIT */
// The inputs and the output of the plugin, and their sizes for libbevpool.
#pragma once

#include "src/lib/bevpool.h"
#include "src/lib/tensorrt/fields.hpp"

namespace bevpool {

// The inputs, in the order of BEVDet's plugins. Weights exist unless align is nearest.
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

// Returns the axis of the channels among the `rank` dimensions of feat.
inline std::int32_t channel_axis(const Fields &fields, std::int32_t rank) {
    return fields.channels_first() ? rank - 3 : rank - 1;
}

// Returns the axis of the output's channels: (B, bev_h, bev_w, C), or (B, C, bev_h, bev_w).
enum { OUT_RANK = 4 };
inline std::int32_t out_channel_axis(const Fields &fields) {
    return channel_axis(fields, OUT_RANK);
}

struct Sizes {
    BevpoolShape shape{};
    std::int64_t channels = 0, points = 0, intervals = 0;
};

// Reads sizes from the dimensions of all inputs. False: *problem names the input that does not fit.
bool read_sizes(const Fields &fields, const nvinfer1::Dims *inputs, std::int32_t count,
                Sizes *sizes, std::string *problem);

// dtype_of returns the BevpoolDtype of a type; -1: libbevpool has none.
std::int32_t dtype_of(nvinfer1::DataType type);
std::int64_t element_bytes(nvinfer1::DataType type);

// Returns a plan's options for feat and output as they lie in memory. With softmax the options
// point at *view, which is filled in.
BevpoolOptions options_of(const Fields &fields, const Sizes &sizes,
                          const nvinfer1::PluginTensorDesc &feat,
                          const nvinfer1::PluginTensorDesc &out, BevpoolView *view);

} // namespace bevpool
