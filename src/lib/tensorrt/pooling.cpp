/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/pooling.hpp"

#include "src/lib/tensorrt/log.hpp"
#include "src/lib/tensorrt/stand_in.hpp"
#include "src/lib/tensorrt/stream.hpp"

#include <cstring>

namespace bevpool {
namespace {

bool is_ok(BevpoolStatus status, const BevpoolError &error, std::string *problem) {
    if (status != BEVPOOL_OK)
        *problem = std::string(bevpool_status_name(status)) + ": " + error.text;
    return status == BEVPOOL_OK;
}

BevpoolArrays arrays_of(const Launch &launch, bool weighted) {
    auto ints = [&](Input input) {
        return static_cast<const std::int32_t *>(launch.input_data[input]);
    };
    BevpoolArrays arrays{};
    arrays.points = launch.sizes.points;
    arrays.intervals = launch.sizes.intervals;
    arrays.ranks_depth = ints(RANKS_DEPTH);
    arrays.ranks_feat = ints(RANKS_FEAT);
    arrays.ranks_bev = ints(RANKS_BEV);
    arrays.interval_starts = ints(INTERVAL_STARTS);
    arrays.interval_lengths = ints(INTERVAL_LENGTHS);
    if (weighted)
        arrays.weights = static_cast<const float *>(launch.input_data[WEIGHTS]);
    return arrays;
}

BevpoolTensor tensor_of(const nvinfer1::PluginTensorDesc &desc, const void *data, float scale) {
    std::int64_t bytes = element_bytes(desc.type);
    for (std::int32_t i = 0; i < desc.dims.nbDims; i++)
        bytes *= desc.dims.d[i];
    return {const_cast<void *>(data), static_cast<std::size_t>(bytes), dtype_of(desc.type),
            desc.type == nvinfer1::DataType::kFP8 ? scale : 1};
}

} // namespace

bool Pooling::Key::operator==(const Key &other) const {
    const BevpoolShape &a = sizes.shape, &b = other.sizes.shape;
    return !std::memcmp(&a, &b, sizeof a) && sizes.channels == other.sizes.channels &&
           sizes.points == other.sizes.points && sizes.intervals == other.sizes.intervals &&
           type == other.type && feat == other.feat && out == other.out && device == other.device &&
           !std::memcmp(&arrays, &other.arrays, sizeof arrays);
}

Pooling::Pooling(const Fields &fields, const std::string &kernel, bool rehearsal)
    : fields_(fields), kernel_(kernel), rehearsal_(rehearsal) {}

// Copies the map of the launch to copy_.
bool Pooling::copy_map(const Launch &launch, const BevpoolArrays &arrays, std::int32_t device,
                       std::string *problem) {
    BevpoolError error{};
    BevpoolMap *made = nullptr;
    const BevpoolShape &shape = launch.sizes.shape;
    if (is_captured(launch.stream)) {
        *problem = "with static_map the map is read and planned at the first launch, which cannot "
                   "be captured: run once, then capture";
        return false;
    }
    if (!wait_for_stream(launch.stream, problem))
        return false;
    BevpoolStatus status = bevpool_map_from_arrays(&made, &shape, &arrays, device, 0, &error);
    if (status == BEVPOOL_BAD_MAP && rehearsal_) {
        log_line(nvinfer1::ILogger::Severity::kVERBOSE,
                 "the builder's memory holds no map: one of the same sizes is timed");
        StandIn map = make_stand_in(shape, arrays.points, arrays.intervals, fields_.weighted());
        BevpoolArrays stand_in = map.arrays();
        status = bevpool_map_from_arrays(&made, &shape, &stand_in, device, 0, &error);
    }
    copy_.reset(made);
    return is_ok(status, error, problem);
}

bool Pooling::make_plan(const Launch &launch, const Key &key, std::string *problem) {
    BevpoolError error{};
    BevpoolArrays arrays = arrays_of(launch, fields_.weighted());
    BevpoolView transform;
    BevpoolOptions options =
        options_of(fields_, launch.sizes, launch.inputs[FEAT], launch.outputs[0], &transform);
    options.kernel = kernel_.empty() ? nullptr : kernel_.c_str();
    plan_.reset();
    copy_.reset();
    Map view;
    if ((fields_.static_map || rehearsal_) && !copy_map(launch, arrays, key.device, problem))
        return false;
    if (!fields_.static_map) {
        BevpoolMap *made = nullptr;
        if (copy_ && !is_ok(bevpool_map_arrays(copy_.get(), &arrays, &error), error, problem))
            return false;
        if (!is_ok(bevpool_map_view(&made, &launch.sizes.shape, &arrays, key.device, &error), error,
                   problem))
            return false;
        view.reset(made);
    }
    BevpoolPlan *plan = nullptr;
    BevpoolMap *map = view ? view.get() : copy_.get();
    if (!is_ok(bevpool_plan_create(&plan, map, &options, &error), error, problem))
        return false;
    plan_.reset(plan);
    key_ = key;
    return true;
}

bool Pooling::enqueue(const Launch &launch, std::string *problem) {
    BevpoolError error{};
    BevpoolCall call{};
    call.size = sizeof call;
    call.tensors[BEVPOOL_DEPTH] =
        tensor_of(launch.inputs[DEPTH], launch.input_data[DEPTH], fields_.depth_scale);
    call.tensors[BEVPOOL_FEAT] =
        tensor_of(launch.inputs[FEAT], launch.input_data[FEAT], fields_.feat_scale);
    call.tensors[BEVPOOL_OUT] =
        tensor_of(launch.outputs[0], launch.output_data[0], fields_.out_scale);
    call.workspace = launch.workspace; // TensorRT allocates the bytes of getWorkspaceSize
    call.workspace_bytes = bevpool_plan_workspace_bytes(plan_.get());
    call.stream = launch.stream;
    return is_ok(bevpool_run(plan_.get(), &call, &error), error, problem);
}

bool Pooling::run(const Launch &launch, std::string *problem) {
    Key key{};
    key.sizes = launch.sizes;
    key.type = launch.inputs[FEAT].type;
    key.feat = launch.inputs[FEAT].format;
    key.out = launch.outputs[0].format;
    if (!current_device(&key.device, problem))
        return false;
    if (!fields_.static_map && !rehearsal_)
        key.arrays = arrays_of(launch, fields_.weighted());
    if ((!plan_ || !(key == key_)) && !make_plan(launch, key, problem))
        return false;
    return enqueue(launch, problem);
}

} // namespace bevpool
