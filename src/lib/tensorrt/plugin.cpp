/* SPDX-License-Identifier: MIT */
// The plugin: TensorRT's four interfaces, its creator, and the two functions that TensorRT's loader
// calls. TensorRT clones, configures, times, serialises and runs the plugin.
#include "src/lib/tensorrt/pooling.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>

namespace bevpool {
namespace {

using nvinfer1::DynamicPluginTensorDesc;
using nvinfer1::PluginTensorDesc;

// ---- errors -------------------------------------------------------------------------------------

std::atomic<nvinfer1::ILoggerFinder *> logger_finder{nullptr};

// Logs an error to the logger that TensorRT provides, or else to standard error.
void log_error(const std::string &line) {
    nvinfer1::ILoggerFinder *finder = logger_finder;
    nvinfer1::ILogger *logger = finder ? finder->findLogger() : nullptr;
    std::string whole = "BevPool: " + line;
    if (logger)
        logger->log(nvinfer1::ILogger::Severity::kERROR, whole.c_str());
    else
        std::fprintf(stderr, "%s\n", whole.c_str());
}

// Returns the result of `work`. If `work` throws a Problem or has no memory, this function logs a
// line and returns `otherwise`: TensorRT's methods must not throw.
template <typename Result, typename Work> Result logged(Result otherwise, Work work) {
    try {
        return work();
    } catch (const Problem &problem) {
        log_error(problem.what());
    } catch (const std::bad_alloc &) {
        log_error("out of memory");
    }
    return otherwise;
}

// ---- tactics ------------------------------------------------------------------------------------

// One tactic for each kernel that fits, so that TensorRT's builder times all kernels. Its number
// follows from the kernel's name, so that engines stay valid when kernels are added. It is
// positive, as 0 is TensorRT's "no tactic".
std::int32_t tactic_of(const std::string &kernel) {
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (char c : kernel)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<std::int32_t>(hash >> 1 | 1u);
}

// Returns the kernel of a tactic of this library, or NULL.
const char *kernel_of(std::int32_t tactic) {
    for (std::int32_t i = 0; const char *name = bevpool_kernel_name(0, BEVPOOL_FORWARD, i); i++)
        if (tactic_of(name) == tactic)
            return name;
    return nullptr;
}

// ---- what bevpool_plan_check is asked -----------------------------------------------------------

struct Question {
    Sizes sizes;
    BevpoolArrays arrays{};
    BevpoolView view{};
    BevpoolOptions options{}; // points at `view`: do not copy a Question
    std::uint32_t flags = 0;

    bool fits(std::size_t *bytes, BevpoolError *error) const {
        return !bevpool_plan_check(&sizes.shape, &arrays, &options, flags, bytes, error);
    }
};

// Returns the sizes that follow from the dimensions of all inputs. `dims` selects the dimensions of
// a launch, the best dimensions or the largest dimensions.
template <typename Desc>
Sizes sizes_of(const Fields &fields, const Desc *in, std::int32_t inputs,
               nvinfer1::Dims Desc::*dims) {
    std::vector<nvinfer1::Dims> list;
    for (std::int32_t i = 0; i < inputs; i++)
        list.push_back(in[i].*dims);
    return read_sizes(fields, list);
}

// Fills the question and asks it. `dims` selects the dimensions: &DynamicPluginTensorDesc::opt or
// ::max. Returns the bytes of the workspace, or throws a Problem.
std::size_t ask(const Fields &fields, const DynamicPluginTensorDesc *in, std::int32_t inputs,
                const DynamicPluginTensorDesc &out, nvinfer1::Dims DynamicPluginTensorDesc::*dims,
                Question *question) {
    static const float some = 0; // bevpool_plan_check only asks whether weights exist
    BevpoolError error{};
    std::size_t bytes = 0;
    question->sizes = sizes_of(fields, in, inputs, dims);
    question->arrays.points = question->sizes.points;
    question->arrays.intervals = question->sizes.intervals;
    question->arrays.weights = fields.weighted() ? &some : nullptr;
    question->options =
        options_of(fields, question->sizes, in[FEAT].desc, out.desc, &question->view);
    question->options.kernel = fields.kernel.empty() ? nullptr : fields.kernel.c_str();
    question->flags = fields.static_map ? 0 : BEVPOOL_ON_VIEW;
    if (!question->fits(&bytes, &error))
        throw Problem(std::string(bevpool_status_name((BevpoolStatus)error.status)) + ": " +
                      error.text);
    return bytes;
}

// ---- the plugin ---------------------------------------------------------------------------------

// The name of the plugin, for itself and for its creator.
template <typename Interface> class Named : public Interface {
  public:
    const char *getPluginName() const noexcept override {
        return "BevPool";
    }
    const char *getPluginVersion() const noexcept override {
        return "1";
    }
    const char *getPluginNamespace() const noexcept override {
        return "bevpool";
    }
};

class Plugin : public nvinfer1::IPluginV3,
               public Named<nvinfer1::IPluginV3OneCore>,
               public nvinfer1::IPluginV3OneBuild,
               public nvinfer1::IPluginV3OneRuntime {
  public:
    // `rehearsal`: TensorRT's builder will time the plugin on meaningless memory.
    Plugin(const Fields &fields, bool rehearsal)
        : fields_(fields), rehearsal_(rehearsal),
          identity_(describe(fields) + " libbevpool=" + bevpool_version()),
          pooling_(fields, fields.kernel, rehearsal) {}

    // Returns a copy of everything except the plan.
    Plugin *copy(bool rehearsal) const {
        Plugin *made = new Plugin(fields_, rehearsal);
        made->tactics_ = tactics_;
        made->tactic_kernel_ = tactic_kernel_;
        if (!tactic_kernel_.empty())
            made->pooling_ = Pooling(fields_, tactic_kernel_, rehearsal);
        return made;
    }

    // ---- of every plugin ----

    nvinfer1::IPluginCapability *
    getCapabilityInterface(nvinfer1::PluginCapabilityType type) noexcept override {
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
    nvinfer1::IPluginV3 *clone() noexcept override {
        return logged<IPluginV3 *>(nullptr, [&] { return copy(rehearsal_); });
    }

    // ---- while TensorRT builds: shapes, types, formats, workspace, tactics ----

    std::int32_t configurePlugin(const DynamicPluginTensorDesc *in, std::int32_t inputs,
                                 const DynamicPluginTensorDesc *out,
                                 std::int32_t) noexcept override {
        return logged(1, [&] {
            Question question;
            tactics_.clear();
            std::size_t bytes =
                ask(fields_, in, inputs, out[0], &DynamicPluginTensorDesc::opt, &question);
            if (!fields_.kernel.empty()) // the user's kernel needs no tactics
                return 0;
            for (std::int32_t i = 0;
                 const char *name = bevpool_kernel_name(0, BEVPOOL_FORWARD, i); i++) {
                question.options.kernel = name;
                if (question.fits(&bytes, nullptr))
                    tactics_.push_back(tactic_of(name));
            }
            return 0;
        });
    }
    std::int32_t getOutputDataTypes(nvinfer1::DataType *output_types, std::int32_t outputs,
                                    const nvinfer1::DataType *input_types,
                                    std::int32_t inputs) const noexcept override {
        if (outputs != 1 || inputs != input_count(fields_))
            return 1;
        output_types[0] = input_types[FEAT];
        return 0;
    }
    std::int32_t getOutputShapes(const nvinfer1::DimsExprs *in, std::int32_t inputs,
                                 const nvinfer1::DimsExprs *, std::int32_t,
                                 nvinfer1::DimsExprs *out, std::int32_t outputs,
                                 nvinfer1::IExprBuilder &builder) noexcept override {
        return logged(1, [&] {
            std::int32_t rank = in[FEAT].nbDims;
            if (outputs != 1 || inputs != input_count(fields_) || (rank != 4 && rank != 5))
                throw Problem("feat has " + std::to_string(rank) + " dimensions and there are " +
                              std::to_string(inputs) + " inputs, expected 4 or 5 dimensions and " +
                              std::to_string(input_count(fields_)) + " inputs");
            std::int32_t c = out_channel_axis(fields_), y = c == 1 ? 2 : 1;
            out[0].nbDims = OUT_RANK;
            out[0].d[0] = rank == 5 ? in[FEAT].d[0] : builder.constant(1);
            out[0].d[c] = in[FEAT].d[channel_axis(fields_, rank)];
            out[0].d[y] = builder.constant(fields_.bev_h);
            out[0].d[y + 1] = builder.constant(fields_.bev_w);
            return 0;
        });
    }
    bool supportsFormatCombination(std::int32_t pos, const DynamicPluginTensorDesc *tensors,
                                   std::int32_t inputs, std::int32_t outputs) noexcept override {
        return takes_format(fields_, pos, tensors, inputs, outputs);
    }
    std::int32_t getNbOutputs() const noexcept override {
        return 1;
    }
    std::size_t getWorkspaceSize(const DynamicPluginTensorDesc *in, std::int32_t inputs,
                                 const DynamicPluginTensorDesc *out,
                                 std::int32_t) const noexcept override {
        return logged(std::size_t{0}, [&] {
            Question question;
            return ask(fields_, in, inputs, out[0], &DynamicPluginTensorDesc::max, &question);
        });
    }
    std::int32_t getNbTactics() noexcept override {
        return static_cast<std::int32_t>(tactics_.size());
    }
    std::int32_t getValidTactics(std::int32_t *tactics, std::int32_t count) noexcept override {
        if (count != getNbTactics())
            return 1;
        std::copy(tactics_.begin(), tactics_.end(), tactics);
        return 0;
    }
    const char *getTimingCacheID() noexcept override {
        return identity_.c_str();
    }
    const char *getMetadataString() noexcept override {
        return identity_.c_str();
    }

    // ---- while an engine runs or is stored ----

    std::int32_t setTactic(std::int32_t tactic) noexcept override {
        return logged(1, [&] {
            const char *name = tactic ? kernel_of(tactic) : "";
            if (!name)
                throw Problem("tactic " + std::to_string(tactic) +
                              ": this library has no such kernel; build the engine again");
            if (tactic_kernel_ != name) {
                tactic_kernel_ = name;
                pooling_ = Pooling(fields_, *name ? name : fields_.kernel, rehearsal_);
            }
            return 0;
        });
    }
    std::int32_t onShapeChange(const PluginTensorDesc *in, std::int32_t inputs,
                               const PluginTensorDesc *, std::int32_t) noexcept override {
        return logged(1, [&] {
            sizes_of(fields_, in, inputs, &PluginTensorDesc::dims);
            return 0;
        });
    }
    std::int32_t enqueue(const PluginTensorDesc *in, const PluginTensorDesc *out,
                         const void *const *inputs, void *const *outputs, void *workspace,
                         cudaStream_t stream) noexcept override {
        return logged(1, [&] {
            Sizes sizes = sizes_of(fields_, in, input_count(fields_), &PluginTensorDesc::dims);
            pooling_.run({sizes, in, out, inputs, outputs, workspace, stream});
            return 0;
        });
    }
    // Returns a copy for an execution context. The copy is no rehearsal: its inputs are real.
    nvinfer1::IPluginV3 *attachToContext(nvinfer1::IPluginResourceContext *) noexcept override {
        constexpr bool rehearsal = false;
        return logged<IPluginV3 *>(nullptr, [&] { return copy(rehearsal); });
    }
    const nvinfer1::PluginFieldCollection *getFieldsToSerialize() noexcept override {
        return logged<const nvinfer1::PluginFieldCollection *>(nullptr, [&] {
            collection_ = list_fields(fields_, &serialized_);
            return &collection_;
        });
    }

  private:
    Fields fields_;
    bool rehearsal_;
    std::string identity_;              // key in the timing cache
    std::string tactic_kernel_;         // "": no tactic is set
    std::vector<std::int32_t> tactics_; // of the last configuration
    Pooling pooling_;
    std::vector<nvinfer1::PluginField> serialized_;
    nvinfer1::PluginFieldCollection collection_{};
};

class Creator : public Named<nvinfer1::IPluginCreatorV3One> {
  public:
    Creator() : collection_(list_fields(defaults_, &list_)) {}

    nvinfer1::IPluginV3 *createPlugin(const char *name,
                                      const nvinfer1::PluginFieldCollection *collection,
                                      nvinfer1::TensorRTPhase phase) noexcept override {
        return logged<nvinfer1::IPluginV3 *>(nullptr, [&] {
            try {
                return new Plugin(read_fields(collection),
                                  phase == nvinfer1::TensorRTPhase::kBUILD);
            } catch (const Problem &problem) {
                throw Problem(std::string(name ? name : "") + ": " + problem.what());
            }
        });
    }
    const nvinfer1::PluginFieldCollection *getFieldNames() noexcept override {
        return &collection_;
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
    bevpool::logger_finder = finder;
}
