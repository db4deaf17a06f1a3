/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/sizes.hpp"

#include <algorithm>

namespace bevpool {
namespace {

using nvinfer1::DataType;
using nvinfer1::TensorFormat;

const char *const names[MOST_INPUTS] = {
    "depth",     "feat",            "ranks_depth",      "ranks_feat",
    "ranks_bev", "interval_starts", "interval_lengths", "weights"};

std::string text_of(const nvinfer1::Dims &dims) {
    std::string text = "(";
    for (std::int32_t i = 0; i < dims.nbDims; i++)
        text += (i ? ", " : "") + std::to_string(dims.d[i]);
    return text + ")";
}

void check_list(const char *name, const nvinfer1::Dims &dims, std::int64_t length) {
    if (dims.nbDims != 1 || dims.d[0] != length)
        throw Problem(std::string(name) + ": is " + text_of(dims) + ", expected (" +
                      std::to_string(length) + ")");
}

// A type that the plugin takes. `last` is TensorRT's dense format of tensors (..., C, H, W) with
// channels last, where C must be a multiple of `vector`.
struct Type {
    DataType type;
    std::int32_t dtype; // a BevpoolDtype
    std::int64_t bytes;
    TensorFormat last;
    std::int64_t vector;
};

const Type types[] = {
    {DataType::kFLOAT, BEVPOOL_FP32, 4, TensorFormat::kHWC, 1},
    {DataType::kHALF, BEVPOOL_FP16, 2, TensorFormat::kHWC8, 8},
    {DataType::kBF16, BEVPOOL_BF16, 2, TensorFormat::kHWC8, 8},
    {DataType::kFP8, BEVPOOL_FP8, 1, TensorFormat::kHWC16, 16},
};

// Returns the row of a type; NULL: libbevpool has none.
const Type *find_type(DataType type) {
    const Type *row = std::find_if(std::begin(types), std::end(types),
                                   [&](const Type &one) { return one.type == type; });
    return row == std::end(types) ? nullptr : row;
}

// Returns whether feat or output may have this format: linear, or channels last without gaps.
// Unless the channels are known when the network is built, only linear is allowed.
bool takes_layout(const Fields &fields, const nvinfer1::PluginTensorDesc &tensor) {
    const Type *type = find_type(tensor.type);
    if (tensor.format == TensorFormat::kLINEAR)
        return true;
    if (!fields.channels_first() || tensor.dims.nbDims < OUT_RANK || !type ||
        tensor.format != type->last)
        return false;
    std::int64_t channels = tensor.dims.d[channel_axis(fields, tensor.dims.nbDims)];
    return channels > 0 && channels % type->vector == 0;
}

} // namespace

Sizes read_sizes(const Fields &fields, const std::vector<nvinfer1::Dims> &inputs) {
    std::int32_t count = static_cast<std::int32_t>(inputs.size());
    if (count != input_count(fields))
        throw Problem(std::to_string(count) + " inputs, expected " +
                      std::to_string(input_count(fields)) + " with align " + fields.align);
    const nvinfer1::Dims &depth = inputs[DEPTH], &feat = inputs[FEAT];
    std::int32_t rank = depth.nbDims, first = rank - 4;
    std::string both = "depth is " + text_of(depth) + ", feat is " + text_of(feat);
    if ((rank != 4 && rank != 5) || feat.nbDims != rank)
        throw Problem(both + ", expected (N, D, H, W) or (B, N, D, H, W), and as many of feat");
    std::int32_t c = channel_axis(fields, rank), h = c == rank - 1 ? rank - 3 : rank - 2;
    Sizes sizes;
    sizes.shape = {rank == 5 ? depth.d[0] : 1,
                   depth.d[first],
                   depth.d[first + 1],
                   depth.d[first + 2],
                   depth.d[first + 3],
                   1,
                   fields.bev_h,
                   fields.bev_w};
    sizes.channels = feat.d[c];
    if (feat.d[0] != depth.d[0] || feat.d[first] != depth.d[first] ||
        feat.d[h] != depth.d[first + 2] || feat.d[h + 1] != depth.d[first + 3])
        throw Problem(both + " with layout " + fields.layout + ": cameras, H and W differ");
    sizes.points = inputs[RANKS_BEV].nbDims == 1 ? inputs[RANKS_BEV].d[0] : -1;
    sizes.intervals = inputs[INTERVAL_STARTS].nbDims == 1 ? inputs[INTERVAL_STARTS].d[0] : -1;
    for (std::size_t i = RANKS_DEPTH; i < inputs.size(); i++) {
        bool interval = i == INTERVAL_STARTS || i == INTERVAL_LENGTHS;
        check_list(names[i], inputs[i], interval ? sizes.intervals : sizes.points);
    }
    return sizes;
}

BevpoolTensor tensor_of(const nvinfer1::PluginTensorDesc &desc, const void *data, float scale) {
    const Type *type = find_type(desc.type);
    std::int64_t bytes = type->bytes;
    for (std::int32_t i = 0; i < desc.dims.nbDims; i++)
        bytes *= desc.dims.d[i];
    return {const_cast<void *>(data), static_cast<std::size_t>(bytes), type->dtype,
            desc.type == DataType::kFP8 ? scale : 1};
}

bool takes_format(const Fields &fields, std::int32_t pos,
                  const nvinfer1::DynamicPluginTensorDesc *tensors, std::int32_t inputs,
                  std::int32_t outputs) {
    if (inputs != input_count(fields) || outputs != 1 || pos < 0 || pos > inputs)
        return false;
    const nvinfer1::PluginTensorDesc &tensor = tensors[pos].desc;
    bool linear = tensor.format == TensorFormat::kLINEAR;
    if (pos == DEPTH)
        return linear && find_type(tensor.type) &&
               !(fields.softmax && tensor.type == DataType::kFP8);
    if (pos == FEAT || pos == inputs)
        return tensor.type == tensors[DEPTH].desc.type && takes_layout(fields, tensor);
    return linear && tensor.type == (pos == WEIGHTS ? DataType::kFLOAT : DataType::kINT32);
}

BevpoolOptions options_of(const Fields &fields, const Sizes &sizes,
                          const nvinfer1::PluginTensorDesc &feat,
                          const nvinfer1::PluginTensorDesc &out, BevpoolView *view) {
    auto layout = [&](const nvinfer1::PluginTensorDesc &desc) {
        bool first = fields.channels_first() && desc.format == TensorFormat::kLINEAR;
        return first ? BEVPOOL_CHANNELS_FIRST : BEVPOOL_CHANNELS_LAST;
    };
    BevpoolOptions options{};
    options.size = sizeof options;
    options.channels = sizes.channels;
    options.dtype = find_type(feat.type) ? find_type(feat.type)->dtype : -1;
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
