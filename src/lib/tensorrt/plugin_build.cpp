/* SPDX-License-Identifier: MIT */
// The methods that TensorRT calls while it builds: shapes, types, formats, workspace, tactics.
#include "src/lib/tensorrt/formats.hpp"
#include "src/lib/tensorrt/log.hpp"
#include "src/lib/tensorrt/plugin.hpp"
#include "src/lib/tensorrt/tactics.hpp"

#include <algorithm>
#include <new>

namespace bevpool {
namespace {

using nvinfer1::DynamicPluginTensorDesc;

// The arguments of bevpool_plan_check.
struct Question {
    Sizes sizes;
    BevpoolArrays arrays{};
    BevpoolView view{};
    BevpoolOptions options{}; // points at `view`: do not copy a Question
    std::uint32_t flags = 0;
};

// Fills the question. `dims` selects the dimensions: &DynamicPluginTensorDesc::opt or ::max.
bool make_question(const Fields &fields, const DynamicPluginTensorDesc *in, std::int32_t inputs,
                   const DynamicPluginTensorDesc &out,
                   nvinfer1::Dims DynamicPluginTensorDesc::*dims, Question *question,
                   std::string *problem) {
    static const float some = 0; // bevpool_plan_check only asks whether weights exist
    nvinfer1::Dims list[MOST_INPUTS] = {};
    for (std::int32_t i = 0; i < inputs && i < MOST_INPUTS; i++)
        list[i] = in[i].*dims;
    if (!read_sizes(fields, list, inputs, &question->sizes, problem))
        return false;
    question->arrays.points = question->sizes.points;
    question->arrays.intervals = question->sizes.intervals;
    question->arrays.weights = fields.weighted() ? &some : nullptr;
    question->options =
        options_of(fields, question->sizes, in[FEAT].desc, out.desc, &question->view);
    question->options.kernel = fields.kernel.empty() ? nullptr : fields.kernel.c_str();
    question->flags = fields.static_map ? 0 : BEVPOOL_ON_VIEW;
    return true;
}

bool check_plan(const Question &question, std::size_t *bytes, std::string *problem) {
    BevpoolError error{};
    BevpoolStatus status = bevpool_plan_check(&question.sizes.shape, &question.arrays,
                                              &question.options, question.flags, bytes, &error);
    if (status)
        *problem = std::string(bevpool_status_name(status)) + ": " + error.text;
    return !status;
}

} // namespace

std::int32_t Plugin::configurePlugin(const DynamicPluginTensorDesc *in, std::int32_t inputs,
                                     const DynamicPluginTensorDesc *out, std::int32_t) noexcept
    try {
    std::string problem;
    Question question;
    std::size_t bytes;
    tactics_.clear();
    if (!make_question(fields_, in, inputs, out[0], &DynamicPluginTensorDesc::opt, &question,
                       &problem) ||
        !check_plan(question, &bytes, &problem))
        return log_error(problem);
    if (fields_.kernel.empty())
        for (const std::string &kernel : fitting_kernels(question.sizes.shape, question.arrays,
                                                         question.options, question.flags))
            tactics_.push_back(tactic_of(kernel));
    return 0;
} catch (const std::bad_alloc &) {
    return log_error("out of memory");
}

std::int32_t Plugin::getOutputDataTypes(nvinfer1::DataType *output_types, std::int32_t outputs,
                                        const nvinfer1::DataType *input_types,
                                        std::int32_t inputs) const noexcept {
    if (outputs != 1 || inputs != input_count(fields_))
        return 1;
    output_types[0] = input_types[FEAT];
    return 0;
}

std::int32_t Plugin::getOutputShapes(const nvinfer1::DimsExprs *in, std::int32_t inputs,
                                     const nvinfer1::DimsExprs *, std::int32_t,
                                     nvinfer1::DimsExprs *out, std::int32_t outputs,
                                     nvinfer1::IExprBuilder &builder) noexcept try {
    std::int32_t rank = in[FEAT].nbDims;
    if (outputs != 1 || inputs != input_count(fields_) || (rank != 4 && rank != 5))
        return log_error("feat has " + std::to_string(rank) + " dimensions and there are " +
                         std::to_string(inputs) + " inputs, expected 4 or 5 dimensions and " +
                         std::to_string(input_count(fields_)) + " inputs");
    std::int32_t c = out_channel_axis(fields_), y = c == 1 ? 2 : 1;
    out[0].nbDims = OUT_RANK;
    out[0].d[0] = rank == 5 ? in[FEAT].d[0] : builder.constant(1);
    out[0].d[c] = in[FEAT].d[channel_axis(fields_, rank)];
    out[0].d[y] = builder.constant(fields_.bev_h);
    out[0].d[y + 1] = builder.constant(fields_.bev_w);
    return 0;
} catch (const std::bad_alloc &) {
    return log_error("out of memory");
}

bool Plugin::supportsFormatCombination(std::int32_t pos, const DynamicPluginTensorDesc *tensors,
                                       std::int32_t inputs, std::int32_t outputs) noexcept {
    return takes_format(fields_, pos, tensors, inputs, outputs);
}

std::int32_t Plugin::getNbOutputs() const noexcept {
    return 1;
}

std::size_t Plugin::getWorkspaceSize(const DynamicPluginTensorDesc *in, std::int32_t inputs,
                                     const DynamicPluginTensorDesc *out,
                                     std::int32_t) const noexcept try {
    std::string problem;
    Question question;
    std::size_t bytes = 0;
    if (!make_question(fields_, in, inputs, out[0], &DynamicPluginTensorDesc::max, &question,
                       &problem) ||
        !check_plan(question, &bytes, &problem))
        log_error(problem);
    return bytes;
} catch (const std::bad_alloc &) {
    log_error("out of memory");
    return 0;
}

std::int32_t Plugin::getNbTactics() noexcept {
    return static_cast<std::int32_t>(tactics_.size());
}

std::int32_t Plugin::getValidTactics(std::int32_t *tactics, std::int32_t count) noexcept {
    if (count != getNbTactics())
        return 1;
    std::copy(tactics_.begin(), tactics_.end(), tactics);
    return 0;
}

const char *Plugin::getTimingCacheID() noexcept {
    return identity_.c_str();
}

const char *Plugin::getMetadataString() noexcept {
    return identity_.c_str();
}

} // namespace bevpool
