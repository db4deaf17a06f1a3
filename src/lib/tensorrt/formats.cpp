/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/formats.hpp"

namespace bevpool {

using nvinfer1::DataType;
using nvinfer1::TensorFormat;

TensorFormat channels_last_format(DataType type, std::int64_t *multiple) {
    switch (type) {
    case DataType::kFLOAT:
        *multiple = 1;
        return TensorFormat::kHWC;
    case DataType::kHALF:
    case DataType::kBF16:
        *multiple = 8;
        return TensorFormat::kHWC8;
    case DataType::kFP8:
        *multiple = 16;
        return TensorFormat::kHWC16;
    default:
        *multiple = 1;
        return TensorFormat::kLINEAR;
    }
}

namespace {

// Returns whether feat or output may have this format: linear, or channels last without gaps.
// Unless the channels are known when the network is built, only linear is allowed.
bool takes_layout(const Fields &fields, const nvinfer1::PluginTensorDesc &tensor) {
    std::int64_t multiple;
    if (tensor.format == TensorFormat::kLINEAR)
        return true;
    if (!fields.channels_first() || tensor.dims.nbDims < OUT_RANK ||
        tensor.format != channels_last_format(tensor.type, &multiple))
        return false;
    std::int64_t channels = tensor.dims.d[channel_axis(fields, tensor.dims.nbDims)];
    return channels > 0 && channels % multiple == 0;
}

} // namespace

bool takes_format(const Fields &fields, std::int32_t pos,
                  const nvinfer1::DynamicPluginTensorDesc *tensors, std::int32_t inputs,
                  std::int32_t outputs) {
    if (inputs != input_count(fields) || outputs != 1 || pos < 0 || pos > inputs)
        return false;
    const nvinfer1::PluginTensorDesc &tensor = tensors[pos].desc;
    bool linear = tensor.format == TensorFormat::kLINEAR;
    if (pos == DEPTH)
        return linear && dtype_of(tensor.type) >= 0 &&
               !(fields.softmax && tensor.type == DataType::kFP8);
    if (pos == FEAT || pos == inputs)
        return tensor.type == tensors[DEPTH].desc.type && takes_layout(fields, tensor);
    return linear && tensor.type == (pos == WEIGHTS ? DataType::kFLOAT : DataType::kINT32);
}

} // namespace bevpool
