# SPDX-License-Identifier: MIT
"""Each function of the package for arrays of one kind, without gradients of PyTorch."""
import ctypes

import numpy as np

from ._arrays import address, as_read, device_name, device_of, dtype_of, empty, is_tensor, torch
from ._library import (ALIGNMENT, BACKWARD, CPU, FORWARD, GRADIENTS, POOLED, Matrices, Points, Prepared, Shape,
                       check, library)
from ._maps import Map, moving, raw_stream, recent


def _of_samples(grid, array):
    """The map for as many samples as there are in an array (B, N, ...) or (B * N, ...)."""
    cameras = int(array.shape[0]) * (grid.shape[1] if len(array.shape) == 5 else 1)
    return grid.of_batch(cameras // grid.shape[1]) if cameras and not cameras % grid.shape[1] else grid


def _prepared(depth, feat, grid, direction, channels_first, kernel=None):
    """The plan for such arrays, and the shape of what it pools. Arrays of one kind are checked
    once."""
    kind = (depth.shape, feat.shape, depth.dtype, feat.dtype, getattr(depth, "device", None),
            getattr(feat, "device", None), direction, channels_first, kernel)
    found = grid._ready.get(kind)
    if found is None:
        own = _of_samples(grid, depth)
        _check_arrays(own, depth, feat)
        channels = int(feat.shape[-1])
        plan = own.plan(channels, dtype_of(feat), direction, channels_first, kernel)
        found = grid._ready[kind] = plan, out_shape(own.shape, channels, channels_first)
    return found


def _check_arrays(grid, depth, feat):
    b, n, d, h, w = grid.shape[:5]
    for name, array, shape in ("depth", depth, (d, h, w)), ("feat", feat, (h, w, feat.shape[-1])):
        if array.shape != (b, n, *shape) and array.shape != (b * n, *shape):
            expected = f"{(b, n, *shape)}" if name == "depth" else f"({b}, {n}, {h}, {w}, channels)"
            raise ValueError(f"{name} has shape {tuple(array.shape)}, expected {expected}")
        _check_device(grid, name, array)


def _check_device(grid, name, array):
    if device_of(array) != grid.device:
        raise ValueError(f"{name} is on {device_name(device_of(array))}, expected "
                         f"{device_name(grid.device)}, where the map is")


def _check_grad(grad, shape, device):
    if tuple(grad.shape) != shape or device_of(grad) != device:
        raise ValueError(f"the gradient of the output has shape {tuple(grad.shape)} on "
                         f"{device_name(device_of(grad))}, expected {shape} on {device_name(device)}")


def out_shape(shape, channels, channels_first):
    b, z, y, x = shape[0], *shape[5:]
    return (b, channels, z, y, x) if channels_first else (b, z, y, x, channels)


def pool(depth, feat, grid, channels_first, kernel=None):
    grid = grid.for_call(depth, feat, FORWARD, channels_first, kernel)
    plan, shape = _prepared(depth, feat, grid, FORWARD, channels_first, kernel)
    out = empty(feat, shape)
    made = grid.made_map(plan)
    plan.launch(POOLED, (as_read(depth, feat.dtype), as_read(feat, feat.dtype), out), made)
    return out if grid.fits() else pool(depth, feat, grid.whole(), channels_first, kernel)


def pool_grad(grad, depth, feat, grid, channels_first):
    grid = grid.for_call(depth, feat, BACKWARD, channels_first, None)
    plan, shape = _prepared(depth, feat, grid, BACKWARD, channels_first)
    _check_grad(grad, shape, plan.device)
    grads = empty(feat, tuple(depth.shape)), empty(feat, tuple(feat.shape))
    inputs = (as_read(array, feat.dtype) for array in (depth, feat, grad))
    plan.launch(GRADIENTS, (*inputs, *grads), grid.made_map(plan))
    if not grid.fits():
        return pool_grad(grad, depth, feat, grid.whole(), channels_first)
    return as_read(grads[0], depth.dtype), grads[1]


# ---- the whole view transform --------------------------------------------------------------------


def as_given(x):
    """x (cameras, D + C, H, W), dense in either memory format of PyTorch."""
    x = x if len(x.shape) == 4 else x.reshape((-1, *x.shape[-3:]))
    if not is_tensor(x):
        return np.ascontiguousarray(x)
    last = len(x.shape) == 4 and x.is_contiguous(memory_format=torch.channels_last)
    return x if last else x.contiguous()


def _prepared_view(x, grid, direction, channels_first, softmax, temperature):
    kind = ("view", x.shape, x.strides if not is_tensor(x) else x.stride(), x.dtype, device_of(x),
            direction, channels_first, softmax, temperature)
    found = grid._ready.get(kind)
    if found is None:
        ready, grid = grid._ready, _of_samples(grid, x)
        b, n, d, h, w = grid.shape[:5]
        channels = int(x.shape[1]) - d
        if channels < 1 or tuple(x.shape) != (b * n, d + channels, h, w):
            raise ValueError(f"x has shape {tuple(x.shape)}, expected ({b * n}, {d} + channels, {h}, {w})")
        _check_device(grid, "x", x)
        strides = x.stride() if is_tensor(x) else [s // x.itemsize for s in x.strides]
        view = bool(softmax), float(temperature), tuple(map(int, strides))
        plan = grid.plan(channels, dtype_of(x), direction, channels_first, view=view)
        found = ready[kind] = plan, out_shape(grid.shape, channels, channels_first)
    return found


def view(x, grid, *how, poses=None):
    x = as_given(x)
    plan, shape = _prepared_view(x, grid, FORWARD, *how)
    out = empty(x, shape)
    plan.launch(POOLED, (x, x[:, grid.shape[2]:], out), None if poses is None else plan.made_map(poses))
    return out


def view_grad(grad, given, grid, *how, poses=None):
    x = as_given(given)
    plan, shape = _prepared_view(x, grid, BACKWARD, *how)
    _check_grad(grad, shape, plan.device)
    of_x = torch.empty_like(x) if is_tensor(x) else np.empty_like(x)
    bins, made = grid.shape[2], None if poses is None else plan.made_map(poses)
    plan.launch(GRADIENTS, (x, x[:, bins:], as_read(grad, x.dtype), of_x, of_x[:, bins:]), made)
    return of_x.reshape(given.shape)


def moving_view(x, poses, shape, ints, numbers, *how):
    shape = int(poses.shape[0]), *shape[1:]
    grid, poses = moving(device_of(x), shape, tuple(ints), tuple(numbers)), _checked_poses(poses, x, shape)
    if grid.device == CPU or not x.requires_grad:
        return view(x, grid, *how, poses=poses)
    backward, _ = _prepared_view(as_given(x), grid, BACKWARD, *how)
    beside = backward.make_ahead(poses) if backward.makes_ahead else None
    out = view(x, grid, *how, poses=poses)
    if beside:
        torch.cuda.current_stream(grid.device).wait_stream(beside)
    return out


def moving_view_grad(grad, x, poses, shape, ints, numbers, *how):
    shape = int(poses.shape[0]), *shape[1:]
    grid = moving(device_of(x), shape, tuple(ints), tuple(numbers))
    return view_grad(grad, x, grid, *how, poses=_checked_poses(poses, x, shape))


def _checked_poses(poses, x, shape):
    if tuple(poses.shape) != (shape[0], shape[1], 12):
        raise ValueError(f"poses have shape {tuple(poses.shape)}, expected ({shape[0]}, {shape[1]}, 12)")
    if device_of(poses) != device_of(x):
        raise ValueError(f"poses are on {device_name(device_of(poses))}, x on {device_name(device_of(x))}")
    return poses


def poses(sensor2ego, cam2imgs, post_rots, post_trans, bda):
    """Poses (B, N, 12) of the matrices, by one kernel on the current stream."""
    b, n = map(int, sensor2ego.shape[:2])
    shapes = [(b, n, 4, 4), (b, n, 3, 3), (b, n, 3, 3), (b, n, 3)]
    given = [sensor2ego, cam2imgs, post_rots, post_trans]
    names = "sensor2ego", "cam2imgs", "post_rots", "post_trans", "bda"
    if bda is not None:
        size = 3 if bda.shape[-1] == 3 else 4
        given, shapes = [*given, bda], [*shapes, (b, size, size)]
    device = device_of(sensor2ego)
    for name, array, shape in zip(names, given, shapes):
        if tuple(array.shape) != shape or device_of(array) != device:
            raise ValueError(f"{name} has shape {tuple(array.shape)} on {device_name(device_of(array))}, "
                             f"expected {shape} on {device_name(device)}")
    of = torch if is_tensor(sensor2ego) else np
    wide = not all(array.dtype == of.float32 for array in given)
    given = [as_read(array, of.float64 if wide else of.float32) for array in given]
    found = of.empty((b, n, 12), dtype=of.float64)
    if device != CPU:
        found = sensor2ego.new_empty((b, n, 12), dtype=of.float64)
    bev = (None, 0) if bda is None else (address(given[4]), size)
    matrices = Matrices(ctypes.sizeof(Matrices), b, n, wide, *map(address, given[:4]), *bev)
    check(library.bevpool_poses, ctypes.addressof(matrices), address(found), device,
          None if device == CPU else raw_stream(device))
    return found


# ---- BEVDet's preparation ------------------------------------------------------------------------


def prepare(points, lower, cell, count):
    """functional.prepare() of numbers."""
    b, n, d, h, w, _ = map(int, points.shape)
    shape = b, n, d, h, w, *count[::-1]
    if not is_tensor(points):
        return _prepare_on_cpu(points, np.array(lower, points.dtype), np.array(cell, points.dtype), count)
    if not points.is_cuda:
        found = prepare(points.detach().numpy(), lower, cell, count)
        return tuple(map(torch.from_numpy, found))
    device, total = device_of(points), b * n * d * h * w
    points = points.detach().contiguous()
    its_shape, bytes_ = Shape(*shape), ctypes.c_size_t()
    check(library.bevpool_prepare_bytes, ctypes.byref(its_shape), device, ctypes.byref(bytes_))
    most = min(total, b * count[0] * count[1] * count[2])
    padded = [-(-size // 64) * 64 for size in (total, total, total, most, most, 2)]
    memory = points.new_empty(sum(padded), dtype=torch.int32)
    arrays = memory.split(padded)
    workspace = points.new_empty(bytes_.value + ALIGNMENT, dtype=torch.uint8)
    start = (address(workspace) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    given = Points(ctypes.sizeof(Points), address(points), points.dtype == torch.float64, 0, lower, cell)
    out = Prepared(ctypes.sizeof(Prepared), *map(address, arrays))
    check(library.bevpool_prepare, ctypes.byref(its_shape), ctypes.byref(given), ctypes.byref(out), start,
          bytes_.value, device, raw_stream(device))
    inside, intervals = arrays[5][:2].tolist()
    return tuple(array[:size] for array, size in zip(arrays, (inside,) * 3 + (intervals,) * 2))


def _prepare_on_cpu(points, lower, cell, count):
    b, n, d, h, w, _ = points.shape
    with np.errstate(invalid="ignore"):
        at = ((points - lower) / cell).reshape(-1, 3)
        inside = ((at > -1) & (at < np.array(count))).all(1)
    ranks_depth = np.flatnonzero(inside)
    x, y, z = at[inside].astype(np.int64).T
    sample = ranks_depth // (n * d * h * w)
    ranks_bev = ((sample * count[2] + z) * count[1] + y) * count[0] + x
    order = np.argsort(ranks_bev, kind="stable")
    ranks_bev, ranks_depth = ranks_bev[order], ranks_depth[order]
    ranks_feat = ranks_depth // (d * h * w) * (h * w) + ranks_depth % (h * w)
    starts = np.flatnonzero(np.r_[True, ranks_bev[1:] != ranks_bev[:-1]][:len(ranks_bev)])
    lengths = np.diff(np.r_[starts, len(ranks_bev)])
    return tuple(a.astype(np.int32) for a in (ranks_bev, ranks_depth, ranks_feat, starts, lengths))


# ---- voxel_pool and voxel_align ------------------------------------------------------------------


def _voxel_points(xy, bev_h, bev_w, align):
    """Of float cell coordinates (points, 2): arrays point, y, x, weight of all that hit a cell."""
    count = len(xy)
    if not align:  # towards zero, as BEV pooling does: -0.9 is in cell 0
        cells = np.trunc(xy)
        entries = [(np.arange(count), cells[:, 0], cells[:, 1], np.ones(count, np.float32))]
    else:
        low = np.floor(xy)
        part = xy - low
        entries = [(np.arange(count), low[:, 0] + i, low[:, 1] + j,
                    np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1]))
                   for i in (0, 1) for j in (0, 1)]
    point, x, y, weight = (np.concatenate(parts) for parts in zip(*entries))
    inside = (x >= 0) & (x < bev_w) & (y >= 0) & (y < bev_h) & (weight > 0)
    return point[inside], y[inside].astype(np.int64), x[inside].astype(np.int64), weight[inside]


def _voxel_map(geom, shape, bev_h, bev_w, align, device):
    host = geom.detach().float().cpu().numpy() if is_tensor(geom) else np.asarray(geom, np.float32)
    b = shape[0]
    point, y, x, weight = _voxel_points(host.reshape(-1, host.shape[-1])[:, :2], bev_h, bev_w, align)
    sample = point // (host[..., 0].size // b)
    cell = (sample * bev_h + y) * bev_w + x
    order = np.lexsort((point, cell))
    ranks = point[order]
    return Map(shape, ranks, ranks, cell[order], weights=weight[order] if align else None,
               device=device)


def _voxel_grid(geom, bev_h, bev_w, align, device):
    b, n, d, h, w = geom.shape[:5]
    shape = b, n, 1, d * h, w, 1, bev_h, bev_w
    return recent.find([geom], (shape, align, device),
                        lambda: _voxel_map(geom, shape, bev_h, bev_w, align, device))


def _ones(feat):
    shape = *feat.shape[:2], 1, *feat.shape[2:4]
    return feat.new_ones(shape) if is_tensor(feat) else np.ones(shape, feat.dtype)


def voxel(volume, geom, *how):
    b, n, d, h, w, channels = volume.shape
    feat = volume.reshape((b, n, d * h, w, channels))
    return pool(_ones(feat), feat, _voxel_grid(geom, *how, device_of(volume)), True)[:, :, 0]


def voxel_grad(grad, geom, *how):
    b, n, d, h, w = geom.shape[:5]
    feat = grad.new_zeros((b, n, d * h, w, grad.shape[1]))
    grid = _voxel_grid(geom, *how, device_of(grad))
    found = pool_grad(grad[:, :, None], _ones(feat), feat, grid, True)[1]
    return found.reshape((b, n, d, h, w, grad.shape[1]))
