# SPDX-License-Identifier: MIT
"""BEVDet's steps in FP64, for tests beside NumPy: shares no code with bevscope."""
import numpy as np


def points(z, depths=None):
    """Points (camera, bin, h, w, 3) of the ego frame where the pixels of a scene's arrays lie."""
    cameras, _, h, w = z["depth"].shape
    height, width = np.ravel(z["image_size"])[:2]
    d, v, u = np.meshgrid(np.arange(*z["depth_range"]) if depths is None else depths,
                          np.linspace(0, height - 1, h), np.linspace(0, width - 1, w), indexing="ij")
    crops = np.broadcast_to(np.asarray(z["crop"])[..., :2], (cameras, 2))
    resizes = np.broadcast_to(np.reshape(z["resize"], (-1, 1)) if np.ndim(z["resize"]) < 2 else z["resize"], (cameras, 2))
    return np.stack([
        np.stack([(u + x) / across * d, (v + y) / down * d, d], -1) @ np.linalg.inv(k).T @ pose[:3, :3].T + pose[:3, 3]
        for k, pose, (x, y), (across, down) in zip(z["intrinsics"], z["cam2ego"], crops, resizes)])


def cells(z, at, rounding=np.floor):
    """Of points their cells (..., 3) as x, y, z, which of them are kept, and the sizes of the grid."""
    low, high, step = np.array(z["grid"], float).T
    sizes = np.rint((high - low) / step).astype(int)
    cell = rounding((at - low) / step).astype(int)
    return cell, ((cell >= 0) & (cell < sizes)).all(-1), sizes


def pooled(z, at=None, rounding=np.floor):
    """The grid (nz, ny, nx, C)."""
    cell, kept, sizes = cells(z, points(z) if at is None else at, rounding)
    rows = np.ravel_multi_index(tuple(cell[kept].T[::-1]), sizes[::-1])
    values = (z["depth"].astype(float)[..., None] * z["feat"][:, None])[kept]
    return np.stack([np.bincount(rows, column, np.prod(sizes)) for column in values.T], -1).reshape(*sizes[::-1], -1)
