# SPDX-License-Identifier: MIT
"""BEV pooling for NumPy and PyTorch over libbevpool. PyTorch is optional.

    import bevpool
    view = bevpool.LiftSplat(grid, depth_bins=D)                     # a torch.nn.Module
    bev = view(x)                                                    # (B, Z * C, Y, X)
    out = bevpool.view_transform(x, grid, depth_bins=D)              # (B, C, Z, Y, X), softmax and all

    grid = bevpool.Map(shape, ranks_depth, ranks_feat, ranks_bev)    # once, for a map that stays
    out = bevpool.pool(depth, feat, grid)                            # (B, Z, Y, X, C)

    out = bevpool.bev_pool_v2(depth, feat, ranks_depth, ranks_feat, ranks_bev, bev_feat_shape,
                              interval_starts, interval_lengths)     # as in BEVDet: (B, C, Z, Y, X)

    cameras = bevpool.Cameras(shape, (256, 704), (1, 0.5), x, y, z)  # a map each step: no Map is made
    out = bevpool.view_transform(x, cameras, D, poses=cameras.poses(sensor2ego, cam2imgs, post_rots,
                                                                    post_trans, bda))

    arrays = bevpool.prepare(coor, grid_lower_bound, grid_interval, grid_size)    # voxel_pooling_prepare_v2

    out = bevpool.voxel_pool(volume, geom, bev_h, bev_w)             # (B, C, bev_h, bev_w)
    out = bevpool.voxel_align(volume, geom, bev_h, bev_w)

With tensors these are operators of PyTorch (1.13 or later; older ones, from 1.10, call them eagerly)
with first and higher gradients, for torch.compile, torch.export, torch.jit.trace, torch.func, autocast
and CUDA graphs; bevpool.onnx exports them. A map's arrays are arguments of its operator. Launches run
on the current stream. A map's first launch prepares a plan, which waits for the GPU: do that before a
graph is captured. FP64 is for gradcheck: a reference in NumPy computes it, on the CPU alone.

bev_pool_v2 makes no plan for arrays on a GPU that come the first time: they are checked and taken on the
stream, and 8 bytes are read back. Arrays that pool a second time get a plan, which is faster for arrays that
stay: call it twice before a graph is captured. In a capture arrays are not checked: wrong ones are left out.

bev_pool_v2, voxel_pool and voxel_align keep the maps of the last calls. Arrays on the CPU are compared
with those of the call before, so that no change is missed. Arrays on a GPU are known by their memory and
their version: a change is missed if PyTorch does not count it, which is so of `.data`, of DLPack and of
tensors made under torch.inference_mode(). After such a change pass new tensors.

The library is the file that BEVPOOL_LIBRARY names, else libbevpool.so.1 beside this file (a wheel has
it there), else that on the usual paths. `__version__` is the library's.
"""
from ._arrays import torch
from ._library import BACKWARD, BILINEAR, CPU, FORWARD, LATTICE, NEAREST, Error, kernels, warm_up
from ._library import version as __version__
from ._maps import Cameras, Map
from .functional import bev_pool_v2, pool, prepare, view_transform, voxel_align, voxel_pool

__all__ = ["BACKWARD", "BILINEAR", "CPU", "FORWARD", "LATTICE", "NEAREST", "Cameras", "Error", "Map",
           "bev_pool_v2", "kernels", "pool", "prepare", "view_transform", "voxel_align", "voxel_pool", "warm_up"]

if torch is not None:
    from .module import LiftSplat  # noqa: F401
    __all__.append("LiftSplat")
