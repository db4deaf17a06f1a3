/* SPDX-License-Identifier: MIT */
// From an enqueue of TensorRT's to a launch of libbevpool's: the plan, when it is made, and for
// which map.
//
//     map         launched first               later launches
//     static      waits, copies and checks     the plan made then, as long as sizes and formats
//                 it, makes a plan             stay. Not while a graph is captured
//     dynamic     a plan on a view of the      the same; another view where addresses change.
//                 caller's arrays              Waits for nothing, captured or not
//     rehearsed   as static, on a stand-in     the plan, or a view of the copy
//                 where memory holds no map
//
// "Rehearsed" is what TensorRT's builder does when it times a plugin.
#pragma once

#include "src/lib/tensorrt/sizes.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace bevpool {

struct Destroy {
    void operator()(BevpoolMap *map) const {
        bevpool_map_destroy(map);
    }
    void operator()(BevpoolPlan *plan) const {
        bevpool_plan_destroy(plan);
    }
};
using Map = std::unique_ptr<BevpoolMap, Destroy>;
using Plan = std::unique_ptr<BevpoolPlan, Destroy>;

// The arguments of Plugin::enqueue.
struct Launch {
    Sizes sizes;
    const nvinfer1::PluginTensorDesc *inputs, *outputs;
    const void *const *input_data;
    void *const *output_data;
    void *workspace;
    cudaStream_t stream;
};

class Pooling {
  public:
    // `kernel`: a name, or "" for the best kernel. Fields and kernel hold for all launches.
    Pooling(const Fields &fields, const std::string &kernel, bool rehearsal);

    // Enqueues a launch, with a new plan if necessary. Throws a Problem.
    void run(const Launch &launch);

  private:
    // The inputs that a plan was made for. Other inputs need another plan.
    struct Key {
        Sizes sizes;
        nvinfer1::DataType type;
        nvinfer1::TensorFormat feat, out;
        std::int32_t device;
        BevpoolArrays arrays; // of a view
    };

    void make_plan(const Launch &launch, const Key &key);
    void copy_map(const Launch &launch, const BevpoolArrays &arrays, std::int32_t device);
    void enqueue(const Launch &launch);

    Fields fields_;
    std::string kernel_;
    bool rehearsal_;
    Key key_{};
    Map copy_; // a static map, or the map of a rehearsal
    Plan plan_;
};

} // namespace bevpool
