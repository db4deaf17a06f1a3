/* SPDX-License-Identifier: MIT */
// TensorRT's real registry for tests of the plugin: the runtime library, a logger that keeps lines,
// the plugin's creator, and plugins made of fields.
#pragma once

#include "tests/support/tap.h"

#include <NvInferRuntime.h>

#include <dlfcn.h>

#include <cstring>

#include <memory>
#include <string>
#include <vector>

namespace trt {

using namespace nvinfer1;

class Logger : public ILogger {
  public:
    void log(Severity severity, const char *text) noexcept override {
        if (severity <= Severity::kWARNING)
            lines.push_back(text);
    }
    std::string last() const {
        return lines.empty() ? "" : lines.back();
    }
    std::vector<std::string> lines;
};

inline Logger logger;
inline IPluginRegistry *registry;
inline IPluginCreatorV3One *creator;

// TensorRT's own finder knows a logger only while an engine runs: this one always does.
class Finder : public ILoggerFinder {
  public:
    ILogger *findLogger() override {
        return &logger;
    }
};
inline Finder finder;

// Opens the library that BEVPOOL_NVINFER names and its registry. NULL, or why not.
inline const char *open_runtime() {
    static std::string reason;
    const char *path = std::getenv("BEVPOOL_NVINFER");
    if (!path || !*path)
        return "BEVPOOL_NVINFER names no libnvinfer_lean.so.11 (of the wheel "
               "tensorrt-lean-cu13-libs) or libnvinfer.so";
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    auto find = [&](const char *name) { return library ? dlsym(library, name) : nullptr; };
    auto get = reinterpret_cast<IPluginRegistry *(*)()>(find("getPluginRegistry"));
    if (!get) {
        const char *said = dlerror();
        reason = std::string(path) + ": " + (said ? said : "is no TensorRT runtime");
        return reason.c_str();
    }
    registry = get();
    return registry ? nullptr : "getPluginRegistry gives nothing";
}

// The plugin library of this build.
inline std::string plugin_path() {
    const char *given = std::getenv("BEVPOOL_PLUGIN"), *build = std::getenv("BUILDDIR");
    return given ? given : std::string(build ? build : ".") + "/lib/libbevpool_trt.so";
}

// Loads it into the registry, and gives it the logger of the test.
inline void *load_plugin() {
    void *handle = registry->loadLibrary(plugin_path().c_str());
    void *library = dlopen(plugin_path().c_str(), RTLD_NOW);
    auto set = reinterpret_cast<void (*)(ILoggerFinder *)>(
        library ? dlsym(library, "setLoggerFinder") : nullptr);
    if (set)
        set(&finder);
    return set ? handle : nullptr;
}

inline IPluginCreatorV3One *find_creator() {
    return static_cast<IPluginCreatorV3One *>(registry->getCreator("BevPool", "1", "bevpool"));
}

// Fields as a caller has them.
class FieldList {
  public:
    FieldList &number(const char *name, std::int32_t value) {
        return add(name, PluginFieldType::kINT32, &value, sizeof value, 1);
    }
    FieldList &scale(const char *name, float value) {
        return add(name, PluginFieldType::kFLOAT32, &value, sizeof value, 1);
    }
    FieldList &word(const char *name, const std::string &text) {
        return add(name, PluginFieldType::kCHAR, text.data(), text.size(),
                   static_cast<std::int32_t>(text.size()));
    }
    FieldList &add(const char *name, PluginFieldType type, const void *data, std::size_t bytes,
                   std::int32_t length) {
        auto start = static_cast<const char *>(data);
        values_.push_back(std::make_unique<std::vector<char>>(start, start + bytes));
        values_.back()->push_back('?'); // text need not end with a zero
        fields_.emplace_back(name, values_.back()->data(), type, length);
        return *this;
    }
    IPluginV3 *create(TensorRTPhase phase = TensorRTPhase::kRUNTIME) const {
        PluginFieldCollection all{static_cast<std::int32_t>(fields_.size()), fields_.data()};
        return creator->createPlugin("pool", &all, phase);
    }

  private:
    std::vector<std::unique_ptr<std::vector<char>>> values_;
    std::vector<PluginField> fields_;
};

using Plugin = std::unique_ptr<IPluginV3>;

inline IPluginV3OneCore *core(const Plugin &plugin) {
    return static_cast<IPluginV3OneCore *>(
        plugin->getCapabilityInterface(PluginCapabilityType::kCORE));
}
inline IPluginV3OneBuild *build(const Plugin &plugin) {
    return static_cast<IPluginV3OneBuild *>(
        plugin->getCapabilityInterface(PluginCapabilityType::kBUILD));
}
inline IPluginV3OneRuntime *runtime(const Plugin &plugin) {
    return static_cast<IPluginV3OneRuntime *>(
        plugin->getCapabilityInterface(PluginCapabilityType::kRUNTIME));
}

inline Dims dims(std::initializer_list<std::int64_t> sizes) {
    Dims made{};
    for (std::int64_t size : sizes)
        made.d[made.nbDims++] = size;
    return made;
}

inline DynamicPluginTensorDesc tensor(const Dims &size, DataType type,
                                      TensorFormat format = TensorFormat::kLINEAR) {
    return {{size, type, format, -1}, size, size, size};
}

// The tensors of a plugin: inputs in BEVDet's order, then the output.
struct Tensors {
    std::vector<DynamicPluginTensorDesc> all;
    std::int32_t inputs() const {
        return static_cast<std::int32_t>(all.size()) - 1;
    }
};

struct Sizes {
    std::int64_t n, d, h, w, c, bev_h, bev_w, points, intervals;
};

inline Tensors tensors_of(const Sizes &s, DataType type, bool channels_first, bool weighted,
                          TensorFormat format = TensorFormat::kLINEAR) {
    Tensors made;
    Dims points = dims({s.points}), intervals = dims({s.intervals});
    made.all.push_back(tensor(dims({s.n, s.d, s.h, s.w}), type));
    made.all.push_back(tensor(
        channels_first ? dims({s.n, s.c, s.h, s.w}) : dims({s.n, s.h, s.w, s.c}), type, format));
    for (const Dims &list : {points, points, points, intervals, intervals})
        made.all.push_back(tensor(list, DataType::kINT32));
    if (weighted)
        made.all.push_back(tensor(points, DataType::kFLOAT));
    made.all.push_back(
        tensor(channels_first ? dims({1, s.c, s.bev_h, s.bev_w}) : dims({1, s.bev_h, s.bev_w, s.c}),
               type, format));
    return made;
}

} // namespace trt
