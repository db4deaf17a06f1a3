/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/sizes.hpp"

#include <algorithm>

namespace bevpool {
namespace {

const char *const names[MOST_INPUTS] = {"depth",
                                        "feat",
                                        "ranks_depth",
                                        "ranks_feat",
                                        "ranks_bev",
                                        "interval_starts",
                                        "interval_lengths",
                                        "weights"};

std::string text_of(const nvinfer1::Dims &dims) {
    std::string text = "(";
    for (std::int32_t i = 0; i < dims.nbDims; i++)
        text += (i ? ", " : "") + std::to_string(dims.d[i]);
    return text + ")";
}

bool is_list(const nvinfer1::Dims *inputs, std::int32_t input, std::int64_t length,
             std::string *problem) {
    if (inputs[input].nbDims == 1 && inputs[input].d[0] == length)
        return true;
    *problem = std::string(names[input]) + ": is " + text_of(inputs[input]) + ", expected (" +
               std::to_string(length) + ")";
    return false;
}

} // namespace

bool read_sizes(const Fields &fields, const nvinfer1::Dims *inputs, std::int32_t count,
                Sizes *sizes, std::string *problem) {
    if (count != input_count(fields)) {
        *problem = std::to_string(count) + " inputs, expected " +
                   std::to_string(input_count(fields)) + " with align " + fields.align;
        return false;
    }
    const nvinfer1::Dims &depth = inputs[DEPTH], &feat = inputs[FEAT];
    std::int32_t rank = depth.nbDims, first = rank - 4;
    if ((rank != 4 && rank != 5) || feat.nbDims != rank) {
        *problem = "depth is " + text_of(depth) + ", feat is " + text_of(feat) +
                   ", expected (N, D, H, W) or (B, N, D, H, W), and as many of feat";
        return false;
    }
    std::int32_t c = channel_axis(fields, rank), h = c == rank - 1 ? rank - 3 : rank - 2;
    sizes->shape = {rank == 5 ? depth.d[0] : 1,
                    depth.d[first],
                    depth.d[first + 1],
                    depth.d[first + 2],
                    depth.d[first + 3],
                    1,
                    fields.bev_h,
                    fields.bev_w};
    sizes->channels = feat.d[c];
    if (feat.d[0] != depth.d[0] || feat.d[first] != depth.d[first] ||
        feat.d[h] != depth.d[first + 2] || feat.d[h + 1] != depth.d[first + 3]) {
        *problem = "depth is " + text_of(depth) + ", feat is " + text_of(feat) + " with layout " +
                   fields.layout + ": cameras, H and W differ";
        return false;
    }
    sizes->points = inputs[RANKS_BEV].nbDims == 1 ? inputs[RANKS_BEV].d[0] : -1;
    sizes->intervals = inputs[INTERVAL_STARTS].nbDims == 1 ? inputs[INTERVAL_STARTS].d[0] : -1;
    for (std::int32_t i = RANKS_DEPTH; i < count; i++) {
        bool interval = i == INTERVAL_STARTS || i == INTERVAL_LENGTHS;
        if (!is_list(inputs, i, interval ? sizes->intervals : sizes->points, problem))
            return false;
    }
    return true;
}

std::int32_t dtype_of(nvinfer1::DataType type) {
    switch (type) {
    case nvinfer1::DataType::kFLOAT:
        return BEVPOOL_FP32;
    case nvinfer1::DataType::kHALF:
        return BEVPOOL_FP16;
    case nvinfer1::DataType::kBF16:
        return BEVPOOL_BF16;
    case nvinfer1::DataType::kFP8:
        return BEVPOOL_FP8;
    default:
        return -1;
    }
}

std::int64_t element_bytes(nvinfer1::DataType type) {
    return type == nvinfer1::DataType::kFLOAT ? 4 : type == nvinfer1::DataType::kFP8 ? 1 : 2;
}

BevpoolOptions options_of(const Fields &fields, const Sizes &sizes,
                          const nvinfer1::PluginTensorDesc &feat,
                          const nvinfer1::PluginTensorDesc &out, BevpoolView *view) {
    auto layout = [&](const nvinfer1::PluginTensorDesc &desc) {
        bool first = fields.channels_first() && desc.format == nvinfer1::TensorFormat::kLINEAR;
        return first ? BEVPOOL_CHANNELS_FIRST : BEVPOOL_CHANNELS_LAST;
    };
    BevpoolOptions options{};
    options.size = sizeof options;
    options.channels = sizes.channels;
    options.dtype = dtype_of(feat.type);
    options.feat_layout = layout(feat);
    options.out_layout = layout(out);
    if (fields.softmax) {
        const BevpoolShape &s = sizes.shape;
        std::int64_t row = s.feat_w * sizes.channels;
        *view = {};
        view->softmax = 1;
        if (options.feat_layout == BEVPOOL_CHANNELS_LAST) {
            const std::int64_t strides[] = {s.feat_h * row, 1, row, sizes.channels};
            std::copy(strides, strides + 4, view->feat_strides);
        }
        options.view = view;
    }
    return options;
}

} // namespace bevpool
