/* SPDX-License-Identifier: MIT */
// The types and memory formats that the plugin takes.
#pragma once

#include "src/lib/tensorrt/sizes.hpp"

namespace bevpool {

// Returns TensorRT's dense channels-last format for tensors (..., C, H, W) of a type; kLINEAR:
// there is none. C must be a multiple of *multiple, the channels of its vectors.
nvinfer1::TensorFormat channels_last_format(nvinfer1::DataType type, std::int64_t *multiple);

// Returns whether tensor `pos` (inputs, then the output) may be as described, given all before.
bool takes_format(const Fields &fields, std::int32_t pos,
                  const nvinfer1::DynamicPluginTensorDesc *tensors, std::int32_t inputs,
                  std::int32_t outputs);

} // namespace bevpool
