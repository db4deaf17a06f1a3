# SPDX-License-Identifier: MIT
"""The functions of the package: for tensors operators of PyTorch, for arrays of NumPy plain calls."""
from typing import Optional, Sequence, Tuple, Union

from . import _compute
from ._arrays import Array, is_tensor, sizes_of, torch
from ._library import CPU
from ._maps import Cameras, Map, map_of

if torch is not None:
    from ._operators import operators


def is_compiling(by_dynamo: bool = False) -> bool:
    """Whether torch.compile or torch.export read this; by_dynamo: by interpreting the bytecode."""
    name = "is_dynamo_compiling" if by_dynamo else "is_compiling"
    compiler = getattr(torch, "compiler", None)
    return hasattr(compiler, name) and getattr(compiler, name)()


def _exact(grid: Map, array: Array) -> Map:
    """The map for the samples of an array (B, N, ...) or (B * N, ...), whose arrays a recorded program then
    names. Operators find it themselves, for any batch, where dynamo compiles."""
    if is_compiling(by_dynamo=True):
        return grid
    cameras = array.shape[0] * grid.shape[1] if len(array.shape) == 5 else array.shape[0]
    if torch.jit.is_tracing():
        cameras = int(cameras)
    if type(cameras) is not int or not cameras or cameras % grid.shape[1]:
        return grid
    return grid.of_batch(cameras // grid.shape[1])


def pool(depth: Array, feat: Array, grid: Map, channels_first: bool = False,
         kernel: Optional[str] = None) -> Array:
    """Pools depth (B, N, D, H, W) and feat (B, N, H, W, C) with a Map: (B, Z, Y, X, C), or
    (B, C, Z, Y, X). The axes B and N may be one. Without gradients: `kernel`, one that kernels()
    names."""
    if is_tensor(feat):
        grid = _exact(grid, depth)
        return operators.pool(depth, feat, grid.shape, channels_first, *grid.arrays, kernel)
    return _compute.pool(depth, feat, grid, channels_first, kernel)


def view_transform(x: Array, grid: Union[Map, Cameras], depth_bins: int, channels_first: bool = True,
                   softmax: bool = True, temperature: float = 1.0, poses: Optional[Array] = None) -> Array:
    """What a depth net gives, x (B * N, D + C, H, W) or (B, N, D + C, H, W), D logits in front, pooled
    with a Map, or with Cameras and their `poses` (B, N, 12): (B, C, Z, Y, X), or (B, Z, Y, X, C). Not
    `softmax`: they are depths already."""
    if depth_bins != grid.shape[2]:
        raise ValueError(f"depth_bins is {depth_bins}, expected {grid.shape[2]} as in the map")
    if (poses is None) == isinstance(grid, Cameras):
        raise ValueError("poses belong to Cameras, and Cameras need them")
    if poses is not None:
        how = grid.shape, grid.ints, grid.numbers, channels_first, softmax, temperature
        return (operators.moving_view if is_tensor(x) else _compute.moving_view)(x, poses, *how)
    if is_tensor(x):
        grid = _exact(grid, x)
        return operators.view(x, grid.shape, channels_first, *grid.arrays, softmax, temperature)
    return _compute.view(x, grid, channels_first, softmax, temperature)


def with_channels_in_front(out: Array) -> Array:
    """(B, Z, Y, X, C) as (B, C, Z, Y, X), in the same memory: channels last is its memory format."""
    return out.permute(0, 4, 1, 2, 3) if is_tensor(out) else out.transpose(0, 4, 1, 2, 3)


def _poses(*matrices):
    """Cameras.poses()."""
    return (operators.poses if is_tensor(matrices[0]) else _compute.poses)(*matrices)


def bev_pool_v2(depth: Array, feat: Array, ranks_depth: Array, ranks_feat: Array, ranks_bev: Array,
                bev_feat_shape: Sequence[int], interval_starts: Optional[Array],
                interval_lengths: Optional[Array], channels_last: bool = False) -> Array:
    """BEVDet's function: depth (B, N, D, H, W), feat (B, N, H, W, C), bev_feat_shape
    (B, Z, Y, X, C), ranks (points,), intervals (intervals,). (B, C, Z, Y, X), with channels_last in that
    memory format, which costs less."""
    batch, *cells, channels = sizes_of(bev_feat_shape, ("B", "Z", "Y", "X", "C"))
    if len(depth.shape) != 5:
        raise ValueError(f"depth has shape {tuple(depth.shape)}, expected (B, N, D, H, W)")
    if batch != depth.shape[0] or channels != feat.shape[-1]:
        raise ValueError(f"bev_feat_shape is {tuple(bev_feat_shape)}, expected "
                         f"({int(depth.shape[0])}, Z, Y, X, {int(feat.shape[-1])})")
    arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, None
    sizes = map(int, depth.shape) if torch is not None and torch.jit.is_tracing() else depth.shape
    shape: Tuple[int, ...] = (*sizes, *cells)
    first = not channels_last
    out = operators.pool(depth, feat, shape, first, *arrays, None) if is_tensor(feat) else \
        _compute.pool(depth, feat, map_of(arrays, shape, CPU), first)
    return out if first else with_channels_in_front(out)


def prepare(coor: Array, grid_lower_bound: Sequence[float], grid_interval: Sequence[float],
            grid_size: Sequence[float]) -> Tuple[Optional[Array], ...]:
    """BEVDet's voxel_pooling_prepare_v2: coor (B, N, D, H, W, 3) in metres, and the grid of the
    LSSViewTransformer, x, y, z. Returns ranks_bev, ranks_depth, ranks_feat, interval_starts and
    interval_lengths with the same bits, or five times None where no point is inside. On a GPU a few
    kernels make them on the current stream; the call waits for their sizes."""
    lower, cell, size = (tuple(map(float, numbers)) for numbers in (grid_lower_bound, grid_interval, grid_size))
    if len(coor.shape) != 6 or coor.shape[-1] != 3 or str(coor.dtype).rsplit(".", 1)[-1] not in ("float32", "float64"):
        raise ValueError(f"coor is {coor.dtype} {tuple(coor.shape)}, expected float32 or float64 (B, N, D, H, W, 3)")
    found = _compute.prepare(coor, lower, cell, sizes_of(size, ("X", "Y", "Z")))
    return found if len(found[0]) else (None,) * 5


def _voxel(volume, geom, bev_h, bev_w, align):
    if len(volume.shape) != 6 or tuple(geom.shape[:5]) != tuple(volume.shape[:5]):
        raise ValueError(f"volume {tuple(volume.shape)} and geom {tuple(geom.shape)}, expected "
                         "(B, N, D, H, W, C) and (B, N, D, H, W, 2 or 3)")
    how = *sizes_of((bev_h, bev_w), ("bev_h", "bev_w")), align
    if not is_tensor(volume):
        return _compute.voxel(volume, geom, *how)
    if align and geom.requires_grad and torch.is_grad_enabled():
        raise ValueError("geom has no gradients in voxel_align: pass geom.detach()")
    return operators.voxel(volume, geom, *how)


def voxel_pool(volume: Array, geom: Array, bev_h: int, bev_w: int) -> Array:
    """Adds volume (B, N, D, H, W, C) into the cells that geom (B, N, D, H, W, 3), in units of
    cells, lies in, rounded towards zero. x and y count, z does not. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, False)


def voxel_align(volume: Array, geom: Array, bev_h: int, bev_w: int) -> Array:
    """The same, each point shared out to the four lattice points round it. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, True)
