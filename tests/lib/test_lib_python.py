"""samples/torch/bevpool.py against plain NumPy and, where it is, PyTorch: one line of TAP a check.
    test_lib_python.py numpy|torch"""
import sys
import time

import numpy as np

import bevpool
from tap import done, ok

def refuses(words, function, *arguments):
    try:
        function(*arguments)
        said = "nothing"
    except (bevpool.Error, ValueError, TypeError) as error:
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
    expected = reference()
    v2 = bevpool.bev_pool_v2(depth, feat, *arrays, bev_shape, starts, lengths)
    ok(v2.shape == (B, C, Z, Y, X) and (v2 == first(expected)).all(), "bev_pool_v2")
    again = bevpool.bev_pool_v2(depth, feat, *arrays, bev_shape, starts, lengths)
    ok(len(bevpool._recent.maps) == 1 and (again == v2).all(), "its map is made once")
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), *arrays)
    for kernel in [None] + bevpool.kernels():
        out = bevpool.pool(depth, feat, grid, kernel=kernel)
        ok((out == expected).all(), f"pool with {kernel or 'the best kernel'}")
    half = bevpool.pool(depth.astype(np.float16), feat.astype(np.float16), grid)
    ok(half.dtype == np.float16 and (half == expected).all(), "float16")
    below = np.median(np.abs(depth))
    without = bevpool.pool(np.where(np.abs(depth) <= below, 0, depth), feat, grid)
    pruned = bevpool.pool(depth, feat, grid, prune=below)
    ok((pruned == without).all() and (pruned != expected).any(), "prune: the small depths are left out")
    refuses("options.prune is -1", lambda: bevpool.pool(depth, feat, grid, prune=-1))
    volume = random.standard_normal((B, N, D, H, W, C)).astype(np.float32)
    geom = random.uniform(-2, 6, (B, N, D, H, W, 3)).astype(np.float32)
    for function, align in (bevpool.voxel_pool, False), (bevpool.voxel_align, True):
        out = function(volume, geom, 3, 4)
        error = np.abs(out - voxel_reference(volume, geom, 3, 4, align)).max()
        ok(out.shape == (B, C, 3, 4) and error < 1e-5, f"{function.__name__}: error {error:.1e}")
    refuses("BEVPOOL_BAD_MAP: map: ranks_depth[0]", bevpool.Map, grid.shape, ranks_depth + 1000, *arrays[1:])
    refuses("ranks_feat has shape", bevpool.Map, grid.shape, ranks_depth, ranks_feat[1:], ranks_bev)
    refuses("feat has shape", bevpool.pool, depth, feat[:, :, 1:], grid)
    refuses(f"expected ({B}, {N}, {H}, {W}, channels)", bevpool.pool, depth,
            feat.transpose(0, 1, 4, 2, 3), grid)
    refuses("expected (B, Z, Y, X, C)", bevpool.bev_pool_v2, depth, feat, *arrays, (Y, X), starts, lengths)
    soft = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    want = bevpool.pool(soft, x[:, D:].transpose(0, 2, 3, 1), grid, channels_first=True)
    found = bevpool.view_transform(x, grid, D)
    ok(np.abs(found - want).max() < 1e-4, "view_transform: the softmax of its logits, pooled")
    want = bevpool.pool(np.where(soft <= 0.1, 0, soft), x[:, D:].transpose(0, 2, 3, 1), grid,
                        channels_first=True)
    pruned = bevpool.view_transform(x, grid, D, prune=0.1)
    ok(np.abs(pruned - want).max() < 1e-4 and np.abs(pruned - found).max() > 1e-3,
       "view_transform without small depths")
    refuses("at most 1", lambda: bevpool.view_transform(x, grid, D, prune=2))
    refuses(f"expected ({B * N}, {D} + channels, {H}, {W})", bevpool.view_transform, x, grid, D + 1)
    refuses("features of float64", bevpool.pool, depth, feat.astype(np.float64), grid)
    refuses("kernel v9", lambda: bevpool.pool(depth, feat, grid, kernel="v9"))
    refuses("bev_feat_shape", bevpool.bev_pool_v2, depth, feat, *arrays, (B, Z, Y, X, C + 1), starts, lengths)


# ---- PyTorch -------------------------------------------------------------------------------------


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
    maps = len(bevpool._recent.maps)
    moved = rb.clone()
    bevpool.bev_pool_v2(d, f, rd, rf, moved, bev_shape, s, n)
    moved += 0  # another version of the array
    bevpool.bev_pool_v2(d, f, rd, rf, moved, bev_shape, s, n)
    ok(len(bevpool._recent.maps) == maps + 2, f"{device}: a changed array is another map")
    v2 = torch.ops.bevpool.bev_pool_v2.default
    torch.library.opcheck(v2, (d, f, rd, rf, rb, s, n, list(bev_shape)))
    ok(True, f"{device}: opcheck")
    compiled = torch.compile(bevpool.bev_pool_v2, backend="aot_eager", fullgraph=True)
    ok(torch.equal(compiled(d, f, rd, rf, rb, bev_shape, s, n), expected), f"{device}: compiled")
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), rd, rf, rb)
    compiled = torch.compile(lambda d, f: bevpool.pool(d, f, grid, True), backend="aot_eager", fullgraph=True)
    ok(torch.equal(compiled(d, f), expected), f"{device}: a Map compiled")
    if bevpool.kernels(bevpool._device(d), bevpool.BACKWARD):
        test_gradients(device)
        test_view(device, grid)
    else:
        ok(True, f"{device}: gradients # SKIP no kernel of this build goes backward there")
    if device == "cuda":
        test_cuda(d, f, (rd, rf, rb), s, n, expected)


def test_gradients(device):
    import torch
    d, f, rd, rf, rb, s, n, g = tensors(device)
    wanted, eager, operator = [], [], []
    op = torch.ops.bevpool.bev_pool_v2
    for values in wanted, eager, operator:
        leaves = d.clone().requires_grad_(), f.clone().requires_grad_()
        if values is wanted:
            rows = leaves[0].flatten()[rd.long(), None] * leaves[1].reshape(-1, C)[rf.long()]
            out = torch.zeros(B * Z * Y * X, C, device=device).index_add(0, rb.long(), rows)
            out = out.reshape(bev_shape).permute(0, 4, 1, 2, 3)
        elif values is eager:
            out = bevpool.bev_pool_v2(*leaves, rd, rf, rb, bev_shape, s, n)
        else:
            out = op(*leaves, rd, rf, rb, s, n, list(bev_shape))
        out.backward(g)
        values += [leaf.grad for leaf in leaves]
    for name, found in ("gradients", eager), ("gradients of the operator", operator):
        ok(all(torch.equal(a, b) for a, b in zip(found, wanted)), f"{device}: {name}")
    grid = bevpool.Map((B, N, D, H, W, Z, Y, X), rd, rf, rb)
    leaves = d.clone().requires_grad_(), f.clone().requires_grad_()
    torch.library.opcheck(torch.ops.bevpool.pool.default, (*leaves, grid.handle, False))
    # Sums of whole numbers and steps of 1/2 are exact in float32: no tolerance is needed.
    ok(torch.autograd.gradcheck(lambda a, b: bevpool.pool(a, b, grid), leaves, eps=0.5, atol=1e-3,
                                rtol=1e-3, nondet_tol=0), f"{device}: gradcheck")


def test_view(device, grid):
    import torch
    g, given = (torch.from_numpy(a).to(device) for a in (grad, x))
    for layout in torch.contiguous_format, torch.channels_last:
        wanted, eager, traced = [], [], []
        for values in wanted, eager, traced:
            leaf = given.clone(memory_format=layout).requires_grad_()
            if values is wanted:
                parts = leaf[:, :D].softmax(1), leaf[:, D:].permute(0, 2, 3, 1)
                out = bevpool.pool(*parts, grid, channels_first=True)
            elif values is eager:
                out = bevpool.view_transform(leaf, grid, D)
            else:
                out = torch.compile(lambda t: bevpool.view_transform(t, grid, D),
                                    backend="aot_eager", fullgraph=True)(leaf)
            out.backward(g)
            values += [out.detach(), leaf.grad]
        for name, found in ("view_transform", eager), ("view_transform, compiled", traced):
            error = max(float((a - b).abs().max()) for a, b in zip(found, wanted))
            ok(error < 1e-4, f"{device}: {name}, {layout}: off by {error:.1e}")
    leaf = given.clone().requires_grad_()
    torch.library.opcheck(torch.ops.bevpool.view.default, (leaf, grid.handle, D, True, True, 0.5))
    ok(torch.autograd.gradcheck(lambda t: bevpool.view_transform(t, grid, D, temperature=2.0),
                                (leaf,), eps=2 ** -6, atol=2e-2, rtol=1e-2, nondet_tol=0),
       f"{device}: view_transform, gradcheck")
    module = bevpool.LiftSplat(grid, D)
    ok(tuple(module(given).shape) == (B, Z * C, Y, X) and module(leaf).requires_grad, f"{device}: LiftSplat")
    for dtype in torch.float16, torch.bfloat16:
        half = bevpool.view_transform(given.to(dtype), grid, D)
        error = float((half.float() - wanted[0]).abs().max() / wanted[0].abs().max())
        ok(half.dtype == dtype and error < 2e-2, f"{device}: view_transform, {dtype}")


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
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        other = bevpool.pool(d, f, grid)
    side.synchronize()
    ok(torch.equal(other, out), "cuda: another stream")
    for name, call in ("pool", lambda: bevpool.pool(d, f, grid)), \
            ("bev_pool_v2", lambda: bevpool.bev_pool_v2(d, f, *ranks, bev_shape, s, n)):
        call()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(1000):
            call()
        us = (time.perf_counter() - begun) * 1e3
        torch.cuda.synchronize()
        ok(us < 60, f"cuda: {name} in eager mode costs {us:.1f} us of the host")


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
