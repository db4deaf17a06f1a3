// The types and memory formats that the plugin takes.
#pragma once

#include "src/lib/tensorrt/sizes.hpp"

namespace bevpool {

// TensorRT's format whose channels come last and are dense, for tensors (..., C, H, W) of a type;
// kLINEAR: there is none. Its vectors hold *multiple channels, which C must be a multiple of.
nvinfer1::TensorFormat channels_last_format(nvinfer1::DataType type, std::int64_t *multiple);

// Whether tensor `pos` (inputs, then the output) may be as described, given those before it.
bool takes_format(const Fields &fields, std::int32_t pos,
                  const nvinfer1::DynamicPluginTensorDesc *tensors, std::int32_t inputs,
                  std::int32_t outputs);

} // namespace bevpool
