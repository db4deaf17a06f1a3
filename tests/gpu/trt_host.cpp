/* SPDX-License-Identifier: MIT */
#include "tests/gpu/trt_host.h"

#include "tests/lib/trt.hpp"

using namespace trt;

struct TrtPlugin {
    Plugin plugin;
    Tensors tensors;
    std::vector<PluginTensorDesc> descs;
    std::vector<std::int32_t> tactics;
};

const char *trt_host_open(void) {
    const char *reason = open_runtime();
    if (reason)
        return reason;
    if (!load_plugin() || !(creator = find_creator()))
        return "the registry does not load the plugin";
    return nullptr;
}

const char *trt_host_said(void) {
    static std::string said;
    said = logger.last();
    return said.c_str();
}

static const DataType types[BEV_DTYPE_COUNT] = {DataType::kFLOAT, DataType::kHALF, DataType::kBF16,
                                                DataType::kFP8};
static const TensorFormat packed[BEV_DTYPE_COUNT] = {TensorFormat::kHWC, TensorFormat::kHWC8,
                                                     TensorFormat::kHWC8, TensorFormat::kHWC16};

static void describe(TrtPlugin *made, const BevProblem *p, const TrtFields *fields) {
    Sizes sizes = {p->shape.cameras, p->shape.depth_bins, p->shape.feat_h,
                   p->shape.feat_w,  p->shape.channels,   p->shape.ny,
                   p->shape.nx,      p->map.points,       p->map.intervals};
    TensorFormat format =
        fields->layout == TRT_NCHW_PACKED ? packed[p->dtype] : TensorFormat::kLINEAR;
    made->tensors = tensors_of(sizes, types[p->dtype], fields->layout != TRT_NHWC,
                               p->map.weights != nullptr, format);
    for (const DynamicPluginTensorDesc &tensor : made->tensors.all)
        made->descs.push_back(tensor.desc);
}

static bool takes_formats(const TrtPlugin *made) {
    bool takes = true;
    for (std::int32_t pos = 0; pos <= made->tensors.inputs(); pos++)
        takes = takes && build(made->plugin)
                             ->supportsFormatCombination(pos, made->tensors.all.data(),
                                                         made->tensors.inputs(), 1);
    return takes;
}

TrtPlugin *trt_host_make(const BevProblem *problem, const TrtFields *fields) {
    static const char *const aligns[] = {"nearest", "bilinear", "bev-align"};
    FieldList list;
    list.number("bev_h", (std::int32_t)problem->shape.ny);
    list.number("bev_w", (std::int32_t)problem->shape.nx);
    list.word("align", aligns[fields->align]);
    list.word("layout", fields->layout == TRT_NHWC ? "nhwc" : "nchw");
    list.number("static_map", fields->static_map);
    list.number("softmax", problem->stage == BEV_VIEW);
    list.scale("depth_scale", problem->depth.scale).scale("feat_scale", problem->feat.scale);
    list.scale("out_scale", problem->out.scale);
    if (fields->kernel)
        list.word("kernel", fields->kernel);
    auto made = std::make_unique<TrtPlugin>();
    made->plugin.reset(list.create(TensorRTPhase::kBUILD));
    if (!made->plugin)
        return nullptr;
    describe(made.get(), problem, fields);
    const Tensors &tensors = made->tensors;
    IPluginV3OneBuild *builder = build(made->plugin);
    if (!takes_formats(made.get()) ||
        builder->configurePlugin(tensors.all.data(), tensors.inputs(), &tensors.all.back(), 1))
        return nullptr;
    made->tactics.resize((std::size_t)builder->getNbTactics());
    builder->getValidTactics(made->tactics.data(), builder->getNbTactics());
    if (fields->rehearsal)
        return made.release();
    // As in an engine: serialised, made again for the runtime, attached to a context.
    const PluginFieldCollection *stored = runtime(made->plugin)->getFieldsToSerialize();
    Plugin again(creator->createPlugin("pool", stored, TensorRTPhase::kRUNTIME));
    made->plugin.reset(again ? runtime(again)->attachToContext(nullptr) : nullptr);
    return made->plugin ? made.release() : nullptr;
}

TrtPlugin *trt_host_clone(const TrtPlugin *plugin) {
    auto made = std::make_unique<TrtPlugin>();
    made->plugin.reset(plugin->plugin->clone());
    made->tensors = plugin->tensors;
    made->descs = plugin->descs;
    made->tactics = plugin->tactics;
    return made->plugin ? made.release() : nullptr;
}

void trt_host_free(TrtPlugin *plugin) {
    delete plugin;
}

size_t trt_host_workspace(const TrtPlugin *plugin) {
    const Tensors &tensors = plugin->tensors;
    return build(plugin->plugin)
        ->getWorkspaceSize(tensors.all.data(), tensors.inputs(), &tensors.all.back(), 1);
}

int trt_host_tactics(const TrtPlugin *plugin) {
    return (int)plugin->tactics.size();
}

bool trt_host_set_tactic(TrtPlugin *plugin, int index) {
    return !runtime(plugin->plugin)->setTactic(plugin->tactics[(std::size_t)index]);
}

bool trt_host_again(TrtPlugin *plugin, const void *const inputs[TRT_INPUTS], void *output,
                    void *workspace, void *stream) {
    void *const outputs[] = {output};
    return !runtime(plugin->plugin)
                ->enqueue(plugin->descs.data(), &plugin->descs.back(), inputs, outputs, workspace,
                          (cudaStream_t)stream);
}

bool trt_host_enqueue(TrtPlugin *plugin, const void *const inputs[TRT_INPUTS], void *output,
                      void *workspace, void *stream) {
    return !runtime(plugin->plugin)
                ->onShapeChange(plugin->descs.data(), plugin->tensors.inputs(),
                                &plugin->descs.back(), 1) &&
           trt_host_again(plugin, inputs, output, workspace, stream);
}
