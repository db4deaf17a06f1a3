/* SPDX-License-Identifier: MIT */
// The methods that TensorRT calls while an engine runs or is stored.
#include "src/lib/tensorrt/log.hpp"
#include "src/lib/tensorrt/plugin.hpp"
#include "src/lib/tensorrt/tactics.hpp"

#include <new>

namespace bevpool {
namespace {

bool sizes_of(const Fields &fields, const nvinfer1::PluginTensorDesc *in, std::int32_t inputs,
              Sizes *sizes, std::string *problem) {
    nvinfer1::Dims list[MOST_INPUTS] = {};
    for (std::int32_t i = 0; i < inputs && i < MOST_INPUTS; i++)
        list[i] = in[i].dims;
    return read_sizes(fields, list, inputs, sizes, problem);
}

} // namespace

std::int32_t Plugin::setTactic(std::int32_t tactic) noexcept try {
    const char *name = tactic ? kernel_of(tactic) : "";
    if (!name)
        return log_error("tactic " + std::to_string(tactic) +
                         ": this library has no such kernel; build the engine again");
    if (tactic_kernel_ != name) {
        tactic_kernel_ = name;
        pooling_ = Pooling(fields_, *name ? name : fields_.kernel, rehearsal_);
    }
    return 0;
} catch (const std::bad_alloc &) {
    return log_error("out of memory");
}

std::int32_t Plugin::onShapeChange(const nvinfer1::PluginTensorDesc *in, std::int32_t inputs,
                                   const nvinfer1::PluginTensorDesc *, std::int32_t) noexcept try {
    std::string problem;
    Sizes sizes;
    return sizes_of(fields_, in, inputs, &sizes, &problem) ? 0 : log_error(problem);
} catch (const std::bad_alloc &) {
    return log_error("out of memory");
}

std::int32_t Plugin::enqueue(const nvinfer1::PluginTensorDesc *in,
                             const nvinfer1::PluginTensorDesc *out, const void *const *inputs,
                             void *const *outputs, void *workspace, cudaStream_t stream) noexcept
    try {
    std::string problem;
    Launch launch{{}, in, out, inputs, outputs, workspace, stream};
    return sizes_of(fields_, in, input_count(fields_), &launch.sizes, &problem) &&
                   pooling_.run(launch, &problem)
               ? 0
               : log_error(problem);
} catch (const std::bad_alloc &) {
    return log_error("out of memory");
}

// Returns a copy for an execution context. It is no rehearsal: its inputs are real.
nvinfer1::IPluginV3 *Plugin::attachToContext(nvinfer1::IPluginResourceContext *) noexcept {
    try {
        return copy(false);
    } catch (const std::bad_alloc &) {
        log_error("out of memory");
        return nullptr;
    }
}

const nvinfer1::PluginFieldCollection *Plugin::getFieldsToSerialize() noexcept {
    try {
        collection_ = list_fields(fields_, &serialized_);
        return &collection_;
    } catch (const std::bad_alloc &) {
        log_error("out of memory");
        return nullptr;
    }
}

} // namespace bevpool
