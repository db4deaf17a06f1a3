# SPDX-License-Identifier: MIT
"""samples/onnx_bevpool.py against plain NumPy: one line of TAP a check.
    test_onnx.py onnx|torch SCENE.npz FOLDER FIELDS.cpp"""
import re
import subprocess
import sys

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


# ---- models of onnx ------------------------------------------------------------------------------


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
        out = ReferenceEvaluator(model, new_ops=[BevPool]).run(None, feeds)[0]
        ok(np.allclose(out[0], network_by_hand(model, scene, image), atol=1e-4),
           f"run, it gives what NumPy does: {out.shape}")
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


# ---- the exporter of PyTorch ---------------------------------------------------------------------


def test_torch(path, folder):
    import torch

    with np.load(path) as arrays:
        scene = {name: torch.from_numpy(np.ascontiguousarray(arrays[name])) for name in arrays
                 if arrays[name].dtype.kind in "iuf"}
    bev_h, bev_w = (int(size) for size in scene["bev_shape"])
    channels = scene["feat"].shape[-1]

    class Network(torch.nn.Module):
        def __init__(self, ranks_of, grid=None):
            super().__init__()
            self.before = torch.nn.Conv2d(channels, channels, 1)
            self.after = torch.nn.Conv2d(channels, channels, 3, padding=1)
            self.grid = grid
            for name in onnx_bevpool.MAP:
                self.register_buffer(name, scene[name].to(ranks_of))

        def forward(self, depth, image):
            feat = self.before(image).permute(0, 2, 3, 1)[None]
            if self.grid is not None:
                return self.after(bevpool.pool(depth, feat, self.grid)[:, 0].permute(0, 3, 1, 2))
            shape = 1, 1, bev_h, bev_w, channels
            bev = bevpool.bev_pool_v2(depth, feat, self.ranks_depth, self.ranks_feat,
                                      self.ranks_bev, shape, self.interval_starts, self.interval_lengths)
            return self.after(bev[:, :, 0])

    depth, feat = scene["depth"][None].float(), scene["feat"]
    image = torch.randn(feat.shape[0], channels, *feat.shape[1:3])
    grid = bevpool.Map((*depth.shape, 1, bev_h, bev_w), *(scene[name] for name in onnx_bevpool.MAP))
    for name, network in (("bev_pool_v2", Network(torch.int32)), ("ranks of int64", Network(torch.int64)),
                          ("pool", Network(torch.int32, grid))):
        network.eval()
        with torch.no_grad():
            wanted = network(depth, image)
            torch.onnx.export(network, (depth, image), folder + "/torch.onnx", dynamo=True,
                              verbose=False, custom_translation_table=onnx_bevpool.translations(True))
        model = onnx.load(folder + "/torch.onnx")
        onnx.checker.check_model(model)
        node = node_of(model)
        ok(node is not None and node.domain == onnx_bevpool.DOMAIN, f"{name}: the exporter writes the node")
        fields = fields_of(node)
        ok((fields["bev_h"], fields["bev_w"], fields["static_map"]) == (bev_h, bev_w, 1),
           f"with bev_h={fields['bev_h']} bev_w={fields['bev_w']} static_map={fields['static_map']}")
        wide = {i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.INT64}
        ok(not wide & set(node.input), f"{name}: its ranks are int32")
        feeds = dict(zip((i.name for i in model.graph.input), (depth.numpy(), image.numpy())))
        out = ReferenceEvaluator(model, new_ops=[BevPool]).run(None, feeds)[0]
        ok(out.shape == wanted.shape and np.allclose(out, wanted.numpy(), atol=1e-4),
           f"run, it gives what PyTorch does: {out.shape}")


if sys.argv[1] == "onnx":
    test_onnx(*sys.argv[2:])
else:
    test_torch(*sys.argv[2:4])
tap_done()
