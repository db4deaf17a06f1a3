# SPDX-License-Identifier: MIT
"""The package in samples/torch against plain NumPy and, where it is, PyTorch: one line of TAP a check.
    test_lib_python.py numpy|torch"""
import ast
import copy
import functools
import gc
import glob
import importlib
import io
import os
import pickle
import sys
import time

import numpy as np

import bevpool
from tap import done, ok

def refuses(words, function, *arguments):
    try:
        function(*arguments)
        said = "nothing"
    except (ValueError, TypeError, RuntimeError) as error:
        said = str(error)
    ok(words in said, f"refused: {said}")


# ---- a problem of whole numbers ------------------------------------------------------------------

B, N, D, H, W, Z, Y, X, C = 2, 2, 3, 2, 5, 2, 3, 4, 8
random = np.random.default_rng(3)
depth = random.integers(-3, 4, (B, N, D, H, W)).astype(np.float32)
feat = random.integers(-4, 5, (B, N, H, W, C)).astype(np.float32)
grad = random.integers(-4, 5, (B, C, Z, Y, X)).astype(np.float32)
pixel = np.broadcast_to(np.arange(B * N * H * W).reshape(B, N, 1, H, W), depth.shape).ravel()
own = np.repeat(np.arange(B), N * D * H * W)
cell = own * Z * Y * X + random.integers(0, Z * Y * X, depth.size)
kept = np.sort(random.permutation(depth.size)[:90])
kept = kept[np.argsort(cell[kept], kind="stable")]
ranks_depth, ranks_feat, ranks_bev = (a[kept].astype(np.int32) for a in (np.arange(depth.size), pixel, cell))
starts = np.flatnonzero(np.r_[True, np.diff(ranks_bev) > 0]).astype(np.int32)
lengths = np.diff(np.r_[starts, len(ranks_bev)]).astype(np.int32)
arrays = ranks_depth, ranks_feat, ranks_bev
bev_shape = B, Z, Y, X, C
x = np.concatenate([depth.reshape(B * N, D, H, W) / 2,
                    feat.reshape(B * N, H, W, C).transpose(0, 3, 1, 2)], 1).astype(np.float32)
logits = x[:, :D]


def reference():
    out = np.zeros((B * Z * Y * X, C), np.float32)
    np.add.at(out, ranks_bev, depth.ravel()[ranks_depth, None] * feat.reshape(-1, C)[ranks_feat])
    return out.reshape(bev_shape)


def voxel_reference(volume, geom, bev_h, bev_w, align):
    out = np.zeros((volume.shape[0], volume.shape[-1], bev_h, bev_w))
    for at in np.ndindex(volume.shape[:-1]):
        x, y = geom[at][:2].astype(float)
        x0, y0 = (np.floor(x), np.floor(y)) if align else (np.trunc(x), np.trunc(y))
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)) if align else ((0, 0),):
            weight = (x - x0 if i else x0 + 1 - x) * (y - y0 if j else y0 + 1 - y) if align else 1
            if 0 <= x0 + i < bev_w and 0 <= y0 + j < bev_h:
                out[at[0], :, int(y0) + j, int(x0) + i] += weight * volume[at]
    return out


def first(out):
    return out.transpose(0, 4, 1, 2, 3)


# ---- NumPy ---------------------------------------------------------------------------------------


def test_numpy():
    bevpool.warm_up(bevpool.CPU, training=True)
    refuses("device -2", bevpool.warm_up, -2)
    expected = reference()
    v2 = bevpool.bev_pool_v2(depth, feat, *arrays, bev_shape, starts, lengths)
    ok(v2.shape == (B, C, Z, Y, X) and (v2 == first(expected)).all(), "bev_pool_v2")
    again = bevpool.bev_pool_v2(depth, feat, *arrays, bev_shape, starts, lengths)
    ok(len(bevpool._maps.recent.maps) == 1 and (again == v2).all(), "its map is made once")
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), *arrays)
    for kernel in None, "cpu_v2":
        ok((bevpool.pool(depth, feat, grid, kernel=kernel) == expected).all(), f"pool with kernel {kernel}")
    half = bevpool.pool(depth.astype(np.float16), feat.astype(np.float16), grid)
    ok(half.dtype == np.float16 and (half == expected).all(), "float16")
    volume = random.standard_normal((B, N, D, H, W, C)).astype(np.float32)
    geom = random.uniform(-2, 6, (B, N, D, H, W, 3)).astype(np.float32)
    for function, align in (bevpool.voxel_pool, False), (bevpool.voxel_align, True):
        out = function(volume, geom, 3, 4)
        error = np.abs(out - voxel_reference(volume, geom, 3, 4, align)).max()
        ok(out.shape == (B, C, 3, 4) and error < 1e-5, f"{function.__name__}: error {error:.1e}")
    refuses("BEVPOOL_BAD_MAP: map: ranks_depth[0]", bevpool.Map, grid.shape, ranks_depth + 1000, *arrays[1:])
    refuses(f"expected ({B}, {N}, {H}, {W}, channels)", bevpool.pool, depth,
            feat.transpose(0, 1, 4, 2, 3), grid)
    refuses("expected (B, Z, Y, X, C)", bevpool.bev_pool_v2, depth, feat, *arrays, (Y, X), starts, lengths)
    soft = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    want = bevpool.pool(soft, x[:, D:].transpose(0, 2, 3, 1), grid, channels_first=True)
    found = bevpool.view_transform(x, grid, D)
    ok(np.abs(found - want).max() < 1e-4, "view_transform: the softmax of its logits, pooled")
    refuses(f"expected ({B * N}, {D} + channels, {H}, {W})", bevpool.view_transform, x[1:], grid, D)
    exact = bevpool.pool(depth, feat.astype(np.float64), grid)
    ok(exact.dtype == np.float64 and (exact == expected).all(), "float64, by the reference")
    refuses("features of int64", bevpool.pool, depth, feat.astype(np.int64), grid)
    refuses("kernel cpu_v3 has no float64", lambda: bevpool.pool(depth, feat.astype(float), grid, kernel="cpu_v3"))
    refuses("bev_feat_shape", bevpool.bev_pool_v2, depth, feat, *arrays, (B, Z, Y, X, C + 1), starts, lengths)
    test_ranks(grid, expected)
    test_prepare(np.asarray)
    later = []
    for path in glob.glob(os.path.dirname(bevpool.__file__) + "/*.py"):
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), feature_version=(3, 8))
        later += [node for node in ast.walk(tree) if isinstance(node, ast.BitOr) or
                  isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in ("list", "tuple", "dict")]
    ok(not later, "no union of dicts, no list[...]: Python 3.8 has neither")


def test_prepare(taken):
    """Against the formula of voxel_pooling_prepare_v2, for points near borders, far away and NaN."""
    size, sizes = np.array([4, 3, 2]), (2, 3, 5, 4, 6)
    low, cell = np.array([-2, -1.5, -1], np.float32), np.array([1, 1, 0.7], np.float32)
    coor = random.integers(-8, 14, (*sizes, 3)).astype(np.float32) / 4 * cell + low
    coor[0, 0, 0, 0, :4] = [[np.nan] * 3, [1e30] * 3, [-1e30] * 3, low - cell]
    at = ((coor - low) / cell).reshape(-1, 3)
    inside = np.flatnonzero(((np.nan_to_num(np.trunc(at), nan=-9) >= 0) & (np.trunc(at) < size)).all(1))
    x, y, z = np.trunc(at[inside]).astype(int).T
    cells = ((inside // (3 * 5 * 4 * 6) * size[2] + z) * size[1] + y) * size[0] + x
    order = np.argsort(cells, kind="stable")
    cells, inside = cells[order], inside[order]
    begins = np.flatnonzero(np.r_[True, np.diff(cells) > 0])
    wanted = cells, inside, inside // (5 * 24) * 24 + inside % 24, begins, np.diff(np.r_[begins, len(cells)])
    found = bevpool.prepare(taken(coor), low, cell, size)
    found = [np.asarray(a.cpu() if hasattr(a, "cpu") else a) for a in found]
    ok(all(a.dtype == np.int32 and np.array_equal(a, b) for a, b in zip(found, wanted)),
       f"prepare: {len(inside)} points in {len(begins)} cells, as voxel_pooling_prepare_v2")
    ok(bevpool.prepare(taken(coor + 99), low, cell, size) == (None,) * 5, "prepare: no point inside")
    refuses("expected float32 or float64 (B, N, D, H, W, 3)", bevpool.prepare, taken(coor[..., :2]), low, cell, size)


def test_ranks(grid, expected):
    wide = [a.astype(np.int64) for a in arrays]
    ok((bevpool.pool(depth, feat, bevpool.Map(grid.shape, *wide)) == expected).all(), "ranks of int64")
    for change, words in (2**32, "4294967"), (-2**32, "-4294967"), (0.5, "ranks_feat has float64"):
        spoilt = wide[1] + np.where(np.arange(len(wide[1])) == 5, change, 0)
        refuses(words, bevpool.Map, grid.shape, wide[0], spoilt, wide[2])
    refuses("in whole numbers", bevpool.Map, (B + 0.5, *grid.shape[1:]), *arrays)
    moved = ranks_depth.copy()
    bevpool.bev_pool_v2(depth, feat, moved, *arrays[1:], bev_shape, starts, lengths)
    moved[:] = ranks_depth // (D * H * W) * (D * H * W) + ranks_depth % (H * W)
    wanted = bevpool.bev_pool_v2(depth, feat, moved.copy(), *arrays[1:], bev_shape, starts, lengths)
    found = bevpool.bev_pool_v2(depth, feat, moved, *arrays[1:], bev_shape, starts, lengths)
    ok((found == wanted).all() and (wanted != first(expected)).any(), "bev_pool_v2: ranks changed in place")
    again = pickle.loads(pickle.dumps(grid))
    ok((bevpool.pool(depth, feat, again) == expected).all(), "a Map, pickled")


# ---- PyTorch -------------------------------------------------------------------------------------


def having(name, since):
    """What PyTorch has by that name, torch.library.opcheck say, from a version on; None before it."""
    import torch
    if tuple(map(int, torch.__version__.split(".")[:2])) < since:
        return None
    return functools.reduce(getattr, name.split(".")[1:], torch)


def tensors(device):
    import torch
    return [torch.from_numpy(np.ascontiguousarray(a)).to(device)
            for a in (depth, feat, *arrays, starts, lengths, grad)]


def test_torch(device):
    import torch
    d, f, rd, rf, rb, s, n, g = tensors(device)
    expected = torch.from_numpy(first(reference()).copy()).to(device)
    for dtype in torch.float32, torch.float16, torch.bfloat16:
        out = bevpool.bev_pool_v2(d.to(dtype), f.to(dtype), rd, rf, rb, bev_shape, s, n)
        ok(out.dtype == dtype and torch.equal(out.float(), expected.to(dtype).float()),
           f"{device}: bev_pool_v2, {dtype}")
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), rd, rf, rb)
    if bevpool.kernels(bevpool._arrays.device_of(d), bevpool.BACKWARD):
        test_operators(device, grid)
        test_view(device, grid)
        test_memory_format(device, grid)
        test_higher_gradients(device, grid)
        test_traced(device, grid)
        if having("torch.func", (2, 0)):
            test_func(device, grid)
    else:
        ok(True, f"{device}: gradients # SKIP no kernel of this build goes backward there")
    test_prepare(lambda a: torch.from_numpy(a.copy()).to(device))
    test_copies(device, grid)
    test_module(device, grid)
    test_batches(device)
    test_autocast(device, grid)
    if device == "cpu":
        test_changed_in_place()
        test_old_pytorch(grid)
        test_fp64(grid)
    else:
        test_cuda(d, f, (rd, rf, rb), s, n, expected)


def plain(d, f, rd, rf, rb):
    """(B, C, Z, Y, X), by operators of PyTorch."""
    import torch
    rows = d.flatten()[rd.long(), None] * f.reshape(-1, f.shape[-1])[rf.long()]
    out = torch.zeros(B * Z * Y * X, f.shape[-1], device=d.device).index_add(0, rb.long(), rows)
    return out.reshape(B, Z, Y, X, -1).permute(0, 4, 1, 2, 3)


def test_operators(device, grid):
    import torch
    d, f, rd, rf, rb, s, n, g = tensors(device)
    if having("torch.library.opcheck", (2, 4)):
        volume, geom = torch.rand(B, N, D, H, W, C, device=device), torch.rand(B, N, D, H, W, 3, device=device)
        of_map, of_view, how = (grid.shape, True, *grid.arrays), (True, 0.5), (geom * 3, 3, 4, True)
        given = torch.from_numpy(x).to(device)
        for name, inputs, rest in (
                ("pool", (d, f), (*of_map, None)), ("pool_grad", (g, d, f), of_map),
                ("view", (given,), (*of_map, *of_view)), ("view_grad", (g, given), (*of_map, *of_view)),
                ("voxel", (volume,), how), ("voxel_grad", (g[:, :, 0].contiguous(),), how)):
            leaves = [leaf.clone().requires_grad_() for leaf in inputs]
            torch.library.opcheck(getattr(torch.ops.bevpool, name).default, (*leaves, *rest))
            ok(True, f"{device}: opcheck of {name}")


def ways(device, grid):
    """What has gradients: a name, ours, the same of PyTorch's operators, leaves. View and volume are
    of parts, which are held against `plain` here."""
    import torch
    d, f, rd, rf, rb, s, n, g = tensors(device)
    given = torch.from_numpy(x).to(device)

    def parts(t):
        return plain(t[:, :D].softmax(1), t[:, D:].permute(0, 2, 3, 1), rd, rf, rb)
    yield "pool", lambda a, b: bevpool.pool(a, b, grid, True), lambda a, b: plain(a, b, rd, rf, rb), (d, f)
    yield "bev_pool_v2", lambda a, b: bevpool.bev_pool_v2(a, b, rd, rf, rb, bev_shape, s, n), \
        lambda a, b: plain(a, b, rd, rf, rb), (d, f)
    yield "view_transform", lambda t: bevpool.view_transform(t, grid, D), parts, (given,)
    # Points at the middle of cells: voxel_pool() and voxel_align() have the same, simple sum.
    geom = torch.arange(4, device=device).float().repeat(N * D * H * W * B // 4, 3, 1).permute(0, 2, 1)
    geom = geom.reshape(B, N, D, H, W, 3)
    yield "voxel_align", lambda v: bevpool.voxel_align(v, geom, 4, 4), lambda v: torch.diag_embed(
        torch.stack([v.reshape(B, -1, C)[b].T.reshape(C, -1, 4).sum(1) for b in range(B)])), \
        (torch.ones(B, N, D, H, W, C, device=device),)


def close(found, wanted):
    return all(float((a - b).abs().max()) <= 1e-4 * float(b.abs().max()) for a, b in zip(found, wanted))


def test_higher_gradients(device, grid):
    import torch
    from torch.autograd import forward_ad, grad as grad_of

    def penalty(function, leaves):
        leaves = [leaf.clone().requires_grad_() for leaf in leaves]
        loss = (function(*leaves) ** 2).sum()
        slopes = grad_of(loss, leaves, create_graph=True)
        return grad_of(loss + sum((slope ** 2).sum() for slope in slopes), leaves)

    def tangent(function, leaves, wanted=False):
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(leaf.clone().requires_grad_(wanted), leaf * 2 + 1) for leaf in leaves]
            out = function(*duals)
            if wanted:
                out, = grad_of((out ** 2).sum(), duals[:1], create_graph=True)
            return [forward_ad.unpack_dual(out).tangent]
    for name, ours, theirs, leaves in ways(device, grid):
        ok(close(penalty(ours, leaves), penalty(theirs, leaves)), f"{device}: {name}, second derivatives")
        for wanted in False, True:
            try:
                expected = tangent(theirs, leaves, wanted)
            except NotImplementedError:  # PyTorch 1.13 has no tangent of the gradient of softmax()
                continue
            ok(close(tangent(ours, leaves, wanted), expected),
               f"{device}: {name}, forward_ad {'of the gradient' if wanted else ''}")
    d, f, rd, rf, rb = tensors(device)[:5]
    leaf, geom = d.clone().requires_grad_(), torch.zeros(B, N, D, H, W, 3, requires_grad=True)
    refuses("no gradients with kernel", lambda: bevpool.pool(leaf, f, grid, kernel="cpu_v3"))
    refuses("weights have no gradients", lambda: bevpool.Map(grid.shape, rd, rf, rb, weights=leaf.flatten()))
    refuses("geom has no gradients", lambda: bevpool.voxel_align(geom[..., :1].detach(), geom, 3, 4))


def test_traced(device, grid):
    import torch
    for name, ours, theirs, leaves in ways(device, grid):
        others = [leaf * 3 + 1 for leaf in leaves]
        for wanted in False, True:
            given = tuple(leaf.clone().requires_grad_(wanted) for leaf in leaves)
            traced = torch.jit.trace(ours, given, check_trace=False)
            ok(close([traced(*others)], [theirs(*others)]), f"{device}: {name}, jit.trace, gradients {wanted}")
        file = io.BytesIO()
        module = torch.nn.Module()
        module.forward = ours
        legacy = {"dynamo": False} if hasattr(torch, "export") else {}
        refuses("bevpool::", lambda: torch.onnx.export(module, tuple(leaves), file, **legacy))
        if hasattr(torch, "compile"):
            compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
            ok(close([compiled(*others)], [theirs(*others)]), f"{device}: {name}, compiled whole")
    from torch.fx.experimental.proxy_tensor import make_fx
    d, f, rd, rf, rb = tensors(device)[:5]
    seen = make_fx(lambda a, b: bevpool.pool(a, b, grid, True))(d, f)
    ok(torch.equal(seen(d + 1, f), plain(d + 1, f, rd, rf, rb)), f"{device}: make_fx")
    if having("torch.compile", (2, 0)):
        made = torch.compile(lambda a: bevpool.pool(a, f, bevpool.Map(grid.shape, rd, rf, rb), True) + 1,
                             backend="aot_eager")
        ok(torch.equal(made(d), plain(d, f, rd, rf, rb) + 1), f"{device}: a Map made inside torch.compile")


def test_copies(device, grid):
    """A copy has a Map of its own, and so has a program that outlives the Map."""
    import torch
    given = torch.from_numpy(x).to(device)
    module = bevpool.LiftSplat(bevpool.Map(grid.shape, *grid.arrays), D)
    wanted, file = module(given), io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    whole = {} if torch.__version__.startswith("1.") else {"weights_only": False}
    for name, copied in (("deepcopy", copy.deepcopy(module)), ("pickle", pickle.loads(pickle.dumps(module))),
                         ("torch.save", torch.load(file, **whole)),
                         ("AveragedModel", torch.optim.swa_utils.AveragedModel(module))):
        ok(torch.equal(copied(given), wanted), f"{device}: LiftSplat, {name}")
    if having("torch.export", (2, 1)):
        file = io.BytesIO()
        torch.export.save(torch.export.export(module, (given,)), file)
        del module, copied
        gc.collect()
        other = bevpool.Map(grid.shape, *(a.flip(0) for a in grid.arrays[:2]), grid.arrays[2])
        file.seek(0)
        loaded = torch.export.load(file).module()
        ok(torch.equal(loaded(given), wanted) and other is not None, f"{device}: LiftSplat, torch.export")


def test_module(device, grid):
    """LiftSplat has its ranks as a module has buffers."""
    import torch
    given = torch.from_numpy(x).to(device)
    weights = torch.rand(len(ranks_bev), device=device)
    module = bevpool.LiftSplat(bevpool.Map(grid.shape, *grid.arrays[:5], weights=weights), D)
    wanted, names = module(given), bevpool._maps.ARRAYS
    ok(tuple(module.state_dict()) == names and tuple(name for name, _ in module.named_buffers()) == names,
       f"{device}: LiftSplat, its ranks are buffers")
    ok(f"points={len(ranks_bev)}" in repr(module) and "cameras=2" in repr(module), f"{device}: {module}")
    module.half()
    ok(module.weights.dtype == torch.float32 and torch.equal(module(given), wanted), f"{device}: LiftSplat, half()")
    fewer = bevpool.Map(grid.shape, *(a[:7] for a in grid.arrays[:3]))
    other = torch.nn.Sequential(torch.nn.Conv2d(D + C, D + C, 1), bevpool.LiftSplat(fewer, D)).to(device)
    state = other.state_dict()
    other.load_state_dict({name: value for name, value in state.items() if name[0] == "0"})
    ok(len(other[1].ranks_bev) == 7, f"{device}: LiftSplat, a checkpoint without ranks leaves them")
    unweighted = bevpool.LiftSplat(grid, D)
    state.update({"1." + name: value for name, value in unweighted.state_dict().items()})
    other.load_state_dict(state)
    ok(torch.equal(other[1](given), unweighted(given)), f"{device}: LiftSplat, a checkpoint of another rig")
    state["1.ranks_bev"] = state["1.ranks_bev"] + B * Z * Y * X
    refuses("BEVPOOL_BAD_MAP: map: ranks_bev[0]", other.load_state_dict, state)
    turned = [a.flip(0) for a in unweighted._arrays()[:2]]
    for buffer, value in zip(unweighted._arrays(), turned):
        buffer.copy_(value)
    ok(torch.equal(unweighted(given), bevpool.view_transform(
        given, bevpool.Map(grid.shape, *turned, grid.arrays[2]), D).transpose(1, 2).flatten(1, 2)),
       f"{device}: LiftSplat, buffers changed in place")
    before = unweighted.grid
    unweighted.ranks_bev.copy_(unweighted.ranks_bev.clone())  # as DistributedDataParallel does
    ok(unweighted.grid is before, f"{device}: LiftSplat, buffers written with what they hold keep the Map")
    ok(module.to("meta")(given.to("meta")).shape == wanted.shape, f"{device}: LiftSplat on meta")
    cameras = bevpool.Cameras((1, N, D, H, W, Z, Y, X), (16, 40), (1, 1), (-4, 4), (-3, 3), (-2, 2))
    refuses("poses belong to Cameras", bevpool.LiftSplat(copy.deepcopy(cameras), D).to(device), given)


def test_batches(device):
    """A Map of one sample serves several, one of several fewer."""
    import torch
    of_first = ranks_bev < Z * Y * X
    one = bevpool.Map((1, N, D, H, W, Z, Y, X), *(torch.from_numpy(a[of_first]).to(device) for a in arrays))
    given = torch.from_numpy(x).to(device).repeat(2, 1, 1, 1)
    wanted = torch.cat([bevpool.view_transform(part, one, D) for part in given.split(N)])
    for samples in 1, 2, 4:
        part, of_part = given[:samples * N], wanted[:samples]
        ok(torch.equal(bevpool.view_transform(part, one, D), of_part) and
           torch.equal(bevpool.view_transform(part, one.of_batch(4), D), of_part), f"{device}: {samples} samples")
    if having("torch.compile", (2, 0)):
        compiled = torch.compile(lambda t: bevpool.view_transform(t, one, D), backend="aot_eager", fullgraph=True,
                                 dynamic=True)
        ok(all(torch.equal(compiled(given[:n * N]), wanted[:n]) for n in (4, 1)), f"{device}: another batch compiled")
    refuses("3 samples, expected 1 to 2", bevpool.view_transform, given[:3 * N], one.of_batch(2), D)
    leaf = given.clone().requires_grad_()
    bevpool.view_transform(leaf, one, D).sum().backward()
    ok(torch.allclose(leaf.grad[:B * N], leaf.grad[B * N:]) and bool(leaf.grad.abs().max() > 0),
       f"{device}: gradients of another batch")


def test_autocast(device, grid):
    import torch
    d, f, *_ = tensors(device)
    given = torch.from_numpy(x).to(device)
    leaf, volume = given.clone().requires_grad_(), torch.ones(B, N, D, H, W, C, device=device)
    with torch.autocast(device, torch.bfloat16):
        out = bevpool.view_transform(leaf, grid, D)
        types = {t.dtype for t in (out, bevpool.pool(d, f, grid), bevpool.voxel_pool(volume, volume[..., :3], 3, 4))}
    out.float().sum().backward()
    ok(types == {torch.bfloat16} and leaf.grad.dtype == torch.float32,
       f"{device}: under autocast operators compute in its format")


def test_fp64(grid):
    import torch
    given, volume = torch.from_numpy(x).double(), torch.rand(B, N, D, H, W, C).double()
    d, f, *_ = (a.double() for a in tensors("cpu"))
    geom = torch.rand(B, N, D, H, W, 3) * 4
    weighted = bevpool.Map(grid.shape, *grid.arrays[:3], weights=torch.rand(len(ranks_bev)))
    for name, function, leaves in (
            ("pool", lambda a, b: bevpool.pool(a, b, weighted), (d, f)),
            ("view_transform", lambda t: bevpool.view_transform(t, grid, D, temperature=2.0), (given,)),
            ("voxel_align", lambda v: bevpool.voxel_align(v, geom, 3, 4), (volume,))):
        leaves = [leaf.clone().requires_grad_() for leaf in leaves]
        ok(torch.autograd.gradcheck(function, leaves, fast_mode=True, check_forward_ad=True) and
           torch.autograd.gradgradcheck(function, leaves, fast_mode=True), f"float64: gradcheck of {name}")


def test_func(device, grid):
    """torch.func sees through the operators."""
    import torch
    from torch.func import grad as grad_of, jacrev, jvp, vmap
    for name, ours, theirs, leaves in ways(device, grid):
        def both(transform):
            return [transform(way) for way in (ours, theirs)]
        first, rest = leaves[0], leaves[1:]
        ok(close(*([found] for found in both(lambda way: grad_of(lambda a: (way(a, *rest) ** 2).sum())(first)))),
           f"{device}: {name}, func.grad")
        ok(close(*([found] for found in both(lambda way: jvp(lambda a: way(a, *rest), (first,), (first,))[1]))),
           f"{device}: {name}, func.jvp")
        many = torch.stack([first, first + 1])
        ok(close(*([found] for found in both(lambda way: vmap(lambda a: way(a, *rest))(many)))) and
           close(*([found] for found in both(
               lambda way: vmap(grad_of(lambda a: (way(a, *rest) ** 2).sum()))(many)))), f"{device}: {name}, vmap")
        if name == "pool":
            ok(close(*([found] for found in both(lambda way: jacrev(lambda a: way(a, *rest).sum((0, 2, 3, 4)))(first)))),
               f"{device}: {name}, jacrev")


def test_changed_in_place():
    import torch
    from torch.utils.dlpack import from_dlpack, to_dlpack
    d, f, rd, rf, rb, s, n, _ = tensors("cpu")
    other = rd // (D * H * W) * (D * H * W) + rd % (H * W)

    def judged(name, change):
        ranks = rd.clone()
        bevpool.bev_pool_v2(d, f, ranks, rf, rb, bev_shape, s, n)
        change(ranks)
        found = bevpool.bev_pool_v2(d, f, ranks, rf, rb, bev_shape, s, n)
        ok(torch.equal(found, plain(d, f, other, rf, rb)), f"ranks changed in place: {name}")
    judged("copy_", lambda ranks: ranks.copy_(other))
    judged("numpy()", lambda ranks: np.copyto(ranks.numpy(), other.numpy()))
    judged(".data", lambda ranks: ranks.data.copy_(other))
    judged("DLPack", lambda ranks: from_dlpack(to_dlpack(ranks)).copy_(other))
    with torch.inference_mode():
        judged("inference_mode", lambda ranks: ranks.copy_(other))
        grid = bevpool.Map((B, N, D, H, W, Z, Y, X), rd, rf, rb)
    leaf = d.clone().requires_grad_()
    bevpool.pool(leaf, f, grid).sum().backward()
    ok(leaf.grad is not None, "a Map made in inference_mode has gradients")


def test_old_pytorch(grid):
    """PyTorch 1.10 has no torch.library: calls are eager, and refuse to be traced."""
    import torch
    modules = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "bevpool"}
    library = torch.library
    try:
        del torch.library
        old = importlib.import_module("bevpool")
    finally:
        torch.library = library
        sys.modules.update(modules)
    d, f, rd, rf, rb = tensors("cpu")[:5]
    own, leaf = old.Map(grid.shape, rd, rf, rb), d.clone().requires_grad_()
    out = old.pool(leaf, f, own, True)
    out.sum().backward()
    ok(torch.equal(out, plain(d, f, rd, rf, rb)) and leaf.grad is not None, "without torch.library: eager")
    refuses("takes PyTorch 1.13", torch.jit.trace, lambda a: old.pool(a, f, own), d)


def test_view(device, grid):
    import torch
    g, given = (torch.from_numpy(a).to(device) for a in (grad, x))
    for layout in torch.contiguous_format, torch.channels_last:
        wanted, found = [], []
        for values in wanted, found:
            leaf = given.clone(memory_format=layout).requires_grad_()
            if values is wanted:
                parts = leaf[:, :D].softmax(1), leaf[:, D:].permute(0, 2, 3, 1)
                out = bevpool.pool(*parts, grid, channels_first=True)
            else:
                out = bevpool.view_transform(leaf, grid, D)
            out.backward(g)
            values += [out.detach(), leaf.grad]
        error = max(float((a - b).abs().max()) for a, b in zip(found, wanted))
        ok(error < 1e-4, f"{device}: view_transform, {layout}: off by {error:.1e}")
    module = bevpool.LiftSplat(grid, D)
    ok(tuple(module(given).shape) == (B, Z * C, Y, X) and module(leaf).requires_grad, f"{device}: LiftSplat")
    for dtype in torch.float16, torch.bfloat16:
        half = bevpool.view_transform(given.to(dtype), grid, D)
        error = float((half.float() - wanted[0]).abs().max() / wanted[0].abs().max())
        ok(half.dtype == dtype and error < 2e-2, f"{device}: view_transform, {dtype}")


def test_memory_format(device, grid):
    """Channels last: the same numbers in that order of memory, forward and backward."""
    import torch
    last = {"memory_format": torch.channels_last}
    given = torch.from_numpy(x).to(device)
    b, n, d, h, w, z, y, width = grid.shape
    flat = bevpool.Map((b, n, d, h, w, 1, z * y, width), *grid.arrays)
    weight = torch.randn(B, C, z * y, width, device=device)
    for slices, a_map in ("one slice", flat), ("slices", grid):
        found = []
        for values, wanted in (given, None), (given.contiguous(**last), None), (given, True):
            leaf = values.clone().requires_grad_()
            out = bevpool.LiftSplat(a_map, D, channels_last=wanted)(leaf)
            (out * weight.reshape(out.shape)).sum().backward()
            found.append((out.detach(), leaf.grad))
        ok(all(torch.allclose(a, b, atol=1e-5) for pair in found[1:] for a, b in zip(pair, found[0])) and
           [out.is_contiguous(**last) for out, _ in found] == [False, True, True],
           f"{device}: LiftSplat, {slices}: the memory format of x, or the one asked for")
    f, d, *ranks = (torch.from_numpy(a).to(device) for a in (feat, depth, *arrays, starts, lengths))
    outs = [bevpool.bev_pool_v2(d, f, *ranks[:3], bev_shape, *ranks[3:], channels_last=how) for how in (False, True)]
    ok(torch.equal(*outs) and outs[1].is_contiguous(memory_format=torch.channels_last_3d),
       f"{device}: bev_pool_v2 with channels last")


def test_steps(ranks, s, n):
    """Arrays that come the first time and again, sorted or not, right or wrong; 64 channels, as V4 has them."""
    import torch
    wide = torch.randint(-4, 5, (B, N, H, W, 64), device="cuda").float().requires_grad_()
    deep = torch.from_numpy(depth).cuda().requires_grad_()
    wanted = plain(deep, wide, *ranks)
    weight = torch.randint(-4, 5, wanted.shape, device="cuda").float()
    grads = torch.autograd.grad(wanted, (deep, wide), weight)

    def judged(words, rd, rf, rb, *intervals):
        out = bevpool.bev_pool_v2(deep, wide, rd, rf, rb, (B, Z, Y, X, 64), *intervals)
        found = torch.autograd.grad(out, (deep, wide), weight)
        ok(torch.equal(out, wanted) and all(map(torch.equal, found, grads)), f"cuda: bev_pool_v2, arrays {words}")
    fresh = [a.clone() for a in (*ranks, s, n)]
    judged("that come the first time", *fresh)
    judged("that come again", *fresh)
    judged("of int64", *(a.long() for a in fresh))
    order = torch.randperm(len(ranks[0]), device="cuda")
    judged("in any order, without intervals", *(a[order] for a in ranks), None, None)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        judged("on another stream", *(a.clone() for a in fresh))
    spoilt = ranks[0].clone()
    spoilt[3] = 10**6
    refuses("ranks_depth[3]", bevpool.bev_pool_v2, deep, wide, spoilt, *ranks[1:], (B, Z, Y, X, 64), s, n)


def test_cuda(d, f, ranks, s, n, expected):
    import torch
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), *ranks)
    out = bevpool.pool(d, f, grid)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = bevpool.pool(d, f, grid)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    ok(torch.equal(out.permute(0, 4, 1, 2, 3), expected), "cuda: a graph of PyTorch")
    test_steps(ranks, s, n)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        other = bevpool.pool(d, f, grid)
    side.synchronize()
    ok(torch.equal(other, out), "cuda: another stream")
    for name, call in ("pool", lambda: bevpool.pool(d, f, grid)), \
            ("bev_pool_v2", lambda: bevpool.bev_pool_v2(d, f, *ranks, bev_shape, s, n)):
        call()
        call()  # now there is a plan
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(1000):
            call()
        us = (time.perf_counter() - begun) * 1e3
        torch.cuda.synchronize()
        # PyTorch's dispatcher is passed twice, so that tracers and modes see every call.
        ok(us < 200, f"cuda: {name} in eager mode costs {us:.1f} us of the host")


def main():
    if sys.argv[1] == "numpy":
        test_numpy()
    else:
        import torch
        test_torch("cpu")
        if torch.cuda.is_available() and bevpool.kernels(0):
            test_torch("cuda")
    done()


main()
