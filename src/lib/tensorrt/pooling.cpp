/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/lib/tensorrt/pooling.hpp"

#include <algorithm>
#include <cstring>

namespace bevpool {
namespace {

void check(BevpoolStatus status, const BevpoolError &error) {
    if (status != BEVPOOL_OK)
        throw Problem(std::string(bevpool_status_name(status)) + ": " + error.text);
}

BevpoolArrays arrays_of(const Launch &launch, bool weighted) {
    auto ints = [&](Input input) {
        return static_cast<const std::int32_t *>(launch.input_data[input]);
    };
    return {launch.sizes.points,
            launch.sizes.intervals,
            ints(RANKS_DEPTH),
            ints(RANKS_FEAT),
            ints(RANKS_BEV),
            ints(INTERVAL_STARTS),
            ints(INTERVAL_LENGTHS),
            weighted ? static_cast<const float *>(launch.input_data[WEIGHTS]) : nullptr};
}

// ---- CUDA ---------------------------------------------------------------------------------------

// `call` is a call of the CUDA runtime, which exists only in builds with CUDA.
#ifdef HAVE_CUDA
#define CUDA(call) check_cuda(call)
#else
#define CUDA(call)                 check_cuda(cudaErrorNotSupported)
#define cudaGetErrorString(status) "this library was built without it and cannot pool on a GPU"
#endif

void check_cuda(cudaError_t status) {
    if (status != cudaSuccess)
        throw Problem(std::string("CUDA: ") + cudaGetErrorString(status));
}

// ---- the builder's map --------------------------------------------------------------------------

// A substitute map with the sizes of the real one: TensorRT's builder times plugins on memory that
// holds no map.
struct StandIn {
    std::vector<std::int32_t> ranks_depth, ranks_feat, ranks_bev, starts, lengths;
    std::vector<float> weights;

    BevpoolArrays arrays() const {
        return {static_cast<std::int64_t>(ranks_bev.size()),
                static_cast<std::int64_t>(starts.size()),
                ranks_depth.data(),
                ranks_feat.data(),
                ranks_bev.data(),
                starts.data(),
                lengths.data(),
                weights.empty() ? nullptr : weights.data()};
    }
};

// Makes a map with this number of points and, if the grid has room, of intervals. They are spread
// evenly over image columns, depths and cells. `weighted`: with weights.
StandIn make_stand_in(const BevpoolShape &shape, std::int64_t points, std::int64_t intervals,
                      bool weighted) {
    StandIn map;
    std::int64_t cells = shape.batch * shape.nz * shape.ny * shape.nx;
    std::int64_t pixels = shape.feat_h * shape.feat_w;
    std::int64_t depths = shape.batch * shape.cameras * shape.depth_bins * pixels;
    intervals = std::min({intervals, points, cells});
    for (std::int64_t i = 0; i < intervals; i++) {
        std::int64_t start = i * points / intervals, end = (i + 1) * points / intervals;
        map.starts.push_back(static_cast<std::int32_t>(start));
        map.lengths.push_back(static_cast<std::int32_t>(end - start));
        for (std::int64_t t = start; t < end; t++) {
            // q numbers the depths in the order (camera, depth, w, h): columns stay together.
            std::int64_t q = points > depths ? t % depths : t * depths / points;
            std::int64_t h = q % shape.feat_h, w = q / shape.feat_h % shape.feat_w;
            std::int64_t plane = q / pixels, camera = plane / shape.depth_bins;
            std::int64_t pixel = h * shape.feat_w + w;
            map.ranks_depth.push_back(static_cast<std::int32_t>(plane * pixels + pixel));
            map.ranks_feat.push_back(static_cast<std::int32_t>(camera * pixels + pixel));
            map.ranks_bev.push_back(static_cast<std::int32_t>(i * cells / intervals));
        }
    }
    if (weighted)
        map.weights.assign(map.ranks_bev.size(), 0.25f);
    return map;
}

} // namespace

Pooling::Pooling(const Fields &fields, const std::string &kernel, bool rehearsal)
    : fields_(fields), kernel_(kernel), rehearsal_(rehearsal) {}

// Copies the map of the launch to copy_.
void Pooling::copy_map(const Launch &launch, const BevpoolArrays &arrays, std::int32_t device) {
    BevpoolError error{};
    BevpoolMap *made = nullptr;
    const BevpoolShape &shape = launch.sizes.shape;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CUDA(cudaStreamIsCapturing(launch.stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        throw Problem("with static_map the map is read and planned at the first launch, which "
                      "cannot be captured: run once, then capture");
    CUDA(cudaStreamSynchronize(launch.stream));
    BevpoolStatus status = bevpool_map_from_arrays(&made, &shape, &arrays, device, 0, &error);
    if (status == BEVPOOL_BAD_MAP && rehearsal_) {
        StandIn map = make_stand_in(shape, arrays.points, arrays.intervals, fields_.weighted());
        BevpoolArrays stand_in = map.arrays();
        status = bevpool_map_from_arrays(&made, &shape, &stand_in, device, 0, &error);
    }
    copy_.reset(made);
    check(status, error);
}

void Pooling::make_plan(const Launch &launch, const Key &key) {
    BevpoolError error{};
    BevpoolArrays arrays = arrays_of(launch, fields_.weighted());
    BevpoolView transform;
    BevpoolOptions options =
        options_of(fields_, launch.sizes, launch.inputs[FEAT], launch.outputs[0], &transform);
    options.kernel = kernel_.empty() ? nullptr : kernel_.c_str();
    plan_.reset();
    copy_.reset();
    Map view;
    if (fields_.static_map || rehearsal_)
        copy_map(launch, arrays, key.device);
    if (!fields_.static_map) {
        BevpoolMap *made = nullptr;
        if (copy_)
            check(bevpool_map_arrays(copy_.get(), &arrays, &error), error);
        check(bevpool_map_view(&made, &launch.sizes.shape, &arrays, key.device, &error), error);
        view.reset(made);
    }
    BevpoolPlan *plan = nullptr;
    BevpoolMap *map = view ? view.get() : copy_.get();
    check(bevpool_plan_create(&plan, map, &options, &error), error);
    plan_.reset(plan);
    key_ = key;
}

void Pooling::enqueue(const Launch &launch) {
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
    check(bevpool_run(plan_.get(), &call, &error), error);
}

void Pooling::run(const Launch &launch) {
    Key key{};
    key.sizes = launch.sizes;
    key.type = launch.inputs[FEAT].type;
    key.feat = launch.inputs[FEAT].format;
    key.out = launch.outputs[0].format;
    CUDA(cudaGetDevice(&key.device));
    if (!fields_.static_map && !rehearsal_)
        key.arrays = arrays_of(launch, fields_.weighted());
    static_assert(std::has_unique_object_representations_v<Key>, "keys are equal byte by byte");
    if (!plan_ || std::memcmp(&key, &key_, sizeof key))
        make_plan(launch, key);
    enqueue(launch);
}

} // namespace bevpool
