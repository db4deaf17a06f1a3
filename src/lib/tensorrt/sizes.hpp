/* SPDX-License-Identifier: MIT */
// The inputs and the output of the plugin: the types and formats that it takes, and their sizes for
// libbevpool.
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

// Reads sizes from the dimensions of all inputs. Throws a Problem that names an input which does
// not fit.
Sizes read_sizes(const Fields &fields, const std::vector<nvinfer1::Dims> &inputs);

// Returns a tensor of a launch as libbevpool takes it. `scale` counts in FP8 alone.
BevpoolTensor tensor_of(const nvinfer1::PluginTensorDesc &desc, const void *data, float scale);

// Returns whether tensor number `pos` may have its described type and format. Inputs come first,
// then the output. The tensors before `pos` are settled.
bool takes_format(const Fields &fields, std::int32_t pos,
                  const nvinfer1::DynamicPluginTensorDesc *tensors, std::int32_t inputs,
                  std::int32_t outputs);

// Returns a plan's options for feat and output as they lie in memory. With softmax the options
// point at *view, which is filled in.
BevpoolOptions options_of(const Fields &fields, const Sizes &sizes,
                          const nvinfer1::PluginTensorDesc &feat,
                          const nvinfer1::PluginTensorDesc &out, BevpoolView *view);

} // namespace bevpool
