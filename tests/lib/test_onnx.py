# SPDX-License-Identifier: MIT
"""samples/onnx_bevpool.py and bevpool.onnx against plain NumPy: one line of TAP a check.
    test_onnx.py onnx|TorchScript|dynamo SCENE.npz FOLDER FIELDS.cpp"""
import logging
import re
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import bevpool
import onnx_bevpool
from tap import done as tap_done, ok

class BevPool(OpRun):
    """The node as the plugin runs it, over libbevpool on the CPU."""

    op_domain = onnx_bevpool.DOMAIN

    def _run(self, depth, feat, *arrays, bev_h, bev_w, layout, align, static_map, softmax, **words):
        assert layout == "nchw" and align == "nearest"
        if softmax:
            depth = np.exp(depth - depth.max(-3, keepdims=True))
            depth = depth / depth.sum(-3, keepdims=True)
        batch = depth.shape[0] if depth.ndim == 5 else 1
        feat = np.moveaxis(feat, -3, -1).astype(np.float32)
        depth = depth.reshape(batch, -1, *depth.shape[-3:]).astype(np.float32)
        feat = feat.reshape(batch, -1, *feat.shape[-3:])
        shape = batch, 1, bev_h, bev_w, feat.shape[-1]
        *ranks, starts, lengths = arrays
        return (bevpool.bev_pool_v2(depth, feat, *ranks, shape, starts, lengths)[:, :, 0],)


def node_of(model):
    found = [node for node in model.graph.node if node.op_type == "BevPool"]
    return found[0] if len(found) == 1 else None


def fields_of(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def pooled_by_hand(scene, depth, feat, bev_h, bev_w):
    out = np.zeros((bev_h * bev_w, feat.shape[-1]))
    np.add.at(out, scene["ranks_bev"], depth.ravel()[scene["ranks_depth"], None]
              * feat.reshape(-1, feat.shape[-1])[scene["ranks_feat"]])
    return out.reshape(bev_h, bev_w, -1)


def network_by_hand(model, scene, image):
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    depth, bins = scene["depth"], scene["depth"].shape[1]
    if "depth_net_weight" in weights:
        both = np.einsum("nchw,oc->nohw", image, weights["depth_net_weight"][:, :, 0, 0])
        shares = np.exp(both[:, :bins])
        depth = shares / shares.sum(1, keepdims=True)
        feat = both[:, bins:].transpose(0, 2, 3, 1)
    else:
        feat = np.einsum("nchw,oc->nhwo", image, weights["feat_weight"][:, :, 0, 0])
    bev_h, bev_w = scene["bev_shape"]
    padded = np.pad(pooled_by_hand(scene, depth, feat, bev_h, bev_w), ((1, 1), (1, 1), (0, 0)))
    return sum(np.einsum("yxc,oc->oyx", padded[i:i + bev_h, j:j + bev_w],
                         weights["bev_weight"][:, :, i, j]) for i in range(3) for j in range(3))


def test_onnx(path, folder, fields_source):
    with open(fields_source) as source:
        known = set(re.findall(r'\{"([a-z_]+)", ', source.read()))
    with np.load(path) as arrays:
        scene = dict(arrays)
    random = np.random.default_rng(2)
    n, _, h, w = scene["depth"].shape
    image = random.standard_normal((n, scene["feat"].shape[-1], h, w)).astype(np.float32)
    for map_inputs, softmax in (False, False), (True, False), (False, True), (True, True):
        model = onnx_bevpool.network(scene, map_inputs=map_inputs, softmax=softmax)
        onnx.checker.check_model(model, full_check=True)
        given = {i.name for i in model.graph.input}
        fields = fields_of(node_of(model))
        tensors = {"image"} if softmax else {"depth", "image"}
        ok(given == tensors | (set(onnx_bevpool.MAP) if map_inputs else set()),
           f"passes the checker; inputs {', '.join(sorted(given))}")
        ok((fields["static_map"], fields["softmax"]) == (not map_inputs, softmax),
           f"static_map is {fields['static_map']}, softmax {fields['softmax']}")
        ok(known and set(fields) - {"plugin_version", "plugin_namespace"} <= known,
           "its attributes are fields of the plugin")
        feeds = {"image": image}
        feeds |= {name: scene[name] for name in given - {"image"}}
        wanted = network_by_hand(model, scene, image)
        ok(np.allclose(ReferenceEvaluator(model).run(None, feeds)[0][0], wanted, atol=1e-4),
           f"run with the function of the node, it gives what NumPy does: {wanted.shape}")
        del model.functions[:]
        ok(np.allclose(ReferenceEvaluator(model, new_ops=[BevPool]).run(None, feeds)[0][0], wanted, atol=1e-4),
           "and so does libbevpool")
    half = onnx_bevpool.network(scene, fp16=True)
    ok(half.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16, "and in FP16")
    test_command(path, folder)


def test_command(path, folder):
    command = [sys.executable, onnx_bevpool.__file__]
    done = subprocess.run([*command, path, folder + "/net.onnx", "--inputs"], capture_output=True, text=True)
    onnx.checker.check_model(folder + "/net.onnx")
    ok(done.returncode == 0 and "intervals" in done.stdout, done.stdout.strip())
    np.savez(folder + "/rig.npz", depth=np.zeros((1, 2, 1, 1)), feat=np.zeros((1, 1, 1, 4)))
    for name, words in ("rig.npz", "has no bev_shape, ranks_depth"), ("absent.npz", "No such file"):
        done = subprocess.run([*command, folder + "/" + name, folder + "/none.onnx"],
                              capture_output=True, text=True)
        ok(done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())


def networks(scene):
    """What is exported: a name, a network, its inputs."""
    import torch

    shape = (1, *scene["depth"].shape, 1, *(int(size) for size in scene["bev_shape"]))
    channels = scene["feat"].shape[-1]
    depth, feat = scene["depth"][None].float(), scene["feat"][None].float()
    x = torch.cat([depth[0] * 3, feat[0].permute(0, 3, 1, 2)], 1)
    grid = bevpool.Map(shape, *(scene[name] for name in onnx_bevpool.MAP))

    class Pooled(torch.nn.Module):
        def __init__(self, ranks_of):
            super().__init__()
            for name in onnx_bevpool.MAP:
                self.register_buffer(name, scene[name].to(ranks_of))

        def forward(self, depth, feat):
            return bevpool.bev_pool_v2(depth, feat, self.ranks_depth, self.ranks_feat, self.ranks_bev,
                                       (1, *shape[5:], channels), self.interval_starts, self.interval_lengths)

    class Called(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *inputs):
            return self.function(*inputs)
    yield "bev_pool_v2", Pooled(torch.int32), (depth, feat)
    yield "bev_pool_v2, ranks of int64", Pooled(torch.int64), (depth, feat)
    yield "pool", Called(lambda a, b: bevpool.pool(a, b, grid)), (depth, feat)
    yield "view_transform", Called(lambda a: bevpool.view_transform(a, grid, shape[2], temperature=2.0)), (x,)
    yield "depths without softmax", Called(
        lambda a: bevpool.view_transform(a, grid, shape[2], False, softmax=False)), (x,)
    yield "LiftSplat, three samples", torch.nn.Sequential(
        bevpool.LiftSplat(grid, shape[2]), torch.nn.Conv2d(channels, 3, 3)), (x.repeat(3, 1, 1, 1),)


def test_torch(path, folder, form):
    import onnxruntime
    import torch

    import bevpool.onnx
    with np.load(path) as arrays:
        scene = {name: torch.from_numpy(np.ascontiguousarray(arrays[name])) for name in arrays
                 if arrays[name].dtype.kind in "iuf"}
    how = {"dynamo": True, "verbose": False} if form == "dynamo" else {}
    file = folder + "/torch.onnx"
    for name, network, inputs in networks(scene):
        with torch.no_grad():
            wanted = network.eval()(*inputs).numpy()
        bevpool.onnx.export(network, inputs, file, **how)
        model = onnx.load(file)
        onnx.checker.check_model(model)
        node = node_of(model)
        ok(node is not None and node.domain == onnx_bevpool.DOMAIN and fields_of(node)["static_map"] == 1,
           f"{form}, {name}: the exporter writes the node")
        wide = {i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.INT64}
        ok(not wide & set(node.input), f"{form}, {name}: its ranks are int32")
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        feeds = {i.name: a.numpy() for i, a in zip(session.get_inputs(), inputs)}
        out, = session.run(None, feeds)
        off = float(np.abs(out - wanted).max() / np.abs(wanted).max())
        ok(out.shape == wanted.shape and off < 1e-6, f"{form}, {name}: run in onnxruntime: off by {off:.1e}")
        del model.functions[:]
        out, = ReferenceEvaluator(model, new_ops=[BevPool]).run(None, feeds)
        ok(np.allclose(out, wanted, atol=1e-4 * np.abs(wanted).max()), f"{form}, {name}: run as the plugin runs it")
    bevpool.onnx.export(network, inputs, file, body=False, **how)
    ok(not onnx.load(file).functions, f"{form}: the node alone, without its function")
    if form == "TorchScript":
        test_refused(scene, file)


def test_refused(scene, file):
    import torch
    (_, ranks_of, inputs), *_ = networks(scene)
    ranks = [scene[name].int() for name in onnx_bevpool.MAP]

    class Given(torch.nn.Module):
        def forward(self, depth, feat, *ranks):
            return bevpool.bev_pool_v2(depth, feat, *ranks[:3], (1, *ranks_of(*inputs).shape[2:], feat.shape[-1]),
                                       *ranks[3:])
    moving = bevpool.LiftSplat(bevpool.Cameras((1, 1, 4, 2, 2, 1, 4, 4), (8, 8), (1, 0.5), (0, 1), (0, 1),
                                               (0, 1)), 4)
    for words, network, given, how in (
            ("export it with a Map", moving, (), {}),
            ("takes opset_version=16", ranks_of, inputs, {"opset_version": 15}),
            ("static_map=False", Given(), (*inputs, *ranks), {})):
        try:
            bevpool.onnx.export(network.eval(), given, file, **how)
            said = "nothing"
        except ValueError as error:
            said = str(error)
        ok(words in said, f"refused: {said}")
    bevpool.onnx.export(Given(), (*inputs, *ranks), file, static_map=False)
    ok(fields_of(node_of(onnx.load(file)))["static_map"] == 0, "a map that changes is exported")


if sys.argv[1] == "onnx":
    test_onnx(*sys.argv[2:])
else:
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    test_torch(*sys.argv[2:4], form=sys.argv[1])
tap_done()
