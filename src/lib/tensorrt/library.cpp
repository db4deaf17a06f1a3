/* SPDX-License-Identifier: MIT */
// The entry points of the library: the creator, and the two functions that TensorRT's loader calls.
#include "src/lib/tensorrt/log.hpp"
#include "src/lib/tensorrt/plugin.hpp"

#include <new>

namespace bevpool {
namespace {

class Creator : public nvinfer1::IPluginCreatorV3One {
  public:
    Creator() : collection_(list_fields(defaults_, &list_)) {}

    nvinfer1::IPluginV3 *createPlugin(const char *name,
                                      const nvinfer1::PluginFieldCollection *collection,
                                      nvinfer1::TensorRTPhase phase) noexcept override {
        try {
            Fields fields;
            std::string problem;
            if (read_fields(collection, &fields, &problem))
                return new Plugin(fields, phase == nvinfer1::TensorRTPhase::kBUILD);
            log_error(std::string(name ? name : "") + ": " + problem);
        } catch (const std::bad_alloc &) {
            log_error("out of memory");
        }
        return nullptr;
    }
    const nvinfer1::PluginFieldCollection *getFieldNames() noexcept override {
        return &collection_;
    }
    const char *getPluginName() const noexcept override {
        return plugin_name;
    }
    const char *getPluginVersion() const noexcept override {
        return plugin_version;
    }
    const char *getPluginNamespace() const noexcept override {
        return plugin_namespace;
    }

  private:
    Fields defaults_;
    std::vector<nvinfer1::PluginField> list_;
    nvinfer1::PluginFieldCollection collection_;
};

} // namespace
} // namespace bevpool

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Returns the creators of this library. They live as long as it is loaded.
EXPORTED nvinfer1::IPluginCreatorInterface *const *getCreators(std::int32_t &count) {
    static bevpool::Creator creator;
    static nvinfer1::IPluginCreatorInterface *const creators[] = {&creator};
    count = 1;
    return creators;
}

EXPORTED void setLoggerFinder(nvinfer1::ILoggerFinder *finder) {
    bevpool::set_finder(finder);
}
