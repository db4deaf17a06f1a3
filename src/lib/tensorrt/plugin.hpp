/* SPDX-License-Identifier: MIT */
// The plugin: TensorRT's four interfaces, each in a file of its own. TensorRT clones, configures,
// times, serialises and runs this object.
#pragma once

#include "src/lib/tensorrt/pooling.hpp"

namespace bevpool {

extern const char plugin_name[], plugin_version[], plugin_namespace[];

class Plugin : public nvinfer1::IPluginV3,
               public nvinfer1::IPluginV3OneCore,
               public nvinfer1::IPluginV3OneBuild,
               public nvinfer1::IPluginV3OneRuntime {
  public:
    // `rehearsal`: TensorRT's builder will time the plugin on meaningless memory.
    Plugin(const Fields &fields, bool rehearsal);

    // IPluginV3 and IPluginV3OneCore (plugin_core.cpp)
    nvinfer1::IPluginCapability *
    getCapabilityInterface(nvinfer1::PluginCapabilityType type) noexcept override;
    nvinfer1::IPluginV3 *clone() noexcept override;
    const char *getPluginName() const noexcept override;
    const char *getPluginVersion() const noexcept override;
    const char *getPluginNamespace() const noexcept override;

    // IPluginV3OneBuild (plugin_build.cpp)
    std::int32_t configurePlugin(const nvinfer1::DynamicPluginTensorDesc *in, std::int32_t inputs,
                                 const nvinfer1::DynamicPluginTensorDesc *out,
                                 std::int32_t outputs) noexcept override;
    std::int32_t getOutputDataTypes(nvinfer1::DataType *output_types, std::int32_t outputs,
                                    const nvinfer1::DataType *input_types,
                                    std::int32_t inputs) const noexcept override;
    std::int32_t getOutputShapes(const nvinfer1::DimsExprs *in, std::int32_t inputs,
                                 const nvinfer1::DimsExprs *shapes, std::int32_t shape_inputs,
                                 nvinfer1::DimsExprs *out, std::int32_t outputs,
                                 nvinfer1::IExprBuilder &builder) noexcept override;
    bool supportsFormatCombination(std::int32_t pos,
                                   const nvinfer1::DynamicPluginTensorDesc *tensors,
                                   std::int32_t inputs, std::int32_t outputs) noexcept override;
    std::int32_t getNbOutputs() const noexcept override;
    std::size_t getWorkspaceSize(const nvinfer1::DynamicPluginTensorDesc *in, std::int32_t inputs,
                                 const nvinfer1::DynamicPluginTensorDesc *out,
                                 std::int32_t outputs) const noexcept override;
    std::int32_t getNbTactics() noexcept override;
    std::int32_t getValidTactics(std::int32_t *tactics, std::int32_t count) noexcept override;
    const char *getTimingCacheID() noexcept override;
    const char *getMetadataString() noexcept override;

    // IPluginV3OneRuntime (plugin_runtime.cpp)
    std::int32_t setTactic(std::int32_t tactic) noexcept override;
    std::int32_t onShapeChange(const nvinfer1::PluginTensorDesc *in, std::int32_t inputs,
                               const nvinfer1::PluginTensorDesc *out,
                               std::int32_t outputs) noexcept override;
    std::int32_t enqueue(const nvinfer1::PluginTensorDesc *in,
                         const nvinfer1::PluginTensorDesc *out, const void *const *inputs,
                         void *const *outputs, void *workspace,
                         cudaStream_t stream) noexcept override;
    nvinfer1::IPluginV3 *
    attachToContext(nvinfer1::IPluginResourceContext *context) noexcept override;
    const nvinfer1::PluginFieldCollection *getFieldsToSerialize() noexcept override;

  private:
    // Returns a copy of everything except the plan.
    Plugin *copy(bool rehearsal) const;

    Fields fields_;
    bool rehearsal_;
    std::string identity_;              // key in the timing cache
    std::string tactic_kernel_;         // "": no tactic is set
    std::vector<std::int32_t> tactics_; // of the last configuration
    Pooling pooling_;
    std::vector<nvinfer1::PluginField> serialized_;
    nvinfer1::PluginFieldCollection collection_{};
};

} // namespace bevpool
