# SPDX-License-Identifier: MIT
"""PyTorch's networks with bevpool as ONNX files, by either exporter of PyTorch.

    import bevpool.onnx
    bevpool.onnx.export(net.eval(), (images,), "net.onnx")                  # the TorchScript exporter
    bevpool.onnx.export(net.eval(), (images,), "net.onnx", dynamo=True)     # PyTorch 2.5, onnxscript

bev_pool_v2, pool, view_transform and LiftSplat become the node BevPool of TensorRT's plugin
libbevpool_trt.so, with ranks of int32. The file also holds a function of standard operators for that
node, so that onnxruntime runs it. TensorRT's parser takes its plugin where that is loaded. Parsers of
TensorRT 10 that prefer functions need a file without: body=False.

export() is torch.onnx.export and three things that a tool of its own, as mmdeploy, does by hand:
register() before it, custom_translation_table=translations() with dynamo, add_body("net.onnx") after it.
Needs the package onnx, which torch.onnx.export with dynamo needs too.
"""
from typing import Any, Callable, Dict, Tuple

DOMAIN, VERSION = "bevpool", 1
MAP = "ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths"
OLDEST = 16  # ScatterND adds from this version of the standard operators on


def attributes(bev_h: int, bev_w: int, static_map: bool, layout: str = "nchw", align: str = "nearest",
               kernel: str = "", softmax: bool = False) -> Dict[str, Any]:
    """Those of a node: the plugin's fields, and the words by which TensorRT finds the plugin."""
    found = {"bev_h": int(bev_h), "bev_w": int(bev_w), "static_map": int(static_map),
             "softmax": int(softmax), "layout": layout, "align": align, "plugin_version": str(VERSION),
             "plugin_namespace": DOMAIN}
    return {**found, "kernel": kernel} if kernel else found


# ---- the node in standard operators --------------------------------------------------------------

# Operator, inputs, output, attributes. Names with $ are the node's attributes. depth is (N, D, H, W) or
# (B, N, D, H, W), feat the same with C in the place of D. The sums are FP32.
_BODY = (
    ("Cast", "depth", "depths", {"to": 1}),
    ("Cast", "$softmax", "is_logits", {"to": 9}),
    ("Softmax", "depths", "shares", {"axis": -3}),
    ("Where", "is_logits shares depths", "shared", {}),
    ("Reshape", "shared -1", "all_depths", {}),
    ("Gather", "all_depths ranks_depth", "depth_of_points", {}),
    ("Unsqueeze", "depth_of_points 1", "factors", {}),
    ("Cast", "feat", "feat32", {"to": 1}),
    ("Shape", "feat", "image", {"start": -3}),
    ("Shape", "feat", "channels", {"start": -3, "end": -2}),
    ("Concat", "-1 image", "images", {"axis": 0}),
    ("Reshape", "feat32 images", "features", {}),
    ("Transpose", "features", "pixels", {"perm": [0, 2, 3, 1]}),
    ("Concat", "-1 channels", "rows", {"axis": 0}),
    ("Reshape", "pixels rows", "rows_of_pixels", {}),
    ("Gather", "rows_of_pixels ranks_feat", "rows_of_points", {}),
    ("Mul", "factors rows_of_points", "products", {}),
    ("Shape", "depth", "batch_or_none", {"end": -4}),
    ("Concat", "1 batch_or_none", "one_and_batch", {"axis": 0}),
    ("ReduceProd", "one_and_batch", "batch", {"keepdims": 1}),
    ("Unsqueeze", "$bev_h 0", "bev_h", {}),
    ("Unsqueeze", "$bev_w 0", "bev_w", {}),
    ("Mul", "bev_h bev_w", "cells_of_one", {}),
    ("Mul", "cells_of_one batch", "cells", {}),
    ("Concat", "cells channels", "size", {"axis": 0}),
    ("ConstantOfShape", "size", "zeros", {}),
    ("Cast", "ranks_bev", "wide_ranks", {"to": 7}),
    ("Unsqueeze", "wide_ranks 1", "at", {}),
    ("ScatterND", "zeros at products", "sums", {"reduction": "add"}),
    ("Concat", "batch bev_h bev_w channels", "grid", {"axis": 0}),
    ("Reshape", "sums grid", "last", {}),
    ("Transpose", "last", "first", {"perm": [0, 3, 1, 2]}),
    ("CastLike", "first feat", "pooled", {}))


def body(opset: int) -> Any:
    """The FunctionProto of a node with layout nchw and align nearest, for that version of the standard
    operators."""
    import onnx
    from onnx import helper

    nodes, known = [], set()

    def name_of(word):
        """What a word of _BODY is called; constants are made once."""
        name = "the_" + word[1:] if word[0] == "$" else f"constant_{word}".replace("-", "minus_")
        if word[0] != "$" and not word.lstrip("-").isdigit():
            return word
        if name not in known:
            known.add(name)
            node = helper.make_node("Constant", [], [name])
            if word[0] == "$":
                node.attribute.add(name="value_int", ref_attr_name=word[1:], type=onnx.AttributeProto.INT)
            else:
                node.attribute.append(helper.make_attribute("value_ints", [int(word)]))
            nodes.append(node)
        return name
    for operator, inputs, output, fields in _BODY:
        names = [name_of(word) for word in inputs.split()]
        nodes.append(helper.make_node(operator, names, [output], **fields))
    return helper.make_function(DOMAIN, "BevPool", ["depth", "feat", *MAP], ["pooled"], nodes,
                                [helper.make_opsetid("", opset)], list(attributes(1, 1, True)))


def add_body(path: str) -> None:
    """Writes the function of the node BevPool into the ONNX file, if the file has such a node."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    nodes = [node for node in model.graph.node if (node.domain, node.op_type) == (DOMAIN, "BevPool")]
    opset = max([o.version for o in model.opset_import if not o.domain], default=0)
    if not nodes or any((f.domain, f.name) == (DOMAIN, "BevPool") for f in model.functions):
        return
    if opset < OLDEST:
        raise ValueError(f"{path} has opset {opset}, the function of BevPool takes opset_version={OLDEST} or later")
    changing = {i.name for i in model.graph.input}
    changing.update(node.output[0] for node in model.graph.node if changing & set(node.input))
    if any(a.name == "static_map" and a.i and changing & set(node.input[2:]) for node in nodes for a in node.attribute):
        raise ValueError(f"{path} takes ranks as inputs: export it with static_map=False")
    if DOMAIN not in [o.domain for o in model.opset_import]:
        model.opset_import.append(onnx.helper.make_opsetid(DOMAIN, VERSION))
    model.ir_version = max(model.ir_version, 8)  # the first with functions
    model.functions.append(body(opset))
    onnx.save(model, path)


# ---- what both exporters write -------------------------------------------------------------------


class _Writer:
    """How one exporter makes nodes. `op(name, *inputs, **attributes)`, `own` the same for BevPool,
    `constant(numbers)` a tensor of int64 or float32, `wide(value)` whether ranks are not int32."""

    def __init__(self, op: Callable, own: Callable, constant: Callable, wide: Callable) -> None:
        self.op, self.own, self.constant, self.wide = op, own, constant, wide

    def reshape(self, value, *sizes):
        return self.op("Reshape", value, self.constant(sizes))

    def node(self, depth, feat, shape, channels_first, arrays, static_map, softmax):
        """depth and feat (B, N, ., H, W): the node, and its output in the order of the operator."""
        *ranks, weights = arrays
        if weights is not None or None in ranks:
            raise ValueError("a map with weights, or without intervals, is not exported")
        b, z, y, x = shape[0], *shape[5:]
        if not all(isinstance(size, int) for size in shape):
            raise ValueError(f"a map of shape {tuple(shape)} is not exported: its sizes must be numbers")
        ranks = [self.op("Cast", rank, to=6) if self.wide(rank) else rank for rank in ranks]
        pooled = self.own(depth, feat, *ranks, **attributes(z * y, x, static_map, softmax=softmax))
        out = self.reshape(pooled, b, -1, z, y, x)
        return out if channels_first else self.op("Transpose", out, perm=[0, 2, 3, 4, 1])

    def pool(self, depth, feat, shape, channels_first, arrays, static_map):
        b, n, d, h, w = shape[:5]
        depth = self.reshape(depth, b, n, d, h, w)
        feat = self.op("Transpose", self.reshape(feat, b, n, h, w, -1), perm=[0, 1, 4, 2, 3])
        return self.node(depth, feat, shape, channels_first, arrays, static_map, False)

    def view(self, x, shape, channels_first, arrays, softmax, temperature, static_map):
        b, n, d, h, w = shape[:5]
        x = self.reshape(x, b, n, -1, h, w)
        depth, feat = (self.op("Slice", x, *(self.constant([number]) for number in (start, end, 2)))
                       for start, end in ((0, d), (d, 2**31 - 1)))
        if softmax and temperature not in (0, 1):
            depth = self.op("Mul", depth, self.op("CastLike", self.constant([1 / temperature]), x))
        return self.node(depth, feat, shape, channels_first, arrays, static_map, softmax)


def _no_kernel(kernel):
    if kernel:
        raise ValueError(f"kernel {kernel} is not exported: leave it out")


# ---- the TorchScript exporter --------------------------------------------------------------------


def register(static_map: bool = True) -> None:
    """Tells torch.onnx.export(..., dynamo=False) what becomes of the operators. static_map: the map is
    the same in all calls."""
    import torch
    from torch.onnx import symbolic_helper as helper

    kinds = {int: "_i", float: "_f", str: "_s", list: "_i"}

    def writer(g):
        def op(name, *inputs, **fields):
            return g.op(name, *inputs, **{key + kinds[type(value)]: value for key, value in fields.items()})

        def own(*inputs, **fields):
            return op(f"{DOMAIN}::BevPool", *inputs, **fields).setType(inputs[1].type().with_sizes([None] * 4))
        return _Writer(op, own, lambda numbers: g.op("Constant", value_t=torch.tensor(numbers)),
                       lambda rank: str(rank.type().scalarType()) != "Int")

    def numbers(value):
        if value.node().kind() != "prim::ListConstruct":
            return helper._maybe_get_const(value, "is")
        return [helper._maybe_get_const(size, "i") for size in helper._unpack_list(value)]

    def given(arrays):
        return [None if helper._is_none(array) else array for array in arrays]

    def pool(g, depth, feat, shape, channels_first, *rest):
        *arrays, kernel = rest
        _no_kernel(helper._maybe_get_const(kernel, "s") if not helper._is_none(kernel) else None)
        return writer(g).pool(depth, feat, numbers(shape), helper._get_const(channels_first, "i", "first"),
                              given(arrays), static_map)

    def view(g, x, shape, channels_first, *rest):
        *arrays, softmax, temperature = rest
        first, softmax = (bool(helper._get_const(v, "i", "flag")) for v in (channels_first, softmax))
        return writer(g).view(x, numbers(shape), first, given(arrays), softmax,
                              helper._get_const(temperature, "f", "temperature"), static_map)
    for name, symbolic in ("pool", pool), ("view", view):
        torch.onnx.register_custom_op_symbolic(f"{DOMAIN}::{name}", symbolic, 11)


# ---- the exporter with dynamo --------------------------------------------------------------------


def _register_schema():
    """Tells onnx what a BevPool node looks like: the exporter writes no node that it does not know."""
    import onnx

    schema = onnx.defs.OpSchema
    if onnx.defs.has("BevPool", VERSION, DOMAIN):
        return
    words = attributes(1, 1, False, kernel="v4")
    kinds = {int: schema.AttrType.INT, str: schema.AttrType.STRING}
    onnx.defs.register_schema(schema(
        "BevPool", DOMAIN, VERSION, doc="BEV pooling by libbevpool_trt.so",
        inputs=[schema.FormalParameter(name, "T", "") for name in ("depth", "feat")]
        + [schema.FormalParameter(name, "tensor(int32)", "") for name in MAP],
        outputs=[schema.FormalParameter("pooled", "T", "")],
        type_constraints=[("T", ["tensor(float)", "tensor(float16)", "tensor(bfloat16)"], "")],
        attributes=[schema.Attribute(word, kinds[type(value)], "", required=False)
                    for word, value in words.items()]))


def translations(static_map: bool = True) -> Dict[Any, Callable]:
    """For torch.onnx.export(..., dynamo=True, custom_translation_table=...): what becomes of the
    operators. static_map: the map is the same in all calls. Needs onnxscript."""
    import onnxscript
    import torch

    _register_schema()
    standard = onnxscript.values.Opset("", 18)

    def constant(numbers):
        kind = "value_floats" if isinstance(numbers[0], float) else "value_ints"
        return standard.Constant(**{kind: list(numbers)})
    writer = _Writer(lambda name, *inputs, **fields: getattr(standard, name)(*inputs, **fields),
                     onnxscript.values.Opset(DOMAIN, VERSION).BevPool,
                     constant,
                     lambda rank: int(rank.dtype) != 6)

    def pool(depth, feat, shape, channels_first, ranks_depth, ranks_feat, ranks_bev, interval_starts,
             interval_lengths, weights, kernel):
        arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, weights
        _no_kernel(kernel)
        return writer.pool(depth, feat, shape, channels_first, arrays, static_map)

    def view(x, shape, channels_first, ranks_depth, ranks_feat, ranks_bev, interval_starts,
             interval_lengths, weights, softmax, temperature):
        arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, weights
        return writer.view(x, shape, channels_first, arrays, softmax, temperature, static_map)
    return {torch.ops.bevpool.pool.default: pool, torch.ops.bevpool.view.default: view}


def export(net: Any, inputs: Tuple[Any, ...], path: str, dynamo: bool = False, static_map: bool = True,
           body: bool = True, **options: Any) -> None:
    """torch.onnx.export(net, inputs, path, **options) of a network with bevpool; `body`: with the
    function of standard operators for its node."""
    import torch

    from .module import Cameras, LiftSplat

    if any(isinstance(module, LiftSplat) and isinstance(module.grid, Cameras) for module in net.modules()):
        raise ValueError("LiftSplat(Cameras) has no form in ONNX: export it with a Map of the vehicle's rig")
    with torch.no_grad():
        net(*inputs)  # makes the maps for this batch, which no exporter may see being made
    if dynamo:
        table = {**translations(static_map), **options.pop("custom_translation_table", {})}
        options.update(dynamo=True, custom_translation_table=table)
        net = torch.export.export(net, inputs, dynamic_shapes=options.pop("dynamic_shapes", None), strict=False)
    else:
        register(static_map)
        options.setdefault("opset_version", 17)
        options.setdefault("custom_opsets", {DOMAIN: VERSION})
        if hasattr(torch, "export"):
            options["dynamo"] = False
    torch.onnx.export(net, inputs, path, **options)
    if body:
        add_body(path)
