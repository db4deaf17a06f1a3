# SPDX-License-Identifier: MIT
"""Sums and gradients in FP64 by NumPy, as the formula has them. For gradcheck: the library has no FP64."""
import numpy as np

from ._arrays import as_numpy
from ._library import BACKWARD


class Reference:
    """What a Plan is, for float64 on the CPU."""

    def __init__(self, grid, channels, dtype, direction, channels_first, kernel, view):
        if kernel:
            raise ValueError(f"kernel {kernel} has no float64")
        self.device, self.kernel, self.workspace_bytes = grid.device, "reference", 0
        self.shape, self.channels_first, self.view = grid.shape, channels_first, view
        self.ranks = [as_numpy(a) for a in grid.arrays[:4]]
        self.weights = 1 if grid.arrays[5] is None else as_numpy(grid.arrays[5]).astype(np.float64)
        self._run = self._gradients if direction == BACKWARD else self._pool

    def launch(self, words, arrays, made=None):
        """Writes the last arrays of the first ones, in the order in which a Plan takes them."""
        self._run(*(as_numpy(a) for a in arrays))

    def _inputs(self, depth, feat):
        """Depths (all,) and rows of features (pixels, C)."""
        if self.view is None:
            return depth.reshape(-1), feat.reshape(-1, feat.shape[-1])
        softmax, temperature, _ = self.view
        depth = depth[:, :self.shape[2]]
        if softmax:
            depth = np.exp((depth - depth.max(1, keepdims=True)) / (temperature or 1.0))
            depth = depth / depth.sum(1, keepdims=True)
        return depth.reshape(-1), feat.transpose(0, 2, 3, 1).reshape(-1, feat.shape[1])

    def _cells(self, grid):
        """The grid with its channels last."""
        return np.moveaxis(grid, 1, -1) if self.channels_first else grid

    def _pool(self, depth, feat, out):
        depth, feat = self._inputs(depth, feat)
        at_depth, at_feat, at_bev, starts = self.ranks
        rows = (depth[at_depth] * self.weights)[:, None] * feat[at_feat]
        sums = np.zeros((out.size // feat.shape[1], feat.shape[1]))
        if len(starts):
            sums[at_bev[starts]] = np.add.reduceat(rows, starts)
        cells = self._cells(out)
        cells[...] = sums.reshape(cells.shape)

    def _gradients(self, depth, feat, grad, of_depth, of_feat):
        values, rows = self._inputs(depth, feat)
        at_depth, at_feat, at_bev, _ = self.ranks
        grad = self._cells(grad).reshape(-1, rows.shape[1])[at_bev]
        of_values = np.bincount(at_depth, self.weights * (grad * rows[at_feat]).sum(1), len(values))
        of_rows = np.zeros_like(rows)
        np.add.at(of_rows, at_feat, (values[at_depth] * self.weights)[:, None] * grad)
        if self.view is None:
            of_depth[...], of_feat[...] = of_values.reshape(of_depth.shape), of_rows.reshape(of_feat.shape)
            return
        softmax, temperature, _ = self.view
        bins, (cameras, _, h, w) = self.shape[2], depth.shape
        values, of_values = (a.reshape(cameras, bins, h, w) for a in (values, of_values))
        if softmax:
            of_values = values * (of_values - (values * of_values).sum(1, keepdims=True)) / (temperature or 1.0)
        of_depth[:, :bins] = of_values
        of_feat[...] = of_rows.reshape(cameras, h, w, -1).transpose(0, 3, 1, 2)
