#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""BEV pooling in an ONNX model: a node of its own, run by the TensorRT plugin libbevpool_trt.so.

    bevscope export canonical canonical.npz
    python3 onnx_bevpool.py canonical.npz net.onnx            # the map stays: constants
    python3 onnx_bevpool.py canonical.npz net.onnx --inputs   # the map may change: inputs
    python3 onnx_bevpool.py canonical.npz net.onnx --softmax  # the whole view transform

writes a small network: a convolution, the pooling, a convolution. With --softmax the first is a
depth net: it gives logits and features, and the plugin does what lies between them and the grid.
Needs onnx and NumPy. The .npz is
one of `bevscope export` or of export_scene.py. Then, where TensorRT is:

    trtexec --onnx=net.onnx --staticPlugins=libbevpool_trt.so --saveEngine=net.engine \\
            --useCudaGraph --iterations=100

With --inputs the numbers of points and intervals are open: give trtexec --minShapes, --optShapes
and --maxShapes of the five arrays.

bevpool.onnx of the package in samples/torch writes the same node from a network of PyTorch. The file also
holds a function of standard operators for the node, so that onnxruntime runs it.
"""
import argparse
import importlib.util
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# The node is described in the package, which this needs no library for.
_spec = importlib.util.spec_from_file_location("bevpool_onnx", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "torch", "bevpool", "onnx.py"))
_node = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_node)
DOMAIN, VERSION, MAP, attributes = _node.DOMAIN, _node.VERSION, _node.MAP, _node.attributes

OPSET = 18
ELEMENT = {"fp32": TensorProto.FLOAT, "fp16": TensorProto.FLOAT16}


def pool_node(inputs, output, **fields):
    """The node. inputs: names of depth, feat and the five arrays of the map, then of weights if
    align is bilinear or bev-align. fields: as attributes()."""
    return helper.make_node("BevPool", inputs, [output], domain=DOMAIN, name=output,
                            **attributes(**fields))


def constant(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def convolution(name, source, channels, edge, dtype, random, out=None):
    """A node that gives `out` channels, as many as it takes if None, and its weights."""
    shape = channels if out is None else out, channels, edge, edge
    weight = random.standard_normal(shape) / (edge * channels ** 0.5)
    node = helper.make_node("Conv", [source, name + "_weight"], [name], name=name,
                            kernel_shape=[edge, edge], pads=[edge // 2] * 4)
    return node, constant(name + "_weight", weight.astype(dtype))


def network(scene, fp16=False, map_inputs=False, seed=1, softmax=False):
    """The model for a scene: image features (N, C, H, W) and depth (N, D, H, W) in, the grid
    (1, C, bev_h, bev_w) out. With softmax there is no depth to give: it is made of the image
    features as well. scene: the arrays of a .npz with ranks."""
    from export_scene import cells_of, whole_numbers
    absent = [name for name in ("depth", "feat", "bev_shape", *MAP) if name not in scene]
    if absent:
        raise ValueError(f"the scene has no {', '.join(absent)}: write it with bevscope export")
    n, d, h, w = scene["depth"].shape
    c = scene["feat"].shape[-1]
    bev_z, bev_h, bev_w = cells_of(scene["bev_shape"])
    if bev_z != 1:
        raise ValueError(f"the grid has {bev_z} layers of cells, the plugin pools into one")
    element = ELEMENT["fp16" if fp16 else "fp32"]
    dtype, random = helper.tensor_dtype_to_np_dtype(element), np.random.default_rng(seed)
    lists = {name: whole_numbers(name, scene[name]) for name in MAP}
    name, made = ("depth_net", d + c) if softmax else ("feat", c)
    before, before_weight = convolution(name, "image", c, 1, dtype, random, made)
    after, after_weight = convolution("bev", "pooled", c, 3, dtype, random)
    nodes, constants = [before], [before_weight, after_weight]
    if softmax:
        nodes.append(helper.make_node("Split", ["depth_net", "parts"], ["logits", "feat"], axis=1,
                                      name="split"))
        constants.append(constant("parts", np.array([d, c], np.int64)))
    nodes.append(pool_node(["logits" if softmax else "depth", "feat", *MAP], "pooled", bev_h=bev_h,
                           bev_w=bev_w, static_map=not map_inputs, softmax=softmax))
    inputs = [helper.make_tensor_value_info("image", element, (n, c, h, w))]
    if not softmax:
        inputs.insert(0, helper.make_tensor_value_info("depth", element, (n, d, h, w)))
    for name, array in lists.items():
        if map_inputs:
            length = "intervals" if name.startswith("interval") else "points"
            inputs.append(helper.make_tensor_value_info(name, TensorProto.INT32, (length,)))
        else:
            constants.append(constant(name, array))
    graph = helper.make_graph(
        [*nodes, after], "bevpool", inputs,
        [helper.make_tensor_value_info("bev", element, (1, c, bev_h, bev_w))], constants)
    model = helper.make_model(graph, ir_version=9, producer_name="onnx_bevpool.py", opset_imports=[
        helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, VERSION)],
        functions=[_node.body(OPSET)])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", help=".npz of bevscope export")
    parser.add_argument("model", help=".onnx to write")
    parser.add_argument("--fp16", action="store_true", help="half precision (default: FP32)")
    parser.add_argument("--inputs", action="store_true",
                        help="the map's arrays are inputs and may change (default: constants)")
    parser.add_argument("--softmax", action="store_true",
                        help="logits and features from the image: the whole view transform")
    options = parser.parse_args()
    try:
        with np.load(options.scene) as scene:
            model = network(scene, options.fp16, options.inputs, softmax=options.softmax)
        onnx.save(model, options.model)
    except (OSError, ValueError) as error:
        sys.exit(f"onnx_bevpool.py: {options.scene}: {error}")
    shapes = {i.name: [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim]
              for i in model.graph.input}
    inputs = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    print(f"{options.model}: inputs {inputs}")


if __name__ == "__main__":
    main()
