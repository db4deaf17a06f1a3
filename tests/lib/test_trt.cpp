/* SPDX-License-Identifier: MIT */
// The plugin in TensorRT's own registry, without a GPU: loading, fields, copies, serialising,
// shapes, formats, workspace and tactics. Skips where BEVPOOL_NVINFER names no runtime library.
#include "src/lib/bevpool.h"
#include "tests/lib/trt.hpp"

#include <set>

using namespace trt;

static const Sizes small = {6, 59, 16, 44, 80, 128, 120, 1000, 400};

static FieldList grid() {
    FieldList fields;
    fields.number("bev_h", 128).number("bev_w", 120);
    return fields;
}

// ---- loading ------------------------------------------------------------------------------------

static void test_loading() {
    tap_need(registry->getCreator("BevPool", "1", "bevpool") == nullptr, "not there before");
    void *handle = load_plugin();
    tap_need(handle != nullptr, "loadLibrary takes the plugin");
    creator = find_creator();
    tap_need(creator != nullptr, "getCreator finds BevPool, version 1, in the namespace bevpool");
    tap_ok(!registry->getCreator("BevPool", "1", "") &&
               !registry->getCreator("BevPool", "2", "bevpool"),
           "and by no other version or namespace");
    tap_ok(!std::strcmp(creator->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE"),
           "it is a creator of IPluginV3: %s", creator->getInterfaceInfo().kind);
    std::set<std::string> names;
    const PluginFieldCollection *fields = creator->getFieldNames();
    for (std::int32_t i = 0; i < fields->nbFields; i++)
        names.insert(fields->fields[i].name);
    bool known = true;
    for (const char *name :
         {"bev_h", "bev_w", "align", "layout", "kernel", "static_map", "softmax"})
        known = known && names.count(name);
    tap_ok(known, "it names its %d fields", fields->nbFields);
    registry->deregisterLibrary(handle);
    tap_ok(!find_creator(), "deregisterLibrary takes it out");
    tap_ok(load_plugin() && (creator = find_creator()), "and it can be loaded again");
    tap_need(creator != nullptr, "a creator");
}

// ---- fields -------------------------------------------------------------------------------------

static void refused(const FieldList &fields, const std::string &words) {
    std::size_t before = logger.lines.size();
    Plugin plugin(fields.create());
    std::string said = logger.last();
    bool one_line = logger.lines.size() == before + 1 && said.find('\n') == std::string::npos;
    tap_ok(!plugin && one_line && said.find(words) != std::string::npos, "refused: %s",
           said.c_str());
}

static void test_fields() {
    refused(FieldList(), "bev_h: is 0, expected 1 or more");
    refused(FieldList().number("bev_h", 8), "bev_w: is 0");
    refused(FieldList().number("bev_h", -3).number("bev_w", 8), "bev_h: is -3");
    refused(grid().word("align", "trilinear"), "align: is \"trilinear\", expected one of nearest");
    refused(grid().word("layout", "chwn"), "layout: is \"chwn\"");
    refused(grid().number("static_map", 2), "static_map: is 2, expected 0 or 1");
    refused(grid().number("softmax", -1), "softmax: is -1, expected 0 or 1");
    refused(grid().number("softmax", 1).word("kernel", "v4"),
            "kernel: is \"v4\", expected none: softmax is 1");
    refused(grid().number("out_height", 8), "out_height: no such field, expected bev_h, bev_w");
    refused(grid().number("align", 1), "align: expected text");
    refused(grid().word("static_map", "1"), "static_map: expected one INT32");
    std::int32_t pair[2] = {1, 1};
    refused(FieldList().add("bev_h", PluginFieldType::kINT32, pair, sizeof pair, 2),
            "bev_h: expected one INT32");
    refused(grid().scale("out_scale", 0), "out_scale: is 0");
    if (bevpool_kernel_name(0, BEVPOOL_FORWARD, 0))
        refused(grid().word("kernel", "v5"), "kernel: is \"v5\", expected one of");
    Plugin none(creator->createPlugin("pool", nullptr, TensorRTPhase::kBUILD));
    tap_ok(!none && logger.last().find("no fields") != std::string::npos, "refused: %s",
           logger.last().c_str());
}

// ---- copies -------------------------------------------------------------------------------------

static std::string identity(const Plugin &plugin) {
    return build(plugin)->getTimingCacheID();
}

static void test_copies() {
    FieldList fields = grid();
    fields.word("align", "bilinear").word("layout", "nchw").number("static_map", 1);
    fields.scale("feat_scale", 0.5f).number("softmax", 1);
    Plugin plugin(fields.create(TensorRTPhase::kBUILD));
    tap_need(plugin != nullptr, "createPlugin makes one of right fields");
    tap_ok(core(plugin) && build(plugin) && runtime(plugin) &&
               !std::strcmp(core(plugin)->getPluginName(), creator->getPluginName()) &&
               !std::strcmp(core(plugin)->getPluginVersion(), creator->getPluginVersion()) &&
               !std::strcmp(core(plugin)->getPluginNamespace(), creator->getPluginNamespace()),
           "it has all three capabilities, and the creator's name, version and namespace");
    std::string is = identity(plugin);
    for (const char *part : {"bev_h=128", "bev_w=120", "align=bilinear", "layout=nchw",
                             "static_map=1", "softmax=1", "feat_scale=0.5", "libbevpool="})
        tap_ok(is.find(part) != std::string::npos, "the timing cache is told %s", part);
    Plugin clone(plugin->clone()), attached(runtime(plugin)->attachToContext(nullptr));
    tap_ok(clone && clone != plugin && identity(clone) == is, "a clone is the same");
    tap_ok(attached && identity(attached) == is, "so is one that is attached to a context");
    const PluginFieldCollection *stored = runtime(plugin)->getFieldsToSerialize();
    Plugin again(creator->createPlugin("pool", stored, TensorRTPhase::kRUNTIME));
    tap_ok(again && identity(again) == is, "and one made of the %d serialised fields",
           stored->nbFields);
    Plugin other(grid().create()), whole(grid().number("softmax", 1).create());
    tap_ok(other && identity(other) != is, "other fields are another one for the timing cache");
    tap_ok(other && identity(other).find("softmax=0") != std::string::npos && whole &&
               identity(whole) != identity(other),
           "an engine of before there was softmax is read as one that pools");
}

// ---- shapes -------------------------------------------------------------------------------------

// Expressions of constants, as TensorRT's are when nothing is dynamic.
class Number : public IDimensionExpr, public apiv::VDimensionExpr {
  public:
    explicit Number(std::int64_t value) : value_(value) {
        mImpl = this;
    }
    bool isConstant() const override {
        return true;
    }
    std::int64_t getConstantValue() const override {
        return value_;
    }
    bool isSizeTensor() const override {
        return false;
    }

  private:
    std::int64_t value_;
};

class Builder : public IExprBuilder, public apiv::VExprBuilder {
  public:
    Builder() {
        mImpl = this;
    }
    const IDimensionExpr *constant(std::int64_t value) override {
        numbers_.push_back(std::make_unique<Number>(value));
        return numbers_.back().get();
    }
    const IDimensionExpr *operation(DimensionOperation, const IDimensionExpr &,
                                    const IDimensionExpr &) override {
        return nullptr;
    }
    const IDimensionExpr *declareSizeTensor(std::int32_t, const IDimensionExpr &,
                                            const IDimensionExpr &) override {
        return nullptr;
    }

  private:
    std::vector<std::unique_ptr<Number>> numbers_;
};

static std::string shape_of(const Plugin &plugin, const std::vector<Dims> &inputs) {
    Builder builder;
    std::vector<DimsExprs> in(inputs.size());
    DimsExprs out{};
    for (std::size_t i = 0; i < inputs.size(); i++) {
        in[i].nbDims = inputs[i].nbDims;
        for (std::int32_t j = 0; j < inputs[i].nbDims; j++)
            in[i].d[j] = static_cast<apiv::VExprBuilder &>(builder).constant(inputs[i].d[j]);
    }
    if (build(plugin)->getOutputShapes(in.data(), static_cast<std::int32_t>(in.size()), nullptr, 0,
                                       &out, 1, builder))
        return "refused";
    std::string text;
    for (std::int32_t i = 0; i < out.nbDims; i++)
        text += (i ? " " : "") + std::to_string(out.d[i]->getConstantValue());
    return text;
}

static void test_shapes() {
    Plugin last(grid().create()), first(grid().word("layout", "nchw").create());
    Dims points = dims({1000}), intervals = dims({400});
    std::vector<Dims> lists = {points, points, points, intervals, intervals};
    auto with = [&](std::initializer_list<std::int64_t> depth,
                    std::initializer_list<std::int64_t> feat) {
        std::vector<Dims> all = {dims(depth), dims(feat)};
        all.insert(all.end(), lists.begin(), lists.end());
        return all;
    };
    const struct {
        const Plugin &plugin;
        std::vector<Dims> inputs;
        const char *wanted;
    } cases[] = {
        {last, with({6, 59, 16, 44}, {6, 16, 44, 80}), "1 128 120 80"},
        {first, with({6, 59, 16, 44}, {6, 80, 16, 44}), "1 80 128 120"},
        {last, with({4, 6, 59, 16, 44}, {4, 6, 16, 44, 80}), "4 128 120 80"},
        {first, with({4, 6, 59, 16, 44}, {4, 6, 80, 16, 44}), "4 80 128 120"},
        {last, with({6, 59, 16}, {16, 44, 80}), "refused"},
    };
    for (const auto &c : cases) {
        std::string found = shape_of(c.plugin, c.inputs);
        tap_ok(found == c.wanted, "the output's shape is %s", found.c_str());
    }
    lists.pop_back();
    bool six = shape_of(last, with({6, 59, 16, 44}, {6, 16, 44, 80})) == "refused";
    tap_ok(six, "six inputs are refused: %s", logger.last().c_str());
    DataType types[7] = {DataType::kHALF, DataType::kHALF}, out = DataType::kFLOAT;
    tap_ok(!build(last)->getOutputDataTypes(&out, 1, types, 7) && out == DataType::kHALF &&
               build(last)->getNbOutputs() == 1,
           "one output, of the features' type");
}

// ---- formats ------------------------------------------------------------------------------------

// What the plugin should take, said a second time and differently: by listing.
static bool wanted(std::int32_t pos, std::int32_t inputs, bool first, bool softmax, std::int64_t c,
                   DataType depth_type, DataType type, TensorFormat format) {
    bool linear = format == TensorFormat::kLINEAR;
    if (pos >= 2 && pos <= 6)
        return linear && type == DataType::kINT32;
    if (pos == 7 && inputs == 8)
        return linear && type == DataType::kFLOAT;
    bool pooled = type == DataType::kFLOAT || type == DataType::kHALF || type == DataType::kBF16 ||
                  (type == DataType::kFP8 && !softmax);
    if (pos == 0)
        return linear && pooled;
    if (type != depth_type || linear)
        return type == depth_type;
    bool half = type == DataType::kHALF || type == DataType::kBF16;
    return first && ((half && format == TensorFormat::kHWC8 && c % 8 == 0) ||
                     (type == DataType::kFP8 && format == TensorFormat::kHWC16 && c % 16 == 0) ||
                     (type == DataType::kFLOAT && format == TensorFormat::kHWC));
}

static int count_wrong(const Plugin &plugin, const Sizes &sizes, bool first, bool weighted,
                       bool softmax, DataType depth_type, int *asked, int *taken) {
    int wrong = 0;
    Tensors all = tensors_of(sizes, depth_type, first, weighted);
    for (std::int32_t pos = 0; pos <= all.inputs(); pos++) {
        DynamicPluginTensorDesc kept = all.all[static_cast<std::size_t>(pos)];
        PluginTensorDesc &desc = all.all[static_cast<std::size_t>(pos)].desc;
        for (std::int32_t type = 0; type < EnumMax<DataType>(); type++)
            for (std::int32_t format = 0; format < EnumMax<TensorFormat>(); format++) {
                desc.type = static_cast<DataType>(type);
                desc.format = static_cast<TensorFormat>(format);
                bool takes =
                    build(plugin)->supportsFormatCombination(pos, all.all.data(), all.inputs(), 1);
                ++*asked;
                *taken += takes;
                wrong += takes != wanted(pos, all.inputs(), first, softmax, sizes.c,
                                         pos ? depth_type : desc.type, desc.type, desc.format);
            }
        all.all[static_cast<std::size_t>(pos)] = kept;
    }
    return wrong;
}

static void test_formats() {
    int asked = 0, taken = 0, wrong = 0;
    for (int form = 0; form < 8; form++)
        for (std::int64_t channels : {80, 72, 83})
            for (DataType type :
                 {DataType::kFLOAT, DataType::kHALF, DataType::kBF16, DataType::kFP8}) {
                bool first = form & 1, weighted = form & 2, softmax = form & 4;
                FieldList fields = grid();
                fields.word("layout", first ? "nchw" : "nhwc").number("softmax", softmax);
                fields.word("align", weighted ? "bilinear" : "nearest");
                Plugin plugin(fields.create());
                Sizes sizes = small;
                sizes.c = channels;
                wrong += count_wrong(plugin, sizes, first, weighted, softmax, type, &asked, &taken);
            }
    tap_ok(asked > 10000 && taken > 400 && !wrong,
           "supportsFormatCombination: %d questions, %d times yes, %d wrong", asked, taken, wrong);
    Plugin plugin(grid().create());
    Tensors all = tensors_of(small, DataType::kHALF, false, true);
    tap_ok(!build(plugin)->supportsFormatCombination(0, all.all.data(), all.inputs(), 1),
           "weights without a weighted align are refused");
}

// ---- configuring --------------------------------------------------------------------------------

static bool configured(const Plugin &plugin, const Tensors &all) {
    return !build(plugin)->configurePlugin(all.all.data(), all.inputs(), &all.all.back(), 1);
}

static std::size_t workspace(const Plugin &plugin, const Tensors &all) {
    return build(plugin)->getWorkspaceSize(all.all.data(), all.inputs(), &all.all.back(), 1);
}

static std::vector<std::int32_t> tactics_of(const Plugin &plugin) {
    std::vector<std::int32_t> tactics(static_cast<std::size_t>(build(plugin)->getNbTactics()));
    build(plugin)->getValidTactics(tactics.data(), build(plugin)->getNbTactics());
    return tactics;
}

static void test_configuring() {
    Plugin dynamic(grid().create(TensorRTPhase::kBUILD));
    Plugin fixed(grid().number("static_map", 1).create(TensorRTPhase::kBUILD));
    Plugin first(grid().number("static_map", 1).word("layout", "nchw").create());
    Tensors last = tensors_of(small, DataType::kHALF, false, false);
    Tensors linear = tensors_of(small, DataType::kHALF, true, false);
    Tensors packed = tensors_of(small, DataType::kHALF, true, false, TensorFormat::kHWC8);
    tap_need(configured(dynamic, last) && configured(fixed, last), "configurePlugin");
    std::vector<std::int32_t> some = tactics_of(dynamic), more = tactics_of(fixed);
    std::set<std::int32_t> different(more.begin(), more.end());
    tap_ok(different.size() == more.size() && !different.count(0), "%zu tactics, none twice or 0",
           more.size());
    tap_ok(some.size() > 2 && some.size() < more.size(),
           "%zu of them need no preparation, for a map that changes", some.size());
    bool set = true;
    for (std::int32_t tactic : more)
        set = set && !runtime(fixed)->setTactic(tactic);
    set = set && !runtime(fixed)->setTactic(0) && runtime(fixed)->setTactic(4711);
    tap_ok(set, "setTactic takes them and no other: %s", logger.last().c_str());
    tap_ok(workspace(first, packed) == workspace(fixed, last) &&
               workspace(first, linear) >=
                   workspace(first, packed) + 2 * 6 * 16 * 44 * 80 + 2 * 128 * 120 * 80,
           "HWC8 needs no copies of feat and output, linear channels first do: %zu, %zu bytes",
           workspace(first, packed), workspace(first, linear));
    Plugin named(grid().word("kernel", "v4").number("static_map", 1).create());
    tap_ok(configured(named, last) && tactics_of(named).empty(), "a named kernel is the only one");
    Plugin changing(grid().word("kernel", "v4").create());
    bool refuses = !configured(changing, last) &&
                   logger.last().find("kernel v4: it prepares") != std::string::npos;
    tap_ok(refuses, "v4 for a map that changes is refused: %s", logger.last().c_str());
}

// A view transform: as many bytes as the library says of its own view, features by strides.
static void test_transform() {
    FieldList fields = grid();
    fields.number("softmax", 1).word("layout", "nchw");
    Plugin dynamic(fields.create(TensorRTPhase::kBUILD));
    Plugin fixed(fields.number("static_map", 1).create(TensorRTPhase::kBUILD));
    Plugin pooling(grid().word("layout", "nchw").number("static_map", 1).create());
    Tensors linear = tensors_of(small, DataType::kHALF, true, false);
    Tensors packed = tensors_of(small, DataType::kHALF, true, false, TensorFormat::kHWC8);
    tap_ok(configured(fixed, linear) && configured(fixed, packed) && tactics_of(fixed).empty(),
           "softmax: configurePlugin takes it, and the library chooses the kernel");
    tap_ok(configured(dynamic, linear), "and for a map that changes");
    const BevpoolShape shape = {1, small.n, small.d, small.h, small.w, 1, small.bev_h, small.bev_w};
    const BevpoolArrays arrays = {small.points, small.intervals, nullptr, nullptr,
                                  nullptr,      nullptr,         nullptr, nullptr};
    BevpoolView view{};
    view.softmax = 1;
    BevpoolOptions options{};
    options.size = sizeof options;
    options.channels = small.c;
    options.dtype = BEVPOOL_FP16;
    options.out_layout = BEVPOOL_CHANNELS_FIRST;
    options.view = &view;
    std::size_t bytes = 0;
    bool known = !bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, nullptr);
    tap_ok(known && workspace(fixed, linear) == bytes && bytes != workspace(pooling, linear),
           "its workspace is that of the library's view: %zu bytes", bytes);
    Tensors eighth = tensors_of(small, DataType::kFP8, true, false);
    bool refuses =
        !configured(fixed, eighth) && logger.last().find("a view reads") != std::string::npos;
    tap_ok(refuses, "FP8 logits are refused: %s", logger.last().c_str());
}

static void test_wrong_sizes() {
    Plugin plugin(grid().create());
    struct {
        std::size_t input;
        Dims size;
        const char *words;
    } cases[] = {
        {0, dims({6, 59, 16, 45}), "cameras, H and W differ"},
        {1, dims({6, 80, 16, 44}), "cameras, H and W differ"},
        {0, dims({59, 16, 44}), "expected (N, D, H, W)"},
        {3, dims({999}), "ranks_feat: is (999), expected (1000)"},
        {6, dims({4, 100}), "interval_lengths: is (4, 100), expected (400)"},
    };
    for (const auto &c : cases) {
        Tensors all = tensors_of(small, DataType::kHALF, false, false);
        all.all[c.input] = tensor(c.size, all.all[c.input].desc.type);
        bool refuses = !configured(plugin, all) && logger.last().find(c.words) != std::string::npos;
        std::vector<PluginTensorDesc> descs;
        for (const auto &one : all.all)
            descs.push_back(one.desc);
        refuses =
            refuses && runtime(plugin)->onShapeChange(descs.data(), all.inputs(), &descs.back(), 1);
        tap_ok(refuses, "refused: %s", logger.last().c_str());
    }
}

TAP_SUITE(trt) {
    const char *reason = open_runtime();
    if (reason)
        tap_skip_suite(reason);
    test_loading();
    test_fields();
    test_copies();
    test_shapes();
    test_formats();
    test_wrong_sizes();
    if (bevpool_kernel_name(0, BEVPOOL_FORWARD, 0)) {
        test_configuring();
        test_transform();
    } else
        tap_skip("workspace and tactics",
                 "built without CUDA: there are no kernels to choose from");
}
