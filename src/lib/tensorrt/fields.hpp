/* SPDX-License-Identifier: MIT */
// The user's settings of the plugin: the attributes of an ONNX node, which an engine stores.
#pragma once

#include <NvInferRuntime.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace bevpool {

// The reason why a call of TensorRT fails, in one line for its log. Functions throw a Problem, and
// the plugin's methods catch it.
struct Problem : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Fields {
    std::int32_t bev_h = 0, bev_w = 0; // cells of the grid; must be given
    std::string align = "nearest";     // nearest, bilinear or bev-align: the last two take weights
    std::string layout = "nhwc";       // of feat and output: nhwc, as BEVDet's plugins, or nchw
    std::string kernel;                // a name from bevpool_kernel_name; "": the fastest kernel
    std::int32_t static_map = 0;       // 1: the map never changes; the first launch plans it
    std::int32_t softmax = 0;          // 1: depth holds logits: the whole view transform
    float depth_scale = 1, feat_scale = 1, out_scale = 1; // FP8: value = code * scale

    bool weighted() const {
        return align != "nearest";
    }
    bool channels_first() const {
        return layout == "nchw";
    }
};

// Reads the fields of a collection. Throws a Problem that describes the mistake.
Fields read_fields(const nvinfer1::PluginFieldCollection *collection);

// Returns the fields as a collection. It points into `fields`, and `list` holds its entries.
nvinfer1::PluginFieldCollection list_fields(const Fields &fields,
                                            std::vector<nvinfer1::PluginField> *list);

// Returns all fields as one line: "bev_h=128 bev_w=128 ...".
std::string describe(const Fields &fields);

} // namespace bevpool
