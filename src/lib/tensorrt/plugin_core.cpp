/* SPDX-License-Identifier: MIT */
// The methods that every plugin has: its name, copies, and access to its other interfaces.
#include "src/lib/tensorrt/log.hpp"
#include "src/lib/tensorrt/plugin.hpp"

#include <new>

namespace bevpool {

const char plugin_name[] = "BevPool", plugin_version[] = "1", plugin_namespace[] = "bevpool";

Plugin::Plugin(const Fields &fields, bool rehearsal)
    : fields_(fields), rehearsal_(rehearsal),
      identity_(describe(fields) + " libbevpool=" + bevpool_version()),
      pooling_(fields, fields.kernel, rehearsal) {}

Plugin *Plugin::copy(bool rehearsal) const {
    Plugin *made = new Plugin(fields_, rehearsal);
    made->tactics_ = tactics_;
    made->tactic_kernel_ = tactic_kernel_;
    if (!tactic_kernel_.empty())
        made->pooling_ = Pooling(fields_, tactic_kernel_, rehearsal);
    return made;
}

nvinfer1::IPluginV3 *Plugin::clone() noexcept {
    try {
        return copy(rehearsal_);
    } catch (const std::bad_alloc &) {
        log_error("out of memory");
        return nullptr;
    }
}

nvinfer1::IPluginCapability *
Plugin::getCapabilityInterface(nvinfer1::PluginCapabilityType type) noexcept {
    switch (type) {
    case nvinfer1::PluginCapabilityType::kCORE:
        return static_cast<nvinfer1::IPluginV3OneCore *>(this);
    case nvinfer1::PluginCapabilityType::kBUILD:
        return static_cast<nvinfer1::IPluginV3OneBuild *>(this);
    case nvinfer1::PluginCapabilityType::kRUNTIME:
        return static_cast<nvinfer1::IPluginV3OneRuntime *>(this);
    }
    return nullptr;
}

const char *Plugin::getPluginName() const noexcept {
    return plugin_name;
}

const char *Plugin::getPluginVersion() const noexcept {
    return plugin_version;
}

const char *Plugin::getPluginNamespace() const noexcept {
    return plugin_namespace;
}

} // namespace bevpool
