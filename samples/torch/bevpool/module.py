# SPDX-License-Identifier: MIT
"""The view transform as a module."""
from typing import Any, Optional, Union

import torch

from ._library import Error
from ._maps import ARRAYS, Cameras, Map, marks_of
from .functional import is_compiling, view_transform, with_channels_in_front


class LiftSplat(torch.nn.Module):
    """What BEVDet's LSSViewTransformer does behind its depth net: x (B * N, D + C, H, W), D logits in
    front, becomes (B, Z * C, Y, X), slices of height one behind the other. `grid`: a Map, or Cameras,
    whose poses (B, N, 12) forward() takes each step. `channels_last`: the output's memory format, which costs
    less; None: that of x. Grids with several slices have it by a copy.

    The arrays of a Map are buffers: they move with .to(), stand in state_dict() and are copied and
    pickled with the module, which makes the Map of them again. A state_dict of other cameras replaces
    them; one without them leaves them. x may have fewer samples than the Map, or a multiple. In
    DistributedDataParallel, broadcast_buffers=False spares a comparison of the buffers each step."""

    def __init__(self, grid: Union[Map, Cameras], depth_bins: int, temperature: float = 1.0,
                 channels_last: Optional[bool] = None) -> None:
        super().__init__()
        self.depth_bins, self.temperature, self.channels_last = depth_bins, temperature, channels_last
        self.shape, self._grid, self._marks = grid.shape, grid, None
        if isinstance(grid, Map):
            for name, array in zip(ARRAYS, grid.arrays):
                self.register_buffer(name, None if array is None else array.clone())
            self._marks = marks_of(self._arrays())

    def _arrays(self):
        return [self._buffers[name] for name in ARRAYS]

    @property
    def grid(self) -> Union[Map, Cameras]:
        """The Map of the buffers as they are now, or the Cameras."""
        if not isinstance(self._grid, Cameras) and not is_compiling() and \
                not torch.jit.is_tracing() and self._marks != marks_of(self._arrays()):
            self._follow()
        return self._grid

    def _follow(self):
        """Makes the Map anew where the buffers hold something else."""
        arrays = self._arrays()
        if arrays[0].device.type not in ("cpu", "cuda"):  # meta: there is nothing to map yet
            return
        old = self._grid.arrays if isinstance(self._grid, Map) else [None] * len(ARRAYS)
        if not all(a is b or a is not None and b is not None and a.device == b.device and torch.equal(a, b)
                   for a, b in zip(arrays, old)):
            self._grid = Map(self.shape, *arrays)
        self._marks = marks_of(arrays)

    def _apply(self, fn: Any, *rest: Any) -> "LiftSplat":
        if isinstance(self._grid, Cameras):
            return super()._apply(fn, *rest)
        weights = self._buffers["weights"]
        super()._apply(fn, *rest)
        if weights is not None:  # float32 also in a network in half precision
            self._buffers["weights"] = weights.to(self._buffers["ranks_bev"].device)
        self._follow()
        return self

    def _load_from_state_dict(self, state_dict, prefix, metadata, strict, missing, unexpected, errors):
        found = [name for name in ARRAYS if prefix + name in state_dict]
        for name in found if not isinstance(self._grid, Cameras) else ():
            self._buffers[name] = torch.empty_like(state_dict[prefix + name], device=self._arrays()[2].device)
        absent = missing if found else []  # a checkpoint of a network that had no LiftSplat
        super()._load_from_state_dict(state_dict, prefix, metadata, strict, absent, unexpected, errors)
        if found and not errors:
            try:
                self._follow()
            except (Error, ValueError) as error:
                errors.append(f"{prefix[:-1]}: {error}")

    def __getstate__(self):
        state = self.__dict__.copy()
        if isinstance(self._grid, Map):
            state["_grid"] = state["_marks"] = None
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if self._grid is None:
            self._follow()

    def extra_repr(self) -> str:
        b, n, d, h, w, z, y, x = self.shape
        points = "" if isinstance(self._grid, Cameras) else f", points={len(self.ranks_bev)}"
        return (f"batch={b}, cameras={n}, depth_bins={d}, features=({h}, {w}), cells=({z}, {y}, {x})"
                f"{points}, temperature={self.temperature}")

    def _writes_last(self, x):
        if self.channels_last is None:
            return len(x.shape) == 4 and not x.is_contiguous() and \
                x.is_contiguous(memory_format=torch.channels_last)
        return self.channels_last

    def forward(self, x: torch.Tensor, poses: Optional[torch.Tensor] = None) -> torch.Tensor:
        """x (B * N, D + C, H, W) or (B, N, D + C, H, W) to (B, Z * C, Y, X)."""
        last, flat = self._writes_last(x), self.shape[5] == 1
        bev = view_transform(x, self.grid, self.depth_bins, not (last and flat), temperature=self.temperature,
                             poses=poses)
        if flat:
            return (with_channels_in_front(bev) if last else bev)[:, :, 0]
        bev = bev.transpose(1, 2).flatten(1, 2)
        return bev.contiguous(memory_format=torch.channels_last) if last else bev
